"""Rules that choose α on the validation part, from the fair fight's untuned AMOL networks."""

import pandas as pd

SOURCES = {  # method and rule of the recording by α; KL is AMOL at α = 0
    0.0: ("KL", "default"),
    0.5: ("AMOL", "alpha 0.5"),
    1.0: ("AMOL", "default"),
    2.0: ("AMOL", "alpha 2"),
    4.0: ("AMOL", "alpha 4"),
}
WITHIN = (0.0, 0.01, 0.02, 0.03)  # of the highest validation QWK, tried


def by_alpha(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `SOURCES` under a column alpha."""
    keys = rows.set_index(["method", "rule"]).sort_index()
    return pd.concat([keys.loc[[key]].assign(alpha=a) for a, key in SOURCES.items()]).reset_index()


def largest_within(rows: pd.DataFrame, within: float) -> pd.DataFrame:
    """Per data set and split the row of the largest α whose validation QWK is near the best.

    Parameters
    ----------
    rows : DataFrame
        From `by_alpha`.
    within : float
        How far below the highest validation QWK it may be.
    """
    where = ["dataset", "split_seed"]
    best = rows.groupby(where)["validation_QWK"].transform("max")
    near = rows[rows["validation_QWK"] >= best - within - 1e-9]
    return near.loc[near.groupby(where, sort=False)["alpha"].idxmax()]
