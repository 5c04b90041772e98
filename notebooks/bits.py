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
# # The same bits
#
# A reader who trains a network of this book on another computer gets the same network: the same
# weights, to the last bit, and so the same tables. This page says why that is unusual, how it is
# done, and what was compared.

# %% tags=["parameters"]
sample: int = 3  # recorded runs to train again while this page is made, of each study

# %%
import json

import pandas as pd

from amol import engine
from companion.page import footer, show, show_numbers
from companion.studies.recording_checks import verify
from companion.studies.recordings import folder, note

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")

# %% [markdown]
# ## Why nobody promises it
#
# A sum of floating-point numbers depends on its order. A library of matrix products picks the
# order that suits a processor: how many numbers fit into a register, how large the cache is,
# whether a product and a sum can be rounded once. Exponentials and logarithms come from libraries
# that agree to a last digit or two. Training then amplifies the last digit: two networks that
# differ by one bit after the first step differ visibly after fifty epochs. So PyTorch and its
# peers promise equal results on one platform at most.
#
# ## How it is done here
#
# - One compiled function trains a network. Every element of a product is one chain of fused
#   multiply-adds in a fixed order; how many elements are computed at once doesn't change any.
# - The exponential and the logarithm are polynomials of single operations that the IEEE 754
#   standard fixes. So do square root and division, which it fixes as well.
# - First weights and the order of samples come from NumPy's `RandomState`, whose stream its
#   developers have frozen.
# - A loss without a compiled gradient, such as your own, trains through PyTorch in the same loop.
#   Its bits are those of your machine, and the footer of a page says so.
#
# The order of every sum is written down in one place, so that it can be repeated in another
# language:

# %% tags=["remove-input"]
print(engine.arithmetic.__doc__)

# %% [markdown]
# ## What was compared
#
# {glue:text}`bits_cases:d` small trainings, of all kinds of losses that are compiled, with batches
# from one sample to all of them, one to four hidden layers, dropout and weight decay. Each digest
# is that of the trained weights and of the predictions.

# %% tags=["remove-output"]
digests = pd.read_csv(folder() / "bits.csv")
table = digests.pivot(index="loss", columns="processor", values="digest")
table = table.loc[digests["loss"].unique(), digests["processor"].unique()]
same = table.nunique(axis=1) == 1
cells = pd.DataFrame({"Digest": table.iloc[:, 0], "Tried": table.count(axis=1).astype(str)})
cells["Equal on all"] = same.map({True: "yes", False: "no"})
show("tab-bits", cells.rename_axis("Loss"), digests)

# %% tags=["remove-cell"]
rows = json.loads((folder() / "bits_rows.json").read_text())
show_numbers(
    bits_processors=", ".join(table.columns),
    bits_equal=int(same.sum()),
    bits_cases=len(same),
    bits_rows=rows["compared"],
    bits_rows_say="all ended with the recorded weights, bit for bit"
    if rows["first_difference"] is None
    else f"the first that differs is {rows['first_difference']}",
    grid_processor=note("grid")["processor"],
)

# %% [markdown]
# ```{result} tab-bits
# Digests of these trainings, and under how many instruction sets each was tried:
# {glue:text}`bits_processors`.
# ```
#
# {glue:text}`bits_equal:d` of the {glue:text}`bits_cases:d` trainings have one digest everywhere.
# Of the recorded studies {glue:text}`bits_rows:d` runs, drawn at random, were also trained again
# by code compiled for SSE2 alone, without any instruction that is newer than 2003:
# {glue:text}`bits_rows_say`.
#
# ## And here
#
# The recordings were made on {glue:text}`grid_processor`. This page trains a few runs of each
# long study again where it is made.

# %% tags=["remove-output"]
checks = [verify(name, sample) for name in ("choices", "ranking", "splits", "losses")]
tried = pd.concat([frame.assign(study=c.name) for frame, c in checks], ignore_index=True)
kept = ["study", "dataset", "method", "seed", "QWK recorded", "QWK retrained", "equal"]
shown = tried[kept].rename(columns=str.capitalize).set_index("Study")
show("tab-bits-here", shown.astype(str), tried)

# %% tags=["remove-cell"]
show_numbers(bits_here=f"{int(tried['equal'].sum())} of {len(tried)}")

# %% [markdown]
# ```{result} tab-bits-here
# Recorded runs beside the same runs trained again on the machine that made this page.
# ```
#
# {glue:text}`bits_here` are equal. If some are not, the first page carries a note, and
# `amol check` ends with an error; the book is made all the same.

# %% tags=["remove-input"]
footer()
