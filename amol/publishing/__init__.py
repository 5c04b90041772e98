"""Notebooks into a book: `notebooks` executes one, `build` all, `fork` copies, `pdf` prints."""
