"""Sphinx extension of the book: lets a page train networks in the place of a figure.

`companion.page.training_page.save` writes data and recorded runs beside the figure. The page gets
them with the scripts of `book/_static/train`: those of the worker as text, from which the browser
makes it, since a page in a folder may fetch nothing.
"""

import os
from pathlib import Path

WORKER = ("arithmetic", "product", "random", "losses", "network", "worker")
PAGE = ("random", "data", "view", "page")


def worker_source(scripts: Path) -> str:
    """The worker's script: the files of `WORKER`, one behind the other."""
    return "\n".join((scripts / f"{name}.js").read_text(encoding="utf-8") for name in WORKER)


def finish(app, exception) -> None:
    """Add data and scripts to the pages that show such a figure."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    for found in sorted((site / "results" / "figures").glob("*.training.json")):
        label = found.name.removesuffix(".training.json")
        data = found.read_text(encoding="utf-8").replace("<", "\\u003c")
        found.unlink()  # the page holds it
        for page in site.rglob("*.html"):
            html = page.read_text(encoding="utf-8")
            if f'id="{label}"' not in html:
                continue
            scripts = site / "_static" / "train"
            static = Path(os.path.relpath(scripts, page.parent)).as_posix()
            added = [
                f'<script type="text/plain" data-worker>{worker_source(scripts)}</script>',
                f'<script type="application/json" data-training="{label}">{data}</script>',
                *(f'<script defer src="{static}/{name}.js"></script>' for name in PAGE),
            ]  # fmt: skip
            body, end, rest = html.rpartition("</body>")
            page.write_text("\n".join([body, *added, end + rest]), encoding="utf-8")


def setup(app):
    app.connect("build-finished", finish, priority=600)  # after `executed` has copied the results
    return {"parallel_read_safe": True, "parallel_write_safe": True}
