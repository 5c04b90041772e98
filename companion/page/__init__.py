"""What a page shows: results with their files, numbers for its sentences, and its footer.

Offers
------
show, show_numbers
    A table or figure under a label; numbers and words for the page's text.
say
    A sentence that holds for the data, or gives way to another.
figures, tables
    From tidy frames to figures and tables.
footer
    What made the page.
"""

from . import figures, tables
from .provenance import footer
from .results import show, show_numbers
from .sentences import say

__all__ = ["figures", "footer", "say", "show", "show_numbers", "tables"]
