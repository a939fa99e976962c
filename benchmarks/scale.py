"""Time and memory of OCBR beside MFMSC.

python benchmarks/scale.py ratio            # digits, two views: seconds of OCBR divided by those of MFMSC, same run
python benchmarks/scale.py imports          # seconds of `import manyview` divided by those of `import sklearn.cluster`
python benchmarks/scale.py threads          # wall seconds of fits with one and two threads, the machine idle and busy
python benchmarks/scale.py memory [n ...]   # two views of 64 features: seconds and peak memory against n
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from common import digits, in_child, noisy, print_table
from manyview import METHODS, MFMSC, OCBR, make_views
from manyview.experiments import worker


def ratio(repeats: int = 7) -> None:
    """Best CPU seconds of several fits; methods alternate, one thread."""
    print("## Digits, two views, default fit: CPU seconds (best of 7), one thread\n")
    rows = []
    for name, draw in (("clean", None), ("20 % corrupted", 0)):
        views = noisy(digits(2), draw)
        best = {MFMSC: float("inf"), OCBR: float("inf")}
        for _ in range(repeats):
            for method in best:
                start = time.process_time()
                method(10).fit(views)
                best[method] = min(best[method], time.process_time() - start)
        rows.append([name, best[MFMSC], best[OCBR], best[OCBR] / best[MFMSC]])
    print_table(["", "MFMSC", "OCBR", "ratio"], rows)


def imports(repeats: int = 7) -> None:
    """Best seconds of an import in a new process; packages alternate."""
    best = {"sklearn.cluster": float("inf"), "manyview": float("inf")}
    for _ in range(repeats):
        for name in best:
            code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            best[name] = min(best[name], float(done.stdout))
    print_table([*best, "ratio"], [[*best.values(), best["manyview"] / best["sklearn.cluster"]]])


def threads(repeats: int = 3) -> None:
    """Best wall seconds of fits of the digits with one thread, two, and as many as OCBR takes by itself.

    Busy means that another process keeps every core at work, as on a shared machine.
    """
    print("## Digits, two views: wall seconds of a fit (best of 3)\n")
    views = digits(2).views

    def best(method: type, n_jobs: int | None) -> float:
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            method(10, n_jobs=n_jobs).fit(views)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    def rows() -> Iterator[list[object]]:
        for name, others in (("idle", 0), ("busy", os.cpu_count() or 1)):
            spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
            try:
                for method in (MFMSC, OCBR):
                    one, two, chosen = (best(method, n_jobs) for n_jobs in (1, 2, None))
                    yield [name, method.__name__, one, two, chosen, chosen / one]
            finally:
                for process in spinning:
                    process.kill()

    print_table(["machine", "method", "1 thread", "2 threads", "default", "default / 1 thread"], rows())


def fit_synthetic(n_samples: int, key: str) -> dict[str, float]:
    """Seconds and memory of one fit."""
    data = make_views(n_samples, 10, (64, 64), noise=1.0, separation=6.0, seed=0)
    return worker.fit(METHODS[key](10), data.views)[1]


def memory(sizes: list[int], keys: list[str]) -> None:
    """Each fit in a process of its own, so that its peak is its own."""
    print("## Two views of 64 features, 10 clusters, float64, one thread\n")

    def rows() -> Iterator[list[object]]:
        for n in sizes:
            for key in keys:
                try:
                    fit = in_child(fit_synthetic, n, key)
                except Exception as error:
                    yield [n, key, f"failed: {error}", "", ""]
                else:
                    yield [n, key, f"{fit['seconds']:.1f}", f"{fit['start_mb']:.0f}", f"{fit['peak_mb']:.0f}"]

    print_table(["n", "method", "seconds", "MB before the fit", "peak MB of the process"], rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["ratio", "imports", "threads", "memory"])
    parser.add_argument("sizes", nargs="*", type=int, help="samples (2000, 10000 and 50000 by default)")
    parser.add_argument("--methods", nargs="+", default=["mfmsc", "ocbr"], choices=list(METHODS))
    options = parser.parse_args()
    if options.what == "memory":
        memory(options.sizes or [2000, 10000, 50000], options.methods)
    elif options.what == "imports":
        imports()
    elif options.what == "threads":
        threads()
    else:
        with threadpool_limits(1):
            ratio()


if __name__ == "__main__":
    main()
