"""A soak test: many fits of random shapes, kinds and parameters in one process. Memory must stay flat, files closed.

python benchmarks/soak.py           # 500 fits, seed 0
python benchmarks/soak.py 50 --seed 3

Each fit is of random views (features, counts, sparse, with and without gaps) by a random method with random parameters,
which may be refused; nothing but an InputError is expected. Some models are also asked for new samples, saved and
loaded. Prints memory, open files and threads as it goes. The exit code is 1 if an exception escaped, if files or
threads were left, or if memory grew by more than 10 % from the first fifth to the last.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp

from manyview import METHODS, InputError, load, save
from manyview.methods import MultiViewClusterer

GROWTH = 1.1
SHAPES = ((2, 40), (3, 60), (1, 25), (4, 80))
CHOICES: dict[str, list[Any]] = {
    "scaling": ["auto", "standard", "unit", "none", "robust"],
    "n_neighbors": [1, 3, 5, 10],
    "random_state": [0, 1, None],
    "n_jobs": [None, 1, 2],
    "affinity": ["adaptive", "knn", "self_tuning"],
    "degree_regularization": [0.0, 0.1, 1.0],
    "max_iter": [1, 5, 20],
    "n_components": [None, 2, 5],
    "strategy": ["exact", "landmarks"],
    "n_landmarks": [20, 50],
    "graph": ["consensus", "joint", "sum", "blend"],
}


def random_views(rng: np.random.Generator) -> list[Any]:
    """Create a random number of views of random width and kind, for the same samples."""
    n, c = int(rng.integers(4, 120)), int(rng.integers(1, 6))
    labels = rng.integers(c, size=n)
    return [_random_view(rng, labels, c) for _ in range(int(rng.integers(1, 5)))]


def _random_view(rng: np.random.Generator, labels: np.ndarray, c: int) -> Any:
    low, high = SHAPES[int(rng.integers(len(SHAPES)))]
    means = 4 * rng.normal(size=(c, int(rng.integers(low, high))))
    X = means[labels] + rng.normal(size=(len(labels), means.shape[1]))
    match rng.choice(["features", "counts", "sparse", "gaps", "absent", "equal", "float32"]):
        case "counts":
            return rng.poisson(np.exp(np.clip(X / 4, -5, 3))).astype(float)
        case "sparse":
            return sp.csr_array(np.where(X > 3, X, 0))
        case "gaps":
            return np.where(rng.random(X.shape) < 0.1, np.nan, X)
        case "absent":
            return np.where((rng.random(len(X)) < 0.2)[:, None], np.nan, X)
        case "equal":
            return np.ones_like(X)
        case "float32":
            return X.astype(np.float32)
        case _:
            return X


def random_model(rng: np.random.Generator) -> MultiViewClusterer:
    """Return an estimator with up to three parameters set at random."""
    method = METHODS[rng.choice(list(METHODS))]
    known = sorted(set(CHOICES) & set(method().get_params()))
    drawn = rng.choice(known, size=min(3, len(known)), replace=False)
    params = {name: CHOICES[name][int(rng.integers(len(CHOICES[name])))] for name in drawn}
    n_clusters = "auto" if rng.random() < 0.1 else int(rng.integers(1, 7))
    return method(n_clusters, **params)


def use(model: MultiViewClusterer, views: list[Any], rng: np.random.Generator, folder: Path) -> None:
    """Fit; then sometimes assign new samples, save and load."""
    model.fit(views)
    if rng.random() < 0.3:
        model.predict(views)
    if rng.random() < 0.2:
        save(model, folder / "model.manyview")
        load(folder / "model.manyview")


def outcome(rng: np.random.Generator, folder: Path) -> str:
    """Create and use one model; return "fitted", "refused", or the exception that escaped."""
    views, model = random_views(rng), random_model(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(model, views, rng, folder)
        except InputError:
            return "refused"
        except Exception as error:
            return f"{model}: {type(error).__name__}: {error}"
    return "fitted"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=500, help="fits")
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    process, rng = psutil.Process(), np.random.default_rng(words.seed)
    counts: Counter[str] = Counter()
    resident, left = [], []
    every = max(words.n // 20, 1)
    with tempfile.TemporaryDirectory() as folder:
        print("| fits | resident MB | open files | threads | CPU s |\n|---:|---:|---:|---:|---:|")
        for i in range(1, words.n + 1):
            counts[outcome(rng, Path(folder))] += 1
            if i % every == 0:
                gc.collect()
                resident.append(process.memory_info().rss / 2**20)
                left.append((len(process.open_files()), process.num_threads()))
                print(
                    f"| {i} | {resident[-1]:.0f} | {left[-1][0]} | {left[-1][1]} | {time.process_time():.0f} |",
                    flush=True,
                )
    print("\n" + "\n".join(f"{count} {what}" for what, count in counts.most_common()))
    sys.exit(0 if is_sound(counts, resident, left) else 1)


def is_sound(counts: Counter[str], resident: list[float], left: list[tuple[int, int]]) -> bool:
    """Return whether nothing escaped, nothing was left open, and memory stayed flat."""
    fifth = max(len(resident) // 5, 1)
    flat = max(resident[-fifth:]) <= GROWTH * max(resident[:fifth])
    return flat and left[-1] <= left[0] and set(counts) <= {"fitted", "refused"}


if __name__ == "__main__":
    main()
