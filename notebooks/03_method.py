# %% [markdown]
# # Method: a number for hedging, a loss against it
#
# > **In short.** The *center-hedging rate*, CHR, is the share of samples from both ends of the
# > scale that are called the center. *AMOL* compares the network's answer with a bell-shaped target
# > around the label and multiplies each class's term by a weight, which is large only where the
# > label is at an end and the class near the center. One number, $\alpha$, says how strong it is.
#
# The method has two parts: the center-hedging rate, which measures the fault, and AMOL, which
# penalizes it. Both rest on one idea, the [center](../book/glossary.md#term-center-class) of the
# scale. For $K$ classes it is
#
# <a id="eq-center"></a>
#
# $$
# c = \frac{K-1}{2} . \tag{center}
# $$
#
# With an odd number of classes $c$ is a class. With an even number it falls between two; then the
# weights below keep the exact $c$, and where a single class is needed this book takes the lower of
# the two middle ones, $\lfloor c \rfloor$, which is the choice that fits the paper's numbers for
# Wine Red ($K = 6$).

# %% tags=["parameters"]
alpha: float = 1.0  # strength of the weight, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0

# %%
from itertools import product

import numpy as np
import pandas as pd
import torch

from amol.losses import LOSSES, center_class, center_weight, gaussian_log_target
from amol.metrics import center_hedging_rate
from companion import StudySettings
from companion.page import figures, footer, say, show

settings = StudySettings(alpha=alpha, sigma=sigma)
num_classes = 7
center = center_class(num_classes)

# %% [markdown]
# ## The center-hedging rate
#
# Of the samples whose true class is an [end](../book/glossary.md#term-extreme-class) of the scale,
# what share is called the center class?
#
# <a id="eq-chr"></a>
#
# $$
# \text{CHR} = P\bigl( \arg\max \hat y = c \bigm| y \in \{0,\, K-1\} \bigr) . \tag{chr}
# $$
#
# Where the outermost classes hold too few test samples (the paper says fewer than 20), two classes
# on each side are pooled:
#
# <a id="eq-chr-ext"></a>
#
# $$
# \text{CHR}_{\text{ext}}
#   = P\bigl( \arg\max \hat y = c \bigm| y \in \{0,\, 1,\, K-2,\, K-1\} \bigr) . \tag{chr-ext}
# $$
#
# By hand, with twelve samples of seven classes, center class 3:

# %% tags=["show-input"]
y_true = np.array([0, 0, 0, 6, 6, 1, 5, 5, 3, 3, 2, 4])
y_pred = np.array([0, 3, 1, 6, 3, 3, 5, 4, 3, 2, 3, 3])

outermost = (y_true == 0) | (y_true == 6)
pooled = outermost | (y_true == 1) | (y_true == 5)
hedged, hedged_ext = y_pred[outermost] == 3, y_pred[pooled] == 3

assert hedged.mean() == center_hedging_rate(y_true, y_pred, num_classes)
assert hedged_ext.mean() == center_hedging_rate(y_true, y_pred, num_classes, extremes=2)
print(f"CHR     = {hedged.sum()} of {outermost.sum()} = {hedged.mean():.3f}")
print(f"CHR_ext = {hedged_ext.sum()} of {pooled.sum()} = {hedged_ext.mean():.3f}")

# %% [markdown]
# The last four samples lie outside both pools: what is predicted for true classes 2, 3 and 4
# doesn't enter. In particular CHR never asks whether samples *of the center class* are still found.
# The [discussion](07_discussion.ipynb) comes back to that.
#
# ## The weight
#
# How extreme a label is, from 0 at the center to 1 at an end:
#
# <a id="eq-delta"></a>
#
# $$
# \delta(y) = \frac{|y - c|}{c} . \tag{delta}
# $$
#
# How near a candidate class $k$ is to the center: $1 - |k-c|/c$, from 1 at the center to 0 at an
# end. The weight multiplies the two, so it is large only when the candidate is near the center and
# the label is extreme:
#
# <a id="eq-weight"></a>
#
# $$
# m(k, y) = 1 + \alpha \cdot \Bigl( 1 - \frac{|k-c|}{c} \Bigr) \cdot \frac{|y-c|}{c} .
# \tag{weight}
# $$
#
# The asymmetric variant, AMOL-asym, keeps this [weight](../book/glossary.md#term-weight) only on
# the way inward:
#
# <a id="eq-weight-asym"></a>
#
# $$
# m_{\text{asym}}(k, y) =
#   \begin{cases}
#     m(k, y) & \text{if } y < k \le c \text{ or } c \le k < y , \\
#     1 & \text{otherwise.}
#   \end{cases} \tag{weight-asym}
# $$
#
# The paper's reason: a network in doubt may then spread probability to the far side without an
# extra penalty, but not pile it up in the center. [Figure weight](#fig-weight) draws both; [Figure
# explorer-loss](explorer.ipynb#fig-explorer-loss) does with sliders for everything that enters.

# %%
variants = {"AMOL: both directions": "both", "AMOL-asym: inward only": "inward"}
weights = pd.DataFrame(
    {"panel": name, "name": f"$y = {label}$", "k": k, "value": float(table[label, k])}
    for name, direction in variants.items()
    for table in [center_weight(num_classes, alpha, direction=direction)]
    for label in (0, num_classes - 2, center)
    for k in range(num_classes)
)
show(
    "fig-weight", figures.class_lines(weights, "weight $m(k, y)$"), data=weights,
    caption="The weight $m(k, y)$ of [(weight)](#eq-weight) for three true labels $y$ (the paper's "
    "Figure 1). Above, AMOL's weight acts on both sides of the center. Below, AMOL-asym's acts "
    "only between the label and the center.",
    alt="Two panels of the weight against the candidate class. In the upper one, for AMOL, the "
    "weight is a tent that peaks at the center class, tall for a true label at the end, lower for "
    "one next to the other end and flat at 1 for the center label. In the lower one, for "
    "AMOL-asym, each tent keeps only the slope between the true label and the center.",
)  # fmt: skip

# %% [markdown]
# ### Four properties, checked
#
# The paper states four properties of $m$. [Table properties](#tab-properties) evaluates each on the
# weights themselves, for $K$ from 3 to 12 and several strengths, odd and even $K$ apart. The fifth
# row is not in the paper; it is there because the fourth is easily read that way.

# %% tags=["show-input"]
checks = {
    "$\\alpha = 0$: weight 1 everywhere": lambda m, c, a: (center_weight(len(m), 0) == 1).all(),
    "$y = c$: weight 1 for every $k$": lambda m, c, a: (m[c] == 1).all(),
    "$y$ extreme, $k = c$: the largest weight": lambda m, c, a: (m[[0, -1], c] == m.max()).all(),
    "$y$ extreme, $k = y$: weight 1": lambda m, c, a: m[0, 0] == m[-1, -1] == 1,
    "any $y$, $k = y$: weight 1": lambda m, c, a: (m.diagonal() == 1).all(),
}
grids = {"Odd K": range(3, 13, 2), "Even K": range(4, 13, 2)}
verdicts = pd.DataFrame(index=pd.Index(checks, name="Property"), columns=list(grids))
for (name, check), (parity, sizes) in product(checks.items(), grids.items()):
    grid = [(center_weight(k, a), center_class(k), a) for k in sizes for a in (0.5, 1.0, 3.0)]
    verdicts.loc[name, parity] = "holds" if all(check(*point) for point in grid) else "fails"

# %%
show(
    "tab-properties", verdicts,
    caption="Properties of $m(k, y)$, evaluated on the weights. At even $K$ the center class is "
    "the lower of the two middle ones.",
)  # fmt: skip
beside, even = center_weight(num_classes, alpha)[1, 1], center_weight(6, alpha)[center_class(6)]
say(
    "Two remarks. At even $K$ no label is the center, so the second property does not apply: the "
    f"lower middle class is half a step off and has a weight of up to {even.max():.2f} at "
    "$K = 6$. And only the two outermost classes have weight 1 when predicted correctly. For class "
    f"1 of {num_classes} the right class itself has weight {beside:.2f}, because it is neither at "
    "the end nor at the center."
)

# %% [markdown]
# ## The loss
#
# AMOL compares the network's distribution with the Gaussian target $p$ of
# [(sord)](02_background.ipynb#eq-sord), by the Kullback–Leibler divergence, and weights each
# class's term:
#
# <a id="eq-amol"></a>
#
# $$
# \mathcal L_{\text{AMOL}}(y, \hat y)
#   = \sum_{k=0}^{K-1} m(k, y) \; \hat y_k \log \frac{\hat y_k}{p_k} ,
# \qquad p_k \propto \exp\Bigl( -\frac{(k-y)^2}{2\sigma^2} \Bigr) . \tag{amol}
# $$
#
# With $\alpha = 0$ it is $D_{\text{KL}}(\hat y \,\|\, p)$, which this book calls `KL` and runs as a
# control. Mind the direction: SORD is, up to a constant, $D_{\text{KL}}(p \,\|\, \hat y)$, the
# *forward* divergence, an average under the target; this is the *reverse* one, an average under the
# network's own distribution. [Figure directions](#fig-directions) moves half of the probability
# from the target to one class after another.

# %% tags=["show-input"]
target = gaussian_log_target(num_classes, sigma)[0].exp()  # true label 0
moved = (target + torch.eye(num_classes, dtype=torch.float64)) / 2  # row k: half of it in class k
forward = (target * (target / moved).log()).sum(1)
reverse = (moved * (moved / target).log()).sum(1)


# %%
def lines(panel, values):
    """Rows for a figure: one line per name, with a value per class."""
    return [{"panel": panel, "name": name, "k": k, "value": float(value)}
            for name, line in values.items() for k, value in enumerate(line)]  # fmt: skip


# %%
spreads = {"half in the center": moved[center], "target $p$": target}
both = {"reverse": reverse, "forward": forward}
directions = pd.DataFrame(lines("probability", spreads) + lines("divergence", both))
show(
    "fig-directions", figures.class_lines(directions, log=("probability",)), data=directions,
    caption="The target for true label 0, and the same with half of its probability moved to the "
    "center; then the reverse divergence (AMOL's base) and the forward one (SORD), against the "
    "class that gets the half.",
    alt="Two panels over the classes. In one, on a logarithmic axis, the Gaussian target of label "
    "0 and the same with half of the probability moved to the center. In the other, both "
    "divergences against the class that gets the half: the forward one is nearly flat from the "
    "center on, the reverse one rises up to the far end.",
)  # fmt: skip
say(
    (forward[-1] - forward[center] < 0.1 and (reverse.diff() > 0).all(),
     "The forward divergence asks what is missing where the target is: half of the probability, "
     f"whether that lies in the center ({forward[center]:.2f}) or at the far end "
     f"({forward[-1]:.2f}). The reverse one asks what was put where the target has next to "
     f"nothing, and grows with every step away from the label ({reverse[center]:.2f} and "
     f"{reverse[-1]:.2f})."),
    "Neither singles out the center; the weight does.",
)  # fmt: skip

# %% [markdown]
# The paper counts one hyperparameter, $\alpha$. The width $\sigma$ of the target is a second one:
# the paper sets it to 1 and doesn't vary it.
#
# [Table terms](#tab-terms) computes the loss of one prediction by hand.

# %% tags=["show-input"]
predicted = torch.tensor([0.30, 0.20, 0.15, 0.20, 0.08, 0.05, 0.02], dtype=torch.float64)
weight = center_weight(num_classes, alpha)[0]
divergence = predicted * (predicted / target).log()
by_hand = (weight * divergence).sum()

loss = LOSSES["AMOL"](num_classes=num_classes, alpha=alpha, sigma=sigma)
assert torch.isclose(by_hand, loss(predicted.log(), torch.tensor(0)))

# %%
terms = pd.DataFrame(
    {"Class": range(num_classes), "Target p": target, "Predicted ŷ": predicted,
     "ŷ log(ŷ/p)": divergence, "Weight m": weight, "m ŷ log(ŷ/p)": weight * divergence}
)  # fmt: skip
cells = terms.set_index(terms["Class"].astype(str)).drop(columns="Class")
cells = cells.map(lambda number: f"{number:.3f}".replace("-", "−"))
sums = {"ŷ log(ŷ/p)": divergence.sum(), "m ŷ log(ŷ/p)": by_hand}
cells.loc["**Sum**"] = [f"**{sums[c]:.3f}**" if c in sums else "" for c in cells.columns]
show(
    "tab-terms", cells, data=terms,
    caption=rf"AMOL of one prediction for true label 0, term by term ($\alpha$ = {alpha:g}, "
    rf"$\sigma$ = {sigma:g}).",
)  # fmt: skip
say(
    f"Unweighted, the loss of the prediction is {divergence.sum():.3f}; with the weight, "
    f"{by_hand:.3f}. A term is negative where the network puts less than the target on a class, so "
    "a weight above 1 can also reward *avoiding* a class."
)

# %% [markdown]
# ### Which distribution minimizes it?
#
# Setting the derivative of [(amol)](#eq-amol) along the simplex to zero gives
# $\hat y_k = p_k \exp(\lambda / m_k - 1)$, with $\lambda$ such that the probabilities add up to
# one.

# %% tags=["show-input"]
inward = center_weight(num_classes, alpha, direction="inward")[0]


def least(weight):
    """Distribution (K,) that minimizes AMOL with these weights (K,), for true label 0."""
    low, high = weight.min(), weight.max()
    for _ in range(100):  # bisection: the sum grows with λ
        middle = (low + high) / 2
        best = target * (middle / weight - 1).exp()
        low, high = (middle, high) if best.sum() < 1 else (low, middle)
    return best


best, best_asym = least(weight), least(inward)

# %%
weights = {"AMOL": weight, "AMOL-asym": inward}
ratios = {"AMOL": best / target, "AMOL-asym": best_asym / target, "target": target / target}
minima = pd.DataFrame(lines("weight $m(k, 0)$", weights) + lines("minimum over target", ratios))
smallest = f"{(weight * best * (best / target).log()).sum():.4f}".replace("-", "−")
less, more = best_asym[1 : center + 1], best_asym[center + 1 :]
show(
    "fig-least", figures.class_lines(minima), data=minima,
    caption="For true label 0: the weights, and the distributions that minimize the two losses, "
    "each divided by the target $p$ of [Figure directions](#fig-directions).",
    alt="Two panels over the classes, for true label 0. In one the weights: AMOL's is a tent that "
    "peaks at the center, AMOL-asym's the half of it between label and center. In the other each "
    "loss's minimum as a multiple of the target: lowest at the center, above 1 at the label and, "
    "under AMOL-asym, beyond the center.",
)  # fmt: skip
say(
    (not torch.allclose(best, target, atol=1e-4), "The loss is not smallest at the target.",
     "Here the loss is smallest at the target, as without a weight."),
    f"At AMOL's minimum the center's probability is {best[center]:.4f}; the target has "
    f"{target[center]:.4f} there. The loss is {smallest} at that point.",
    ((less < target[1 : center + 1]).all() and (more > target[center + 1 :]).all(),
     "AMOL-asym's minimum has less than the target on the way to the center, and more beyond it."),
)  # fmt: skip

# %% [markdown]
# The paper says that AMOL is not a *strictly* [proper](../book/glossary.md#term-proper) scoring
# rule ([Gneiting and Raftery 2007](https://doi.org/10.1198/016214506000001437)) and that
# calibration is not guaranteed. The minimum above is about the target $p$; whether AMOL is proper
# for the true distribution of labels the paper leaves to future work, and [What each loss asks
# for](what_each_loss_asks_for.ipynb) answers: it isn't, and with six classes or more no map leads
# back from its probabilities to those of the labels. They should not be taken for calibrated ones.
#
# ## The variants
#
# [Table variants](#tab-variants) names them all.

# %%
variants = {
    "`AMOL`": "[(amol)](#eq-amol)",
    "`AMOL-asym`": r"[(amol)](#eq-amol) with $m_{\text{asym}}(k, y)$ of "
    "[(weight-asym)](#eq-weight-asym)",
    "`AMOL-exp`": r"[(amol)](#eq-amol) with "
    r"$\log m = \alpha (1 - \lvert k-c \rvert / c)\, \delta(y)$",
    "`AMOL-OLL`": "$m(k, y)$ on each term of the closeness loss "
    "[(oll)](02_background.ipynb#eq-oll)",
    "`AMOL-CE`": "$m(y, y)$ on cross-entropy [(ce)](02_background.ipynb#eq-ce)",
    "`KL`": r"[(amol)](#eq-amol) with $\alpha = 0$: a control, not in the paper",
    "`CE-masked`": "`CE`, its center class struck out at prediction: a control, not in the paper",
}
show(
    "tab-variants", pd.Series(variants, name="Loss").rename_axis("Name").to_frame(),
    caption="AMOL, its variants and two controls, by the names that this book uses.",
)  # fmt: skip

# %% [markdown]
# The paper defines the first two. The next three are named there and not written down; these are
# the readings chosen after comparing others with its ablation table ([Table
# choices](choices.ipynb#tab-choices), which shows where another reading is nearer in one of its
# columns). Mind `AMOL-OLL`: the terms of [(oll)](02_background.ipynb#eq-oll) are rewards, so there
# the weight rewards center mass instead of penalizing it.
#
# ## Equations here and there
#
# The paper numbers five equations and gives others in words. [Table equations](#tab-equations) says
# which is which.

# %%
equations = {
    "Center of the scale: [(center)](#eq-center)": "in the text of Section 2.1",
    "CHR: [(chr)](#eq-chr)": "(1)",
    "CHR_ext: [(chr-ext)](#eq-chr-ext)": "(2)",
    "How extreme a label is: [(delta)](#eq-delta)": "(3)",
    "The weight: [(weight)](#eq-weight)": "(4)",
    "AMOL: [(amol)](#eq-amol)": "(5); its target $p$ in words below it",
    "The inward weight: [(weight-asym)](#eq-weight-asym)": "in words, Section 3.5",
    "Cross-entropy: [(ce)](02_background.ipynb#eq-ce)": "by name, Section 2.2",
    "OLL in the paper's words: [(oll)](02_background.ipynb#eq-oll)": "in words, Section 2.2",
    "OLL as its authors define it: [(oll-castagnos)](02_background.ipynb#eq-oll-castagnos)":
        "cited in Section 2.2, not written down",
    "SORD: [(sord)](02_background.ipynb#eq-sord)": "in words, Section 2.2",
    "SLACE: [(slace)](02_background.ipynb#eq-slace)": "by its properties, Section 2.2",
    "CORAL, CORN: [(coral)](02_background.ipynb#eq-coral), [(corn)](02_background.ipynb#eq-corn)":
        "in words, Section 1",
    "Focal loss: [(focal)](02_background.ipynb#eq-focal)": "by name, Section 7",
    "Not the paper's: [(jc)](07_discussion.ipynb#eq-jc), [(corrected)](splits.ipynb#eq-corrected), "
    "[(reward)](choices.ipynb#eq-reward)": "–",
}  # fmt: skip
show(
    "tab-equations", pd.Series(equations, name="In the paper").rename_axis("Here").to_frame(),
    caption="This book's equations, and their numbers or places in the paper.",
)  # fmt: skip

# %% [markdown]
# ## Exercises
#
# **1. By hand.** Five classes, $\alpha = 2$, true class 0. What is $m(1, 0)$, and what is the
# weight of the center?

# %% tags=["hide-cell"]
c = (5 - 1) / 2
print("m(1, 0) =", 1 + 2 * (1 - abs(1 - c) / c) * abs(0 - c) / c)
print("all k:", center_weight(5, 2.0)[0].tolist())

# %% [markdown]
# **2. A perfect rate.** Invent predictions for the twelve labels above with CHR = CHR_ext = 0 that
# are wrong for every sample.

# %% tags=["hide-cell"]
turned = num_classes - 1 - y_true  # each label at the other end of the scale
turned[turned == y_true] = 0  # the center is its own opposite
print("right:", (turned == y_true).sum(), " CHR:", center_hedging_rate(y_true, turned, num_classes),
      " CHR_ext:", center_hedging_rate(y_true, turned, num_classes, extremes=2))  # fmt: skip

# %% [markdown]
# **3. A stronger weight.** `amol run 03_method -p alpha 3` makes this page for $\alpha = 3$. How
# does the center's probability change at the minimum?

# %% tags=["hide-cell"]
for strength in (0.0, 1.0, 3.0, 8.0):
    answer = least(center_weight(num_classes, strength)[0])
    print(f"alpha {strength:g}: {answer[center]:.4f} at the center, target {target[center]:.4f}")

# %% tags=["remove-input"]
footer({"alpha": settings.alpha, "sigma": settings.sigma})
