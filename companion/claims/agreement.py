"""What agreement with a printed number is worth: a margin, and how often twins would agree.

*Reproduced* says no more of a number than that no difference is shown; few seeds or a large spread
are enough for it. Two figures say how much that is worth.

The margin: a number is equal within `MARGIN` if the whole interval of two standard errors about
the difference, and rounding, lies within it. The margin is half of the smallest effects that the
paper's text stresses, 0.042 in QWK (Section 5.1 ¶1.3: 0.735 against 0.693 on Abalone) and 0.036 in
CHR (Section 5.2 ¶1.3: 0.038 against 0.074). A difference twice as large would wipe such an effect
out, a smaller one leaves more than half of it. Ours and the paper's other numbers had no part in
its choice.

The twins: how many numbers would be *reproduced* if the paper and this book had run one and the
same program, with other seeds. Fewer than all, since one comparison in twelve or so is clear by
chance with five seeds.
"""

import numpy as np
import pandas as pd

from companion.claims.evidence import Cell
from companion.paper.published import NUMBER, PAPER_SEEDS, PUBLISHED

MARGIN = 0.02
PROGRAMS = 4000  # simulated pairs of runs


def within_margin(a: Cell, b: Cell, margin: float = MARGIN) -> bool:
    """Whether two means are shown to be equal but for ``margin``.

    |a − b| + 2 standard errors of the difference + rounding, at most the margin; False where a
    spread isn't known.
    """
    reach = abs(a.mean - b.mean) + a.rounding + b.rounding + 2 * np.hypot(a.error, b.error)
    return bool(reach <= margin + 1e-12)


def twins(numbers: pd.DataFrame, programs: int = PROGRAMS, seed: int = 0) -> dict[str, float]:
    """How many numbers agree, by the rule of the ledger, if both come from one program.

    Each number's runs are normal with the spread that the paper and we have, pooled
    (sqrt((s² + s_paper²)/2)); the paper's five are printed as it prints them. Cells are drawn
    independently, which leaves the mean as it is and makes the range narrower than it should be.

    Parameters
    ----------
    numbers : DataFrame
        Rows of the ledger; those without ours are left out.
    programs, seed : int

    Returns
    -------
    dict
        ``twins``, the mean number; ``twins_low`` and ``twins_high``, of 95 % of the programs.
    """
    known = numbers.dropna(subset=["ours_mean", "ours_std"])
    known = known.merge(PUBLISHED[[*NUMBER, "digits"]].drop_duplicates(NUMBER), on=NUMBER)
    if known.empty:
        return dict.fromkeys(("twins", "twins_low", "twins_high"), float("nan"))
    random = np.random.default_rng(seed)
    agree = np.zeros(programs, dtype=int)
    for number in known.itertuples():
        unit, bare = 10.0**-number.digits, np.isnan(number.paper_std)
        paper_std = number.ours_std if bare else number.paper_std
        spread = np.sqrt((number.ours_std**2 + paper_std**2) / 2)
        truth = random.uniform(0, unit, (programs, 1))  # anywhere between two printed numbers
        ours = truth + random.normal(0, spread, (programs, int(number.seeds)))
        theirs = truth + random.normal(0, spread, (programs, PAPER_SEEDS))
        printed = unit * np.round(theirs.mean(1) / unit)
        std = np.zeros(programs) if bare else unit * np.round(theirs.std(1, ddof=1) / unit)
        squares = np.maximum(std, unit / 2) ** 2 / PAPER_SEEDS + ours.var(1, ddof=1) / number.seeds
        gap = np.maximum(np.abs(ours.mean(1) - printed) - unit / 2, 0)
        agree += gap <= 2 * np.sqrt(squares)
    low, high = np.quantile(agree, (0.025, 0.975))
    return {"twins": float(agree.mean()), "twins_low": float(low), "twins_high": float(high)}
