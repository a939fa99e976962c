"""Time and memory against the number of samples, beside scikit-learn; and where the time goes.

python benchmarks/scale.py table [n ...]    # two views of 64 features, 20 clusters: CPU seconds, memory, ratios
python benchmarks/scale.py picture          # draws the rows of all tables so far, and the table of docs/peers.md
python benchmarks/scale.py limits           # from the same rows: up to which n each method is practical
python benchmarks/scale.py steps [n ...]    # share of each step of OCBR in its CPU seconds
python benchmarks/scale.py memory [n ...]   # peak memory of OCBR for one view, in times the view: treatment, fit
python benchmarks/scale.py cells            # adt10_372k_1view of MANYVIEW_DATA, 15 clusters
python benchmarks/scale.py neighbors        # every file of MANYVIEW_DATA: ACC with exact and approximate neighbours
python benchmarks/scale.py ratio            # digits, two views: seconds of OCBR divided by those of MFMSC, same run
python benchmarks/scale.py imports          # CPU seconds of `import manyview`, and those of `import sklearn.cluster`
python benchmarks/scale.py threads          # wall seconds of fits with one and two threads, the machine idle and busy

A million samples are in `landmarks.py`.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import re
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from itertools import product, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import SpectralClustering
from threadpoolctl import threadpool_limits

from common import data_folder, digits, in_child, noisy, print_table, read_npz, research_file
from manyview import METHODS, MFMSC, OCBR, Views, clustering_accuracy, make_views
from manyview.experiments import worker
from manyview.graphs import neighbors

SIZES = (2000, 20_000, 50_000, 100_000)
CLUSTERS = 20
SKLEARN = "scikit-learn"
COLOURS = 10  # of a picture
ROWS = Path(__file__).with_name("scale.csv")  # what tables have measured, for the picture
PICTURE, PEERS_PICTURE = Path("docs/images/scaling.svg"), Path("docs/images/scaling-peers.svg")
PEERS_PAGE, PEERS_TABLE = Path("docs/peers.md"), "### CPU seconds and growth of the process"  # of peers/run.py scale
COLUMNS = ("n", "method", "cpu_seconds", "growth_mb", "acc")
MOST = {"cpu_seconds": 600.0, "growth_mb": 16_000.0}  # that a fit may take to be practical
STEPS = {  # functions of OCBR that share out nearly all of its time
    "recovery": ("ocbr/treated.py", "treat_views"),
    "neighbours": ("graphs/batches.py", "neighbors_of"),
    "eigenvectors": ("numerics/eigenvectors.py", "top_eigenvectors"),
    "k-means": ("partition/spectral.py", "pivoted_kmeans"),
    "block model": ("partition/blockmodel.py", "fit"),
}


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
    """Best CPU seconds of an import in a new process; they alternate. `import manyview` loads methods on first use."""
    lines = ("import sklearn.cluster", "import manyview", "from manyview import OCBR")
    best = dict.fromkeys(lines, float("inf"))
    for _ in range(repeats):
        for line in lines:
            code = f"import time; t = time.process_time(); {line}; print(time.process_time() - t)"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            best[line] = min(best[line], float(done.stdout))
    reference = best[lines[0]]
    print_table(["", "CPU s", "ratio"], [[line, seconds, seconds / reference] for line, seconds in best.items()])


def threads(repeats: int = 3) -> None:
    """Best wall seconds of fits of the digits with one thread, two, and as many as OCBR takes by itself.

    Busy means that other processes keep every core at work, as on a shared machine.
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
                    yield [name, method.__name__, one, two, chosen, two / one, chosen / one]
            finally:
                for process in spinning:
                    process.kill()

    print_table(["machine", "method", "1 thread", "2 threads", "default", "2 / 1 thread", "default / 1 thread"], rows())


class Concatenation:
    """Spectral clustering of scikit-learn, with its kNN graph of all views side by side."""

    def __init__(self, n_clusters: int) -> None:
        self.model = SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0)

    def fit_predict(self, views: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(self.model.fit_predict(np.hstack(views)))


def fit_synthetic(n_samples: int, key: str) -> dict[str, float]:
    """CPU seconds, growth of memory in MB, and ACC of one fit."""
    data = make_views(n_samples, CLUSTERS, (64, 64), noise=1.0, separation=6.0, seed=0)
    return measured((Concatenation if key == SKLEARN else METHODS[key])(CLUSTERS), data.views, data.labels)


def measured(model: Any, views: Any, labels: np.ndarray) -> dict[str, float]:
    found, fit = worker.fit(model, views)
    growth = fit["peak_mb"] - fit["start_mb"]
    return {"cpu_seconds": fit["cpu_seconds"], "growth_mb": growth, "acc": clustering_accuracy(labels, found)}


def table(sizes: Sequence[int], keys: Sequence[str]) -> None:
    """Each fit in a process of its own, so that its peak is its own; scikit-learn before the others."""
    print(f"## Two views of 64 features, {CLUSTERS} clusters, float64, one thread\n")

    def rows() -> Iterator[list[object]]:
        for n in sizes:
            reference: dict[str, float] = {}
            for key in keys:
                try:
                    fit = in_child(fit_synthetic, n, key)
                except Exception as error:
                    yield [n, key, f"failed: {error}", None, None, None, None]
                    continue
                keep({"n": n, "method": key, **fit})
                reference = fit if key == SKLEARN else reference
                ratios = [fit[name] / reference.get(name, np.nan) for name in ("cpu_seconds", "growth_mb")]
                yield [n, key, fit["cpu_seconds"], ratios[0], round(fit["growth_mb"]), ratios[1], fit["acc"]]

    print_table(["n", "method", "CPU s", "x sklearn", "MB more", "x sklearn", "ACC"], rows())


def keep(row: dict[str, object]) -> None:
    """Append a row to the file; the last one of a size and method counts."""
    pd.DataFrame([row], columns=COLUMNS).to_csv(ROWS, mode="a", header=not ROWS.exists(), index=False)


def picture() -> None:
    """Draw time and memory against n, for the methods and scikit-learn, and for the peers."""
    rows = pd.read_csv(ROWS).drop_duplicates(["n", "method"], keep="last").sort_values("n")
    draw_growth(rows, PICTURE)
    draw_growth(read_peers_table(PEERS_PAGE.read_text(encoding="utf-8")), PEERS_PICTURE)


def read_peers_table(page: str) -> pd.DataFrame:
    """Return the rows of the table; where a peer stopped, there is none."""
    lines = page[page.index(PEERS_TABLE) :].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in takewhile(bool, lines)]
    sizes = [int(head.removeprefix("n = ")) for head in cells[0][1:]]
    found = [
        (n, name, *map(float, measured.groups()))
        for name, *texts in cells[2:]
        for n, text in zip(sizes, texts, strict=True)
        if (measured := re.fullmatch(r"([\d.]+) s, (\d+) MB", text))
    ]
    return pd.DataFrame(found, columns=COLUMNS[:4])


def draw_growth(rows: pd.DataFrame, path: Path) -> None:
    """One line per method: CPU seconds, and memory."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    quantities = {"cpu_seconds": "CPU seconds", "growth_mb": "memory (MB more than before the fit)"}
    for ax, (column, title) in zip(figure.subplots(1, 2), quantities.items(), strict=True):
        for i, (method, group) in enumerate(rows.groupby("method", sort=False)):
            style = "-" if i < COLOURS else "--"  # colours repeat
            ax.loglog(group["n"], group[column], style, marker="o", markersize=3, label=method)
        ax.set(xlabel="samples", title=title)
        ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path)
    print(f"wrote {path}")


def limits() -> None:
    """Go on from the two largest sizes of each method, at the pace between them."""
    rows = pd.read_csv(ROWS).drop_duplicates(["n", "method"], keep="last").sort_values("n")

    def reached() -> Iterator[list[object]]:
        for method, group in rows.groupby("method"):
            if len(group) < 2:
                continue
            before, last = group.iloc[-2], group.iloc[-1]
            growth = {name: _exponent(before, last, name) for name in MOST}
            most = {name: last["n"] * (MOST[name] / last[name]) ** (1 / growth[name]) for name in MOST}
            short = min(most, key=most.__getitem__)
            measured = [int(last["n"]), *(float(last[name]) for name in MOST)]
            yield [method, *measured, *growth.values(), f"{most[short]:.1g}", short]

    print_table(["method", "n", *MOST, *(f"exponent of {name}" for name in MOST), "practical n", "short of"], reached())


def _exponent(before: pd.Series, last: pd.Series, name: str) -> float:
    return float(np.log(last[name] / before[name]) / np.log(last["n"] / before["n"]))


def steps(sizes: Sequence[int]) -> None:
    """Profile one fit of each size; the profile counts CPU time."""
    print("## Share of the steps of OCBR\n")

    def rows() -> Iterator[list[object]]:
        for n in sizes:
            data = make_views(n, CLUSTERS, (64, 64), noise=1.0, separation=6.0, seed=0)
            profile = cProfile.Profile(time.process_time)
            profile.runcall(OCBR(CLUSTERS).fit, data.views)
            stats = pstats.Stats(profile)
            total = stats.total_tt  # type: ignore[attr-defined]
            shares = [_seconds_in(stats, *place) / total for place in STEPS.values()]
            yield [n, total, *shares, 1 - sum(shares)]

    print_table(["n", "CPU s", *STEPS, "rest"], rows())


def _seconds_in(stats: pstats.Stats, file: str, function: str) -> float:
    """CPU seconds spent in a function and what it calls."""
    found = stats.stats.items()  # type: ignore[attr-defined]
    return sum(entry[3] for (path, _, name), entry in found if path.endswith(file) and name == function)


def memory(sizes: Sequence[int]) -> None:
    """Peaks of what numpy allocates, beside the view itself, for one view of 64 features in single precision."""

    def rows() -> Iterator[list[object]]:
        for n, (name, share) in product(sizes, (("clean", 0.0), ("20 % corrupted", 0.2))):
            X = make_views(n, CLUSTERS, (64,), noise=1.0, separation=6.0, seed=0).views.arrays[0].astype(np.float32)
            rng = np.random.default_rng(0)
            for part in np.array_split(X, 20):
                hit = rng.random(part.shape) < share
                part[hit] = 20 * rng.standard_normal(int(hit.sum()))
            model, views = OCBR(CLUSTERS, strategy="exact"), Views([X])
            peaks = [_traced_peak(step, views) / X.nbytes for step in (model._prepare, model.fit)]
            yield [n, name, X.nbytes / 2**20, *peaks]

    print_table(["n", "", "MB of the view", "treatment", "fit"], rows())


def _traced_peak(function: Any, *args: Any) -> int:
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit_cells() -> dict[str, float]:
    data = research_file("large/adt10_372k_1view")
    return measured(OCBR(15), data.views, data.labels)


def cells() -> None:
    """One fit of 372,615 cells with the default strategy."""
    fit = in_child(fit_cells)
    print_table(["data", "CPU s", "MB more", "ACC"], [["adt10_372k_1view", *fit.values()]])


def by_neighbors() -> None:
    """ACC of OCBR with exact and approximate neighbours, clean and with a fifth of the entries corrupted."""

    def rows() -> Iterator[list[object]]:
        for path in sorted(data_folder().glob("*.npz")) + sorted(data_folder().glob("omics/*.npz")):
            data = read_npz(path)
            for name, draw in (("clean", None), ("corrupted", 0)):
                views = noisy(data, draw)
                found = [_accuracy(data, views, exact_up_to) for exact_up_to in (neighbors.EXACT_UP_TO, 0)]
                yield [data.name, name, *found, 100 * (found[1] - found[0])]

    print_table(["data", "", "exact", "approximate", "points"], rows())


def _accuracy(data: Any, views: Any, exact_up_to: int) -> float:
    before, neighbors.EXACT_UP_TO = neighbors.EXACT_UP_TO, exact_up_to
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clustering_accuracy(data.labels, OCBR(data.n_classes).fit(views).labels_)
    finally:
        neighbors.EXACT_UP_TO = before


def main() -> None:
    commands = {"picture": picture, "limits": limits, "imports": imports, "threads": threads, "cells": cells}
    limited = {"ratio": ratio, "neighbors": by_neighbors}
    sized = {"steps": (steps, SIZES[:3]), "memory": (memory, (500_000,))}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["table", *commands, *limited, *sized])
    parser.add_argument("sizes", nargs="*", type=int, help=f"numbers of samples {SIZES}")
    parser.add_argument("--methods", nargs="+", default=[SKLEARN, "mfmsc", "ocbr"], choices=[SKLEARN, *METHODS])
    options = parser.parse_args()
    if options.what in commands:
        commands[options.what]()
    elif options.what == "table":
        table(options.sizes or SIZES, options.methods)
    else:
        with threadpool_limits(1):
            if options.what in sized:
                command, usual = sized[options.what]
                command(options.sizes or usual)
            else:
                limited[options.what]()


if __name__ == "__main__":
    main()
