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
# # The training engine
#
# One network of this study has two hidden layers of 128 units. A step of it takes less time than
# the interpreter needs between two steps, so a loop in Python spends most of its time on other
# things than arithmetic. Here a whole epoch is one compiled function: matrix products, loss,
# gradients and Adam, written for [Numba](https://numba.pydata.org). It holds no lock of the
# interpreter, so one process trains as many networks side by side as the machine has cores.
#
# A run gives the same bits alone or beside others and on any processor. That asks for a fixed order
# of every sum, and for no function of a mathematical library; it doesn't ask for time. This page
# shows how much time training takes, beside what you would write or take instead and beside what
# the machine can do at all.

# %% tags=["parameters"]
sample: str = "Wine Red"  # data set of the live check

# %%
import json

import pandas as pd

from companion import DATASETS
from companion.checks import bench
from companion.checks.baseline_loops import RIVALS
from companion.page import footer, show, show_numbers
from companion.studies import recordings

if sample not in DATASETS:
    raise ValueError(f"sample is {sample!r}; allowed: {', '.join(DATASETS)}")
done = json.loads(bench.RECORDED.read_text(encoding="utf-8"))
engines, growth, scaling = (
    pd.DataFrame(done[name]) for name in ("engines", "growth", "scaling")
)  # fmt: skip

# %% tags=["remove-cell"]
missing = [name for name in RIVALS if engines[name].isna().all()]
show_numbers(
    **{f"study_{name}": value for name, value in done["study"].items()},
    engine_epochs=bench.EPOCHS,
    engine_short=bench.SHORT,
    engine_usual=float(recordings.load("grid")["epochs"].median()),
    engine_gflops=float(engines["gflops"].max()),
    engine_difference=f"{engines['difference'].max():.0e}",
    engine_missing=f"Not installed there: {', '.join(missing)}." if missing else "",
    engine_machine=done["machine"],
    engine_torch=done["torch"],
    engine_date=done["date"],
)

# %% [markdown]
# ## Rivals
#
# [Table engines](#tab-engines) compares the engine with six programs: the loop over a `DataLoader`,
# the same loop over batches taken by index, skorch, scikit-learn's `MLPClassifier`,
# `torch.func.vmap` over ten networks at once, and a whole training compiled by JAX. All train
# networks of the same shape on the same data for {glue:text}`engine_epochs:d` epochs on one thread,
# where a run of the study has {glue:text}`engine_usual:.0f` in the median. The first three take
# each of the paper's eight losses in turn, the others cross-entropy alone.
# {glue:text}`engine_missing`
#
# All but skorch and scikit-learn, which draw their own, start from the engine's weights and take
# its batches. They have the same networks: after {glue:text}`engine_short:d` epochs, in half of
# them no predicted probability differs by more than {glue:text}`engine_difference`. Later the
# differences of rounding grow.
#
# The limits are the machine's. The floating-point operations of these trainings could be done at
# the rate of one large product of matrices, by PyTorch or by the engine's own function, whichever
# is quicker: {glue:text}`engine_gflops:.0f` · 10⁹ a second at best. The second limit takes the
# products at the sizes at which they occur, by PyTorch, with nothing between them; above 100 % the
# engine's whole training takes less time than these products alone. Engine, rival and limits are
# timed in turn, since what else a machine does changes its speed from one second to the next;
# ratios are of sums.

# %% tags=["remove-output"]
cases = engines.apply(lambda row: f"{row['dataset']}, {row['batch_size']}", axis=1)
columns = {
    "Engine, ms per epoch": engines["engine_ms"].map("{:.2f}".format),
    **{f"× {name}": engines[name].map("{:.1f}".format, na_action="ignore") for name in RIVALS},
    "Share of a large product's rate, %": (100 * engines["share"]).map("{:.0f}".format),
    "The products alone, % of the engine": (100 * engines["products_share"]).map("{:.0f}".format),
}
shown = pd.DataFrame(columns).set_axis(cases).T.fillna("–").rename_axis("Data set, batch size")
show("tab-engines", shown, engines)

# %% [markdown]
# ```{result} tab-engines
# Processor time of the engine per network and epoch, and how many times as long each rival takes.
# The last two rows are the limits: the time at a large product's rate, and that of the products
# alone, as shares of the engine's time.
# ```
#
# [Table engine-aims](#tab-engine-aims) holds this against what the engine was built to reach, on
# the data set where it reaches least.

# %% tags=["remove-output"]
names = {
    "share": "Share of a large product's rate",
    "DataLoader loop": "Times as fast as the DataLoader loop",
    "best other": "Times as fast as the best other rival",
}
rows = [
    {"Aim": names[name], "Batch size": size, "Wanted": bar, "Least": f"{least:.2f}",
     "Reached": "yes" if least >= bar else "no"}
    for name, found in bench.verdicts(done["engines"]).items()
    for size, (least, bar) in found.items()
]  # fmt: skip
show("tab-engine-aims", pd.DataFrame(rows).astype(str).set_index("Aim"))

# %% [markdown]
# ```{result} tab-engine-aims
# The aims, and the least figure over the data sets. A figure close to its aim may fall on the other
# side the next time.
# ```
#
# ## How cost grows
#
# [Table engine-growth](#tab-engine-growth) varies one size of a data set or network and holds the
# others: 2,000 samples, 128 hidden units in each of two layers, 8 classes, batches of 256.

# %% tags=["remove-output"]
shown = pd.DataFrame({
    "Size": growth["value"].map("{:,}".format),
    "Milliseconds per epoch": growth["ms"].map("{:.2f}".format),
    "10⁹ operations a second": growth["gflops"].map("{:.0f}".format),
}).set_index(growth["what"].str.capitalize().rename("What grows"))  # fmt: skip
show("tab-engine-growth", shown, growth)

# %% [markdown]
# ```{result} tab-engine-growth
# Processor time of one network per epoch, and the rate of its products.
# ```
#
# ## Whole studies
#
# A build trains {glue:text}`study_runs:d` runs. On two threads of a new process that took
# {glue:text}`study_seconds:.0f` s by the clock, compiling included, and
# {glue:text}`study_peak_mb:.0f` MB. [Table scaling](#tab-scaling) has longer studies, of two epochs
# per run.

# %% tags=["remove-output"]
shown = pd.DataFrame({
    "Runs": scaling["runs"].map("{:,}".format),
    "Seconds": scaling["seconds"].map("{:.0f}".format),
    "Milliseconds per run": (1e3 * scaling["seconds"] / scaling["runs"]).map("{:.0f}".format),
    "Memory, MB": scaling["peak_mb"].map("{:.0f}".format),
}).set_index(scaling["seeds"].rename("Seeds"))  # fmt: skip
show("tab-scaling", shown, scaling)

# %% [markdown]
# ```{result} tab-scaling
# `amol study --seeds N --epochs 2` with an empty store on two threads: seconds by the clock,
# start-up included, and the most memory held.
# ```
#
# ## Again, and checked
#
# These figures were taken on {glue:text}`engine_machine`, torch {glue:text}`engine_torch`,
# {glue:text}`engine_date`, by `amol bench --record`; `make bench` takes them anew into
# `build/results/bench.json`. A ratio depends on the machine and on what else runs there, so a
# build doesn't repeat the whole bench. It repeats the comparison that makes it fair: after a short
# training with one loss the rivals must have the engine's networks, or this page fails.

# %%
live = bench.compare(sample, 256, methods=("CE",))
print(f"{sample}: networks differ by {live['difference']:.0e} in a probability")
if live["difference"] > 1e-4:
    raise ValueError("the engine's networks are not those of its rivals")

# %% tags=["remove-input"]
footer()
