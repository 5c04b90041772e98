# %% [markdown]
# # Reference of losses and metrics
#
# > **In short.** Every loss and metric of the package `amol` with its formula, source, arguments
# > and an example, made from the docstrings of the installed package.
#
# [Use it in your own training](training.ipynb)
# shows them at work, [Table conformance](losses.ipynb#tab-conformance) what each loss withstands.

# %% tags=["parameters"]
private: bool = False  # list methods that start with an underscore as well

# %%
import inspect

from IPython.display import Markdown

from amol import losses, metrics
from companion.page import footer


# %%
def entry(name, thing, note=""):
    """Signature and docstring of one function or class, as Markdown."""
    text = inspect.getdoc(thing) or ""
    signature = str(inspect.signature(thing)).partition(" ->")[0]
    return f"**`{name + signature}`** {note}\n\n```text\n{text}\n```\n"


def members(cls):
    """Documented methods of a class, in the order of its source."""
    for name, thing in vars(cls).items():
        if inspect.isfunction(thing) and thing.__doc__ and (private or name[0] != "_"):
            yield f"{cls.__name__}.{name}", thing


# %% [markdown]
# ## What all losses share

# %%
base = losses.OrdinalLoss
Markdown("\n".join([entry("OrdinalLoss", base), *(entry(*pair) for pair in members(base))]))

# %% [markdown]
# ## Losses

# %%
entries = [entry(cls.__name__, cls, f'`LOSSES["{name}"]`') for name, cls in losses.LOSSES.items()]
Markdown("\n".join(entries))

# %% [markdown]
# ## Functions and tables behind them

# %%
functions = {name: getattr(losses, name) for name in losses.__all__}
entries = [entry(name, f) for name, f in functions.items() if inspect.isfunction(f)]
Markdown("\n".join(entries))

# %% [markdown]
# ## Metrics
#
# A run has a column for each metric of `METRICS` and `PROBABILITY_METRICS`; those of `MORE_METRICS`
# and `MORE_PROBABILITY_METRICS` are for use. All take `sample_weight`, shape (N,): a weight of 2
# counts as the sample twice, one of 0 as no sample, so that a rate whose samples all weigh 0 is
# nan. `HIGHER_IS_BETTER` says which way is better, `center_rate` apart. In formulas $M_{ij}$ is the
# number or the weight of the samples of class $i$ predicted as $j$, and $n$ their total.

# %%
tables = {name: known for name, known in vars(metrics).items() if name.endswith("METRICS")}
entries = [entry(f.__name__, f, f'`{table}["{name}"]`')
           for table, known in tables.items() for name, f in known.items()]  # fmt: skip
Markdown("\n".join([*entries, entry("scorers", metrics.scorers)]))

# %% tags=["remove-input"]
footer()
