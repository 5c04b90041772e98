"""What made a page: code, settings, libraries, machine and time."""

import platform
import sys
import time
from dataclasses import fields, is_dataclass
from importlib.metadata import version

import pandas as pd
import psutil
from IPython.display import Markdown

from amol.engine import Protocol
from companion.host import processor
from companion.page.tables import literal
from companion.paths import ROOT
from companion.repository import commit

LIBRARIES = {  # name of the module: of the package
    "amol": "amol",
    "torch": "torch",
    "numpy": "numpy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
    "numba": "numba",
    "matplotlib": "matplotlib",
}
ONLY_TRAINING = {"seeds", *Protocol.__dataclass_fields__}


def provenance(settings=None, runs: pd.DataFrame | None = None) -> dict[str, str]:
    """What made a page, by name.

    Parameters
    ----------
    settings : companion.train.settings.StudySettings or dict, optional
        Those that are set; without ``runs`` without what only training reads.
    runs : DataFrame, optional
        From `run_study`; its ``attrs`` tell how many runs were trained and reused.

    Returns
    -------
    dict of str to str
    """
    facts = {"commit": commit(ROOT), "Python": platform.python_version()}
    facts |= {name: version(name) for module, name in LIBRARIES.items() if module in sys.modules}
    if settings is not None:
        if is_dataclass(settings):
            settings = {f.name: getattr(settings, f.name) for f in fields(settings) if f.repr}
        for name, value in settings.items():
            if value in ("", (), {}) or (runs is None and name in ONLY_TRAINING):
                continue
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            facts[name.replace("_", " ")] = shown
    if runs is not None:
        facts["runs"] = f"{runs.attrs['trained']} trained here, {runs.attrs['reused']} reused"
        facts["training time of all runs"] = f"{runs.attrs['seconds']:.0f} s"
        if uncompiled := runs.attrs.get("uncompiled"):
            facts["bits of this machine alone"] = ", ".join(uncompiled)
    facts["hardware"] = processor()
    facts["time since the kernel's start"] = f"{time.time() - psutil.Process().create_time():.0f} s"
    return facts


def footer(settings=None, runs: pd.DataFrame | None = None) -> Markdown:
    """`provenance` as a folded table, for the last cell of a notebook; above it, what failed."""
    rows = [f"| {name} | {literal(value)} |" for name, value in provenance(settings, runs).items()]
    table = "\n".join(["| what | value |", "|:--|:--|", *rows])
    failed = 0 if runs is None else int(runs["failed"].notna().sum())
    note = (
        f"**{failed} of {len(runs)} runs failed**: their loss was no finite number. They count in "
        "no mean; predictions and probabilities are those of the network before that.\n\n"
        if failed
        else ""
    )
    return Markdown(
        f'{note}<details class="provenance"><summary>What made this page</summary>\n\n'
        f"{table}\n\n</details>"
    )
