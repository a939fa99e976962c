"""Comparison of results: how well they agree, and which samples moved to another cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from manyview.checks import InputError, quoted
from manyview.evaluation.metrics import adjusted_rand_index, clustering_accuracy, normalized_mutual_information

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """Several clusterings of the same samples.

    Attributes
    ----------
    labels : DataFrame
        One row per sample that is in all results, one column per result.
    agreement : DataFrame
        One row per pair of results: `first`, `second`, `ari`, `nmi`, `acc` and `moved`, the number of samples that left
        the best matching cluster.
    flows : list of DataFrame
        For each result and the next: the number of samples by old cluster (row) and new cluster (column).
    matches : list of dict
        For each result and the next: the one-to-one matching of clusters.
    others : dict
        Samples of each result that are missing from another one.
    """

    labels: pd.DataFrame
    agreement: pd.DataFrame
    flows: list[pd.DataFrame]
    matches: list[dict[Any, Any]]
    others: dict[str, int]

    def moved(self) -> NDArray[np.bool_]:
        """Whether each sample (row) left the matching cluster, from each result to the next (column)."""
        pairs = pairwise(self.labels.columns)
        return np.column_stack(
            [
                self.labels[b].to_numpy() != self.labels[a].map(match).to_numpy()
                for (a, b), match in zip(pairs, self.matches, strict=True)
            ]
        )


def compare_results(results: Mapping[str, pd.Series]) -> Comparison:
    """Compare clusterings; each is a Series of labels with the sample ids as its index.

    Parameters
    ----------
    results : mapping of str to Series
        The labels of each result by its name, indexed by sample id. Samples that are not in all results are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> before = pd.Series([0, 0, 1, 1], index=list("abcd"))
    >>> after = pd.Series([1, 1, 0, 1], index=list("abcd"))
    >>> compare_results({"before": before, "after": after}).moved().ravel().tolist()
    [False, False, False, True]
    """
    import pandas as pd

    if len(results) < 2:
        raise InputError(f"Got {len(results)} result; give at least two to compare.")
    labels = pd.concat(results, axis=1, join="inner")
    if labels.empty:
        first, *rest = results.items()
        other = next((name, some) for name, some in rest if not some.index.isin(first[1].index).any())
        raise InputError(
            f"{first[0]!r} and {other[0]!r} share no sample: the first has {quoted(first[1].index, 3)}, the second "
            f"{quoted(other[1].index, 3)}. Give results on the same samples."
        )
    flows = [pd.crosstab(labels[a], labels[b]) for a, b in pairwise(labels.columns)]
    return Comparison(
        labels=labels,
        agreement=pd.DataFrame([_agree(labels, a, b) for a, b in combinations(labels.columns, 2)]),
        flows=flows,
        matches=[match_clusters(flow) for flow in flows],
        others={name: len(some) - len(labels) for name, some in results.items()},
    )


def match_clusters(flow: pd.DataFrame) -> dict[Any, Any]:
    """Match clusters one to one so that as many samples as possible stay; clusters without a match are left out."""
    rows, columns = linear_sum_assignment(flow.to_numpy(), maximize=True)
    return {flow.index[i]: flow.columns[j] for i, j in zip(rows, columns, strict=True) if flow.iloc[i, j]}


def _agree(labels: pd.DataFrame, a: str, b: str) -> dict[str, Any]:
    pair = labels[a], labels[b]
    acc = clustering_accuracy(*pair)
    return {
        "first": a,
        "second": b,
        "ari": adjusted_rand_index(*pair),
        "nmi": normalized_mutual_information(*pair),
        "acc": acc,
        "moved": round((1 - acc) * len(labels)),
    }
