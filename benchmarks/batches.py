"""Batches: agreement with the true classes, without and with `fit(views, batch=...)`.

    python benchmarks/batches.py                 # everything; studies and cells need MANYVIEW_DATA
    python benchmarks/batches.py generated clean --method mfmsc

"generated": Gaussian groups in two views, with a shift of known size between three batches (1 is the spread of the
data); batches are drawn at random ("equal"), have different shares of the groups ("unequal"), or lack groups
("lacking"). "scaled": the same with a shift of 1, and batches that are spread 1, 2 and 4 times as far. "pairs": each of
three batches lacks another one of three groups, so that two have only one in common. "shifted": digits with a shift
between three batches. "clean": batches without any effect, drawn at random or with the classes ("half with the class":
half of the samples are in the batch of their class). "studies": ten studies of the proteins of blood cells, a sample of
20,000. "donors": bone marrow of two donors. A difference of 1 is a point (0.01) of ARI; "batches" is the ARI of the
clusters with the batches, where 0 is perfectly mixed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from common import data_folder, digits, print_table, research_file
from manyview import METHODS, Dataset, Views, adjusted_rand_index, make_views

COLUMNS = ("data", "samples", "batches", "ARI without", "ARI with", "difference", "batches without", "batches with")
SHIFTS = (0.0, 0.5, 1.0, 2.0)
CLEAN_FILES = ("omics/teaseq1262", "omics/pbmc1k_cite_inhouse", "omics/tcga_kidney737", "omics/tcga_lgg267", "3sources")
N_CELLS = 20_000


@dataclass(frozen=True)
class Case:
    """Views of samples in batches, and their classes."""

    name: str
    views: Views
    labels: np.ndarray
    batch: np.ndarray


def generated() -> Iterator[Case]:
    for kind in ("equal", "unequal", "lacking"):
        for shift in SHIFTS:
            data, rng = make_views(900, 5, (40, 60), noise=1.0, separation=4.0, seed=0), np.random.default_rng(0)
            batch = _drawn(data.labels, 3, kind, rng)
            yield Case(
                f"generated, {kind}, shift {shift:g}", _shifted(data.views, batch, shift, rng), data.labels, batch
            )


def scaled() -> Iterator[Case]:
    for kind in ("equal", "unequal", "lacking"):
        data, rng = make_views(900, 5, (40, 60), noise=1.0, separation=4.0, seed=0), np.random.default_rng(0)
        batch = _drawn(data.labels, 3, kind, rng)
        views = _shifted(data.views, batch, 1.0, rng)
        wider = Views([X * 2.0 ** batch[:, None] for X in views.arrays], views.names)
        yield Case(f"generated, {kind}, scales 1, 2 and 4", wider, data.labels, batch)


def pairs() -> Iterator[Case]:
    for seed in range(3):
        for shift in SHIFTS[1:]:
            data, rng = make_views(900, 3, (40, 60), noise=1.0, separation=4.0, seed=seed), np.random.default_rng(seed)
            batch = rng.integers(0, 3, len(data.labels))
            batch = np.where(batch == data.labels, (batch + 1) % 3, batch)
            views = _shifted(data.views, batch, shift, rng)
            yield Case(f"two of three groups, draw {seed}, shift {shift:g}", views, data.labels, batch)


def shifted() -> Iterator[Case]:
    data = digits(2)
    for shift in SHIFTS[1:]:
        rng = np.random.default_rng(0)
        batch = rng.integers(0, 3, len(data.labels))
        yield Case(f"digits, shift {shift:g}", _shifted(data.views, batch, shift, rng), data.labels, batch)


def clean() -> Iterator[Case]:
    for data in _clean_data():
        rng, n = np.random.default_rng(0), len(data.labels)
        for count in (3, 10):
            yield Case(f"{data.name}, random", data.views, data.labels, rng.integers(0, count, n))
        with_class = np.where(rng.random(n) < 0.5, data.labels % 3, rng.integers(0, 3, n))
        yield Case(f"{data.name}, half with the class", data.views, data.labels, with_class)


def _clean_data() -> Iterator[Dataset]:
    yield digits(2)
    yield from map(research_file, CLEAN_FILES)


def studies() -> Iterator[Case]:
    for draw in range(3):
        with np.load(data_folder() / "large" / "adt10_372k_1view.npz", allow_pickle=False) as archive:
            rng, labels = np.random.default_rng(draw), archive["labels"]
            rows = np.sort(rng.choice(len(labels), N_CELLS, replace=False))
            views = Views({"proteins": archive["view_0"][rows]})
            yield Case(f"ten studies, draw {draw}", views, labels[rows], archive["batch"][rows])


def donors() -> Iterator[Case]:
    data = research_file("omics/bmmc_multiome500")
    with np.load(data_folder() / "omics" / "bmmc_multiome500.npz", allow_pickle=False) as archive:
        yield Case("bmmc_multiome500", data.views, data.labels, archive["batch"])


CASES = {
    "generated": generated,
    "scaled": scaled,
    "pairs": pairs,
    "shifted": shifted,
    "clean": clean,
    "studies": studies,
    "donors": donors,
}


def _drawn(labels: np.ndarray, n_batches: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Draw a batch for each sample; "lacking" takes the first group from the first batch, and so on."""
    if kind == "equal":
        return rng.integers(0, n_batches, len(labels))
    shares = rng.dirichlet(np.ones(n_batches), labels.max() + 1)
    batch = (rng.random(len(labels))[:, None] > shares.cumsum(axis=1)[labels]).sum(axis=1).clip(max=n_batches - 1)
    lacks = (kind == "lacking") & (labels == batch)
    return np.where(lacks, (batch + 1) % n_batches, batch)


def _shifted(views: Views, batch: np.ndarray, shift: float, rng: np.random.Generator) -> Views:
    """Move every batch in a random direction, by `shift` times the spread of each view."""
    moved = []
    for X in views.arrays:
        direction = rng.normal(size=(batch.max() + 1, X.shape[1])) * X.std(axis=0)
        moved.append(X + (shift * direction[batch]).astype(X.dtype))
    return Views(moved, views.names)


def rows(names: Iterable[str], method: str) -> Iterator[list[object]]:
    for case in (case for name in names for case in CASES[name]()):
        k = len(np.unique(case.labels))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [METHODS[method](k, random_state=0).fit(case.views, batch=b).labels_ for b in (None, case.batch)]
        agree = [adjusted_rand_index(case.labels, labels) for labels in found]
        mixed = [adjusted_rand_index(case.batch, labels) for labels in found]
        difference = f"{100 * (agree[1] - agree[0]):+.1f}"
        yield [case.name, len(case.labels), len(np.unique(case.batch)), *agree, difference, *mixed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "cases", nargs="*", choices=[[], *CASES], metavar="CASE", help=f"of {', '.join(CASES)}; all by default"
    )
    parser.add_argument("--method", choices=list(METHODS), default="ocbr")
    options = parser.parse_args()
    print(f"## Batches, {options.method}\n")
    print_table(COLUMNS, rows(options.cases or list(CASES), options.method))


if __name__ == "__main__":
    main()
