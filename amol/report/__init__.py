"""What a page shows: `tables`, `figures`, `live_charts`, `appendix`, and the page's `footer`."""

from . import figures, tables
from .provenance import footer

__all__ = ["figures", "footer", "tables"]
