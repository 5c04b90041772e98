"""Notebooks into a book.

`build` trains, then has `execute` run the pages that are stale by what `reads` recorded,
each by `notebooks`, and `render` make the site of them; `pdf` prints it; `fork` copies a page under
a new name.
"""
