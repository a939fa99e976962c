"""The environment: versions of the packages that results depend on, and the free memory and cores."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

LOOKS, PAUSE = 5, 0.002  # how often running tasks are counted, and seconds between counts

PACKAGES = ("manyview", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that matter."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def available_memory() -> float:
    """Return the bytes that are free without swapping; infinite if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(float(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def idle_cores() -> int:
    """Return the number of idle cores, at least 1; all cores if the system does not say."""
    cores = os.cpu_count() or 1
    try:
        running = [_running_tasks()]
        for _ in range(LOOKS - 1):
            time.sleep(PAUSE)
            running.append(_running_tasks())
        others = sorted(running)[LOOKS // 2] - 1  # not counting this process
    except (OSError, ValueError):
        others = 0
    return max(1, cores - others)


def _running_tasks() -> int:
    return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
