r"""How much each view counts if some views repeat others.

S(a, b) measures how much view a repeats view b, from the share of edge weight that their neighbour graphs have in
common: 1 for the same graph, 0 up to the share that different measurements of the same samples may have in common. A
view has weight

.. math:: w(a) = 1 / \sum_b S(a, b) ,

and a pair of views w(a) w(b) (1 - S(a, b)). So m copies of a view count exactly as much as the view alone, and their
agreement with each other counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from manyview.numerics.division import or_one
from manyview.typing import Dense, Graph, Indices

DIFFERENT = 0.75  # share of common edge weight; the largest seen for two different views is 0.74


@dataclass(frozen=True)
class Redundancy:
    """S (V x V), symmetric, with ones on its diagonal, and the views that count; None if all do."""

    S: Dense
    heard: Indices | None = None

    @classmethod
    def of(cls, views: Sequence[Graph]) -> Redundancy:
        """Compare the graphs of all pairs of views; time O(V^2 nnz)."""
        S = np.eye(len(views))
        for a in range(len(views)):
            for b in range(a):
                S[a, b] = S[b, a] = max(0.0, common_share(views[a], views[b]) - DIFFERENT) / (1 - DIFFERENT)
        return cls(S)

    @property
    def weights(self) -> Dense:
        """Return the weight of each view: 1, or 1 / m if it is one of m copies; 0 if it does not count."""
        heard = np.arange(len(self.S)) if self.heard is None else self.heard
        weights = np.zeros(len(self.S))
        weights[heard] = 1 / self.S[np.ix_(heard, heard)].sum(axis=1)
        return weights

    def only(self, heard: Indices) -> Redundancy:
        """Return the same with these views alone counting."""
        return replace(self, heard=heard)

    def pair_shares(self, pairs: Sequence[tuple[int, int]]) -> Dense:
        """Return the weight of each pair of views, adding up to 1; all 0 if all views are the same."""
        w = self.weights
        counts = np.array([w[a] * w[b] * (1 - self.S[a, b]) for a, b in pairs])
        return counts / or_one(counts.sum())


def common_share(A: Graph, B: Graph) -> float:
    """Return the share of their edge weight that two graphs have in common, each scaled to a total of 1."""
    totals = float(A.sum()), float(B.sum())
    if min(totals) <= 0:
        return 0.0
    return float((A / totals[0]).minimum(B / totals[1]).sum())
