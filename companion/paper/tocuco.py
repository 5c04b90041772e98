"""Published means of the benchmark TOC-UCO on the sets that it shares with the fair fight."""

from pathlib import Path

import pandas as pd

SOURCE = "Ayllón-Gavilán et al., Neurocomputing 684 (2026) 133528, arXiv 2507.17348"
MLPS = ("MLP", "MLP-CLM", "MLP-T")


def published() -> pd.DataFrame:
    """Columns dataset, method, QWK and AMAE: means over 30 partitions of 70/30."""
    return pd.read_csv(Path(__file__).parent / "files" / "tocuco.csv")
