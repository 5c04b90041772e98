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
# (sec-background)=
# # Background: what each loss charges
#
# A loss is a price list. The network spreads its probability over the classes, the loss looks at
# the true label and names a price, and training lowers the bill. Whether a network hedges depends
# on what it costs to put mass in the middle when the truth is at the end. This page writes down
# the losses that the paper discusses and reads off that price.
#
# Throughout, $K$ classes $0, \dots, K-1$ stand in order, $y$ is the true one, the network gives
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
]  # losses to price
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0

# %%
import pandas as pd
import torch

from amol.experiments import StudySettings
from amol.losses import LOSSES, center_class
from amol.report import figures, footer, show, show_numbers, tables

settings = StudySettings(methods=methods, alpha=alpha, sigma=sigma)

# %% [markdown]
# ## The losses
#
# **Cross-entropy (CE)** looks at the right class alone:
#
# $$
# \mathcal L_{\text{CE}}(y, \hat y) = -\log \hat y_y .
# $$ (eq-ce)
#
# Where the rest of the mass lies is none of its business. Center or far end, the price is the same.
#
# **Focal loss** {cite:p}`lin2017` scales it down for samples that are already easy:
#
# $$
# \mathcal L_{\text{Focal}}(y, \hat y) = -(1 - \hat y_y)^{\gamma} \log \hat y_y .
# $$ (eq-focal)
#
# It too sees the right class only. The paper names it as a loss that, like AMOL, gives up being a
# proper scoring rule {cite:p}`gneiting2007` to cure one particular fault.
#
# **OLL**, the ordinal log loss {cite:p}`castagnos2022`, charges every wrong class by its distance:
#
# $$
# \mathcal L_{\text{OLL}}(y, \hat y) = -\sum_{k} d_k^{\,a} \log (1 - \hat y_k) .
# $$ (eq-oll-castagnos)
#
# Here it goes by the name `OLL-Castagnos`. **CDW-CE** {cite:p}`polat2024` is the same formula with
# a larger power $a$. The paper describes its OLL in other words, as weighting each log term by the
# {term}`closeness <closeness form>` of class $k$ to the truth, and its numbers agree with those
# words:
#
# $$
# \mathcal L_{\text{closeness}}(y, \hat y)
#   = -\sum_{k} \Bigl(1 - \frac{d_k}{K-1}\Bigr) \log \hat y_k .
# $$ (eq-oll)
#
# This form is called `OLL` in the book. Note the sign of things: {eq}`eq-oll-castagnos` *charges*
# mass on wrong classes, {eq}`eq-oll` *rewards* mass on near ones. The difference decides an
# {ref}`ablation <sec-ablation>`.
#
# **SORD** {cite:p}`diaz2019` replaces the single right class by a {term}`soft label`, in the paper
# a Gaussian around $y$:
#
# $$
# \mathcal L_{\text{SORD}}(y, \hat y) = -\sum_k p_k \log \hat y_k ,
# \qquad p_k \propto \exp\Bigl(-\frac{d_k^2}{2 \sigma^2}\Bigr) .
# $$ (eq-sord)
#
# **SLACE** {cite:p}`nachmani2025` also has a soft target $q$, but asks for accumulated mass: class
# $i$ is credited with everything that lies at least as near to the truth,
#
# $$
# \mathcal L_{\text{SLACE}}(y, \hat y)
#   = -\sum_i q_i \log \sum_{j \,:\, d_j \le d_i} \hat y_j ,
# \qquad q_i \propto e^{-a d_i} .
# $$ (eq-slace)
#
# **CORAL** {cite:p}`cao2020` and **CORN** {cite:p}`shi2023` turn the task into $K-1$ questions "is
# $y$ above $k$?" with one logit $z_k$ each, and add up the binary cross-entropies:
#
# $$
# \mathcal L_{\text{CORAL}}(y, z)
#   = -\sum_{k=0}^{K-2} \Bigl( [y > k] \log s(z_k) + [y \le k] \log \bigl(1 - s(z_k)\bigr) \Bigr) ,
# $$ (eq-coral)
#
# where $s$ is the logistic function. CORAL shares one weight vector among the questions so that
# their answers can't contradict each other; CORN lets question $k$ see only the samples with
# $y > k - 1$ and multiplies the answers:
#
# $$
# \mathcal L_{\text{CORN}}(y, z)
#   = -\sum_{k=0}^{\min(y,\, K-2)}
#     \Bigl( [y > k] \log s(z_k) + [y = k] \log \bigl(1 - s(z_k)\bigr) \Bigr) .
# $$ (eq-corn)
#
# **AMOL** and its variants, and `KL`, the same loss with its weight switched off, are the subject
# of {ref}`the next page <sec-method>`.

# %% [markdown]
# ## What the middle costs
#
# Take seven classes and a sample of class 0. A network puts some of its mass on the right class, a
# little everywhere, and one large lump in a wrong place: once in the center, once at the far end.
# The two distributions differ in nothing else.

# %% tags=["show-input"]
num_classes, y = 7, 0
center, lump = center_class(num_classes), 0.5
start = torch.full((num_classes,), 0.02, dtype=torch.float64)
start[y] += 1 - lump - start.sum()


def logits_of(loss, probabilities):
    """Logits under which ``loss`` sees these class probabilities (K,)."""
    above = 1 - probabilities.cumsum(0)[:-1]  # P(y > k)
    if loss.num_logits == len(probabilities):
        return probabilities.log()
    if loss.shared_head:  # CORAL asks for P(y > k), CORN for P(y > k | y > k-1)
        return torch.logit(above)
    return torch.logit(above / torch.cat([above.new_ones(1), above[:-1]]))


# %%
rows = []
for method in settings.methods:
    loss = LOSSES[method](num_classes=num_classes, **settings.parameters(method))
    price = {}
    for place, k in {"center": center, "far": num_classes - 1}.items():
        spread = start.clone()
        spread[k] += lump
        price[place] = float(loss(logits_of(loss, spread)[None], torch.tensor([y])))
    rows.append({"panel": "", "name": method, **price, "ratio": price["center"] / price["far"]})
prices = pd.DataFrame(rows)

# %% tags=["remove-output"]
cells = prices.set_index("name")[["center", "far", "ratio"]].map("{:.2f}".format)
cells.columns = ["Lump at the center", "Lump at the far end", "Center / far"]
show("tab-price", cells.rename_axis("Loss"), prices)

# %% [markdown]
# ```{result} tab-price
# Price of half the probability misplaced when the truth is class 0 of 7. In the last column 1 means
# that the loss can't tell the two apart, below 1 that the center is the cheaper mistake.
# ```

# %% tags=["remove-output"]
ends = {"center": "lump at the center", "far": "lump at the far end"}
figure = figures.dumbbells(prices, ends, xlabel="price (log scale)", scale="log")
show("fig-price", figure, prices)

# %% [markdown]
# ```{result} fig-price
# :alt: >-
# :  One row a loss, on a logarithmic price axis, with a hollow dot for mass at the center and a
# :  full dot for mass at the far end. For cross-entropy and focal loss the dots coincide; for
# :  ordinal losses the far end lies further right; AMOL's dots lie closer together than those of
# :  KL, its unweighted form.
#
# The prices of {numref}`tab-price`. The longer the bar, the more a loss cares where the mistake
# lies. A dot further right is dearer.
# ```

# %% tags=["remove-cell"]
ratio = prices.set_index("name")["ratio"]
show_numbers(
    price_blind=", ".join(ratio.index[(ratio - 1).abs() < 1e-6]) or "none",
    price_center_dearer=", ".join(ratio.index[ratio > 1 + 1e-6]) or "none",
    price_center_cheaper=", ".join(ratio.index[ratio < 1 - 1e-6]) or "none",
    price_ratio_kl=f"{ratio['KL']:.2f}" if "KL" in ratio else tables.DASH,
    price_ratio_amol=f"{ratio['AMOL']:.2f}" if "AMOL" in ratio else tables.DASH,
    price_ratio_asym=f"{ratio['AMOL-asym']:.2f}" if "AMOL-asym" in ratio else tables.DASH,
)

# %% [markdown]
# Read from the last column:
#
# - The same price in both places: {glue:text}`price_blind`.
# - The center is the cheaper mistake: {glue:text}`price_center_cheaper`.
# - The center is the dearer mistake: {glue:text}`price_center_dearer`.
#
# This is worth a pause. A loss that knows the order must charge the far end more than the center,
# for the far end *is* further away; but that same discount is what makes the center a refuge.
# AMOL doesn't turn the order around. It narrows the discount: unweighted, the center costs
# {glue:text}`price_ratio_kl` of the far end, with AMOL's weight {glue:text}`price_ratio_amol`, and
# with the asymmetric one {glue:text}`price_ratio_asym`.
#
# ## The gap that the paper sees
#
# The losses above know how far a class lies from the *truth*. None of them knows how far a class
# lies from the *center*. A weight that does, and that acts only when the truth lies far from the
# center, is the paper's proposal.

# %% tags=["remove-input"]
footer(settings)
