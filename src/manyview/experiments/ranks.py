"""Average ranks of the methods, and whether the differences between them are significant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from manyview.experiments.results import Results


@dataclass(frozen=True)
class Ranks:
    """Average ranks (1 is best) over blocks, with Friedman's test and Nemenyi's critical difference."""

    average: Mapping[str, float]
    n_blocks: int
    p_value: float | None = None
    critical_difference: float | None = None


def rank_methods(results: Results, metric: str, *, alpha: float = 0.05) -> Ranks | None:
    """Rank the methods by their mean scores; a block is a data set under a corruption.

    Repeats are averaged first: several draws on the same data say nothing about other data, and would only make the
    test look more certain. Only methods with a result in every block are ranked; None if fewer than two are left.
    """
    experiment = results.experiment
    blocks = [(d.name, c.name) for d in experiment.datasets for c in experiment.corruptions]
    blocks = [block for block in blocks if any(results.cell(*block, m.name).done for m in experiment.methods)]
    means = {m.name: [results.cell(*block, m.name).mean(metric) for block in blocks] for m in experiment.methods}
    complete = {name: values for name, values in means.items() if values and None not in values}
    if len(complete) < 2:
        return None
    table = np.array(list(complete.values()), dtype=float).T  # blocks x methods
    average = dict(zip(complete, average_ranks(table).tolist(), strict=True))
    return Ranks(average, len(blocks), *_friedman_nemenyi(table, alpha))


def average_ranks(table: np.ndarray) -> np.ndarray:
    """Return the average rank of each column (1 is best) over the rows; ties share their ranks, NaN ranks last."""
    return stats.rankdata(-np.round(np.nan_to_num(table, nan=-np.inf), 12), axis=1).mean(axis=0)


def _friedman_nemenyi(table: Any, alpha: float) -> tuple[float | None, float | None]:
    """Return the p-value and the critical difference (Demšar 2006); None if the test is undefined."""
    n_blocks, k = table.shape
    if k < 3 or n_blocks < 2 or np.ptp(table, axis=1).max() == 0:
        return None, None
    p_value = float(stats.friedmanchisquare(*table.T).pvalue)
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return p_value, float(q * np.sqrt(k * (k + 1) / (6 * n_blocks)))
