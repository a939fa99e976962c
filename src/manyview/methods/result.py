"""What a fit returns: one record, whose fields become the attributes of the estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from manyview.methods.placing import Placing
from manyview.numerics.loop import Outcome
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import SearchSettings
from manyview.partition.membership import Assigned
from manyview.typing import Dense, Graph, Labels

if TYPE_CHECKING:
    import pandas as pd

PRIVATE = {"private": True}
"""Metadata of fields that are not for users: `placing` becomes `_placing`, while `labels` becomes `labels_`."""

USED_UP = {"used up": True}
"""Metadata of fields that do not become attributes themselves: their contents are published under other names."""

NOT_ITERATED = Outcome("converged")
"""The outcome of methods without a loop: there is nothing to converge and no history."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """A partition of the samples, and what it was derived from.

    Attributes
    ----------
    labels : (n,), from 0 to n_clusters - 1
    embedding : (n, k), rows that represent the samples
    affinity : (n, n), the graph that was cut
    scaling : the scaling of each view, by name
    placing : assigns new samples to the clusters
    outcome : how the method's loop ended; becomes `n_iter_`, `converged_` and `history_`
    agreement : the layers that determine how certain a label is, if not `affinity` alone; becomes `membership_`
    """

    labels: Labels
    embedding: Dense
    affinity: Graph
    scaling: dict[str, str]
    placing: Placing = field(metadata=PRIVATE)
    outcome: Outcome = field(default=NOT_ITERATED, metadata=USED_UP)
    agreement: Agreement | None = field(default=None, metadata=USED_UP)

    def layers(self, n_clusters: int) -> Agreement:
        """Return the layers that determine how certain a label is."""
        return self.agreement or Agreement.of_views(ViewGraphs.of([self.affinity]), n_clusters, SearchSettings())


@dataclass(frozen=True, kw_only=True)
class CutClustering(Clustering):
    """Adds the eigenvalues of the normalised graph, descending."""

    eigenvalues: Dense


@dataclass(frozen=True, kw_only=True)
class WeightedClustering(Clustering):
    """Adds the weight of each view; the weights add up to 1."""

    view_weights: Dense


def label_frame(labels: Labels, assigned: Assigned | None, sample_ids: NDArray[Any] | None) -> pd.DataFrame:
    """Return labels as a DataFrame, with their confidence if known."""
    import pandas as pd  # kept out of `import manyview`

    columns: dict[str, Any] = {"label": labels}
    if assigned is not None:
        columns |= {"confidence": assigned.confidence, "second": assigned.second}
    return pd.DataFrame(columns, index=None if sample_ids is None else pd.Index(sample_ids, name="sample"))
