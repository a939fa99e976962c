"""All registered systems on the digits, with the numbers the paper prints: same data, same noise, defaults.

    python benchmarks/baselines.py   # 2 and 6 views, clean and 20 % corrupted, 10 repeats
    python benchmarks/baselines.py --methods mfmsc ccamsc --views 2 --repeats 3

Every fit runs in a process of its own, with one thread, and is timed in CPU seconds. On clean data a repeat differs in
the seed of k-means only, and methods that take long are fitted twice. Peak memory is the highest resident size during
the fit less the resident size before it, with the package and the data loaded (VmHWM and VmRSS in /proc/self/status).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from common import digits, noisy, print_table, score
from manyview import METHODS

# ACC and NMI in percent, UCI digits, two views; corrupted for the last three, clean for the others
PRINTED_CLEAN = {
    "mfmsc": (43.81, 41.57),
    "maasc": (51.74, 47.85),
    "ccamsc": (73.24, 56.51),
    "cotraining": (79.22, 62.07),
}
PRINTED_CORRUPTED = {"rlrr": (83.67, 81.20), "lrrgl": (86.39, 85.45), "ocbr": (92.22, 89.61)}
SLOW = 10.0  # CPU seconds
COLUMNS = ("method", "fits", "ACC", "NMI", "CPU s", "peak MB", "paper ACC", "paper NMI")


def resident_mb(field: str) -> float:
    """VmRSS (now) or VmHWM (highest so far) of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def fit_once(key: str, n_views: int, seed: int, *, corrupted: bool) -> dict[str, float]:
    data = digits(n_views)
    views = noisy(data, seed if corrupted else None)
    before, start = resident_mb("VmRSS"), time.process_time()
    result = score(METHODS[key], views, data, random_state=seed)
    return {
        "acc": result.acc,
        "nmi": result.nmi,
        "seconds": time.process_time() - start,
        "mb": resident_mb("VmHWM") - before,
    }


def fit_in_child(key: str, n_views: int, seed: int, *, corrupted: bool) -> dict[str, float]:
    words = [sys.executable, __file__, "--child", key, str(n_views), str(seed), str(int(corrupted))]
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, env=os.environ | one_thread, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def rows(methods: list[str], n_views: int, repeats: int, *, corrupted: bool) -> Iterator[list[object]]:
    printed = (PRINTED_CORRUPTED if corrupted else PRINTED_CLEAN) if n_views == 2 else {}
    for key in methods:
        paper = [f"{value / 100:.3f}" for value in printed.get(key, ())] or ["", ""]
        try:
            fits = [fit_in_child(key, n_views, 0, corrupted=corrupted)]
            # clean data are the same in every repeat, only k-means gets another seed: slow methods are spared that
            enough = 2 if fits[0]["seconds"] > SLOW and not corrupted else repeats
            fits += [fit_in_child(key, n_views, seed, corrupted=corrupted) for seed in range(1, enough)]
        except RuntimeError as error:  # a failure is a row, not the end of the table
            yield [key, 0, f"failed: {error}", "", "", "", *paper]
            continue
        acc, nmi, seconds, mb = (np.array([fit[name] for fit in fits]) for name in ("acc", "nmi", "seconds", "mb"))
        scores = [f"{values.mean():.3f} ± {values.std():.3f}" for values in (acc, nmi)]
        yield [key, len(fits), *scores, f"{seconds.mean():.2f}", f"{mb.max():.0f}", *paper]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--views", nargs="+", type=int, default=[2, 6])
    parser.add_argument("--repeats", type=int, default=10, help="seeds; with noise, as many draws of it")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        key, n_views, seed, corrupted = options.child
        print(json.dumps(fit_once(key, int(n_views), int(seed), corrupted=corrupted == "1")))
        return
    for n_views in options.views:
        for corrupted in (False, True):
            name = "20 % of the entries corrupted" if corrupted else "clean"
            print(f"## Digits, {n_views} views, {name}: mean ± std of {options.repeats} repeats\n")
            print_table(COLUMNS, rows(options.methods, n_views, options.repeats, corrupted=corrupted))


if __name__ == "__main__":
    main()
