"""Data sets: the paper's four, further ones, and tables of readers."""
