"""All registered systems on the digits, with the numbers the paper prints: same data, same noise, defaults.

    python benchmarks/baselines.py   # 2 and 6 views, clean and 20 % corrupted, 10 repeats
    python benchmarks/baselines.py --methods mfmsc ccamsc --views 2 --repeats 3

Every fit runs in a separate process with one thread, and is timed in CPU seconds. On clean data, repeats differ only in
the seed of k-means, and slow methods are fitted twice. Memory is the peak during the fit minus the memory before it,
when package and data are loaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from common import digits, in_child, noisy, print_table
from manyview import METHODS
from manyview.evaluation.metrics import score_labels
from manyview.experiments import worker
from manyview.reproduction.parts import read_part

SLOW = 10.0  # CPU seconds
COLUMNS = ("method", "fits", "ACC", "NMI", "CPU s", "peak MB", "paper ACC", "paper NMI")


def fit_once(key: str, n_views: int, seed: int, corrupted: bool) -> dict[str, float]:
    """Scores, CPU seconds and memory of one fit."""
    data = digits(n_views)
    model = METHODS[key](data.n_classes, random_state=seed)
    labels, measured = worker.fit(model, noisy(data, seed if corrupted else None))
    memory = measured["peak_mb"] - measured["start_mb"]
    return score_labels(data.labels, labels) | {"cpu_seconds": measured["cpu_seconds"], "memory_mb": memory}


def rows(methods: list[str], n_views: int, repeats: int, *, corrupted: bool) -> Iterator[list[object]]:
    """One line per method; a failure is a line too."""
    for key in methods:
        printed = printed_numbers(key, n_views, corrupted=corrupted)
        try:
            fits = [in_child(fit_once, key, n_views, 0, corrupted)]
            # clean data are the same in every repeat, so slow methods are not repeated for another seed of k-means
            enough = 2 if fits[0]["cpu_seconds"] > SLOW and not corrupted else repeats
            fits += [in_child(fit_once, key, n_views, seed, corrupted) for seed in range(1, enough)]
        except Exception as error:
            yield [key, 0, f"failed: {error}", "", "", "", *printed]
            continue
        found = {name: np.array([fit[name] for fit in fits]) for name in fits[0]}
        scores = [f"{found[metric].mean():.3f} ± {found[metric].std():.3f}" for metric in ("acc", "nmi")]
        costs = [f"{found['cpu_seconds'].mean():.2f}", f"{found['memory_mb'].max():.0f}"]
        yield [key, len(fits), *scores, *costs, *printed]


def printed_numbers(key: str, n_views: int, *, corrupted: bool) -> list[float | None]:
    """The paper's ACC and NMI; it has two views, and each method either clean or corrupted."""
    if n_views != 2:
        return [None, None]
    corruption = "corrupted" if corrupted else "clean"
    return [read_part(f"table-{m}").printed.value(m, "digits", corruption, key) for m in ("acc", "nmi")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--views", nargs="+", type=int, default=[2, 6])
    parser.add_argument("--repeats", type=int, default=10, help="seeds; on corrupted data, as many draws of the noise")
    options = parser.parse_args()
    for n_views in options.views:
        for corrupted in (False, True):
            name = "20 % of the entries corrupted" if corrupted else "clean"
            print(f"## Digits, {n_views} views, {name}: mean ± std of {options.repeats} repeats\n")
            print_table(COLUMNS, rows(options.methods, n_views, options.repeats, corrupted=corrupted))


if __name__ == "__main__":
    main()
