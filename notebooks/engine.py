# %% [markdown]
# # The engine: exact, quick, hard to break
#
# One network of this study has two hidden layers of 128 units. A step of it takes less time than
# the interpreter needs between two steps, so a loop in Python spends most of its time on other
# things than arithmetic. Here a whole epoch is one compiled function: matrix products, loss,
# gradients and Adam, written for [Numba](https://numba.pydata.org). It holds no lock of the
# interpreter, so one process trains as many networks side by side as the machine has cores.
#
# This page shows three things: that a network comes out the same on every computer, how much time
# training takes, beside what you would write or take instead and beside what the machine can do at
# all, and what becomes of a study that is interrupted.

# %% tags=["parameters"]
sample: int = 3  # recorded runs to train again while this page is made, of each study
dataset: str = "Wine Red"  # data set of the live comparison with rivals
faults: int = 1  # faults to try again while this page is made
faults_seed: int = 0  # which of them, as a seed for drawing

# %%
import json
import subprocess
import sys

import numpy as np
import pandas as pd

from amol import engine
from companion import DATASETS
from companion.checks import bench
from companion.checks.baseline_loops import RIVALS
from companion.page import footer, say, show
from companion.paths import ROOT
from companion.studies import recordings
from companion.studies.grids import verify

if sample < 1 or faults < 1 or dataset not in DATASETS:
    raise ValueError(
        f"sample is {sample}, faults is {faults}, dataset is {dataset!r}; allowed: numbers of 1 or "
        f"more and one of {', '.join(DATASETS)}"
    )

# %% [markdown]
# ## The same bits
#
# A reader who trains a network of this book on another computer gets the same network: the same
# weights, to the last bit, and so the same tables. This part says why that is unusual, how it is
# done, and what was compared.
#
# ### Why nobody promises it
#
# A sum of floating-point numbers depends on its order. A library of matrix products picks the
# order that suits a processor: how many numbers fit into a register, how large the cache is,
# whether a product and a sum can be rounded once. Exponentials and logarithms come from libraries
# that agree to a last digit or two. Training then amplifies the last digit: two networks that
# differ by one bit after the first step differ visibly after fifty epochs. So PyTorch and its
# peers promise equal results on one platform at most.
#
# ### How bits stay equal
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

# %%
print(engine.arithmetic.__doc__)

# %% [markdown]
# ### What was compared

# %%
digests = pd.read_csv(recordings.folder() / "bits.csv")
table = digests.pivot(index="loss", columns="processor", values="digest")
table = table.loc[digests["loss"].unique(), digests["processor"].unique()]
same = table.nunique(axis=1) == 1
say(
    f"{len(same)} small trainings, of all kinds of losses that are compiled, with batches from one "
    "sample to all of them, one to four hidden layers, dropout and weight decay. Each digest, "
    "a fingerprint in a few letters, is that of the trained weights and of the predictions."
)
cells = pd.DataFrame({"Digest": table.iloc[:, 0], "Tried": table.count(axis=1).astype(str)})
cells["Equal on all"] = same.map({True: "yes", False: "no"})
show(
    "tab-bits", cells.rename_axis("Loss"), data=digests,
    caption="Digests of these trainings, and under how many instruction sets each was tried: "
    f"{', '.join(table.columns)}.",
)  # fmt: skip

# %%
rows = json.loads((recordings.folder() / "bits_rows.json").read_text())
say(
    f"{same.sum()} of the {len(same)} trainings have one digest everywhere. Of the recorded "
    f"studies {rows['compared']} runs, drawn at random, were also trained again by code compiled "
    "for SSE2 alone, without any instruction that is newer than 2003:",
    (rows["first_difference"] is None,
     "all ended with the recorded weights, bit for bit.",
     f"the first that differs is {rows['first_difference']}."),
)  # fmt: skip

# %% [markdown]
# ### And here

# %%
say(
    f"The recordings were made on {recordings.note('grid')['processor']}. This page trains a few "
    "runs of each long study again where it is made."
)

# %% tags=["show-input"]
checks = [verify(name, sample) for name in ("choices", "hundred_splits", "splits", "losses")]
tried = pd.concat([frame.assign(study=c.name) for frame, c in checks], ignore_index=True)

# %%
kept = ["study", "dataset", "method", "seed", "QWK recorded", "QWK retrained", "equal"]
shown = tried[kept].rename(columns=str.capitalize).set_index("Study")
show(
    "tab-bits-here", shown.astype(str), data=tried,
    caption="Recorded runs beside the same runs trained again on the machine that made this page.",
)  # fmt: skip
say(
    f"{tried['equal'].sum()} of {len(tried)} are equal. If some are not, the first page carries a "
    "note, and `amol check` ends with an error; the book is made all the same."
)

# %% [markdown]
# ## How quick it is
#
# A run gives the same bits alone or beside others and on any processor. That asks for a fixed order
# of every sum, and for no function of a mathematical library; it doesn't ask for time.
#
# ### Rivals

# %%
done = json.loads(bench.RECORDED.read_text(encoding="utf-8"))
engines, growth, scaling = (pd.DataFrame(done[name]) for name in ("engines", "growth", "scaling"))
missing = [name for name in RIVALS if engines[name].isna().all()]
say(
    "[Table engines](#tab-engines) compares the engine with six programs: the loop over a "
    "`DataLoader`, the same loop over batches taken by index, skorch, scikit-learn's "
    "`MLPClassifier`, `torch.func.vmap` over ten networks at once, and a whole training compiled "
    f"by JAX. All train networks of the same shape on the same data for {bench.EPOCHS} epochs on "
    f"one thread, where a run of the study has {recordings.load('grid')['epochs'].median():.0f} in "
    "the median. The first three take each of the paper's eight losses in turn, the others "
    "cross-entropy alone.",
    f"Not installed there: {', '.join(missing)}." if missing else "",
)  # fmt: skip
say(
    "All but skorch and scikit-learn, which draw their own, start from the engine's weights and "
    f"take its batches. They have the same networks: after {bench.SHORT} epochs, in half of them "
    f"no predicted probability differs by more than {engines['difference'].max():.0e}. Later the "
    "differences of rounding grow."
)
say(
    "The limits are the machine's. The floating-point operations of these trainings could be done "
    "at the rate of one large product of matrices, by PyTorch or by the engine's own function, "
    f"whichever is quicker: {engines['gflops'].max():.0f} · 10⁹ a second at best. The second limit "
    "takes the products at the sizes at which they occur, by PyTorch, with nothing between them; "
    "above 100 % the engine's whole training takes less time than these products alone. Engine, "
    "rival and limits are timed in turn, since what else a machine does changes its speed from one "
    "second to the next; ratios are of sums."
)

# %%
cases = engines.apply(lambda row: f"{row['dataset']}, {row['batch_size']}", axis=1)
columns = {
    "Engine, ms per epoch": engines["engine_ms"].map("{:.2f}".format),
    **{f"× {name}": engines[name].map("{:.1f}".format, na_action="ignore") for name in RIVALS},
    "Share of a large product's rate, %": (100 * engines["share"]).map("{:.0f}".format),
    "The products alone, % of the engine": (100 * engines["products_share"]).map("{:.0f}".format),
}
shown = pd.DataFrame(columns).set_axis(cases).T.fillna("–").rename_axis("Data set, batch size")
show(
    "tab-engines", shown, data=engines,
    caption="Processor time of the engine per network and epoch, and how many times as long each "
    "rival takes. The last two rows are the limits: the time at a large product's rate, and that "
    "of the products alone, as shares of the engine's time.",
)  # fmt: skip

# %% [markdown]
# [Table engine-aims](#tab-engine-aims) holds this against what the engine was built to reach, on
# the data set where it reaches least.

# %%
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
show(
    "tab-engine-aims", pd.DataFrame(rows).astype(str).set_index("Aim"),
    caption="The aims, and the least figure over the data sets. A figure close to its aim may fall "
    "on the other side the next time.",
)  # fmt: skip

# %% [markdown]
# ### How cost grows
#
# [Table engine-growth](#tab-engine-growth) varies one size of a data set or network and holds the
# others: 2,000 samples, 128 hidden units in each of two layers, 8 classes, batches of 256.

# %%
shown = pd.DataFrame({
    "Size": growth["value"].map("{:,}".format),
    "Milliseconds per epoch": growth["ms"].map("{:.2f}".format),
    "10⁹ operations a second": growth["gflops"].map("{:.0f}".format),
}).set_index(growth["what"].str.capitalize().rename("What grows"))  # fmt: skip
show(
    "tab-engine-growth", shown, data=growth,
    caption="Processor time of one network per epoch, and the rate of its products.",
)  # fmt: skip

# %% [markdown]
# ### Whole studies

# %%
study = done["study"]
say(
    f"A build trains {study['runs']} runs. On two threads of a new process that took "
    f"{study['seconds']:.0f} s by the clock, compiling included, and {study['peak_mb']:.0f} MB. "
    "[Table scaling](#tab-scaling) has longer studies, of two epochs per run."
)
shown = pd.DataFrame({
    "Runs": scaling["runs"].map("{:,}".format),
    "Seconds": scaling["seconds"].map("{:.0f}".format),
    "Milliseconds per run": (1e3 * scaling["seconds"] / scaling["runs"]).map("{:.0f}".format),
    "Memory, MB": scaling["peak_mb"].map("{:.0f}".format),
}).set_index(scaling["seeds"].rename("Seeds"))  # fmt: skip
show(
    "tab-scaling", shown, data=scaling,
    caption="`amol study --seeds N --epochs 2` with an empty store on two threads: seconds by the "
    "clock, start-up included, and the most memory held.",
)  # fmt: skip

# %% [markdown]
# ### Again, and checked

# %%
say(
    f"These figures were taken on {done['machine']}, torch {done['torch']}, {done['date']}, by "
    "`amol bench --record`; `make bench` takes them anew into `build/results/bench.json`. A ratio "
    "depends on the machine and on what else runs there, so a build doesn't repeat the whole "
    "bench. It repeats the comparison that makes it fair: after a short training with one loss the "
    "rivals must have the engine's networks, or this page fails."
)

# %% tags=["show-input"]
live = bench.compare(dataset, 256, methods=("CE",))
print(f"{dataset}: networks differ by {live['difference']:.0e} in a probability")
if live["difference"] > 1e-4:
    raise ValueError("the engine's networks are not those of its rivals")

# %% [markdown]
# ## What it survives
#
# A study of some hours will be interrupted at some time: by a lid that is closed, a full disk, a
# cluster that wants its node back. Here each of these is provoked for real, on a study of a few
# seconds. Then the same command is given again, and what it leaves is compared, byte for byte, with
# what an undisturbed study leaves.

# %% tags=["show-input"]
trials = pd.read_csv(recordings.folder() / "faults.csv")
of_each = trials.groupby("fault", sort=False).agg(
    says=("says", "first"), tried=("lost", "size"),
    kept=("kept", "sum"), again=("again", "sum"), lost=("lost", "sum"),
).reset_index()  # fmt: skip

# %%
say(
    f"{len(of_each)} faults were tried {len(trials)} times; {of_each['lost'].sum()} runs were "
    "lost. A run counts as lost if it is missing in the end or isn't the same bytes. *Kept* counts "
    "the runs that were stored when the fault struck, and *Again* those of them that had to be "
    f"trained a second time: {of_each['again'].sum()}, one for each file that was damaged on "
    "purpose."
)
cells = of_each.rename(columns=str.capitalize).set_index("Fault").drop(columns="Says")
show(
    "tab-faults", cells.astype(str), data=of_each,
    caption="Faults, how often each was tried, and what was lost.",
)  # fmt: skip

# %% [markdown]
# ### What you see then
#
# One line, not a traceback. These are the lines of the trials above; the numbers in them are those
# of one trial.

# %%
reached = bench.verdicts(done["engines"])["DataLoader loop"]
say(
    f"> **In short.** The engine trains networks to the same bits on every processor that was "
    f"tried: {same.sum()} of {len(same)} trainings have one digest everywhere. In the "
    f"recorded comparison it is {min(least for least, _ in reached.values()):.0f} "
    f"or more times as fast as a loop over a `DataLoader`. In {len(trials)} provoked interruptions "
    f"{of_each['lost'].sum()} runs were lost.",
    below="title",
)

# %%
for fault in of_each.itertuples():
    print(f"{fault.fault}\n    {fault.says}")

# %% [markdown]
# ### How nothing is lost
#
# - Each run is a file of its own, written under another name and renamed when it is whole. On a
#   cluster ([On several machines](../book/cluster.md)) that happens when the run comes back.
# - A file carries checksums of its values. One that is cut off or changed is trained again, and
#   the others are not touched.
# - Ctrl-C and SIGTERM end a study between two epochs. A process that is killed takes its threads
#   with it, so nothing is left running.
# - Results and keys depend on no clock, locale, folder or number of workers.
#
# ### Tried again

# %%
note = recordings.note("faults")
say(
    "Trying all of them takes too long for each build, so the table is a recording, made on "
    f"{note['recorded']} on {note['processor']} by `python tests/faults`. The tests try every "
    "fault. This page tries one again, or as many as you ask for, in a process of its own."
)

# %% tags=["show-input"]
quick = [fault for fault in of_each["fault"] if "random" in fault]
chosen = np.random.default_rng(faults_seed).choice(quick, min(faults, len(quick)), replace=False)
command = [sys.executable, str(ROOT / "tests" / "faults"), *chosen]
again = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
assert again.returncode == 0, again.stderr
for trial in json.loads(again.stdout):
    assert trial["lost"] == 0, trial
    print(f"{trial['fault']}: lost {trial['lost']}")

# %% tags=["remove-input"]
footer()
