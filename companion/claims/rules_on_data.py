"""Rules for claims about the data files."""

import numpy as np

from amol.losses import center_class
from companion.claims.rules_on_runs import listed, rule
from companion.claims.verdicts import verdict
from companion.data.datasets import load_dataset

SIZES = {"Synthetic": (5000, 7), "Wine Red": (1599, 6), "Wine White": (4898, 7),
         "Abalone": (4177, 7)}  # fmt: skip
GRADES = {"Wine Red": range(3, 9), "Wine White": range(3, 10)}
ENOUGH_SAMPLES = 20  # the paper's Section 3.1: below, it reports CHR_ext


@rule
def middle_minimizes(evidence, claim):
    flags, texts = [], []
    for name in claim.datasets:
        data = load_dataset(name)
        best = int(np.argmin([np.abs(data.y - k).mean() for k in range(data.num_classes)]))
        flags.append(best in ((data.num_classes - 1) // 2, data.num_classes // 2))
        texts.append(f"{name} {best} of 0 to {data.num_classes - 1}")
    return verdict(clear=all(flags), partly=any(flags)), f"best constant class: {', '.join(texts)}"


@rule
def dataset_sizes(evidence, claim):
    loaded = {name: load_dataset(name) for name in claim.datasets}
    off = [name for name, d in loaded.items() if (len(d.y), d.num_classes) != SIZES[name]]
    text = f"other sizes: {', '.join(off)}" if off else "all eight figures are met"
    return verdict(clear=not off, partly=len(off) < len(loaded)), text


@rule
def quality_grades(evidence, claim):
    grades = {name: load_dataset(name).class_names for name in claim.datasets}
    flags = [found == tuple(map(str, GRADES[name])) for name, found in grades.items()]
    texts = [f"{name} {', '.join(found)}" for name, found in grades.items()]
    return verdict(clear=all(flags), partly=any(flags)), "; ".join(texts)


@rule
def abalone_extreme_samples(evidence, claim):
    count = evidence.test_counts("Abalone")[[0, -1]].sum()
    off = abs(count / 266 - 1)
    return verdict(clear=off <= 0.01, partly=off <= 0.1), f"{count} samples"


@rule
def wine_red_extreme_samples(evidence, claim):
    count = evidence.test_counts("Wine Red")[[0, -1]].sum()
    return verdict(clear=4 <= count <= 6, partly=count < ENOUGH_SAMPLES), f"{count} samples"


@rule
def abalone_only_enough(evidence, claim):
    counts = {name: evidence.test_counts(name)[[0, -1]].sum() for name in claim.datasets}
    enough = {name for name, count in counts.items() if count >= ENOUGH_SAMPLES}
    return verdict(clear=enough == {"Abalone"}, partly="Abalone" in enough), listed(counts, "d")


@rule
def center_heavy_gains(evidence, claim):
    flags, texts = [], []
    for name in claim.datasets:
        data = load_dataset(name)
        shares = np.bincount(data.y) / len(data.y)
        center = center_class(data.num_classes)
        flags.append(shares.argmax() == center)
        texts.append(f"{name} center {shares[center]:.3f}, largest {shares.max():.3f}")
    return verdict(clear=all(flags), partly=any(flags)), "; ".join(texts)
