"""ACC and ARI against the ratio of cluster sizes, from 1 : 1 to 1 : 100, on generated data.

python benchmarks/unequal.py                                   # 10 settings, all quick methods
python benchmarks/unequal.py --settings 2 --max-groups 5 --ratios 1 100

A setting is drawn at random: 3 to 30 groups, Gaussian or curved, in 2 to 4 views of 20 to 100 features that confuse
none, some or all of the groups, with weak to strong separation. Centres, shapes and the number of samples are the
same at every ratio; the smallest group has about ten samples at 1 : 100. A setting counts only if a kNN classifier
that knows the groups of all other samples has a balanced accuracy above 0.95 at every ratio, so that even small
groups can be found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from common import QUICK_METHODS, mean_scores, print_table, score
from manyview import Dataset
from manyview.datasets import make_unequal_views
from manyview.preprocessing.scaling import scale_views

RATIOS = (1.0, 3.0, 10.0, 30.0, 100.0)
SMALLEST = 10  # samples in the smallest group at the largest of RATIOS
MIN_KNN = 0.95


@dataclass(frozen=True)
class Setting:
    """What all ratios share."""

    seed: int
    n_groups: int
    shape: str
    n_features: tuple[int, ...]
    separation: float
    confused: float

    @classmethod
    def draw(cls, seed: int, max_groups: int) -> Setting:
        rng = np.random.default_rng(seed)
        return cls(
            seed,
            n_groups=round(float(np.exp(rng.uniform(np.log(3), np.log(max_groups))))),
            shape=str(rng.choice(["gaussian", "curved"])),
            n_features=tuple(rng.integers(20, 101, int(rng.integers(2, 5))).tolist()),
            separation=float(rng.uniform(3, 8)),
            confused=float(rng.choice([0, 0.25, 0.5, 1])),
        )

    def data(self, ratio: float) -> Dataset:
        sizes = SMALLEST * max(RATIOS) ** np.linspace(0, 1, self.n_groups)
        return make_unequal_views(
            int(sizes.sum()),
            self.n_groups,
            self.n_features,
            ratio=ratio,
            shape=self.shape,
            separation=self.separation,
            confused=self.confused,
            seed=self.seed,
        )

    def __str__(self) -> str:
        views = f"{len(self.n_features)} views that confuse {self.confused:.0%}"
        return f"seed {self.seed}: {self.n_groups} {self.shape} groups, {views}, separation {self.separation:.1f}"


def knn_accuracy(data: Dataset, n_neighbors: int = 3) -> float:
    """Balanced accuracy of a classifier on all views together, leaving one sample out at a time."""
    tables, _ = scale_views(data.views)
    model = KNeighborsClassifier(n_neighbors).fit(np.hstack(tables), data.labels)
    return float(balanced_accuracy_score(data.labels, model.predict(None)))


def settings_that_count(n: int, max_groups: int, ratios: Sequence[float]) -> Iterator[Setting]:
    """Draw settings until n of them pass the kNN test."""
    counted = seed = 0
    while counted < n:
        setting = Setting.draw(seed, max_groups)
        seed += 1
        knn = min(knn_accuracy(setting.data(ratio)) for ratio in ratios)
        print(f"{setting}: kNN {knn:.3f}{'' if knn > MIN_KNN else ', does not count'}", file=sys.stderr, flush=True)
        if knn > MIN_KNN:
            counted += 1
            yield setting


def rows(settings: Sequence[Setting], ratios: Sequence[float], methods: Sequence[type]) -> Iterator[list[object]]:
    """Mean ACC and ARI of each method, a line per ratio."""
    for ratio in ratios:
        sets = [setting.data(ratio) for setting in settings]
        means = [mean_scores(score(method, data.views, data) for data in sets) for method in methods]
        yield [f"1 : {ratio:g}", *(f"{mean['acc']:.3f} / {mean['ari']:.3f}" for mean in means)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=10)
    parser.add_argument("--max-groups", type=int, default=30)
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--methods", nargs="+", choices=list(QUICK_METHODS), default=list(QUICK_METHODS))
    options = parser.parse_args()
    with threadpool_limits(1):
        settings = list(settings_that_count(options.settings, options.max_groups, options.ratios))
        print(f"## Mean ACC / ARI of {len(settings)} settings against the ratio of cluster sizes\n")
        methods = [QUICK_METHODS[key] for key in options.methods]
        print_table(["sizes", *(m.__name__ for m in methods)], rows(settings, options.ratios, methods))


if __name__ == "__main__":
    main()
