"""Experiments: the training engine and what is run with it."""
