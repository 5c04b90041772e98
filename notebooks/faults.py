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
# # What it survives
#
# A study of some hours will be interrupted at some time: by a lid that is closed, a full disk, a
# cluster that wants its node back. Here each of these is provoked for real, on a study of a few
# seconds. Then the same command is given again, and what it leaves is compared, byte for byte, with
# what an undisturbed study leaves.

# %% tags=["parameters"]
sample: int = 1  # faults to try again while this page is made
sample_seed: int = 0  # which of them, as a seed for drawing

# %%
import json
import subprocess
import sys

import numpy as np
import pandas as pd

from companion.page import footer, show, show_numbers
from companion.paths import ROOT
from companion.studies.recordings import folder, note

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")
trials = pd.read_csv(folder() / "faults.csv")
faults = trials.groupby("fault", sort=False).agg(
    says=("says", "first"), tried=("lost", "size"),
    kept=("kept", "sum"), again=("again", "sum"), lost=("lost", "sum"),
).reset_index()  # fmt: skip

# %% tags=["remove-cell"]
show_numbers(
    faults_count=len(faults),
    faults_tried=len(trials),
    faults_lost=int(faults["lost"].sum()),
    faults_again=int(faults["again"].sum()),
    faults_machine=note("faults")["processor"],
    faults_recorded=note("faults")["recorded"],
)

# %% [markdown]
# {glue:text}`faults_count:d` faults were tried {glue:text}`faults_tried:d` times;
# {glue:text}`faults_lost:d` runs were lost. A run counts as lost if it is missing in the end or
# isn't the same bytes. *Kept* counts the runs that were stored when the fault struck, and *Again*
# those of them that had to be trained a second time: {glue:text}`faults_again:d`, one for each
# file that was damaged on purpose.

# %% tags=["remove-output"]
cells = faults.rename(columns=str.capitalize).set_index("Fault").drop(columns="Says")
show("tab-faults", cells.astype(str), faults)

# %% [markdown]
# ```{result} tab-faults
# Faults, how often each was tried, and what was lost.
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
# - Each run is a file of its own, written under another name and renamed when it is whole. On a
#   cluster ([???](../book/cluster.md)) that happens when the run comes back.
# - A file carries checksums of its values. One that is cut off or changed is trained again, and
#   the others are not touched.
# - Ctrl-C and SIGTERM end a study between two epochs. A process that is killed takes its threads
#   with it, so nothing is left running.
# - Results and keys depend on no clock, locale, folder or number of workers.
#
# ## Tried again
#
# Trying all of them takes too long for each build, so the table is a recording, made on
# {glue:text}`faults_recorded` on {glue:text}`faults_machine` by `python tests/faults`. The tests
# try every fault. This page tries one again, or as many as you ask for, in a process of its own.

# %%
quick = [fault for fault in faults["fault"] if "random" in fault]
chosen = np.random.default_rng(sample_seed).choice(quick, min(sample, len(quick)), replace=False)
command = [sys.executable, str(ROOT / "tests" / "faults"), *chosen]
done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
assert done.returncode == 0, done.stderr
for trial in json.loads(done.stdout):
    assert trial["lost"] == 0, trial
    print(f"{trial['fault']}: lost {trial['lost']}")

# %% tags=["remove-input"]
footer()
