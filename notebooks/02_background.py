# %% [markdown]
# # Background: what each loss penalizes
#
# The network spreads its probability over the classes, the loss compares them with the true label,
# and training makes the loss small. Whether a network hedges depends on how large the loss is when
# probability lies in the middle and the truth at an end. This page writes down the losses that the
# paper discusses and computes that.
#
# Throughout, $K$ classes $0, \dots, K-1$ stand in order, $y$ is the true one, the network returns
# logits $z_k$ and probabilities $\hat y_k$ (their softmax), and $d_k = |k - y|$ is the distance
# of class $k$ from the truth.

# %% tags=["parameters"]
methods: list = [
    "CE",
    "Focal",
    "CORAL",
    "CORN",
    "SORD",
    "SLACE",
    "OLL-Castagnos",
    "OLL",
    "KL",
    "AMOL",
    "AMOL-asym",
    "AMOL-exp",
    "AMOL-OLL",
    "AMOL-CE",
]  # losses to compare
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0

# %%
import pandas as pd
import torch

from amol.losses import LOSSES, center_class
from companion import StudySettings
from companion.page import figures, footer, say, show

settings = StudySettings(methods=methods, alpha=alpha, sigma=sigma)

# %% [markdown]
# ## The losses
#
# **Cross-entropy (CE)** looks at the right class alone:
#
# <a id="eq-ce"></a>
#
# $$
# \mathcal L_{\text{CE}}(y, \hat y) = -\log \hat y_y . \tag{ce}
# $$
#
# It ignores where the remaining probability goes: center or far end, the loss is the same.
#
# **Focal loss** ([Lin et al. 2017](https://doi.org/10.1109/ICCV.2017.324)) scales it down for
# samples that are already easy:
#
# <a id="eq-focal"></a>
#
# $$
# \mathcal L_{\text{Focal}}(y, \hat y) = -(1 - \hat y_y)^{\gamma} \log \hat y_y . \tag{focal}
# $$
#
# It too sees the right class only. The paper names it as a loss that, like AMOL, is not a strictly
# proper scoring rule ([Gneiting and Raftery 2007](https://doi.org/10.1198/016214506000001437)), in
# order to correct one particular failure.
#
# **OLL**, the ordinal log loss ([Castagnos et al.
# 2022](https://aclanthology.org/2022.coling-1.407)), penalizes wrong classes by distance:
#
# <a id="eq-oll-castagnos"></a>
#
# $$
# \mathcal L_{\text{OLL}}(y, \hat y) = -\sum_{k} d_k^{\,a} \log (1 - \hat y_k) .
# \tag{oll-castagnos}
# $$
#
# Here it goes by the name `OLL-Castagnos`. **CDW-CE** ([Polat et al.
# 2024](https://arxiv.org/abs/2412.01246)) is the same formula with a larger power $a$. The paper
# describes its OLL in other words, as weighting each log term by the
# [closeness](../book/glossary.md#term-closeness-form) of class $k$ to the truth, and its numbers
# agree with those words:
#
# <a id="eq-oll"></a>
#
# $$
# \mathcal L_{\text{closeness}}(y, \hat y)
#   = -\sum_{k} \Bigl(1 - \frac{d_k}{K-1}\Bigr) \log \hat y_k . \tag{oll}
# $$
#
# This form is called `OLL` in the book. The two differ in sign:
# [(oll-castagnos)](#eq-oll-castagnos) *penalizes* probability on wrong classes, [(oll)](#eq-oll)
# *rewards* it on near ones. The difference decides an [ablation](06_ablation.ipynb).
#
# **SORD** ([Díaz and Marathe 2019](https://doi.org/10.1109/CVPR.2019.00487)) replaces the single
# right class by a [soft label](../book/glossary.md#term-soft-label), in the paper a Gaussian around
# $y$:
#
# <a id="eq-sord"></a>
#
# $$
# \mathcal L_{\text{SORD}}(y, \hat y) = -\sum_k p_k \log \hat y_k ,
# \qquad p_k \propto \exp\Bigl(-\frac{d_k^2}{2 \sigma^2}\Bigr) . \tag{sord}
# $$
#
# **SLACE** ([Nachmani et al. 2025](https://doi.org/10.1609/aaai.v39i18.34158)) also has a soft
# target $q$, but asks for accumulated mass: class $i$ is credited with everything that lies at
# least as near to the truth,
#
# <a id="eq-slace"></a>
#
# $$
# \mathcal L_{\text{SLACE}}(y, \hat y)
#   = -\sum_i q_i \log \sum_{j \,:\, d_j \le d_i} \hat y_j ,
# \qquad q_i \propto e^{-a d_i} . \tag{slace}
# $$
#
# Its authors prove *monotonicity* (a distribution nearer to the truth has a smaller loss) and
# *balance sensitivity* (the loss takes account of the class frequencies $n_j$ of the training
# part). The paper's argument is that this is a different axis: frequencies describe the labels,
# while hedging is a matter of where the predictions go.
#
# **CORAL** ([Cao et al. 2020](https://doi.org/10.1016/j.patrec.2020.11.008)) and **CORN** ([Shi et
# al. 2023](https://doi.org/10.1007/s10044-023-01181-9)) turn the task into $K-1$ questions "is $y$
# above $k$?" with one logit $z_k$ each, and add up the binary cross-entropies:
#
# <a id="eq-coral"></a>
#
# $$
# \mathcal L_{\text{CORAL}}(y, z)
#   = -\sum_{k=0}^{K-2} \Bigl( [y > k] \log s(z_k) + [y \le k] \log \bigl(1 - s(z_k)\bigr) \Bigr) ,
# \tag{coral}
# $$
#
# where $s$ is the logistic function. CORAL shares one weight vector among the questions so that
# their answers can't contradict each other; CORN lets question $k$ see only the samples with
# $y > k - 1$ and multiplies the answers:
#
# <a id="eq-corn"></a>
#
# $$
# \mathcal L_{\text{CORN}}(y, z)
#   = -\sum_{k=0}^{\min(y,\, K-2)}
#     \Bigl( [y > k] \log s(z_k) + [y = k] \log \bigl(1 - s(z_k)\bigr) \Bigr) . \tag{corn}
# $$
#
# The paper's argument: both make the answers to the $K-1$ questions consistent with each other,
# which doesn't say where their common answer lies.
#
# **AMOL** and its variants, and `KL`, the same loss with its weight switched off, are the subject
# of [the next page](03_method.ipynb).

# %% [markdown]
# ## Center or far end
#
# Take seven classes and a sample of class 0. A network puts some of its probability on the right
# class, a little everywhere, and one large lump in a wrong place: once in the center, once at the
# far end. The two distributions differ in nothing else.

# %% tags=["show-input"]
num_classes, y = 7, 0
center, lump = center_class(num_classes), 0.5
start = torch.full((num_classes,), 0.02, dtype=torch.float64)
start[y] += 1 - lump - start.sum()


# %%
def logits_of(loss, probabilities):
    """Logits under which ``loss`` sees these class probabilities (K,)."""
    above = 1 - probabilities.cumsum(0)[:-1]  # P(y > k)
    if loss.num_logits == len(probabilities):
        return probabilities.log()
    if loss.shared_head:  # CORAL asks for P(y > k), CORN for P(y > k | y > k-1)
        return torch.logit(above)
    return torch.logit(above / torch.cat([above.new_ones(1), above[:-1]]))


def lumped(loss, k):
    """Value of the loss with the lump in class ``k``."""
    spread = start.clone()
    spread[k] += lump
    return float(loss(logits_of(loss, spread)[None], torch.tensor([y])))


# %% tags=["show-input"]
rows = []
for method in settings.methods:
    loss = LOSSES[method](num_classes=num_classes, **settings.parameters(method))
    places = {"center": lumped(loss, center), "far": lumped(loss, num_classes - 1)}
    rows.append({"panel": "", "name": method, **places})
values = pd.DataFrame(rows)
values["ratio"] = values["center"] / values["far"]

# %%
cells = values.set_index("name")[["center", "far", "ratio"]].map("{:.2f}".format)
cells.columns = ["Lump at the center", "Lump at the far end", "Center / far"]
show(
    "tab-price", cells.rename_axis("Loss"), data=values,
    caption="Loss with half of the probability in a wrong class when the truth is class 0 of 7. In "
    "the last column 1 means that the loss can't tell the two apart, below 1 that it penalizes the "
    "center less.",
)  # fmt: skip

# %%
ratio = values.set_index("name")["ratio"]


def names_where(chosen):
    """Losses of the table that a mask chooses, as text."""
    return ", ".join(ratio.index[chosen])


equal, above = (ratio - 1).abs() < 1e-6, ratio > 1 + 1e-6
compared = [
    (equal.any(), f"Equal at both places: {names_where(equal)}."),
    ((~equal & ~above).any(), f"Smaller at the center: {names_where(~equal & ~above)}."),
    (not above.any(), "No loss here is larger at the center.",
     f"Larger at the center: {names_where(above)}."),
]  # fmt: skip
say(
    f"> **In short.** For {equal.sum()} of the {len(ratio)} losses here a mistake in the middle "
    f"costs as much as one at the far end, for {(~equal & ~above).sum()} it costs less,",
    f"for {above.sum()} more.",
    (ratio.get("AMOL", 0) > ratio.get("KL", 1),
     "AMOL's weight makes the middle more expensive than it is for `KL`, the same loss without the "
     "weight; the far end stays more expensive still."),
    below="title",
)  # fmt: skip

# %%
ends = {"center": "lump at the center", "far": "lump at the far end"}
show(
    "fig-price", figures.dumbbells(values, ends, xlabel="loss (log scale)", scale="log"),
    data=values,
    caption="The values of [Table price](#tab-price). The longer the bar, the more the place of "
    "the mistake matters.",
    alt=["One row per loss, on a logarithmic axis, with a hollow dot for mass at the center and a "
         "full dot for mass at the far end.", *compared],
)  # fmt: skip
say(*compared)

# %%
known = [name for name in ("KL", "AMOL", "AMOL-asym") if name in ratio]
chain = ratio[known].to_numpy()
say(
    "Any loss that respects the order must penalize the far end more than the center, and that "
    "difference makes the center attractive.",
    (len(known) == 3 and chain[0] < chain[1:].min() and chain.max() < 1,
     "AMOL doesn't turn the order around, it makes the difference smaller: without the weight, the "
     f"center's loss is {chain[:1].sum():.2f} of the far end's, with AMOL's weight "
     f"{chain[1:2].sum():.2f}, and with the asymmetric one {chain[-1:].sum():.2f}.",
     "Center's loss over the far end's: "
     + ", ".join(f"{name} {ratio[name]:.2f}" for name in known) + "." if known else ""),
)  # fmt: skip

# %% [markdown]
# ## The gap that the paper sees
#
# The ordinal losses above weigh a class by its distance from the *truth*; cross-entropy and focal
# loss don't even do that. None of them knows how far a class lies from the *center*. A weight that
# does, and that acts only when the truth lies far from the center, is the paper's proposal.
#
# The aim isn't new. [Vargas et al. (2024)](https://arxiv.org/abs/2407.12417) want the first and the
# last class to be found: in their loss the soft targets of these two have a shape of their own,
# drawn to the end of the scale, and a metric of theirs is made of these two recalls. New, as far as
# we know, is the formula: a price on classes by their nearness to the center.
#
# ## Exercises
#
# **1. Next door.** Put the lump into class 1, next to the truth, instead of the far end. Which
# losses are still smaller when it lies in the center?

# %% tags=["hide-cell"]
for method in settings.methods:
    near = lumped(LOSSES[method](num_classes=num_classes, **settings.parameters(method)), 1)
    there = values.set_index("name")["center"][method]
    smaller = "smaller in the center" if there < near - 1e-9 else ""
    print(f"{method:14} next {near:6.2f}  center {there:6.2f}  {smaller}")

# %% [markdown]
# **2. A stronger weight.** `amol run 02_background -p alpha 3` makes the table for $\alpha = 3$.
# From which $\alpha$ on does AMOL penalize the center more than the far end?

# %% tags=["hide-cell"]
for strength in (0, 1, 2, 4, 8, 16):
    loss = LOSSES["AMOL"](num_classes=num_classes, alpha=strength)
    at_center, at_far_end = (lumped(loss, k) for k in (center, num_classes - 1))
    print(f"alpha {strength:2}: center / far end = {at_center / at_far_end:.2f}")

# %% tags=["remove-input"]
footer({name: getattr(settings, name) for name in ("methods", "alpha", "sigma")})
