"""What a page shows: results with their files, sentences that hold, and its footer.

Offers
------
show
    A table, figure or chart with its caption.
say
    A paragraph whose sentences hold for the data, or give way to others.
show_numbers
    Numbers and words for the first page of the book.
figures, tables
    From tidy frames to figures and tables.
footer
    What made the page.
"""

from . import figures, tables
from .provenance import footer
from .results import show
from .sentences import say, show_numbers

__all__ = ["figures", "footer", "say", "show", "show_numbers", "tables"]
