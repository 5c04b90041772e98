"""The page "Use it": a model's card, and the classifier beside other people's."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from amol import OrdinalClassifier
from amol.losses.registry import own_parameters
from amol.metrics import METRICS, MORE_METRICS, PROBABILITY_METRICS
from companion.page.calibration import binned
from companion.page.sentences import Sentence
from companion.page.tables import HEADINGS, Table
from companion.page.words import listed
from companion.studies.classifiers import DECISIONS, OURS, chosen
from companion.studies.decisions import fit_temperature, tempered

CARDED = ("QWK", "MAE", "AMAE", "accuracy", "accuracy_1off", "GMES", "CHR", "center_rate")
WORDS = {"own": "own", "qwk": "thresholds"}  # of `companion.studies.classifiers.DECISIONS`


def card(model: OrdinalClassifier, trained_on: str, X: np.ndarray, y: np.ndarray) -> Table:
    """A fitted classifier in a table, measured on X (n, d) and classes y (n,) from 0 on."""
    K, p, answers = len(model.classes_), model.predict_proba(X), model.predict(X)
    given = ((name, getattr(model.loss_, name)) for name in own_parameters(type(model.loss_)))
    parameters = [f"{name} {value}" for name, value in given if value is not None]
    hidden = " and ".join(map(str, model.hidden_layer_sizes)) or "no"
    rows = {
        "Predicts": f"{K} classes in order",
        "Trained on": trained_on,
        "Loss": ", ".join([str(model.loss), *parameters]),
        "Networks": f"{len(model.fits_)}, with {hidden} hidden units, up to {model.n_iter_} epochs",
        "Weights of the first": f"SHA-256 `{model.fits_[0].network.digest[:16]}…`",
        "Decision": model.decision,
    }
    known = METRICS | MORE_METRICS
    rows |= {HEADINGS.get(name, name): f"{known[name](y, answers, K):.3f}" for name in CARDED}
    rows["RPS"] = f"{PROBABILITY_METRICS['RPS'](y, p):.3f}"
    return Table(pd.DataFrame({"": rows}).rename_axis("Model card"))


def reliability(model: OrdinalClassifier, name: str, held: tuple, test: tuple) -> pd.DataFrame:
    """What `calibration.reliability_figure` draws, of one model.

    ``held`` and ``test`` are features and labels of the part that fits the temperature, and of the
    one shown.
    """
    p, (X, y) = model.predict_proba(test[0]), held
    temperature = fit_temperature(y, model.predict_proba(X))
    hit = p.argmax(axis=1) == test[1]
    rows = [
        (name, when, *point)
        for when, q in (("before", p), ("after", tempered(p, temperature)))
        for point in binned(q.max(axis=1), hit)
    ]
    return pd.DataFrame(rows, columns=["method", "when", "p", "hits"])


def by_set(rows: pd.DataFrame) -> pd.DataFrame:
    """QWK and MAE of what was `chosen`, mean over splits, by decision, library and data set."""
    return (
        chosen(rows).groupby(["decision", "library", "dataset"], sort=False)[["QWK", "MAE"]].mean()
    )


def compared(rows: pd.DataFrame) -> pd.DataFrame:
    """Per library, and per candidate of ours: means over sets by decision, and the mean rank."""
    alone = rows[rows["library"] == OURS]
    alone = alone.assign(library=OURS + ", " + alone["candidate"] + " alone")
    both = pd.concat([rows, alone], ignore_index=True)
    means = by_set(both).groupby(["decision", "library"]).mean()
    wide = means.unstack("decision")
    found = pd.DataFrame({
        f"{metric}, {WORDS[decision]}": wide[metric, decision]
        for metric in ("QWK", "MAE") for decision in DECISIONS
    })  # fmt: skip
    ranks = by_set(rows)["QWK"].loc["qwk"].unstack("library").rank(axis=1, ascending=False)
    found["Rank"] = ranks.mean()
    order = [*rows["library"].unique(), *alone["library"].unique()]
    return found.loc[order].rename_axis("Library")


def comparison(found: pd.DataFrame) -> Table:
    """Cells of `compared`; of the libraries, the best of each column is bold."""
    cells = pd.DataFrame(index=found.index)
    for column, numbers in found.items():
        texts = numbers.map((f"{{:.{1 if column == 'Rank' else 3}f}}").format)
        among = texts[found["Rank"].notna()]
        best = among.max() if column.startswith("QWK") else among.min()
        cells[column] = texts.map(lambda text, best=best: f"**{text}**" if text == best else text)
        cells.loc[numbers.isna(), column] = ""
    return Table(cells, data=found.reset_index())


def verdict(rows: pd.DataFrame) -> list[Sentence]:
    """How ours compares, in sentences."""
    kappa = by_set(rows)["QWK"]
    own, tuned = (kappa[decision].unstack("library") for decision in DECISIONS)
    mean, plain = tuned.mean(), own.mean()
    rivals = [name for name in tuned if name != OURS]
    best = mean[rivals].idxmax()
    wins = {name: int((tuned[OURS] > tuned[name]).sum()) for name in rivals}
    bare = plain[rivals].idxmax()
    failed = rows.loc[rows["failure"].notna(), "library"].unique()
    return [
        (mean[OURS] > mean[best],
         f"With thresholds for all, {OURS} has the highest mean kappa, {mean[OURS]:.3f}, before "
         f"{best} with {mean[best]:.3f}.",
         f"With thresholds for all, {best} has the highest mean kappa, {mean[best]:.3f}, and "
         f"{OURS} has {mean[OURS]:.3f}."),
        "Set by set it is higher than "
        + listed(f"{name} on {count}" for name, count in wins.items())
        + f" of {len(tuned)}.",
        (plain[OURS] > plain[bare],
         f"By the libraries' own decisions it leads, too: {plain[OURS]:.3f} to {plain[bare]:.3f} "
         f"of {bare}.",
         f"By the libraries' own decisions {bare} leads with {plain[bare]:.3f}; {OURS}, which then "
         f"answers with the most probable class, has {plain[OURS]:.3f}."),
        (mean[rivals].mean() - plain[rivals].mean() > abs(mean[OURS] - mean[best]),
         "What the thresholds add is more than what parts the first two: on average "
         f"{mean[rivals].mean() - plain[rivals].mean():.3f} to the others, "
         f"{mean[OURS] - plain[OURS]:.3f} to ours. The decision counts for more than the "
         "library."),
        (len(failed) > 0, f"Some fits of {listed(failed)} failed and are left out."),
    ]  # fmt: skip


def speed_table(rows: Sequence[dict]) -> Table:
    """Milliseconds of an epoch, by data set and batch size, and how many times ours theirs is."""
    frame = pd.DataFrame(rows)
    by = ["dataset", "batch_size"]
    ours = frame.groupby(by, sort=False)["ours_ms"].mean().map("{:.2f}".format)
    cells = pd.DataFrame({OURS: ours})
    for name, part in frame.groupby("rival", sort=False):
        pairs = zip(part["theirs_ms"], part["ratio"], strict=True)
        cells[name] = [f"{ms:.1f} ({ratio:.1f} ×)" for ms, ratio in pairs]
    cells = cells.reset_index().rename(columns={"dataset": "Data set", "batch_size": "Batch"})
    return Table(cells.astype(str).set_index("Data set"), data=frame)


def speed_verdict(rows: Sequence[dict], bars: Mapping[str, float], default: int) -> list[Sentence]:
    """At which batch sizes the bars are met; ``default`` is the classifier's own."""
    least = pd.DataFrame(rows).groupby(["rival", "batch_size"])["ratio"].min()
    sentences = []
    for name, bar in bars.items():
        met = [size for size, ratio in least[name].items() if ratio >= bar]
        ratios = listed(f"{ratio:.1f} at a batch of {size}" for size, ratio in least[name].items())
        sentences += [
            f"It was built to be {bar} times as fast as {name}; the least of the sets is {ratios}.",
            (default in met, f"At the default batch, {default}, that is met.",
             f"At the default batch, {default}, that isn't met"
             + (f", at {listed(map(str, met))} it is." if met else ", nor at another.")),
        ]  # fmt: skip
    return sentences


def first_fit_table(rows: Sequence[dict]) -> Table:
    """Seconds of a first fit and of the next process's."""
    frame = pd.DataFrame(rows)
    cells = frame.set_index("loss").rename_axis("Loss")[["first", "next"]].map("{:.2f}".format)
    return Table(cells.rename(columns={"first": "First fit", "next": "Next process"}), data=frame)


def large_verdict(rows: Sequence[dict]) -> list[Sentence]:
    """A million rows of 20 features, in a sentence a type of numbers."""
    return [
        f"A million rows of 20 features in {row['numbers']} take {row['epoch_seconds']:.1f} s an "
        f"epoch and at most {row['memory_share']:.1f} times the memory of the data, the data "
        "included."
        for row in rows
    ]
