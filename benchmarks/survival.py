"""Survival of the clusters of tumours: -log10 of the log-rank p-value, the measure of the multi-omics literature.

    python benchmarks/survival.py            # the quick methods on four TCGA data sets in MANYVIEW_DATA/omics
    python benchmarks/survival.py --methods ocbr mfmsc --data tcga_lgg267

1.30 is p = 0.05; larger is better. Every method finds as many clusters as there are known classes ("k"); where none
are known, each chooses the number itself. "known classes" is what the true classes reach, "k-means" is k-means on all
features, "sum of graphs" the cut of the views' summed neighbour graphs. Survival is never shown to a method. The
p-value rests on an approximation that is poor for clusters of a few samples; the last column has the smallest size.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from common import SLOW_METHODS, SumOfGraphs, data_folder, print_table
from manyview import METHODS, Views
from manyview.evaluation import compare_survival
from manyview.methods.base import AUTO
from manyview.preprocessing.scaling import scale_views

DATA = ("tcga_kidney737", "tcga_brca398", "tcga_lgg267", "tcga_kirc124_survival")
COLUMNS = ("data", "samples", "with survival", "method", "k", "-log10 p", "smallest cluster")


@dataclass(frozen=True)
class Study:
    """Views of patients, their survival, and their known classes, if any."""

    name: str
    views: Views
    time: np.ndarray
    event: np.ndarray
    classes: np.ndarray | None


def read_study(name: str) -> Study:
    with np.load(data_folder() / "omics" / f"{name}.npz", allow_pickle=False) as archive:
        keys = sorted(key for key in archive.files if key.startswith("view_") and key[5:].isdigit())
        views = Views({str(word): archive[key] for word, key in zip(archive["view_names"], keys, strict=True)})
        classes = archive["labels"] if len(np.unique(archive["labels"])) > 1 else None
        return Study(name, views, archive["time"].astype(float), archive["event"].astype(float), classes)


def k_means(study: Study, k: int) -> np.ndarray:
    """K-means on all standardised features together."""
    tables, _ = scale_views(study.views)
    return KMeans(k, n_init=10, random_state=0).fit_predict(np.hstack(tables))


def clusterings(study: Study, methods: list[str]) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Names, and how to get the labels."""
    classes = study.classes
    k = AUTO if classes is None else len(np.unique(classes))
    for key in methods:
        yield key, lambda key=key: METHODS[key](k, random_state=0).fit(study.views).labels_
    if classes is not None and k != AUTO:
        yield "k-means", lambda: k_means(study, int(k))
        yield "sum of graphs", lambda: SumOfGraphs(int(k)).fit_predict(study.views)
        yield "known classes", lambda: classes


def rows(names: list[str], methods: list[str]) -> Iterator[list[object]]:
    for study in map(read_study, names):
        known = int((~np.isnan(study.time) & ~np.isnan(study.event)).sum())
        for name, fit in clusterings(study, methods):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = fit()
            sizes = np.unique(labels, return_counts=True)[1]
            p = compare_survival(labels, study.time, study.event).p_value if len(sizes) > 1 else 1.0
            yield [study.name, len(labels), known, name, len(sizes), f"{-np.log10(p):.2f}", sizes.min()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=[m for m in METHODS if m not in SLOW_METHODS]
    )
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    options = parser.parse_args()
    print("## Survival of the clusters\n")
    print_table(COLUMNS, rows(options.data, options.methods))


if __name__ == "__main__":
    main()
