"""From rows to cells: mean and spread per data set, corruption and method; ranks, and whether they tell anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from manyview.experiments.spec import Experiment
from manyview.experiments.store import BAD, DONE, Row, Store

Key = tuple[str, str, str]  # data set, corruption, method


@dataclass(frozen=True)
class Cell:
    """All repeats of one method on one data set under one corruption: the rows there are, of those planned."""

    rows: tuple[Row, ...] = ()
    planned: int = 0

    @property
    def done(self) -> list[Row]:
        """Rows with a result."""
        return [row for row in self.rows if row["status"] in DONE]

    def count(self, *statuses: str) -> int:
        """Return how many rows have one of these statuses."""
        return sum(row["status"] in statuses for row in self.rows)

    def values(self, name: str) -> np.ndarray:
        """Return a score, or another number of the rows, over the repeats that have it."""
        found = [row["scores"].get(name, row.get(name)) for row in self.done]
        return np.array([value for value in found if value is not None], dtype=float)

    def mean(self, name: str) -> float | None:
        """Mean over the repeats."""
        values = self.values(name)
        return float(values.mean()) if len(values) else None

    def std(self, name: str) -> float | None:
        """Return the standard deviation over the repeats (n - 1); None for a single one."""
        values = self.values(name)
        return float(values.std(ddof=1)) if len(values) > 1 else None

    @property
    def memory_mb(self) -> float | None:
        """Largest growth of a process during the fit."""
        grown = [row["peak_mb"] - row["start_mb"] for row in self.done if row.get("peak_mb") and row.get("start_mb")]
        return max(grown) if grown else None


@dataclass(frozen=True)
class Summary:
    """The cells of an experiment."""

    experiment: Experiment
    cells: Mapping[Key, Cell] = field(default_factory=dict)

    def cell(self, dataset: str, corruption: str, method: str) -> Cell:
        """Return a cell; one without rows is empty."""
        return self.cells.get((dataset, corruption, method), Cell())

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for cell in self.cells.values() for row in cell.rows]

    @property
    def failures(self) -> list[Row]:
        """Rows of runs that failed or ran out of time."""
        return [row for row in self.rows if row["status"] in BAD]


def summarize(experiment: Experiment, store: Store) -> Summary:
    """Collect the rows of an experiment's runs; others in the store are left alone."""
    rows = store.rows()
    cells: dict[Key, list[Row]] = {}
    for run in experiment.runs():
        if run.id in rows:
            cells.setdefault((run.dataset.name, run.corruption.name, run.method.name), []).append(rows[run.id])
    return Summary(experiment, {key: Cell(tuple(found), experiment.repeats) for key, found in cells.items()})


# Ranks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranks:
    """Average ranks (1 is best) over blocks, with Friedman's test and Nemenyi's critical difference."""

    average: Mapping[str, float]
    n_blocks: int
    p_value: float | None = None
    critical_difference: float | None = None


def rank_methods(summary: Summary, metric: str, *, alpha: float = 0.05) -> Ranks | None:
    """Rank the methods by their means in every data set under every corruption.

    Repeats are averaged first: draws on the same data say nothing about other data, and would feign certainty.
    Only methods with a result in every block take part; None if there are fewer than two, or no block.
    """
    experiment = summary.experiment
    blocks = [(d.name, c.name) for d in experiment.datasets for c in experiment.corruptions]
    blocks = [block for block in blocks if any(summary.cell(*block, m.name).done for m in experiment.methods)]
    means = {m.name: [summary.cell(*block, m.name).mean(metric) for block in blocks] for m in experiment.methods}
    complete = {name: values for name, values in means.items() if values and None not in values}
    if len(complete) < 2:
        return None
    table = np.array(list(complete.values()), dtype=float).T  # blocks x methods
    ranks = stats.rankdata(-np.round(table, 12), axis=1)
    average = dict(zip(complete, ranks.mean(axis=0).tolist(), strict=True))
    return Ranks(average, len(blocks), *_friedman_nemenyi(table, alpha))


def _friedman_nemenyi(table: Any, alpha: float) -> tuple[float | None, float | None]:
    """p-value and critical difference (Demšar 2006); nothing where the test is not defined."""
    n_blocks, k = table.shape
    if k < 3 or n_blocks < 2 or np.ptp(table, axis=1).max() == 0:
        return None, None
    p_value = float(stats.friedmanchisquare(*table.T).pvalue)
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return p_value, float(q * np.sqrt(k * (k + 1) / (6 * n_blocks)))
