"""New samples: cluster half of the digits, place the other half with predict, and compare with a joint fit.

    python benchmarks/new_samples.py               # all systems except the two slow ones, 5 halves
    python benchmarks/new_samples.py --methods ocbr rlrr --halves 2

Agreement is the share of new samples with the same label as in the joint fit, under the best matching of clusters.
"Fourier only" and "profile only" are the same for new samples that have just this view. The last two columns compare
the labels of the fitted half with the joint fit, which predict can hardly exceed, and the new labels with the true
classes.
"""

from __future__ import annotations

import argparse

import numpy as np

from common import SLOW_METHODS, digits, noisy, print_table
from manyview import METHODS, clustering_accuracy

COLUMNS = ("data", "method", "agreement", "worst", "Fourier only", "profile only", "fitted half", "ACC of new samples")


def compare(key: str, draw: int | None, seed: int) -> list[float]:
    """Fit a random half, and place the other."""
    data = digits(2)
    views = noisy(data, draw)
    order = np.random.default_rng(seed).permutation(views.n_samples)
    old, new = order[: len(order) // 2], order[len(order) // 2 :]
    joint = METHODS[key](data.n_classes).fit(views).labels_
    model = METHODS[key](data.n_classes).fit(views[old])
    placed = model.predict(views[new])
    alone = [model.predict(views.select([name])[new]) for name in views.names]
    return [
        clustering_accuracy(joint[new], placed),
        *(clustering_accuracy(joint[new], labels) for labels in alone),
        clustering_accuracy(joint[old], model.labels_),
        clustering_accuracy(data.labels[new], placed),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    quick = [key for key in METHODS if key not in SLOW_METHODS]
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=quick)
    parser.add_argument("--halves", type=int, default=5, help="random halves; with noise, as many draws of it")
    options = parser.parse_args()

    def rows() -> object:
        for name, corrupted in (("clean", False), ("20 % corrupted", True)):
            for key in options.methods:
                found = np.array([compare(key, seed if corrupted else None, seed) for seed in range(options.halves)])
                agreement, fourier, profile, fitted, acc = found.mean(axis=0)
                yield [name, key, agreement, found[:, 0].min(), fourier, profile, fitted, acc]

    print(f"## Digits, two views, {options.halves} random halves\n")
    print_table(COLUMNS, rows())


if __name__ == "__main__":
    main()
