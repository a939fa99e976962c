"""What moving each parameter does: every parameter of every method, one at a time, the others at their defaults.

python benchmarks/parameters.py                 # the quick methods, on the digits, clean and corrupted
python benchmarks/parameters.py ocbr mfmsc      # these methods
python benchmarks/parameters.py rlrr --every 4  # on every fourth sample, for slow methods

A parameter that is not in `VALUES` or `NO_EFFECT` should not exist; a test compares the lists with the signatures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from threadpoolctl import threadpool_limits

from common import QUICK_METHODS, digits, noisy, print_table, score
from manyview import METHODS, Dataset

NO_EFFECT = {
    "n_clusters": "given",
    "max_clusters": "for auto and levels_, see selection.py",
    "random_state": "seed of k-means",
    "n_jobs": "threads, see scale.py threads",
    "callback": "watches the fit",
    "strategy": "whether all samples are clustered at once, see landmarks.py",
    "n_landmarks": "see landmarks.py",
    "max_memory": "refuses what is too large",
}
GRAPHS = {
    "n_neighbors": (5, 10, 20, 40),
    "affinity": ("knn", "adaptive", "self_tuning"),
    "scaling": ("standard", "soft", "robust", "none"),
    "degree_regularization": (0.0, 0.3, 1.0),
}
LOOP = {"max_iter": (5, 20, 100), "tol": (1e-1, 1e-2, 1e-3)}
SELF_EXPRESSION = {
    **LOOP,
    "sparsity": (0.5, 1.0, 2.0),
    "nonnegative": (True, False),
    "representation_graph": ("angle", "sum"),
    "n_neighbors": (5, 10, 20, 50),
    "scaling": GRAPHS["scaling"],
    "degree_regularization": GRAPHS["degree_regularization"],
}
VALUES: dict[str, dict[str, tuple[Any, ...]]] = {
    "mfmsc": {**GRAPHS, "view_weights": ([1, 1], [2, 1], [1, 2])},
    "maasc": {**GRAPHS, **LOOP},
    "ccamsc": {
        **GRAPHS,
        "n_components": (5, 10, 20),
        "ridge": (0.0, 0.1, 1.0, 10.0),
        "max_rank": (20, 100, 200),
        "combine": ("mean", "concatenate"),
    },
    "cotraining": {**GRAPHS, **LOOP, "informative_view": ("fourier", "profile")},
    "rlrr": {**SELF_EXPRESSION, "affinity": ("linear",)},
    "rmsc": {
        **LOOP,
        "sparsity": (0.5, 1.0, 2.0),
        "n_neighbors": (5, 10, 20),
        "affinity": ("self_tuning",),
        "scaling": GRAPHS["scaling"],
        "degree_regularization": GRAPHS["degree_regularization"],
    },
    "lrrgl": {
        **SELF_EXPRESSION,
        "affinity": GRAPHS["affinity"],
        "graph_weight": (0.0, 0.5, 2.0),
        "consensus_weight": (0.0, 0.5, 2.0),
    },
    "paper-ocbr": {
        **LOOP,
        "variant": ("corrected", "printed"),
        "graph_weight": (0.0, 0.7, 3.0),
        "consensus_weight": (0.0, 0.25, 1.0),
        "n_neighbors": (5, 10, 20),
        "sparsity": (0.5, 1.0, 2.0),
        "orthonormalize": ("polar", "kmeans"),
        "scaling": GRAPHS["scaling"],
        "degree_regularization": GRAPHS["degree_regularization"],
    },
    "ocbr": {
        **LOOP,
        "n_neighbors": (5, 10, 20),
        "n_components": (10, 30, 60),
        "sparsity": (0.5, 1.0, 2.0),
        "noise_level": (0.05, 0.2, 0.5),
        "graph": ("consensus", "joint", "sum", "blend"),
        "kinds": (None, {"fourier": "coordinates", "profile": "coordinates"}),
        "scaling": GRAPHS["scaling"],
        "degree_regularization": GRAPHS["degree_regularization"],
    },
}


def rows_of(key: str, data: Dataset, every: int) -> Iterator[list[object]]:
    """ACC for each value of each parameter."""
    subset = Dataset(data.name, data.views[::every], data.labels[::every])
    for name, values in VALUES[key].items():
        for value in values:
            accs = [score(METHODS[key], noisy(subset, draw), subset, **{name: value})["acc"] for draw in (None, 0)]
            yield [key, name, str(value), *accs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", choices=[*VALUES, []], help="the quick ones by default")
    parser.add_argument("--every", type=int, default=1, help="use every n-th sample")
    options = parser.parse_args()
    data = digits(2)
    for key in options.methods or [key for key in VALUES if key in QUICK_METHODS]:
        print(f"## {METHODS[key].__name__}: ACC on the digits, two views\n")
        with threadpool_limits(1):
            print_table(["method", "parameter", "value", "clean", "20 % corrupted"], rows_of(key, data, options.every))


if __name__ == "__main__":
    main()
