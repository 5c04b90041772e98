"""Command of the fault trials; see the package."""

import json
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from companion.studies.recordings import keep
from faults.trials import FAULTS, Untried, try_fault


def _trials(names: list[str]):
    for fault in FAULTS:
        if names and fault.name not in names:
            continue
        for number in range(1 if names else fault.times):
            try:
                yield try_fault(fault, number)
            except Untried as reason:
                print(f"{fault.name}: not tried, {reason}", file=sys.stderr)


if len(sys.argv) > 1:
    print(json.dumps(list(_trials(sys.argv[1:]))))
else:
    trials = pd.DataFrame(_trials([]))
    keep("faults", trials, {"trials": len(trials)})
    print(trials.drop(columns="says").to_string(index=False))
