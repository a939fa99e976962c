"""From rows to the Markdown tables of docs/peers.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from scipy.stats import rankdata

from common import print_table
from manyview.experiments.store import Row

Write = Callable[[list[Row]], str]


class Table:
    """The rows by method (peer, name), data set and kind; those that differ in the draw only are one cell."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.methods = list(dict.fromkeys((row["peer"], row["method"]) for row in self.rows))
        self.data = list(dict.fromkeys(row["data"] for row in self.rows))
        self.kinds = list(dict.fromkeys(row["kind"] for row in self.rows))
        self._cells: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            self._cells.setdefault((row["peer"], row["method"], row["data"], row["kind"]), []).append(row)

    def cell(self, method: tuple[str, str], data: str, kind: str, write: Write) -> str:
        """What `write` makes of the draws; the word for what happened, if one of them did not end well."""
        draws = self._cells[(*method, data, kind)]
        bad = [row["status"] for row in draws if row["status"] != "done"]
        return bad[0] if bad else write(draws)

    def values(self, kind: str, field: str) -> np.ndarray:
        """Means over the draws, methods by data sets; NaN where one did not end well."""
        draws = [[self._cells[(*method, data, kind)] for data in self.data] for method in self.methods]
        return np.array([[np.mean([row.get(field, np.nan) for row in cell]) for cell in line] for line in draws])

    def names(self) -> list[str]:
        return [f"{peer}: {method}" for peer, method in self.methods]


def mean_of(field: str, digits: int) -> Write:
    return lambda draws: f"{np.mean([row[field] for row in draws]):.{digits}f}"


def time_and_memory(draws: list[Row]) -> str:
    return f"{np.mean([row['cpu_seconds'] for row in draws]):.1f} s, {max(row['memory_mb'] for row in draws):.0f} MB"


def print_cells(table: Table, columns: Mapping[str, tuple[str, str]], write: Write) -> None:
    """Print methods by columns, each of which is a data set and kind."""
    cells = ([table.cell(method, *where, write) for where in columns.values()] for method in table.methods)
    print_table(["method", *columns], ([name, *row] for name, row in zip(table.names(), cells, strict=True)))


def print_accuracy(table: Table, draws: int) -> None:
    """The summary, then everything by data set."""
    print(f"### Summary: {len(table.data)} data sets, clean and 20 % corrupted (draws of the noise: {draws})\n")
    summary = [table.names(), *(column for kind in table.kinds for column in _summary(table, kind))]
    columns = ("ACC", f"{table.methods[0][1]} there", "NMI", "rank", "data sets")
    heads = [f"{what}, {kind}" for kind in table.kinds for what in columns]
    print_table(["method", *heads], zip(*summary, strict=True))
    print_ahead(table)
    for title, field, digits in (("ACC", "acc", 3), ("NMI", "nmi", 3), ("CPU seconds", "cpu_seconds", 1)):
        for kind in table.kinds:
            print(f"### {title}, {kind}\n")
            print_cells(table, {data: (data, kind) for data in table.data}, mean_of(field, digits))


def print_ahead(table: Table) -> None:
    """Every cell in which the ACC of another method is higher than that of the first, manyview's default."""
    print(f"### Where another is ahead of {table.names()[0]}, by ACC\n")
    lines = []
    for kind in table.kinds:
        acc = table.values(kind, "acc")
        for j, i in np.argwhere((acc - acc[0]).T > 0):
            lines.append([table.data[j], kind, table.names()[i], f"{acc[i, j]:.3f}", f"{acc[0, j]:.3f}"])
    print_table(["data", "", "method", "ACC", table.names()[0]], lines)


def _summary(table: Table, kind: str) -> list[list[object]]:
    """Means over the data sets that the method could do, its own and the first method's, its rank, and their number."""
    acc, nmi = table.values(kind, "acc"), table.values(kind, "nmi")
    done = np.isfinite(acc)
    first = np.where(done, acc[0], np.nan)
    means = [[f"{np.nanmean(line):.3f}" if np.isfinite(line).any() else "-" for line in X] for X in (acc, first, nmi)]
    return [*means, [f"{rank:.1f}" for rank in ranks(acc)], done.sum(axis=1).tolist()]


def ranks(acc: np.ndarray) -> np.ndarray:
    """Mean rank of each method over the data sets, 1 is best; what did not end well shares the last ranks."""
    return rankdata(-np.nan_to_num(acc, nan=-1), axis=0).mean(axis=1)


def print_errors(table: Table) -> None:
    """What packages said when they failed."""
    failed = [row for row in table.rows if row.get("error")]
    if failed:
        print("### Errors\n")
        columns = ["peer", "method", "data", "kind", "error"]
        print_table(columns, ([str(row[column]).replace("\n", " ") for column in columns] for row in failed))


def print_versions(table: Table) -> None:
    """The versions that made the rows."""
    found: dict[str, dict[str, str]] = {}
    for row in table.rows:
        found.setdefault(row["peer"], {}).update(row.get("versions", {}))
    print("### Versions\n")
    print_table(["peer", "versions"], ([peer, ", ".join(map(" ".join, v.items()))] for peer, v in found.items()))
