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
# (sec-faults)=
# # What it survives
#
# A study of some hours will be interrupted at some time: by a lid that is closed, a full disk, a
# cluster that wants its node back. Here each of these is provoked for real, on a study of a few
# seconds. Then the same command is given again, and what it leaves is compared, byte for byte, with
# what an undisturbed study leaves.

# %% tags=["parameters"]
sample: int = 2  # faults to try again while this page is made
sample_seed: int = 0  # which of them, as a seed for drawing

# %%
import json
import subprocess
import sys

import numpy as np

from amol.checks.faults import load, summarize
from amol.paper.recordings import note
from amol.report import footer, show, show_numbers

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")
trials = load()
faults = summarize(trials)

# %% tags=["remove-cell"]
show_numbers(
    faults_count=len(faults),
    faults_tried=len(trials),
    faults_lost=int(faults["lost"].sum()),
    faults_again=int(faults["again"].sum()),
    faults_machine=note("faults")["processor"],
    faults_recorded=note("faults")["recorded"],
    faults_minutes=note("faults")["seconds"] / 60,
)

# %% [markdown]
# {glue:text}`faults_count:d` faults were tried {glue:text}`faults_tried:d` times;
# {glue:text}`faults_lost:d` runs were lost. A run counts as lost if it is missing in the end or
# isn't the same bytes. *Again* counts stored runs that had to be trained a second time:
# {glue:text}`faults_again:d`, all of them where the store itself was damaged. Such a file is set
# aside and kept; since it can't be trusted any more, none of its runs are taken over. *Seconds* is
# the longest that it took until all runs were there again.

# %% tags=["remove-output"]
cells = faults.rename(columns=str.capitalize).set_index("Fault").drop(columns="Says")
cells["Seconds"] = cells["Seconds"].map("{:.1f}".format)
show("tab-faults", cells.astype(str), faults)

# %% [markdown]
# ```{result} tab-faults
# Faults, how often each was tried, and what it cost.
# ```
#
# ## What you see then
#
# One line, not a traceback. These are the lines of the trials above; the numbers in them are those
# of one trial.

# %% tags=["remove-input"]
for fault in faults.itertuples():
    print(f"{fault.fault}\n    {fault.says}")

# %% [markdown]
# ## How it is done
#
# - Each run goes to the store, an SQLite file, in one transaction, the moment it ends. On a cluster
#   ({ref}`sec-cluster`) that is when its stack comes back.
# - A row carries a sum of its values. A store with a row that doesn't match, with a page missing or
#   of another schema is renamed, with its journal, and a new one begun.
# - Worker processes look every fifth of a second whether the process that started them is still
#   there, and end if it isn't. Ctrl-C and SIGTERM end them at once.
# - If a worker dies, what it had stored is kept and the rest given to a new one; after the fourth
#   death the study stops with a line.
# - Results and keys depend on no clock, locale, folder or number of workers.
#
# ## Tried again
#
# The whole drill takes too long for each build, so the table is a recording, made on
# {glue:text}`faults_recorded` in {glue:text}`faults_minutes:.1f` minutes on
# {glue:text}`faults_machine` by `python -m amol.checks.faults`. The tests try every fault. This
# page tries a few again, in a process of their own.

# %%
quick = [fault for fault in faults["fault"] if "store" in fault or "random" in fault]
chosen = np.random.default_rng(sample_seed).choice(quick, min(sample, len(quick)), replace=False)
command = [sys.executable, "-m", "amol.checks.faults", *chosen]
done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
assert done.returncode == 0, done.stderr
for trial in json.loads(done.stdout):
    assert trial["lost"] == 0, trial
    print(f"{trial['fault']}: lost {trial['lost']}")

# %% tags=["remove-input"]
footer()
