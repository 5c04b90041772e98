"""Faults of a study, provoked for real.

``python tests/faults NAME...`` tries the named ones once and prints the trials as JSON; without
names it tries all, several times, and writes ``book/recorded/faults.csv``.
"""
