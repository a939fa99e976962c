"""From rows to the Markdown tables of docs/peers.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from common import print_table
from manyview.experiments.ranks import average_ranks
from manyview.experiments.results import Cell
from manyview.experiments.store import DONE, Row

WriteCell = Callable[[Cell], str]
Method = tuple[str, str]  # peer, name


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


def print_accuracy(results: PeerResults, draws: int) -> None:
    """The summary, then all results by data set."""
    print(f"### Summary: {len(results.datasets)} data sets, clean and 20 % corrupted (draws of the noise: {draws})\n")
    summary = [results.names(), *(column for kind in results.corruptions for column in _summary(results, kind))]
    columns = ("ACC", f"{results.methods[0][1]} there", "NMI", "ARI", "rank", "data sets")
    heads = [f"{what}, {kind}" for kind in results.corruptions for what in columns]
    print_table(["method", *heads], zip(*summary, strict=True))
    print_ahead(results)
    for title, name, digits in (("ACC", "acc", 3), ("NMI", "nmi", 3), ("CPU seconds", "cpu_seconds", 1)):
        for kind in results.corruptions:
            print(f"### {title}, {kind}\n")
            print_cells(results, {dataset: (dataset, kind) for dataset in results.datasets}, mean_of(name, digits))


def print_ahead(results: PeerResults) -> None:
    """Every cell in which another method has a higher ACC than the first, manyview's default."""
    names = results.names()
    print(f"### Where another is ahead of {names[0]}, by ACC\n")
    lines = []
    for kind in results.corruptions:
        acc = results.means(kind, "acc")
        for j, i in np.argwhere((acc - acc[0]).T > 0):
            lines.append([results.datasets[j], kind, names[i], f"{acc[i, j]:.3f}", f"{acc[0, j]:.3f}"])
    print_table(["data", "", "method", "ACC", names[0]], lines)


def _summary(results: PeerResults, kind: str) -> list[list[object]]:
    """Means over the data sets that a method could do, its own and the first method's, its rank, and their number."""
    acc, nmi, ari = (results.means(kind, name) for name in ("acc", "nmi", "ari"))
    done = np.isfinite(acc)
    first = np.where(done, acc[0], np.nan)
    means = [
        [f"{np.nanmean(line):.3f}" if np.isfinite(line).any() else "-" for line in X] for X in (acc, first, nmi, ari)
    ]
    return [*means, [f"{rank:.1f}" for rank in average_ranks(acc.T)], done.sum(axis=1).tolist()]


def print_errors(results: PeerResults) -> None:
    """The error messages of the packages."""
    failed = [row for row in results.rows if row.get("error")]
    if failed:
        print("### Errors\n")
        columns = ["peer", "method", "dataset", "corruption", "error"]
        print_table(columns, ([str(row[column]) for column in columns] for row in failed))


def print_versions(results: PeerResults) -> None:
    """The versions that produced the rows."""
    found: dict[str, dict[str, str]] = {}
    for row in results.rows:
        found.setdefault(row["peer"], {}).update(row.get("versions", {}))
    print("### Versions\n")
    print_table(["peer", "versions"], ([peer, ", ".join(map(" ".join, v.items()))] for peer, v in found.items()))
