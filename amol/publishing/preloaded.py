"""What the server of a build's kernels holds, so that no page has to load or make it.

Nothing in it may change what another module gives, as a registration of losses would.
"""

import gc
from importlib import import_module

LIBRARIES = (
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.pyplot",
    "myst_nb.ext.glue",
    "pandas.io.formats.csvs",
    "pandas.io.formats.html",
    "scipy.stats",
    "tabulate",
    "torch._dynamo",
)
OURS = ("execution", "figures", "kernels", "study", "tables")


def _make_once() -> None:
    """What each page would make anew: the code that checks a notebook, our code's fingerprints."""
    import nbformat

    from amol.experiments.datasets import standardize
    from amol.experiments.runs import code_of
    from amol.experiments.training import train_stack
    from amol.losses import LOSSES

    nbformat.validate(nbformat.v4.new_notebook())
    code_of(train_stack, standardize)
    for loss in LOSSES.values():
        code_of(loss)


gc.disable()  # nothing is garbage yet, and the search for it takes a fifth of the time
for name in (*LIBRARIES, *(f"amol.{module}" for module in OURS)):
    import_module(name)
_make_once()
gc.freeze()  # it stays, so nobody forked from here need search it either
gc.enable()
