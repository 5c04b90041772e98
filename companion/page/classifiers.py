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
from companion.studies.classifiers import DECISIONS, OURS, SETS, chosen
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


def _placed(mean: pd.Series) -> str:
    """The highest mean kappa, and ours where that is another's."""
    first = mean.idxmax()
    ours = "" if first == OURS else f", and {OURS} {mean[OURS]:.3f}"
    return f"{first} has the highest mean kappa, {mean[first]:.3f}{ours}"


def verdict(rows: pd.DataFrame) -> list[Sentence]:
    """How ours compares, in sentences that name who leads, whoever it is."""
    own, tuned = (by_set(rows)["QWK"].loc[d].unstack("library") for d in DECISIONS)
    rivals = [name for name in tuned if name != OURS]
    wins = [f"{name} on {(tuned[OURS] > tuned[name]).sum()}" for name in rivals]
    gained = tuned.mean() - own.mean()
    planned, failed = len(SETS), rows.loc[rows["failure"].notna(), "library"].unique()
    said = [
        f"With thresholds for all, {_placed(tuned.mean())}.",
        f"Set by set ours is higher than {listed(wins)} of {len(tuned)}.",
        f"By the libraries' own decisions {_placed(own.mean())}; ours is then the most probable "
        "class.",
        f"Thresholds add {gained[OURS]:+.3f} to ours and {gained[rivals].min():+.3f} to "
        f"{gained[rivals].max():+.3f} to the others.",
    ]
    if len(failed):
        said.append(f"Some fits of {listed(failed)} failed and are left out.")
    if len(tuned) < planned:
        said.append(f"So far {len(tuned)} of the {planned} sets are recorded.")
    return said


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


def speed_verdict(
    rows: Sequence[dict], bars: Mapping[str, float], default: int, shares: Mapping[int, float]
) -> list[Sentence]:
    """At which batch sizes the bars are met.

    ``default`` is the classifier's own batch; ``shares``, by batch size, say how much of a large
    matrix product's rate the engine reaches.
    """
    least = pd.DataFrame(rows).groupby(["rival", "batch_size"])["ratio"].min()
    sentences = []
    for name, bar in bars.items():
        ratios = listed(
            f"{ratio:.1f} at a batch of {size}, which "
            + ("meets it" if ratio >= bar else
               f"misses it ({ratio / shares[size]:.1f} at the rate of a large matrix product)")
            for size, ratio in least[name].items()
        )  # fmt: skip
        sentences.append(f"The bar was {bar} times as fast as {name}; the least of the sets is "
                         f"{ratios}.")  # fmt: skip
    return [*sentences, f"The default batch is {default}."]


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
