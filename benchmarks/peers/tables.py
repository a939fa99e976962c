"""From rows to the Markdown tables of docs/peers*.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from common import print_table
from manyview.experiments.ranks import average_ranks
from manyview.experiments.results import Cell
from manyview.experiments.store import DONE, Row

WriteCell = Callable[[Cell], str]
Method = tuple[str, str]  # peer, name

SUMMARY = {"ACC": "acc", "ARI": "ari"}
BY_DATA_SET = (("ACC", "acc", 3), ("ARI", "ari", 3), ("NMI", "nmi", 3), ("CPU seconds", "cpu_seconds", 1))


class PeerResults:
    """The cells by method, data set and corruption; draws of the same corruption are one cell."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.methods: list[Method] = list(dict.fromkeys((row["peer"], row["method"]) for row in self.rows))
        self.datasets = list(dict.fromkeys(row["dataset"] for row in self.rows))
        self.corruptions = list(dict.fromkeys(row["corruption"] for row in self.rows))
        found: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row["peer"], row["method"], row["dataset"], row["corruption"]), []).append(row)
        self._cells = {key: Cell(tuple(draws), len(draws)) for key, draws in found.items()}

    def text(self, method: Method, dataset: str, corruption: str, write: WriteCell) -> str:
        """What `write` makes of a cell; if a draw has no result, its status."""
        cell = self._cells[(*method, dataset, corruption)]
        missing = [row["status"] for row in cell.rows if row["status"] not in DONE]
        return missing[0] if missing else write(cell)

    def means(self, corruption: str, name: str) -> np.ndarray:
        """Means over the draws, methods x data sets; NaN where a draw has no result."""
        cells = [[self._cells[(*method, dataset, corruption)] for dataset in self.datasets] for method in self.methods]
        complete = [[cell.mean(name) if len(cell.done) == cell.planned else None for cell in row] for row in cells]
        return np.array(complete, dtype=float)

    def names(self) -> list[str]:
        return [f"{peer}: {method}" for peer, method in self.methods]


def mean_of(name: str, digits: int) -> WriteCell:
    return lambda cell: f"{cell.mean(name):.{digits}f}"


def time_and_memory(cell: Cell) -> str:
    return f"{cell.mean('cpu_seconds'):.1f} s, {cell.values('memory_mb').max():.0f} MB"


def print_cells(results: PeerResults, columns: Mapping[str, tuple[str, str]], write: WriteCell) -> None:
    """Print methods by columns; each column is a data set under a corruption."""
    cells = ([results.text(method, *where, write) for where in columns.values()] for method in results.methods)
    print_table(["method", *columns], ([name, *row] for name, row in zip(results.names(), cells, strict=True)))


def print_accuracy(results: PeerResults, title: str) -> None:
    """A page: for each corruption a summary and where another method is ahead, then all results by data set."""
    names, first = results.names(), results.methods[0][1]
    heads = [head for metric in SUMMARY for head in (metric, f"{metric} of {first} there", f"rank by {metric}")]
    print(f"# {title}: manyview beside other packages\n")
    print("[The comparison](peers.md) says how this was measured, and what the words in place of numbers mean.\n")
    for kind in results.corruptions:
        print(f"## Summary, {kind} (data sets: {len(results.datasets)})\n")
        scores = [column for name in SUMMARY.values() for column in _summary(results.means(kind, name))]
        print_table(["method", *heads, "data sets"], zip(names, *scores, _n_done(results, kind), strict=True))
        for metric, name in SUMMARY.items():
            print(f"## Where another is ahead of {names[0]} by {metric}, {kind}\n")
            columns = ["data", "best method", metric, f"{metric} of {first}", "methods ahead"]
            print_table(columns, _ahead(results, kind, name))
    for score, name, digits in BY_DATA_SET:
        for kind in results.corruptions:
            print(f"## {score}, {kind}\n")
            print_cells(results, {dataset: (dataset, kind) for dataset in results.datasets}, mean_of(name, digits))


def _summary(scores: np.ndarray) -> list[list[str]]:
    """Means over the data sets that a method could do, the first method's means over the same, and ranks."""
    first = np.where(np.isfinite(scores), scores[0], np.nan)
    means = [[f"{np.nanmean(row):.3f}" if np.isfinite(row).any() else "-" for row in X] for X in (scores, first)]
    return [*means, [f"{rank:.1f}" for rank in average_ranks(scores.T)]]


def _n_done(results: PeerResults, kind: str) -> list[int]:
    return np.isfinite(results.means(kind, "acc")).sum(axis=1).tolist()


def _ahead(results: PeerResults, kind: str, metric: str) -> Iterator[list[object]]:
    """The data sets on which others have a higher score than the first method, manyview's default."""
    names = results.names()
    for dataset, scores in zip(results.datasets, results.means(kind, metric).T, strict=True):
        n_ahead = np.sum(scores > scores[0])
        if n_ahead:
            best = np.nanargmax(scores)
            yield [dataset, names[best], scores[best], scores[0], n_ahead]


def print_errors(results: PeerResults) -> None:
    """The error messages of the packages."""
    failed = [row for row in results.rows if row.get("error")]
    if failed:
        print("## Errors\n")
        columns = ["peer", "method", "dataset", "corruption", "error"]
        print_table(columns, ([str(row[column]) for column in columns] for row in failed))


def print_versions(results: PeerResults) -> None:
    """The versions that produced the rows."""
    found: dict[str, dict[str, str]] = {}
    for row in results.rows:
        found.setdefault(row["peer"], {}).update(row.get("versions", {}))
    print("## Versions\n")
    print_table(["peer", "versions"], ([peer, ", ".join(map(" ".join, v.items()))] for peer, v in found.items()))
