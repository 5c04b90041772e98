# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (sec-api)=
# # Reference of losses and metrics
#
# Made from the docstrings of the installed package. {ref}`sec-training` shows them at work,
# {numref}`tab-conformance` what each loss withstands.

# %% tags=["remove-cell"]
import sys

if "google.colab" in sys.modules:  # there, fetch and install what this notebook belongs to
    import re
    from socket import gethostbyname, gethostname
    from subprocess import run
    from urllib.parse import unquote
    from urllib.request import urlopen

    with urlopen(f"http://{gethostbyname(gethostname())}:9000/api/sessions") as sessions:
        opened = unquote(sessions.read().decode())
    found = re.search(r"(https://github\.com/[^/]+/[^/]+)/blob/(.+?)/notebooks/", opened)
    assert found, "open this notebook from its GitHub repository, as the book's Colab button does"
    run(["git", "clone", found[1], "companion"], check=True)
    run(["git", "-C", "companion", "checkout", found[2]], check=True)
    run([sys.executable, "-m", "pip", "install", "-q", "./companion[notebooks]"], check=True)
    sys.path.insert(0, "companion")

# %% tags=["parameters"]
private: bool = False  # list methods that start with an underscore as well

# %%
import inspect

from IPython.display import Markdown

from amol import losses, metrics


def entry(name, thing, note=""):
    """Signature and docstring of one function or class, as Markdown."""
    text = inspect.getdoc(thing) or ""
    signature = str(inspect.signature(thing)).partition(" ->")[0]
    return f"**`{name}{signature}`** {note}\n\n```text\n{text}\n```\n"


def members(cls):
    """Documented methods of a class, in the order of its source."""
    for name, thing in vars(cls).items():
        if inspect.isfunction(thing) and thing.__doc__ and (private or name[0] != "_"):
            yield f"{cls.__name__}.{name}", thing


# %% [markdown]
# ## What all losses share

# %% tags=["remove-input"]
base = losses.OrdinalLoss
Markdown("\n".join([entry("OrdinalLoss", base), *(entry(*pair) for pair in members(base))]))

# %% [markdown]
# ## Losses

# %% tags=["remove-input"]
entries = [entry(cls.__name__, cls, f'`LOSSES["{name}"]`') for name, cls in losses.LOSSES.items()]
Markdown("\n".join(entries))

# %% [markdown]
# ## Functions and tables behind them

# %% tags=["remove-input"]
functions = {name: getattr(losses, name) for name in losses.__all__}
entries = [entry(name, f) for name, f in functions.items() if inspect.isfunction(f)]
Markdown("\n".join(entries))

# %% [markdown]
# ## Metrics

# %% tags=["remove-input"]
known = {**metrics.METRICS, **metrics.PROBABILITY_METRICS}
entries = [entry(f.__name__, f, f"`METRICS[\"{name}\"]`" if name in metrics.METRICS else
                 f"`PROBABILITY_METRICS[\"{name}\"]`") for name, f in known.items()]  # fmt: skip
Markdown("\n".join([*entries, entry("scorers", metrics.scorers)]))

# %% tags=["remove-input"]
from amol.report.provenance import footer

footer()
