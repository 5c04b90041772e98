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
# (sec-engine)=
# # The training engine
#
# One network of this study has two hidden layers of 128 units. A step of it is over before the
# interpreter has found its next instruction, so a loop that trains one network after another
# spends most of its time on anything but arithmetic. Here ten networks take each step together:
# a *stack* whose products of matrices are batched, with one call of Adam for all. Gradients are
# written out by hand, those of the paper's losses too; other losses, and those with class weights,
# are left to autograd. The tests compare them. All else runs in PyTorch's inference mode, which
# spares each call the bookkeeping of gradients. Every run keeps its own loss, random generator,
# batch order, early stop and best weights, and leaves the stack when it is done.
#
# That must not change what comes out. A run gives the same bits alone, in any stack, with any
# number of workers; the tests compare those as well. This page shows what the stack saves, and
# what it doesn't.

# %% tags=["parameters"]
sample: str = "Wine Red"  # data set of the live check
epochs: int = 2  # epochs of the live check

# %%
import json

import pandas as pd

from amol.checks import bench
from amol.experiments import DATASETS
from amol.experiments.training import Protocol
from amol.report import footer, show, show_numbers

if sample not in DATASETS:
    raise ValueError(f"sample is {sample!r}; allowed: {', '.join(DATASETS)}")
if epochs < 1:
    raise ValueError(f"epochs is {epochs}; allowed: 1 or more")
done = json.loads(bench.RECORDED.read_text(encoding="utf-8"))
engines, study, scaling = (
    pd.DataFrame(done["engines"]), done["study"], pd.DataFrame(done["scaling"])
)  # fmt: skip

# %% tags=["remove-cell"]
own = engines[engines["batch_size"] == Protocol.batch_size]
show_numbers(
    **{f"engine_{name}": share for name, share in bench.verdicts(engines).items()},
    **{f"study_{name}": value for name, value in study.items()},
    engine_batch=Protocol.batch_size,
    engine_small_batch=bench.BATCH_SIZES[0],
    engine_limit_low=float(own["limit_ratio"].min()),
    engine_limit_high=float(own["limit_ratio"].max()),
    engine_needed=float(bench.BARS["dataloader_ratio"] / own["limit_ratio"].max()),
    engine_gflops=float(engines["gemm_gflops"].max()),
    engine_networks=int(engines["runs"].iloc[0]),
    engine_epochs=int(engines["epochs"].iloc[0]),
    engine_difference=f"{engines['difference'].max():.0e}",
    engine_machine=done["machine"],
    engine_torch=done["torch"],
    engine_date=done["date"],
)

# %% [markdown]
# ## Against the usual loops
#
# {numref}`tab-engines` sets the stack beside three programs that a user would write: the loop over
# a `DataLoader`, the same loop over batches taken by index, and skorch. All train the same
# {glue:text}`engine_networks:d` networks (eight losses, five seeds) for
# {glue:text}`engine_epochs:d` epochs, from the same first weights, on the same batches, in turn, on
# one thread, and all end with the same networks: no predicted probability differs by more than
# {glue:text}`engine_difference`. The yardstick on the other side is the machine itself. The
# floating-point operations of those steps, at the rate of one large product of matrices
# ({glue:text}`engine_gflops:.0f` · 10⁹ a second here at best), give the time that nothing can pass.
# What else a machine does changes its speed from one second to the next. So the stack is timed anew
# before every single run of another engine, the table divides sums, and all of it was done twice.
# The share of the limit is given by the best rate of all, which counts every slow spell against the
# stack, and by the rate in the moment before each stack.

# %% tags=["remove-output"]
shown = pd.DataFrame({
    "Stack, ms": bench.span(engines, "stack_ms"),
    "DataLoader": bench.span(engines, "dataloader_ratio"),
    "Index": bench.span(engines, "index_ratio"),
    "skorch": bench.span(engines, "skorch_ratio"),
    "Limit": bench.span(engines, "limit_ratio"),
    "Share of limit, %": bench.span(engines, "gemm_share", 0, 100),
    "Share then, %": bench.span(engines, "gemm_share_beside", 0, 100),
    "Memory, MB": bench.span(engines, "peak_mb", 0),
}).rename_axis(["Data set", "Batch"]).reset_index("Batch")  # fmt: skip
show("tab-engines", shown, engines)

# %% [markdown]
# ```{result} tab-engines
# Processor time of the stack per network and epoch, and how many times as long the others take:
# least and most of two runs. *Limit* is how many times as long as the limit the `DataLoader` loop
# takes: the largest ratio that any engine could reach. The shares are the limit's time over the
# stack's, by the best rate and by the moment's. The memory is that of a process that trains one
# stack and no more.
# ```
#
# The engine was built with three aims: ten times as fast as the `DataLoader` loop, four times as
# fast as the index loop, and at least 35 % of the limit, by the best rate. Of the rows of
# {numref}`tab-engines`, {glue:text}`engine_dataloader_ratio` reach the first aim in both runs,
# {glue:text}`engine_index_ratio` the second and {glue:text}`engine_gemm_share` the third. A
# verdict next to its bar could fall otherwise tomorrow. With this study's batches of
# {glue:text}`engine_batch:d` the `DataLoader` loop takes only {glue:text}`engine_limit_low:.1f` to
# {glue:text}`engine_limit_high:.1f` times as long as the limit, so the first aim would ask for
# {glue:text}`engine_needed:.0%` or more of what the machine can do at all. The smaller the batch,
# the more a loop of one network loses between its steps, and the more a stack saves; hence the
# rows for batches of {glue:text}`engine_small_batch:d`.
#
# What holds the stack back is the processor's cache. In a batch of {glue:text}`engine_batch:d` the
# activations of ten networks take four megabytes, eight times the second-level cache of the machine
# below, so every product meets its operands a level further out than the large product does. One
# network at a time would fit, but then each call of PyTorch, whose own code has been driven out of
# the cache meanwhile, serves one network alone. We tried stacks of 1, 4, 5, 8, 13 and 20, parts of
# a stack taken forward and back in turn, memory in large pages, NumPy's products of matrices
# instead of PyTorch's, and one network at a time in a loop compiled by Numba: none was clearly
# faster, the last slower by a fifth.
#
# ## The whole study
#
# `amol study` trained the paper's {glue:text}`study_runs:d` runs on two processes in
# {glue:text}`study_seconds:.0f` s by the clock, start-up included, and held
# {glue:text}`study_peak_mb:.0f` MB at most in all its processes together. The `DataLoader` loop on
# two processes would take {glue:text}`study_dataloader_seconds:.0f` s for the same epochs, which
# is {glue:text}`study_study_ratio:.1f` times as long.
#
# ## From 160 runs to 3,200

# %% tags=["remove-output"]
shown = pd.DataFrame({
    "Runs": scaling["runs"],
    "Seconds": scaling["seconds"].map("{:.0f}".format),
    "Milliseconds a run": (1e3 * scaling["seconds"] / scaling["runs"]).map("{:.0f}".format),
    "Memory, MB": scaling["peak_mb"].map("{:.0f}".format),
}).set_index(scaling["seeds"].rename("Seeds"))  # fmt: skip
show("tab-scaling", shown, scaling)

# %% [markdown]
# ```{result} tab-scaling
# `amol study --seeds N --epochs 2` with an empty store on two processes: seconds by the clock, and
# the most memory that its processes held together.
# ```
#
# ## Again, and checked
#
# These figures were taken on {glue:text}`engine_machine`, torch {glue:text}`engine_torch`,
# {glue:text}`engine_date`, by `amol bench --record`; `make bench` takes them anew into
# `build/results/bench.json`. A ratio depends on the machine and on what else runs there, so a
# build doesn't repeat the whole bench. It repeats the comparison that makes it fair: a short run of
# every engine must end with the same networks, or this page fails.

# %% tags=["remove-output"]
live = bench.compare(sample, Protocol.batch_size, seeds=1, epochs=epochs, every=bench.CHUNK)
if live["difference"] > 1e-3:
    raise ValueError(f"the engines differ by {live['difference']:.2g} in a probability")
shown = pd.DataFrame({
    "Networks": [live["runs"]],
    "Epochs": [live["epochs"]],
    "Largest difference": [f"{live['difference']:.0e}"],
    "DataLoader": [f"{live['dataloader_ratio']:.1f}×"],
    "Index": [f"{live['index_ratio']:.1f}×"],
}, index=pd.Index([sample], name="Data set"))  # fmt: skip
show("tab-engines-live", shown)

# %% [markdown]
# ```{result} tab-engines-live
# All engines in this build, beside whatever else was running: the largest difference of a predicted
# probability from the stack's, and the times over the stack's.
# ```

# %% tags=["remove-input"]
footer()
