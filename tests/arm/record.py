"""The table of digests by processor, for the page about equal bits.

python tests/arm/record.py [ARM64.TXT]    writes book/recorded/bits.csv

Runs `bits.py` under each instruction set of `PROCESSORS` that this processor has; ARM64.TXT is
what `tests/arm.sh` printed under emulation.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from llvmlite import binding

SCRIPT = Path(__file__).with_name("bits.py")
ROOT = SCRIPT.parents[2]
AVX = "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx"
AVX2 = f"{AVX},+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt"
# Names in the table, with the processor name and instructions that Numba compiles for.
PROCESSORS = {
    "as it is": None,
    "SSE2 alone (generic)": ("generic", ""),
    "AVX without fused multiply-add (Sandy Bridge)": ("sandybridge", AVX),
    "AVX2 (Haswell)": ("haswell", AVX2),
    "AVX2 (Zen 3)": ("znver3", AVX2),
}


def printed(*arguments: object, cache: str, **changes: str) -> str:
    """What `bits.py` prints in a process of its own; Numba keys its cache by processor."""
    variables = os.environ | {"PYTHONPATH": str(ROOT), "AMOL_CACHE": cache} | changes
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def environment(processor: str) -> dict[str, str] | None:
    """Variables that make Numba compile for a processor; None where this one can't run that."""
    if PROCESSORS[processor] is None:
        return {}
    name, features = PROCESSORS[processor]
    has = binding.get_host_cpu_features()
    if not all(has.get(feature[1:]) for feature in features.split(",") if feature):
        return None
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}


def _rows(processor: str, text: str) -> list[dict]:
    columns = ("loss", "best_epoch", "epochs", "digest")
    lines = (line.split() for line in text.splitlines() if not line.startswith("Equal"))
    return [{"processor": processor} | dict(zip(columns, line, strict=True)) for line in lines]


def main(arm64: Path | None) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.npz"
        printed("prepare", cases, cache=folder)
        for processor in PROCESSORS:
            variables = environment(processor)
            if variables is not None:
                rows += _rows(processor, printed(cases, cache=folder, **variables))
                print(processor, "done", file=sys.stderr, flush=True)
    if arm64:
        rows += _rows("ARM64 (emulated by QEMU)", arm64.read_text())
    path = ROOT / "book" / "recorded" / "bits.csv"
    pd.DataFrame(rows).to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
