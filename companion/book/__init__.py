"""Notebooks into a book.

`build` trains, then has `execute` run the pages that `page_key` finds stale, each by `notebooks`,
and `render` make the site of them; `pdf` prints it; `fork` copies a page under a new name.
"""
