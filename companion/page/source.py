"""What the files of tables and figures say of themselves: what they are, and from where."""

import html
import json
from pathlib import Path

import pandas as pd

SOURCE = "Executable companion of arXiv:2609.10752, https://arxiv.org/abs/2609.10752"
TYPES = {"i": "integer", "u": "integer", "f": "double", "b": "boolean"}  # of CSVW, by NumPy's kind


def write_csv(folder: Path, label: str, data: pd.DataFrame) -> None:
    """Write ``<label>.csv`` and what it is: ``<label>.csv-metadata.json``, as W3C's CSVW has it."""
    data.to_csv(folder / f"{label}.csv", index=False)
    columns = [
        {"titles": str(name), "datatype": TYPES.get(getattr(kind, "kind", "O"), "string")}
        for name, kind in data.dtypes.items()
    ]
    about = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": f"{label}.csv",
        "dc:title": label,
        "dc:source": SOURCE,
        "tableSchema": {"columns": columns},
    }
    text = json.dumps(about, ensure_ascii=False, indent=1)
    (folder / f"{label}.csv-metadata.json").write_text(text + "\n", encoding="utf-8")


def svg_with_source(svg: str, label: str) -> str:
    """An SVG with title and source as metadata, in Dublin Core's words."""
    start = svg.index(">", svg.index("<svg")) + 1
    about = "".join(
        f"<dc:{name}>{html.escape(text)}</dc:{name}>"
        for name, text in (("title", label), ("source", f"{SOURCE}; data: {label}.csv"))
    )
    space = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return f"{svg[:start]}<metadata {space}>{about}</metadata>{svg[start:]}"
