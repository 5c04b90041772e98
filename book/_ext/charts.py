"""Sphinx extension of the book: puts live charts in the place of their static figures.

`amol.report.live_charts.save` writes a chart beside its figure. The pages that show the figure get
the chart and the scripts that draw it, from the site itself; all other pages stay as they are.
"""

import json
import os
from pathlib import Path

import vl_convert

NOTICE = f"""/* Vega {vl_convert.get_vega_version()}, Vega-Lite and
Vega-Embed {vl_convert.get_vega_embed_version()} with D3, as bundled by VlConvert;
their licences are in vega-licenses.txt. */
"""


def scripts(label: str, chart: str, static: str) -> str:
    """HTML of a chart's specification and of what draws it, run once the page is there."""
    data = json.dumps(json.loads(chart)).replace("<", "\\u003c")
    return (
        f'<script type="application/json" data-chart="{label}">{data}</script>\n'
        f'<script defer src="{static}/vega.js"></script>\n'
        f'<script defer src="{static}/charts.js"></script>\n'
    )


def finish(app, exception) -> None:
    """Add charts to pages, and Vega to the site where a page needs it."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    charts = {
        path.name.removesuffix(".vl.json"): path.read_text(encoding="utf-8")
        for path in sorted((site / "results" / "figures").glob("*.vl.json"))
    }
    versions = set()
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        shown = [label for label in charts if f'id="{label}"' in html]
        if not shown:
            continue
        static = Path(os.path.relpath(site / "_static", page.parent)).as_posix()
        added = [scripts(label, charts[label], static) for label in shown]
        lines = dict.fromkeys("".join(added).splitlines(keepends=True))  # each script once
        body, end, rest = html.rpartition("</body>")
        page.write_text("".join([body, *lines, end, rest]), encoding="utf-8")
        versions |= {json.loads(charts[label])["$schema"] for label in shown}
    for schema in versions:
        version = schema.rpartition("/v")[2].rpartition(".json")[0]
        bundle = vl_convert.javascript_bundle(vl_version=".".join(version.split(".")[:2]))
        script = f"{NOTICE}(() => {{\n{bundle}\n}})();\n"
        (site / "_static" / "vega.js").write_text(script, encoding="utf-8")


def setup(app):
    app.connect("build-finished", finish, priority=600)  # after `executed` has copied the results
    return {"parallel_read_safe": True, "parallel_write_safe": True}
