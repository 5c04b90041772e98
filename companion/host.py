"""The machine that something was measured on; quick to load, for commands that start with it."""

import os
import platform
from pathlib import Path


def processor() -> str:
    """Model of the processor and number of its cores."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [s for s in info.read_text().splitlines() if s.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    return f"{name}, {os.cpu_count()} cores"
