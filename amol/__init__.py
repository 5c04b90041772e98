"""Losses, metrics and protocol of AMOL, the adaptive margin ordinal loss (arXiv 2609.10752)."""

__version__ = "0.1.0"
