"""Sphinx extension of the book: puts live charts in the place of their static figures.

`companion.page.live_charts.save` writes a chart beside its figure. The pages that show the figure
get the chart and the scripts that draw it, from the site itself; all other pages stay as they are.
"""

import json
import os
from pathlib import Path

import vl_convert

from companion.page.live_charts import VERSION

SCRIPTS = ("vega", "charts")
NOTICE = f"""/* Vega {vl_convert.get_vega_version()}, Vega-Lite and
Vega-Embed {vl_convert.get_vega_embed_version()} with D3, as bundled by VlConvert;
their licences are in vega-licenses.txt. */
"""


def finish(app, exception) -> None:
    """Add charts to pages, and Vega to the site where a page needs it."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    charts = {}
    for file in sorted((site / "results" / "figures").glob("*.vl.json")):
        data = json.dumps(json.loads(file.read_text(encoding="utf-8")))
        charts[file.name.removesuffix(".vl.json")] = data.replace("<", "\\u003c")
    needed = False
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        shown = [label for label in charts if f'id="{label}"' in html]
        if not shown:
            continue
        needed = True
        static = Path(os.path.relpath(site / "_static", page.parent)).as_posix()
        added = [
            f'<script type="application/json" data-chart="{label}">{charts[label]}</script>'
            for label in shown
        ]
        added += [f'<script defer src="{static}/{name}.js"></script>' for name in SCRIPTS]
        body, end, rest = html.rpartition("</body>")
        page.write_text("\n".join([body, *added, end + rest]), encoding="utf-8")
    if needed:
        bundle = vl_convert.javascript_bundle(vl_version=VERSION)
        script = f"{NOTICE}(() => {{\n{bundle}\n}})();\n"
        (site / "_static" / "vega.js").write_text(script, encoding="utf-8")


def setup(app):
    app.connect("build-finished", finish, priority=600)  # after `executed` has copied the results
    return {"parallel_read_safe": True, "parallel_write_safe": True}
