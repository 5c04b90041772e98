"""Sphinx extension of the book: a belief that the reader drags, in the place of a figure.

``beliefs.js`` goes to the pages that show the figure, from the site itself.
"""

import os
from pathlib import Path

LABEL, SCRIPT = "fig-belief", "beliefs.js"


def finish(app, exception) -> None:
    """Add the script to the pages that show the figure."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        if f'id="{LABEL}"' in html:
            source = Path(os.path.relpath(site / "_static" / SCRIPT, page.parent)).as_posix()
            body, end, rest = html.rpartition("</body>")
            added = f'<script defer src="{source}"></script>'
            page.write_text(f"{body}{added}\n{end}{rest}", encoding="utf-8")


def setup(app):
    app.connect("build-finished", finish, priority=600)  # after `executed` has copied the results
    return {"parallel_read_safe": True, "parallel_write_safe": True}
