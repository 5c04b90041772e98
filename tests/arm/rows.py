"""Recorded runs trained anew in this process, whatever processor Numba compiles for.

python tests/arm/rows.py COUNT FOLDER    COUNT random rows, trained into a store in FOLDER

For instance with NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= in the environment. Prints a line of
JSON: how many rows were compared, and the first that isn't equal.
"""

import json
import sys
from pathlib import Path

from companion.studies.grids import GRIDS, verify
from companion.studies.recordings import made
from companion.train import study


def main(count: int, store: Path) -> None:
    study.store_path = lambda: store  # so that no run of another processor is taken
    names = list(filter(made, GRIDS))
    compared, first = 0, None
    for at, name in enumerate(names):
        share = count * (at + 1) // len(names) - count * at // len(names)
        comparison = verify(name, share, sample_seed=1)[1]
        compared += comparison.compared
        first = first or comparison.first
        print(f"{name}: {comparison}", file=sys.stderr, flush=True)
    print(json.dumps({"compared": compared, "first_difference": first or None}))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
