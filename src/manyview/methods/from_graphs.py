"""What the estimators that start from the graphs of the views share."""

from __future__ import annotations

from typing import ClassVar

from manyview.checks import Number, OneOf, Rules, Whole
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, view_graphs
from manyview.methods.base import MultiViewClusterer
from manyview.typing import Graph
from manyview.views import Views


class GraphClusterer(MultiViewClusterer):
    """Base of the estimators that start from one graph per view, built from features or given ("precomputed")."""

    _rules: ClassVar[Rules] = {
        **MultiViewClusterer._rules,
        "n_neighbors": Whole(1),
        "affinity": OneOf((*GRAPHS, PRECOMPUTED)),
        "degree_regularization": Number(0),
    }
    _takes_batch: ClassVar[bool] = True
    n_neighbors: int
    affinity: str
    degree_regularization: float

    def _view_graphs(self, views: Views, n_clusters: int) -> tuple[list[Graph], dict[str, str]]:
        return view_graphs(views, self.affinity, self.n_neighbors, n_clusters, self.scaling)
