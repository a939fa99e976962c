"""What a fit returns: one record, whose fields become the attributes of the estimator."""

from __future__ import annotations

from dataclasses import dataclass, field

from manyview.methods.placing import Placing
from manyview.numerics.loop import Outcome
from manyview.typing import Dense, Graph, Labels

PRIVATE = {"private": True}
"""Metadata of fields that are not for users: `placing` becomes `_placing`, while `labels` becomes `labels_`."""

NOT_ITERATED = Outcome("converged")
"""The outcome of methods that have no loop: nothing was left to converge, and there is no history."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """A partition of the samples, and what it was read from.

    Attributes
    ----------
    labels : (n,), from 0 to n_clusters - 1
    embedding : (n, k), rows that represent the samples
    affinity : (n, n), the graph that was cut
    scaling : the scaling that each view got, by name
    placing : puts new samples into the clusters
    outcome : how the method's loop ended; becomes `n_iter_`, `converged_` and `history_`
    """

    labels: Labels
    embedding: Dense
    affinity: Graph
    scaling: dict[str, str]
    placing: Placing = field(metadata=PRIVATE)
    outcome: Outcome = NOT_ITERATED


@dataclass(frozen=True, kw_only=True)
class CutClustering(Clustering):
    """Adds the eigenvalues of the normalised graph, descending."""

    eigenvalues: Dense


@dataclass(frozen=True, kw_only=True)
class WeightedClustering(Clustering):
    """Adds how much each view counts; the weights add up to 1."""

    view_weights: Dense
