"""A hundred sets: twenty losses with one budget on the collection, ten splits each.

On each set and split every loss trains four `candidates` said here beforehand, the untuned one
first: two values of its own parameter, of a loss without one two learning rates, each stopped by
validation loss and by validation QWK. A rule chooses one on the validation part, the first of
equals: the highest QWK, or the least MAE; "default" takes the untuned one. The chosen network is
measured on the test part by the loss's own decision and, but for the rule MAE, by others, whose
free numbers come from the validation part, too. Groups of rows stay whole in the splits.

Controls and cut regressions are measured as the natural sets are; means leave them out.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd

from amol import engine
from amol.metrics import METRICS
from companion.data import collection
from companion.studies import fair_fight
from companion.studies.decisions import DECISIONS as PLAIN
from companion.studies.decisions import (
    label_scores,
    least_inward_cost,
    nll_and_rps,
)
from companion.studies.fair_fight import RATES, run_of
from companion.studies.recording_checks import Comparison
from companion.studies.recordings import joint_key
from companion.studies.task_study import TaskStudy
from companion.studies.tuned_decisions import cut, inward_beta, thresholds
from companion.train.runs import Run

SETS = (  # whatever joins the collection later; natural sets, controls, cut regressions
    "cleveland", "birads", "skillcraft", "maternal_risk", "anes96_leftright", "fair_marriage",
    "affairs_rating", "hmda_chist", "doctor_ghq", "bank_job", "gsoep_school", "smokeban_education",
    "beps_europe", "beps_economy", "wvs_poverty", "gss_vocab", "ces_importance", "ces_education",
    "salaries_rank", "womenlf", "chile_income", "chile_education", "rossi_education",
    "arrests_checks", "nhefs_exercise", "nhefs_education", "rwm_education", "crash_injury",
    "science_like", "kakadu_answer", "kakadu_jobs", "rand_health", "nmes_health", "math_level",
    "park_wtp", "cps_education", "foodspain_town", "bwages_education", "diamond_cut",
    "diamond_clarity", "mpaa", "tipi_education", "wage_education", "std_condom", "insteval",
    "verbagg", "biopsy_thickness", "framing_immigration", "jobs_income", "jobs_education",
    "student_late", "tumor_volume", "opt_education", "chem_alevel", "scots_attain", "exam_intake",
    "socatt", "contraception_livch", "guatemala_momed", "hepatic_injury", "so_satisfaction",
    "mother_education", "arthritis", "uk_income", "yrbss_sleep", "yrbss_tv", "loan_grade",
    "acs_education", "birds_struck", "ames_quality", "ames_kitchen", "soup_sureness",
    "political_info", "vote92_economy", "bfi_blue", "bfi_education", "satact_education",
    "uis_injection", "cnes_lifestyles", "math_grade", "pines_cover", "gss_polviews", "gss_welfare",
    "anes_pid", "anes_distrust", "cces_ideology", "cces_religion", "essgb_immigrants",
    "essgb_leftright", "essno_leftright", "essbe_police", "wvs_abortion", "wvs_finance",
    "nhis_health", "vote_income", "nesarc_education", "pbc_stage", "wilms_stage", "colon_differ",
    "colon_extent", "gbsg_grade", "rotterdam_size", "apgar", "econ_mathscore", "gss_happy",
    "storm_category", "car", "cut_airfoil_bell", "cut_airfoil_flat", "cut_airfoil_edge",
    "cut_concrete_bell", "cut_concrete_flat", "cut_concrete_edge", "nursery",
    "addhealth_depression", "hpc_time", "cut_ccpp_bell", "cut_ccpp_flat", "cut_ccpp_edge",
    "chess_krk",
)  # fmt: skip
SPLITS = 10
MONITORS = ("loss", "QWK")
OWN = {  # own parameter and its two values, the default first
    "KL": ("sigma", (1.0, 0.5)),
    "AMOL": ("alpha", (1.0, 2.0)),
    "AMOL-asym": ("alpha", (1.0, 2.0)),
    "SORD": ("sigma", (1.0, 0.5)),
    "SLACE": ("slope", (1.0, 0.3)),
    "Triangular": ("neighbor", (0.05, 0.1)),
    "Binomial": ("eta", (1.0, 0.5)),
    "Beta": ("eta", (1.0, 0.5)),
    "LogitAdj": ("tau", (1.0, 0.5)),
    "OLL-Castagnos": ("power", (1.0, 1.5)),
    "CDW-CE": ("power", (2.0, 5.0)),
    "Exponential": ("tau", (1.0, 0.5)),
}
METHODS = (*fair_fight.METHODS, "OLL-Castagnos", "CDW-CE", "Exponential")
RULES: dict[str, Callable[[pd.DataFrame], int]] = {  # from validation scores to a candidate
    "QWK": lambda scores: int(scores["QWK"].to_numpy().argmax()),
    "MAE": lambda scores: int(scores["MAE"].to_numpy().argmin()),
    "default": lambda scores: 0,
}
VALIDATION = ("QWK", "MAE")
# From probabilities (n, K), and labels and probabilities of the validation part, to labels (n,).
DECISIONS: dict[str, Callable[..., np.ndarray]] = {
    "argmax": lambda p, *held: p.argmax(axis=1),
    "median": lambda p, *held: PLAIN["median"](p, None),
    "rounded mean": lambda p, *held: PLAIN["least squares"](p, None),
    "thresholds": lambda p, *held: cut(p, thresholds(*held)),
    "inward": lambda p, *held: least_inward_cost(p, inward_beta(*held)),
}
NOT_ARGMAX = ("CORN", "CORAL")  # whose own decision is another
LABEL = ("dataset", "method", "split_seed", "rule", "decision")


def candidates(method: str) -> list[dict]:
    """Settings of a method's four candidates, the untuned one first."""
    name, values = OWN.get(method, ("lr", RATES))
    return [{name: value, "monitor": monitor} for value in values for monitor in MONITORS]


def decisions_of(method: str, rule: str) -> tuple[str, ...]:
    """Names of the decisions measured of what a rule chose, the loss's own first."""
    others = tuple(DECISIONS) if method in NOT_ARGMAX else tuple(DECISIONS)[1:]
    return ("own", *(() if rule == "MAE" else others))


def keys_of(dataset: str, method: str, split: int) -> dict[tuple, str]:
    """By label, the key of all runs that a row rests on."""
    key = joint_key(run_of(dataset, method, split, c).key for c in candidates(method))[:8]
    return {
        (dataset, method, split, rule, decision): key
        for rule in RULES
        for decision in decisions_of(method, rule)
    }


def rows_of(dataset: str, method: str, split: int, stop: Callable | None) -> list[dict]:
    """Train a method's candidates on a split: one row per rule and decision."""
    runs = [run_of(dataset, method, split, c) for c in candidates(method)]
    outcomes = [
        engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol, stop)
        for run in runs
    ]
    arrays, rows = runs[0].data.arrays, []
    scores = pd.DataFrame(
        {
            name: METRICS[name](arrays.y_validation, outcome.y_pred_validation, arrays.num_classes)
            for name in VALIDATION
        }
        for outcome in outcomes
    )
    for rule, choose in RULES.items():
        chosen = choose(scores)
        for decision in decisions_of(method, rule):
            labels = dict(zip(LABEL, (dataset, method, split, rule, decision), strict=True))
            measured = _measured(runs[chosen], outcomes[chosen], decision)
            rows.append(labels | {"candidate": chosen} | measured)
    return rows


def _measured(run: Run, outcome: engine.Outcome, decision: str) -> dict:
    """What a decision scores on the test part; of a loss's own, NLL and RPS, too."""
    y, p, K = run.data.y_test, outcome.probabilities, run.data.arrays.num_classes
    weights = {"weights": outcome.weights_digest[:8]}
    if decision == "own":
        return label_scores(y, outcome.y_pred, K) | nll_and_rps(y, p) | weights
    held = run.data.arrays.y_validation, outcome.probabilities_validation
    return label_scores(y, DECISIONS[decision](p, *held), K) | weights


STUDY = TaskStudy(
    "hundred_sets",
    task=LABEL[:3],
    label=LABEL,
    tasks=tuple(product(SETS, METHODS, range(SPLITS))),
    keys=keys_of,
    measure=rows_of,
    trainings=lambda dataset, method, split: len(candidates(method)),
)


def own_sets() -> list[str]:
    """Sets that are read from this project's own files: there in every build, without an extra."""
    return [name for name in SETS if not collection.descriptions()[name].package]


def verify(count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """`TaskStudy.verify` on `own_sets`."""
    return STUDY.verify(count, sample_seed, {"dataset": own_sets()})
