# %% [markdown]
# # What each loss asks for
#
# Suppose that learning were perfect: enough data, a wide enough network. What would it answer under
# each loss? All that is left to be unsure of then is the label itself. A *belief* $\eta$ is the
# distribution of the label at one $x$: two experts in ten say 3, five say 4, three say 5. Under a
# belief an answer $p$ has a *risk*, the loss that is to be expected:
#
# $$R(p; \eta) = \sum_y \eta_y\, \ell(p, y)$$
#
# What a loss **asks for** is the $p$ of least risk, and the label that is read from it. This page
# works that out for every loss that has a value per sample, and so tells apart "the loss wants the
# center" from "the network couldn't tell". `amol.losses.minimize_risk` computes it for any loss, a
# newly registered one too.

# %% tags=["parameters"]
draws: int = 4000  # beliefs behind the shares, from 100 to 100,000

# %%
import numpy as np
import pandas as pd

from companion.page import asked, footer, say, show
from companion.page.words import listed
from companion.theory import limits
from companion.theory.beliefs import belief
from companion.theory.properties import properties

if not 100 <= draws <= 100_000:
    raise ValueError(f"draws is {draws}; allowed: 100 to 100,000")
losses = list(properties())

# %% [markdown]
# ## Three classes
#
# Beliefs over three classes fill a triangle. At a corner one class is sure, on a side one class is
# ruled out, in the middle all are equally likely. [Figure triangles](#fig-triangles) cuts it into
# the answers of each loss. Its first three triangles aren't losses but decisions of someone who
# knows the belief and wants the fewest errors, the least $|\text{error}|$ or the least error².

# %% tags=["show-input"]
three = asked.three_class_beliefs()
found = asked.answers(three, losses)
center = asked.shares(found, 3)["center"]

# %%
show(
    "fig-triangles", asked.triangles(found, three), data=center.reset_index(),
    caption="All beliefs over three classes, cut into what three decisions and every loss with "
    "its default parameters answer. The number is the share of beliefs answered “center”.",
    alt="Small triangles in three colors. Fewest errors and cross-entropy cut them in three "
    "equal parts; least squared error and KL give the center a broad band of three quarters; AMOL "
    "leaves the center a small tip.",
)  # fmt: skip
say(
    (bool((found["KL"] == found["least error²"]).mean() > 0.99),
     "KL, AMOL without its weight, cuts the triangle as the least squared error does, and CDW-CE "
     "with it."),
    (bool((found["OLL"] == found["least |error|"]).mean() > 0.99),
     "OLL, CORN and CORAL cut it as the least absolute error does."),
    (center["fewest errors"] < center["least |error|"] < center["least error²"],
     "So the middle answer is no defect of learning. It is what these errors ask for: "
     f"{center['fewest errors']:.0%} of beliefs with the fewest errors, "
     f"{center['least |error|']:.0%} with the least absolute, {center['least error²']:.0%} with "
     "the least squared error."),
    (center["AMOL"] < center["fewest errors"],
     f"AMOL turns KL's {center['KL']:.0%} into {center['AMOL']:.0%}, less than a third. It takes "
     "back what its base gave to the center, and more."),
)  # fmt: skip

# %% [markdown]
# Move the point: it is a belief. In [Figure belief](#fig-belief) its bars stand beside what the
# chosen loss asks for. Try a belief that is split between both ends, and then raise α.

# %%
show(
    "fig-belief", asked.one_belief("AMOL", belief(45, 17, 38), three, found["AMOL"]),
    data=pd.DataFrame(three, columns=asked.NAMES).assign(answer=found["AMOL"]),
    caption="A belief in the triangle of AMOL (α = 1, σ = 1), and what AMOL asks for under it. On "
    "a page with scripts the belief can be dragged, and loss, α and σ be chosen.",
    alt="Left the triangle of beliefs cut into AMOL's answers, with a point on it. Right the bars "
    "of that belief, 45, 17 and 38 percent, and of what AMOL asks for.",
)  # fmt: skip

# %%
say(
    "Focal, SLACE and SLACE-prox can't be chosen there: what they ask for has no closed form and "
    "is found by iteration. Their triangles stand in [Figure triangles](#fig-triangles) alone.",
    (bool((found["Focal"] == found["CE"]).mean() > 0.99),
     "Focal's is that of cross-entropy."),
    (bool((found["AMOL-asym"] == found["AMOL"]).all()
          and (found["AMOL-CE"] == found["CE"]).mean() > 0.99),
     "With three classes AMOL-asym asks for the same as AMOL, and AMOL-CE for the same as "
     "cross-entropy; they part from four classes on."),
)  # fmt: skip

# %% [markdown]
# ## Why
#
# **KL is regression.** The normalizer of the Gaussian target doesn't depend on the class, so
#
# $$E\, D_{\mathrm{KL}}(p \,\|\, q_Y) = D_{\mathrm{KL}}(p \,\|\, g_\mu) + \text{const}, \qquad
# g_\mu(k) \propto e^{-(k - \mu)^2 / 2\sigma^2}, \quad \mu = E\,Y.$$
#
# Of the whole belief only its mean enters. The width of the answer is always σ, and the label is
# the rounded mean: sure of the center or split between both ends, the answer is the same.
#
# **AMOL** weighs this. With $M_k = E\,m(k, Y)$ and $B_k = E[m(k, Y) \log q_Y(k)]$ it asks for
#
# $$p_k = \exp\left(\frac{B_k + \lambda}{M_k} - 1\right), \qquad \lambda \text{ such that }
# \sum_k p_k = 1.$$
#
# **Soft labels** are cross-entropy to a table $Q$ of distributions, a row for each label, so what
# is asked for is their mixture $p = Q^\top \eta$: a known blur of the belief. Such a loss is
# miscalibrated by construction, and where $Q$ can be inverted it can be undone.
#
# **Proper losses**, cross-entropy and EMD², ask for the belief itself. What to answer is then a
# decision of its own.
#
# ## More classes

# %% tags=["show-input"]
classes = (5, 6, 7, 8, 9, 10)
parts = {}
for K in classes:
    drawn = np.random.default_rng(K).dirichlet(np.ones(K), draws)
    parts[K] = asked.shares(asked.answers(drawn, losses), K)
wide = pd.concat(parts, axis=1)

# %%
text = pd.DataFrame({
    f"{name}, K = {K}": wide[K, name].map("{:.0%}".format) for name in ("center", "ends")
    for K in (5, 6, 7, 10)
})  # fmt: skip
show(
    "tab-asked", text.rename_axis("decision or loss"), data=wide.stack(0).reset_index(),
    caption=f"Shares of {draws:,} beliefs, drawn evenly from all, that are answered with the "
    "center (at even K the lower middle class) and with either end. The CSV file has K from 5 to "
    "10.",
)  # fmt: skip
amol, least = wide[7].loc["AMOL"], wide[7].loc["KL"]
say(
    (amol["ends"] < 0.03 and least["ends"] < amol["center"] < least["center"],
     f"With seven classes and σ = 1 AMOL avoids the center ({amol['center']:.0%} against KL's "
     f"{least['center']:.0%}) and doesn't reach the ends ({amol['ends']:.1%}): it moves answers to "
     "the classes between.",
     f"With seven classes AMOL answers {amol['center']:.0%} center and {amol['ends']:.1%} ends."),
)  # fmt: skip

# %% [markdown]
# ## Properties
#
# - *Strictly proper*: the loss asks for the belief itself, and for nothing else.
# - *Map back*: whether the belief can be computed from the answer. "Linear" and "formula" are
#   known maps; "equations" means that the belief solves linear equations that had one solution
#   wherever they were tried; "none" that two beliefs share an answer.
# - *Label*: the class that is read from the answer.
# - *Monotone*: if all probabilities of "above k" grow, the label never falls (first-order
#   stochastic dominance).
# - The last column is the share of beliefs answered "center" among those whose most probable class
#   is an end.

# %%
show(
    "tab-properties-of-losses", asked.cells(),
    caption="What each loss asks for, at its default parameters and with all logits free. Each "
    "word is recomputed by a test in fractions or interval arithmetic; why it stands there unfolds "
    "below.",
)  # fmt: skip
table = properties()
monotone = [name for name, row in table.items() if row["monotone"].word == "yes"]
lost = [name for name, row in table.items() if row["map"].word == "none"]
say(
    f"{len(monotone)} of {len(table)} are monotone: {listed(monotone)}. All of them answer with "
    "the median or the rounded mean. A mode isn't monotone, so neither is cross-entropy's answer.",
    f"From {listed(lost)} no belief can be read.",
)  # fmt: skip
say(
    "> **In short.** A network that had learned perfectly would still answer with the middle where "
    "its loss asks for it. Of all distributions of a label over three classes, that is "
    f"{center['CE']:.0%} under cross-entropy, {center['KL']:.0%} under KL and {center['AMOL']:.0%} "
    f"under AMOL. {len(monotone)} of {len(table)} losses never lower their answer when the label "
    f"becomes more likely to be high; AMOL is {'one' if 'AMOL' in monotone else 'none'} of them.",
    below="title",
)
say(asked.proofs())

# %% [markdown]
# ## How far AMOL holds

# %% tags=["show-input"]
lattices = {3: 24, 4: 12, 5: 8, 6: 6, 7: 5}  # counts behind the search for dominance
rows = {}
for K in range(3, 11):
    even = np.random.default_rng(K).dirichlet(np.ones(K), draws)
    rows[K] = {
        "sure label wrong, σ = 1": limits.answers_sure_wrongly(K),
        "sure label wrong, σ = 2": limits.answers_sure_wrongly(K, 2.0),
        "farther costs less": limits.costs_less_farther(K),
        "not monotone": limits.first_violation(K, lattices[K]) if K in lattices else np.nan,
        "balance": limits.balance(even),
    }
reach = pd.DataFrame.from_dict(rows, orient="index").rename_axis("K")

# %%
show(
    "tab-limits", reach.map(lambda v: "–" if np.isnan(v) else f"{v:.2f}"), data=reach.reset_index(),
    caption="Strength α from which AMOL (σ = 1 unless said) answers some sure belief with another "
    "class; from which some sure wrong answer costs less than one nearer to the label; from which "
    "dominance is first seen violated (steps of 0.05, all beliefs with counts of "
    f"{listed(f'{n} at K = {K}' for K, n in lattices.items())}); and at which it answers with a "
    "middle class as often as the most probable class is one, over evenly drawn beliefs. A dash: "
    "never, or not searched.",
)  # fmt: skip
wrong, turned = reach["sure label wrong, σ = 2"], reach["not monotone"].dropna()
say(
    (reach["farther costs less"].min() > 1,
     "At the paper's α = 1 and σ = 1 a sure wrong answer costs more the farther it is off, for "
     "each K here. This is one sense of monotone."),
    ((turned.drop(3) < 1).all() and turned[3] > 1,
     "In the other sense, of beliefs that move up, AMOL at α = 1 isn't monotone from four classes "
     "on."),
    ((wrong.dropna() < 1).all(),
     "With σ = 2 even a sure belief is answered with another class at α = 1 from four classes on: "
     "σ works against the center as α does."),
    (reach["balance"].loc[[4, 6, 8, 10]].min() > reach["balance"].loc[[3, 5, 7, 9]].max(),
     "There is no α that balances everywhere: where K is even no class is the center, and it takes "
     f"{reach['balance'].loc[[4, 6, 8, 10]].min():.1f} to "
     f"{reach['balance'].loc[[4, 6, 8, 10]].max():.1f}; where it is odd, "
     f"{reach['balance'].loc[[3, 5, 7, 9]].min():.1f} to "
     f"{reach['balance'].loc[[3, 5, 7, 9]].max():.1f}."),
)  # fmt: skip

# %% [markdown]
# What the paper states or leaves open, settled. The tests of this page prove each line.
#
# - *α = 0 gives back the base.* True, and the base is KL, not cross-entropy.
# - *A label at the center bears no weight.* True at odd K. At even K no label is the center; at
#   K = 6 the lower middle one bears up to 1.16.
# - *An extreme label predicted right bears none.* True; nor does its worst mistake, the opposite
#   end.
# - *The largest weight is 1 + α.* At odd K; at even K it is 1 + α(K − 2)/(K − 1).
# - *Not strictly proper, like focal loss.* Too mild: focal loss has a formula that leads back to
#   the belief; AMOL reads four numbers of it, so from six classes on nothing leads back.
# - *Its own target isn't what it asks for.* For a sure label off the center the least loss is below
#   0, the value of the target: at α > 0 AMOL is no divergence.
# - *Large α.* For every belief that isn't sure of the center the two ends together get at least
#   1 − 1/e = 63 %, and their odds are those of the mean alone: $\log p_0/p_{K-1} = (K-1)(c - \mu)/
#   \sigma^2$ at every α. With three classes and α = 4 the belief (1/10, 9/10, 0) is answered "low".
# - *Narrow and wide targets.* As σ → 0 the label is the least $E[m(k, Y)(k - Y)^2]$; as σ → ∞ it is
#   an end for every belief.
# - *Convex?* In p, so that for free logits there is one answer; where samples share weights, KL and
#   AMOL have local minima, cross-entropy and soft labels have none.
#
# Whether networks do what their losses ask for, and what follows from it in practice, is on the
# next page, [Asked and answered](asked_and_answered.ipynb).
#
# ## Who said it before
#
# Which ordinal surrogates are consistent for zero-one, absolute and squared error is the subject of
# [Pedregosa et al. (2017)](https://arxiv.org/abs/1408.2327), for threshold methods of
# [Yamasaki and Tanaka (2024)](https://arxiv.org/abs/2405.13288). That a loss can be improper and
# lead back by a known map was shown of focal loss by [Charoenphakdee et al.
# (2021)](https://arxiv.org/abs/2011.09172). Un-mixing is the correction for noisy labels of
# [Patrini et al. (2017)](https://arxiv.org/abs/1609.03683) with the soft labels for the noise.
# Both directions of the divergence to a label distribution are used by [Günder et al.
# (2022)](https://arxiv.org/abs/2209.02055). We found nowhere that KL to a Gaussian label is
# regression, what AMOL or CDW-CE ask for, or the un-mixing of SORD; that is no proof that it is
# nowhere.

# %% [markdown]
# Six searches, read in excerpts, and what came nearest:

# %% tags=["hide-cell"]
searches = {
    "KL to a Gaussian label, its minimizer, the mean alone": "[Günder et al. "
    "(2022)](https://arxiv.org/abs/2209.02055): a divergence each for distribution and mean. "
    "[Imani et al. (2024)](https://arxiv.org/abs/2402.13425): regression by cross-entropy to a "
    "histogram, the other direction.",
    "un-mixing SORD, the inverse of label smoothing": "[Kim et al. "
    "(2024)](https://arxiv.org/abs/2410.15658): SORD is calibrated by a regularizer in training, "
    "not undone.",
    "CDW-CE, its minimizer, whether it is proper": "[Polat et al. "
    "(2024)](https://arxiv.org/abs/2412.01246): the loss and experiments.",
    "labels that are monotone under stochastic dominance": "[Pedregosa et al. "
    "(2017)](https://arxiv.org/abs/1408.2327) and [Yamasaki and Tanaka "
    "(2024)](https://arxiv.org/abs/2405.13288): consistency.",
    "decisions with expensive steps inward, after a proper loss": "[Delgado "
    "(2025)](https://github.com/RosDelgado/Ord_MAP): the label of least expected distance in place "
    "of the most probable one, with equal costs to both sides.",
    "hedging, extreme classes, weighted divergences": "[Vargas et al. "
    "(2024)](https://arxiv.org/abs/2407.12417): soft labels of their own for the two ends.",
}
nearest = pd.Series(searches, name="nearest found").to_frame().rename_axis("searched for")
show("tab-searches", nearest, caption="Searches for earlier work, and the nearest that they found.")

# %% tags=["remove-input"]
footer()
