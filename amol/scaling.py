"""Features in float32 as a network reads them: centered and scaled by some of their rows."""

import numpy as np

BLOCK = 1 << 20  # numbers at a time, so that a large table isn't copied whole


def _sum(X: np.ndarray, rows: np.ndarray, of_block=lambda block: block) -> np.ndarray:
    """Sum (d,) of rows in float64, one by one in their order, block by block."""
    # NumPy adds a single column by pairs, so that one isn't cut
    size = len(rows) if X.shape[1] == 1 else max(1, BLOCK // X.shape[1])
    total = None
    for start in range(0, len(rows), size):
        block = of_block(np.ascontiguousarray(X[rows[start : start + size]], np.float64))
        total = (block if total is None else np.vstack([total, block])).sum(axis=0)
    return total


def center_and_scale(X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (d,) float64 of each column of X (n, d) over ``rows``.

    A column that is constant over them has its value and 1, so that it is centered and not scaled.
    What overflows is inf or NaN.
    """
    with np.errstate(all="ignore"):
        mean = _sum(X, rows) / len(rows)
        deviation = np.sqrt(_sum(X, rows, lambda block: (block - mean) ** 2) / len(rows))
    first = X[rows[0]].astype(np.float64)
    constant = ~_sum(X, rows, lambda block: block != first).astype(bool)
    return np.where(constant, first, mean), np.where(constant, 1.0, deviation)


def scaled(X: np.ndarray, rows: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(X − center) / scale of some rows, computed in float64: (len(rows), d) float32.

    What overflows is inf or NaN.
    """
    found = np.empty((len(rows), X.shape[1]), np.float32)
    size = max(1, BLOCK // X.shape[1])
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        with np.errstate(all="ignore"):
            found[part] = (X[rows[part]].astype(np.float64) - center) / scale
    return found
