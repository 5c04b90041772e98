# %% [markdown]
# # Which loss for which aim?
#
# An aim is a metric. This page names a loss, or a decision, for each aim from the study of [a
# hundred data sets](hundred_sets.ipynb), and then asks whether its own advice can be trusted: it
# names again on half of the surveys and looks at what that keeps on the other half.

# %% tags=["parameters"]
chart: list = ["QWK", "MAE", "end_recall", "CHR_ext"]  # metrics of the picture

# %%
import pandas as pd

from amol.metrics import HIGHER_IS_BETTER
from companion.page import aims, footer, many_sets, say, show, show_numbers
from companion.page.tables import HEADINGS
from companion.page.words import listed, signed
from companion.studies import across_sets, recordings

if unknown := [name for name in chart if name not in aims.AIMS]:
    raise ValueError(f"chart has {', '.join(unknown)}; allowed: {', '.join(aims.AIMS)}")
rows = many_sets.natural(recordings.load("hundred_sets"))
about = across_sets.kinds(list(rows["dataset"].unique()))

# %% [markdown]
# ## The advice
#
# The rule: of the candidates the one with the best mean rank over all sets. Candidates are all
# losses, each with its own decision; then cross-entropy's networks with any decision, which needs
# no other training; then every loss with every decision.

# %% tags=["show-input"]
named = {which: aims.advice(rows, about, which, tuple(aims.AIMS))
         for which in ("losses", "decisions", "pairs")}  # fmt: skip

# %%
TITLES = {"losses": "A loss", "decisions": "A decision of CE", "pairs": "Both"}
cells = []
for metric, words in aims.AIMS.items():
    row = {"Aim": f"{words} ({HEADINGS.get(metric, metric)})"}
    for which, table in named.items():
        best = next(table[table["metric"] == metric].itertuples())
        gain = "the baseline" if best.method == "CE" else many_sets.counted(best)
        row[TITLES[which]] = f"**{best.method}** {gain}"
    cells.append(row)
show(
    "tab-advice", pd.DataFrame(cells).set_index("Aim"),
    data=pd.concat([table.assign(candidates=which) for which, table in named.items()]),
    caption="Who has the best mean rank, and its mean difference from cross-entropy with the most "
    "probable class: 95 % interval over surveys, number of sets where it is better. RPS is "
    "measured "
    "with own decisions alone, since a decision changes no probability.",
)  # fmt: skip

# %%
losses = named["losses"].set_index("metric")
cut = named["decisions"].set_index("metric")
share = (cut["kept"] / losses["kept"]).drop("RPS")  # RPS doesn't ask for a decision
near, far = share[share >= 0.9], share[share < 0.7]
mine = [m for m in aims.AIMS if losses.loc[m, "method"].startswith("AMOL")]
say(
    (bool(mine), f"AMOL or one of its variants is named for {listed(mine)} alone.",
     "AMOL is named for none of these aims."),
    (len(near) > 0,
     f"In {listed(HEADINGS.get(m, m) for m in near.index)} another decision from cross-entropy's "
     f"networks keeps at least "
     f"{int(100 * near.min())} % of what the best loss gains, on surveys that had no part in "
     "naming either.",
     "In no aim does another decision from cross-entropy's networks keep nine tenths of what the "
     "best loss gains."),
    (len(far) > 0,
     f"In {listed(HEADINGS.get(m, m) for m in far.index)} no decision comes near the best loss.",
     "It is never far from the best loss."),
    name="which_answer",
)  # fmt: skip

# %% [markdown]
# ## What speaks against it

# %%
cells = []
for metric in aims.AIMS:
    row = {"Aim": HEADINGS.get(metric, metric)}
    for which in ("losses", "pairs"):
        best = named[which].set_index("metric").loc[metric, "method"]
        worse = aims.against(rows, about, best, tuple(aims.AIMS))
        row[TITLES[which]] = f"**{best}**: {listed(HEADINGS.get(m, m) for m in worse)}"
    cells.append(row)
show(
    "tab-against", pd.DataFrame(cells).set_index("Aim"),
    caption="Metrics in which what is named for an aim is shown to be worse than cross-entropy.",
)  # fmt: skip
free = [c["Aim"] for c in cells if c["A loss"].endswith(": none")]
say(
    (len(free) < len(cells) / 2,
     f"Every loss has its price, but for that of {listed(free)}." if free else
     "Every loss that is named has its price: in some metric it is shown to be worse.",
     f"Nothing that is shown speaks against the loss for {listed(free)}."),
)  # fmt: skip

# %%
amol = across_sets.summarized(
    across_sets.contrast(many_sets.chosen(rows), [("AMOL", "CE")], tuple(aims.AIMS), about),
    ["metric"],
).set_index("metric")  # fmt: skip
LINES = {"loss": losses, "decision": cut, "AMOL": amol.assign(method="AMOL")}
drawn = []
for metric in aims.AIMS:
    sign = 1 if HIGHER_IS_BETTER.get(metric, True) else -1
    for key, table in LINES.items():
        r = next(table.loc[[metric]].itertuples())
        method = r.method.removeprefix("CE, ").replace("CE", "most probable class")
        text = many_sets.interval(r) if r.method != "CE" else ""
        show_numbers(**{f"{metric}_{key}": method, f"{metric}_{key}_gain": text})
        low, high = sorted((sign * r.low, sign * r.high))
        drawn.append({"panel": HEADINGS.get(metric, metric), "group": key, "mean": sign * r.mean,
                      "low": low, "high": high, "sets": r.sets, "verdict": r.verdict})  # fmt: skip
    worse = aims.against(rows, about, losses.loc[metric, "method"], tuple(aims.AIMS))
    show_numbers(**{f"{metric}_against": ", ".join(HEADINGS.get(m, m) for m in worse)})
drawn = pd.DataFrame(drawn)

# %%
no_dots = pd.DataFrame({"panel": [], "group": [], "difference": []}, dtype=float)
show(
    "fig-advice",
    many_sets.forest(drawn, no_dots, "gain on cross-entropy, to the right better", 4, 2),
    data=drawn,
    caption="What the advice gains on cross-entropy in each aim: the loss and the decision of "
            "[Table "
    "advice](#tab-advice), and AMOL. Mean over the sets, 95 % interval over surveys; blue: shown "
    "better, orange: shown worse, gray: neither.",
    alt="Seven small panels, one per metric: mean gain with interval of the loss that is named, of "
    "the decision that is named, and of AMOL.",
)  # fmt: skip

# %% tags=["show-input"]
names = list(dict.fromkeys([*losses["method"], "CE, median", "CE, thresholds", "AMOL", "SORD"]))
names = [name for name in names if name != "CE"]
summary, dots = aims.gains(rows, about, names, chart)

# %%
show(
    "fig-aims", many_sets.forest(summary, dots, "gain on cross-entropy, to the right better"),
    data=summary,
    caption="What losses and decisions gain on cross-entropy in some metrics: mean over the sets "
    "that have the metric, 95 % interval over surveys (blue: shown better; orange: shown worse; "
    "gray: neither), a faint dot per data set.",
    alt="Forest of mean gains with intervals, one panel per metric, one row per loss or decision.",
)  # fmt: skip

# %% [markdown]
# ## Does the advice hold elsewhere?
#
# In each of some hundred draws half of the surveys name a candidate by the same rule; its gain on
# cross-entropy is then read on the other half. What was promised is the gain on the half that
# named.

# %%
cells = []
for which, table in named.items():
    for r in table.itertuples():
        sign = 1 if HIGHER_IS_BETTER.get(r.metric, True) else -1
        cells.append({
            "Candidates": TITLES[which], "Aim": HEADINGS.get(r.metric, r.metric),
            "Named on all sets": r.method, "Named again": f"{r.same:.0%}",
            "Gain on all sets": signed(sign * r.mean),
            "Kept elsewhere": signed(r.kept),
        })  # fmt: skip
show(
    "tab-advice-held-out", pd.DataFrame(cells).set_index("Candidates"),
    data=pd.concat([table.assign(candidates=which) for which, table in named.items()]),
    caption=f"The rule on halves of the surveys, {aims.DRAWS} draws: how often the same candidate "
    "is named, and what the named one gains on cross-entropy on the surveys that had no part in "
    "it.",
)  # fmt: skip
sure = losses[losses["same"] >= 0.9]
say(
    (len(sure) > 0,
     f"For {listed(sure.index)} half of the surveys name the same loss nine times of ten."),
    ((losses["kept"] >= -0.002).all(),
     "On other surveys no advice among losses is worse than cross-entropy.",
     f"On other surveys the advice for {listed(losses.index[losses['kept'] < 0])} is worse than "
     "cross-entropy."),
)  # fmt: skip

# %% [markdown]
# ## Does the kind of data matter?
#
# Naming a loss for each kind of data, by the number of classes, the place of the most common class
# or the share of the two ends, promises more on the sets that name it. Whether it also keeps more
# is what counts.

# %%
tried = {m: aims.by_kind(rows, about, "losses", m) for m in ("QWK", "MAE", "end_recall")}
cells, better = [], []
for metric, table in tried.items():
    whole = table["kept"].iloc[0]
    better += [(metric, r.kind) for r in table.itertuples() if r.kept > whole + 0.002]
    cells += [{"Aim": HEADINGS.get(metric, metric), "By": r.kind, "Named": r.named,
               "Promised": f"{r.promised:.3f}", "Kept": f"{r.kept:.3f}"}
              for r in table.itertuples()]  # fmt: skip
show(
    "tab-by-kind", pd.DataFrame(cells).set_index("Aim"),
    data=pd.concat([t.assign(metric=m) for m, t in tried.items()]),
    caption="Naming one loss for all sets, or one for each kind: the mean gain on cross-entropy, "
            "on "
    "the half of the surveys that names it and on the other.",
)  # fmt: skip
firm = sorted({metric for metric, _ in better})
say(
    ("QWK" not in firm,
     "For QWK one loss for all sets keeps as much as any choice by kind, so no rule by kind is "
     "offered for it.",
     "For QWK a choice by kind keeps more than one loss for all."),
    (bool(better),
     "Choosing by kind keeps at least .002 more for "
     + listed(f"{HEADINGS.get(m, m)} by {k}" for m, k in better) + ".",
     "In no metric does it keep .002 more."),
)  # fmt: skip

# %%
named_ones = "; ".join(f"{HEADINGS.get(m, m)}: {losses.loc[m, 'method']}" for m in aims.AIMS)
say(
    f"> **In short.** By mean rank over {len(about)} data sets the loss for an aim is, for "
    f"{named_ones}.",
    (len(near) > 0,
     f"For {listed(HEADINGS.get(m, m) for m in near.index)} another decision from cross-entropy's "
     "networks does nearly as well."),
    ("QWK" not in firm, "In QWK the kind of data doesn't change the advice."),
    below="title",
)  # fmt: skip

# %% tags=["remove-input"]
footer()
