"""The landmark strategy: its accuracy against the fit of all samples, small clusters, and what it costs.

python benchmarks/landmarks.py accuracy                        # hdigit, cbmc_cite, mnist63k_4view: mean of five draws
python benchmarks/landmarks.py accuracy hdigit --shares 0.25 0.5
python benchmarks/landmarks.py small                           # landmarks drawn uniformly or thinned in crowded places
python benchmarks/landmarks.py placing                         # 20,000 samples against 10,000 landmarks
python benchmarks/landmarks.py million --samples 20000 1000000 # CPU seconds and memory of fits, three views
python benchmarks/landmarks.py million --strategy exact        # the same with all samples clustered at once
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from common import in_child, print_table, research_file
from manyview import METHODS, OCBR, Dataset, clustering_accuracy, make_views
from manyview.datasets import make_unequal_views
from manyview.evaluation.metrics import score_labels
from manyview.methods.landmarks import drawing

FILES = {"hdigit": "hdigit", "cbmc_cite": "omics/cbmc_cite", "mnist63k_4view": "large/mnist63k_4view"}
DRAWS = 5
DRAWN = {"uniform": 0.0, "thinned": drawing.CROWDING}


def by_landmarks(data: Dataset, n_landmarks: int, seed: int, key: str = "ocbr") -> np.ndarray:
    """Labels of one fit with landmarks."""
    model = METHODS[key](data.n_classes, strategy="landmarks", n_landmarks=n_landmarks, random_state=seed)
    return np.asarray(model.fit(data.views).labels_)


def accuracy(names: Sequence[str], shares: Sequence[float], draws: int, key: str) -> None:
    """ACC of the fit of all samples, and the mean over draws of landmarks."""
    print(f"## {METHODS[key].__name__}: ACC of all samples fitted, and of a share of them as landmarks\n")

    def rows() -> Iterator[list[object]]:
        for name in names:
            data = research_file(FILES[name])
            full = clustering_accuracy(
                data.labels, METHODS[key](data.n_classes, strategy="exact").fit_predict(data.views)
            )
            for share in shares:
                n_landmarks = round(share * data.views.n_samples)
                found = [
                    clustering_accuracy(data.labels, by_landmarks(data, n_landmarks, seed, key))
                    for seed in range(draws)
                ]
                yield [name, n_landmarks, full, np.mean(found), min(found), 100 * (full - np.mean(found))]

    print_table(["data", "landmarks", "all samples", f"landmarks, mean of {draws}", "worst", "points behind"], rows())


def small(draws: int) -> None:
    """ACC and ARI on clusters of very unequal sizes, for both ways of drawing."""
    print(
        f"## 500 landmarks of 10,000 samples, 8 clusters, the largest 100 times the smallest: mean of {draws} draws\n"
    )

    def rows() -> Iterator[list[object]]:
        for name, crowding in DRAWN.items():
            drawing.choose_landmarks.__defaults__ = (crowding,)
            scores, smallest = [], []
            for seed in range(draws):
                data = make_unequal_views(10_000, 8, (40, 30), ratio=100, separation=6, seed=seed)
                model = OCBR(8, strategy="landmarks", n_landmarks=500, random_state=seed).fit(data.views)
                scores.append(score_labels(data.labels, model.labels_))
                smallest.append(np.bincount(data.labels[model.landmarks_]).min())
            yield [name, np.mean(smallest), *(np.mean([one[m] for one in scores]) for m in ("acc", "ari"))]

    print_table(["drawn", "landmarks of the smallest cluster", "ACC", "ARI"], rows())


def placing(n_new: int = 20_000, n_landmarks: int = 10_000) -> None:
    """CPU seconds of placing."""
    data = make_views(n_new + n_landmarks, 20, (64, 64), noise=1.0, separation=6.0, seed=0)
    model = OCBR(20).fit(data.views[:n_landmarks])
    start = time.process_time()
    labels = model.predict(data.views[n_landmarks:])
    seconds = time.process_time() - start
    acc = clustering_accuracy(data.labels[n_landmarks:], labels)
    print_table(["samples", "landmarks", "CPU seconds", "ACC"], [[n_new, n_landmarks, seconds, acc]])


def write_million(folder: Path, n_samples: int) -> list[Path]:
    """Write three views of clusters as npy files, in blocks, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 20, n_samples)
    np.save(folder / "labels.npy", labels)
    paths = [folder / f"view_{v}.npy" for v in range(3)]
    for path in paths:
        centres = rng.standard_normal((20, 64)) * 6 / np.sqrt(128)
        table = np.lib.format.open_memmap(path, "w+", np.float32, (n_samples, 64))
        for start in range(0, n_samples, 50_000):
            rows = labels[start : start + 50_000]
            table[start : start + 50_000] = centres[rows] + rng.standard_normal((len(rows), 64))
    return paths


def fit_million(paths: list[str], labels: str, key: str, strategy: str, n_landmarks: int) -> list[float]:
    """CPU seconds, peak memory in GB and ACC of a fit of memory-mapped tables."""
    views = [np.load(path, mmap_mode="r") for path in paths]
    start = time.process_time()
    model = METHODS[key](20, strategy=strategy, n_landmarks=n_landmarks, n_jobs=1).fit(views)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [seconds, peak, clustering_accuracy(np.load(labels), model.labels_)]


def million(sizes: Sequence[int], key: str, strategy: str, n_landmarks: int) -> None:
    """Each fit in a process of its own; memory counts the pages of the mapped files that are held.

    The exponent is that of the CPU seconds since the first size.
    """
    print(f"## {METHODS[key].__name__}, strategy {strategy!r}: three views of 64 features, 20 clusters, one thread\n")

    def rows() -> Iterator[list[object]]:
        first: tuple[int, float] | None = None
        for n in sizes:
            with tempfile.TemporaryDirectory() as folder:
                paths = [str(path) for path in write_million(Path(folder), n)]
                fit = in_child(fit_million, paths, f"{folder}/labels.npy", key, strategy, n_landmarks)
            n_first, seconds = first = first or (n, fit[0])
            exponent = np.log(fit[0] / seconds) / np.log(n / n_first) if n > n_first else None
            yield [n, *fit, exponent]

    print_table(["samples", "CPU seconds", "peak GB", "ACC", "exponent"], rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "small", "placing", "million"])
    parser.add_argument("names", nargs="*", choices=[*FILES, []], help="data sets; all by default")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.25, 0.5])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--samples", nargs="+", type=int, default=[1_000_000])
    parser.add_argument("--strategy", default="landmarks", choices=["landmarks", "exact"])
    parser.add_argument("--landmarks", type=int, default=20_000)
    parser.add_argument("--methods", nargs="+", default=["ocbr"], choices=["mfmsc", "ocbr"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.what == "accuracy":
            for key in options.methods:
                accuracy(options.names or list(FILES), options.shares, options.draws, key)
        elif options.what == "small":
            small(options.draws)
        elif options.what == "placing":
            placing()
        else:
            for key in options.methods:
                million(options.samples, key, options.strategy, options.landmarks)


if __name__ == "__main__":
    main()
