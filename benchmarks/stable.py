"""Whether OCBR gives the same answer when nothing that matters has changed.

python benchmarks/stable.py                        # the digits, and the files of MANYVIEW_DATA and its folder omics
python benchmarks/stable.py --only 3sources nci60_4arrays
python benchmarks/stable.py --save labels.npz      # keep the labels, to compare with those of other versions
python benchmarks/stable.py --compare labels.npz   # a further column: ARI with the labels that were kept

Printed for every set: the adjusted Rand index of the labels with those of the plain fit, for two BLAS threads, single
precision, samples in another order and views in another order; then by how many points ACC changes with a view of
noise, and with the first view given four times. Fits never use more threads than there are idle cores, so the column
for two threads is meaningful only on an idle machine.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import data_folder, digits, read_npz, research_data
from manyview import OCBR, Dataset, Views, adjusted_rand_index, clustering_accuracy
from manyview.environment import idle_cores
from manyview.experiments.text_table import TextTable, to_markdown

SAME = 0.99  # adjusted Rand index from which two answers count as the same
NOISE_FEATURES = 20
COPIES = 4
MOST_POINTS = 2.0  # that ACC may change with another view
SAMENESS = ("2 threads", "float32", "samples", "views")
CHANGES = ("+ noise", "view x 4")


@dataclass(frozen=True)
class Answer:
    """The labels of the plain fit, ARI of the others with them, and points of ACC gained with more views."""

    labels: np.ndarray
    same: dict[str, float]
    change: dict[str, float]


def fit(data: Dataset, views: Views, n_jobs: int = 1) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OCBR(data.n_classes, n_jobs=n_jobs).fit_predict(views)


def in_precision(views: Views, dtype: type) -> Views:
    return Views({name: X.astype(dtype) for name, X in zip(views.names, views.arrays, strict=True)})


def with_views(views: Views, more: dict[str, np.ndarray]) -> Views:
    return Views(dict(zip(views.names, views.arrays, strict=True)) | more)


def in_another_order(data: Dataset, views: Views) -> np.ndarray:
    """Labels of the samples fitted in another order, put back."""
    order = np.random.default_rng(0).permutation(views.n_samples)
    labels = np.empty(views.n_samples, dtype=int)
    labels[order] = fit(data, views[order])
    return labels


def answer(data: Dataset) -> Answer:
    views = in_precision(data.views, np.float64)
    first, pairs = views.arrays[0], list(zip(views.names, views.arrays, strict=True))
    noise = np.random.default_rng(0).standard_normal((views.n_samples, NOISE_FEATURES))
    labels = fit(data, views)
    others = {
        "2 threads": fit(data, views, n_jobs=2),
        "float32": fit(data, in_precision(views, np.float32)),
        "samples": in_another_order(data, views),
        "views": fit(data, Views(dict(pairs[::-1]))),
    }
    more = {
        "+ noise": with_views(views, {"noise": noise}),
        "view x 4": with_views(views, {f"copy_{i}": first.copy() for i in range(1, COPIES)}),
    }
    plain = clustering_accuracy(data.labels, labels)
    change = {name: 100 * (clustering_accuracy(data.labels, fit(data, v)) - plain) for name, v in more.items()}
    return Answer(labels, {name: adjusted_rand_index(labels, z) for name, z in others.items()}, change)


def data_sets(only: list[str]) -> Iterator[Dataset]:
    for data in (digits(2), *research_data(), *map(read_npz, sorted((data_folder() / "omics").glob("*.npz")))):
        if data.labels is not None and (not only or data.name in only):
            yield data


def row(name: str, found: Answer, kept: dict[str, np.ndarray]) -> list[str]:
    columns = [f"{found.same[way]:.3f}" for way in SAMENESS] + [f"{found.change[way]:+.1f}" for way in CHANGES]
    return [name, *columns, *([f"{adjusted_rand_index(found.labels, kept[name]):.3f}"] if name in kept else [])]


def share_that_holds(answers: dict[str, Answer]) -> list[str]:
    """The share of the sets that keep their answer, for each column."""
    same = [np.mean([one.same[way] >= SAME for one in answers.values()]) for way in SAMENESS]
    change = [np.mean([abs(one.change[way]) < MOST_POINTS for one in answers.values()]) for way in CHANGES]
    return ["**share that holds**", *(f"{share:.0%}" for share in (*same, *change))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--save", type=Path, help="npz file in which to keep the labels of the plain fits")
    parser.add_argument("--compare", type=Path, help="npz file of labels that were kept")
    options = parser.parse_args()
    kept = dict(np.load(options.compare)) if options.compare else {}
    print(f"Cores idle at the start: {idle_cores()}\n", flush=True)
    answers = {}
    for data in data_sets(options.only):
        answers[data.name] = answer(data)
        print(*row(data.name, answers[data.name], kept), sep=" | ", flush=True)
    if options.save:
        np.savez(options.save, **{name: one.labels for name, one in answers.items()})
    columns = ["data", *SAMENESS, *CHANGES, *(["kept"] if kept else [])]
    rows = [row(name, one, kept) for name, one in answers.items()] + [share_that_holds(answers)]
    width = len(columns)
    print("\n" + to_markdown(TextTable(columns, [[*cells, *[""] * (width - len(cells))] for cells in rows])))


if __name__ == "__main__":
    main()
