"""From rows to cells: mean and standard deviation per data set, corruption and method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from manyview.experiments.runner import rows_of
from manyview.experiments.spec import Experiment
from manyview.experiments.store import DONE, FAILED, Row, Store

CellKey = tuple[str, str, str]  # data set, corruption, method


@dataclass(frozen=True)
class Cell:
    """The repeats of one method on one data set under one corruption: the rows so far, and how many are planned."""

    rows: tuple[Row, ...] = ()
    planned: int = 0

    @property
    def done(self) -> list[Row]:
        """Rows with a result."""
        return [row for row in self.rows if row["status"] in DONE]

    def count(self, *statuses: str) -> int:
        """Return the number of rows with one of these statuses."""
        return sum(row["status"] in statuses for row in self.rows)

    def values(self, name: str) -> np.ndarray:
        """Return a score, or another number in the rows, of every repeat that has it."""
        found = [row["scores"].get(name, row.get(name)) for row in self.done]
        return np.array([value for value in found if value is not None], dtype=float)

    def mean(self, name: str) -> float | None:
        """Return the mean over the repeats; None if there are none."""
        values = self.values(name)
        return float(values.mean()) if len(values) else None

    def std(self, name: str) -> float | None:
        """Return the standard deviation over the repeats (n - 1); None for fewer than two."""
        values = self.values(name)
        return float(values.std(ddof=1)) if len(values) > 1 else None

    @property
    def memory_mb(self) -> float | None:
        """Largest memory growth during a fit."""
        grown = [row["peak_mb"] - row["start_mb"] for row in self.done if row.get("peak_mb") and row.get("start_mb")]
        return max(grown) if grown else None


@dataclass(frozen=True)
class Results:
    """The cells of an experiment."""

    experiment: Experiment
    cells: Mapping[CellKey, Cell] = field(default_factory=dict)

    def cell(self, dataset: str, corruption: str, method: str) -> Cell:
        """Return a cell; it is empty if nothing has run yet."""
        return self.cells.get((dataset, corruption, method), Cell())

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for cell in self.cells.values() for row in cell.rows]

    @property
    def failures(self) -> list[Row]:
        """Rows of runs that failed or timed out."""
        return [row for row in self.rows if row["status"] in FAILED]


def changed_data(results: Results) -> list[str]:
    """Return the data sets whose rows come from different data, by the checksums in the rows."""
    sums: dict[tuple[str, int], set[str]] = {}
    redrawn = {dataset.name for dataset in results.experiment.datasets if dataset.subset.get("redraw")}
    for row in results.rows:
        if "data_sha256" in row:
            repeat = row["repeat"] if row["dataset"] in redrawn else 0
            sums.setdefault((row["dataset"], repeat), set()).add(row["data_sha256"])
    return sorted({name for (name, _), found in sums.items() if len(found) > 1})


def collect_results(experiment: Experiment, store: Store) -> Results:
    """Collect the rows of an experiment's runs; other rows in the store are ignored."""
    rows = rows_of(experiment, store)
    cells: dict[CellKey, list[Row]] = {}
    for run in experiment.runs():
        if run.id in rows:
            cells.setdefault((run.dataset.name, run.corruption.name, run.method.name), []).append(rows[run.id])
    return Results(experiment, {key: Cell(tuple(found), experiment.repeats) for key, found in cells.items()})
