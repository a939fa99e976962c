"""Missing samples: accuracy on the clean digits, with 10 to 50 % of the samples missing from each view.

    python benchmarks/missing.py             # two and six views, three draws of the missing samples
    python benchmarks/missing.py --draws 5 --methods ocbr --views 2

OCBR ignores missing samples in its model; for the other methods they are imputed from neighbours. With two views, no
sample is missing from both; at 50 % every sample is in exactly one view, and nothing relates the views any more. The
last columns show, for two views, the accuracy on samples that are in both views, or in only one of them. "kNN" is the
accuracy, on samples in only one view, of a classifier that knows the true classes of the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.neighbors import KNeighborsClassifier

from common import SLOW_METHODS, digits, draw_absent, print_table, without
from manyview import METHODS, OCBR, Views
from manyview.methods.ocbr.layers import Layers
from manyview.preprocessing.scaling import scale_views

WITHOUT_COMPLETION = "ocbr, without the completed graph"
COLUMNS = ("views", "missing", "method", "ACC", "worst", "in both", "Fourier only", "profile only")


def right(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return whether each sample is labelled correctly, under the best matching of clusters to classes."""
    counts = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(counts, (truth, labels), 1)
    classes, clusters = linear_sum_assignment(-counts)
    return truth == classes[np.argsort(clusters)][labels]


def shares(hit: np.ndarray, absent: np.ndarray) -> list[float]:
    """Accuracy on all samples; with two views, also on those in both, and in only one."""
    groups = [np.ones(len(hit), dtype=bool)]
    if absent.shape[1] == 2:
        groups += [~absent.any(axis=1), absent[:, 1], absent[:, 0]]
    return [float(hit[group].mean()) if group.any() else float("nan") for group in groups]


def knn_shares(views: Views, truth: np.ndarray, absent: np.ndarray) -> list[float]:
    """Accuracy, on samples in only one view, of 10 nearest neighbours with known classes."""
    tables, _ = scale_views(views)
    complete = ~absent.any(axis=1)
    found = []
    for v in (0, 1):
        alone = absent[:, 1 - v]
        model = KNeighborsClassifier(10).fit(tables[v][complete], truth[complete])
        found.append(float(model.score(tables[v][alone], truth[alone])))
    return found


def rows(methods: list[str], n_views: int, percents: list[int], draws: int) -> Iterator[list[object]]:
    data = digits(n_views)
    for percent in percents:
        masks = [draw_absent(data.views.n_samples, n_views, percent / 100, seed) for seed in range(draws)]
        for name in methods:
            change: AbstractContextManager[object] = nullcontext()
            if name == WITHOUT_COMPLETION:
                change = patch.object(Layers, "_completed_graph", lambda *_: 0)
            method = METHODS.get(name, OCBR)
            with change:
                fits = [method(data.n_classes).fit(without(data.views, mask)).labels_ for mask in masks]
            found = np.array([shares(right(data.labels, z), mask) for z, mask in zip(fits, masks, strict=True)])
            parts = found.mean(axis=0)[1:].tolist() or [""] * 3
            yield [n_views, f"{percent} %", name, found[:, 0].mean(), found[:, 0].min(), *parts]
        if n_views == 2 and percent < 50:
            known = np.mean([knn_shares(data.views, data.labels, mask) for mask in masks], axis=0)
            yield [n_views, f"{percent} %", "kNN, classes known", "", "", "", *(f"{value:.3f}" for value in known)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*(key for key in METHODS if key not in SLOW_METHODS), WITHOUT_COMPLETION]
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, WITHOUT_COMPLETION], default=names)
    parser.add_argument("--views", nargs="+", type=int, default=[2, 6])
    parser.add_argument("--percents", nargs="+", type=int, default=[10, 30, 50])
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    print(f"## Clean digits, samples missing from each view, mean of {options.draws} draws\n")
    print_table(
        COLUMNS, (row for v in options.views for row in rows(options.methods, v, options.percents, options.draws))
    )


if __name__ == "__main__":
    main()
