"""What this runs on: versions of what results depend on, and the memory that is free."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("manyview", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and the packages that matter."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def available_memory() -> float:
    """Bytes that can be had without swapping, as far as the system tells; infinite if it does not."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(float(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
