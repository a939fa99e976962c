"""How well the clusters found in each view alone agree with the consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, view_graphs
from manyview.methods import MultiViewClusterer
from manyview.methods.imputation import fill_in
from manyview.partition.spectral import normalized_cut
from manyview.typing import Indices, Mask
from manyview.views.container import Views

NEIGHBORS = 10
REGULARIZATION = 1.0  # keeps a few outliers from becoming clusters


@dataclass(frozen=True)
class ViewRow:
    """One view: size, shares of samples present and values missing, weight and agreement; None if unknown."""

    name: str
    features: int
    present: float
    missing: float
    scaling: str
    weight: float | None
    acc: float | None
    nmi: float | None


@dataclass(frozen=True)
class Agreement:
    """The views, and the number of samples on which their clusters were compared."""

    views: list[ViewRow]
    n_compared: int


def compare_views(model: MultiViewClusterer, views: Views, *, max_samples: int = 5000, seed: int = 0) -> Agreement:
    """Cluster each view on its own, in the same way as the consensus, and compare."""
    graphs, rows = own_graphs(model, views, max_samples, seed)
    labels, n_missing = model.labels_[rows], model.n_missing_
    complete = not any(n_missing.values())
    present = np.ones((views.n_samples, views.n_views), dtype=bool) if complete else views.present
    weights = getattr(model, "view_weights_", [None] * views.n_views)
    compared = []
    for i, (name, X) in enumerate(views.items()):
        acc, nmi = agree(graphs[i], labels, present[rows, i])
        compared.append(
            ViewRow(
                name,
                features=int(X.shape[1]),
                present=float(present[:, i].mean()),
                missing=n_missing[name] / (X.shape[0] * X.shape[1]),
                scaling=model.scaling_[name],
                weight=weights[i],
                acc=acc,
                nmi=nmi,
            )
        )
    return Agreement(compared, len(rows))


def own_graphs(
    model: MultiViewClusterer, views: Views, max_samples: int, seed: int
) -> tuple[Sequence[sp.csr_array], Indices]:
    """Return the graph of each view, from the model if it keeps them, otherwise built here; and the rows they cover.

    A neighbour search takes O(n^2 d), so at most `max_samples` are drawn for it.
    """
    rows = np.arange(views.n_samples)
    if hasattr(model, "graphs_"):
        return model.graphs_, rows
    params = model.get_params()
    kind = params.get("affinity", "knn")
    if kind != PRECOMPUTED and len(rows) > max_samples:
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), max_samples, replace=False))
    views = views.with_batch(model.batch_)
    chosen = views[rows] if len(rows) < views.n_samples else views
    graphs, _ = view_graphs(
        fill_in(chosen) if any(model.n_missing_.values()) else chosen,
        kind if kind in (*GRAPHS, PRECOMPUTED) else "knn",
        params.get("n_neighbors", NEIGHBORS),
        int(model.labels_.max()) + 1,
        model.scaling_,
    )
    return graphs, rows


def agree(W: sp.csr_array, labels: Indices, present: Mask) -> tuple[float | None, float | None]:
    """Return ACC and NMI between a view's own clusters and the consensus, over the samples present in the view."""
    W, labels = sp.csr_array(W[present][:, present]), labels[present]
    n_clusters = len(np.unique(labels))
    if W.nnz == 0 or n_clusters < 2:
        return None, None
    own = normalized_cut(W, n_clusters, degree_regularization=REGULARIZATION, random_state=0).labels
    return clustering_accuracy(labels, own), normalized_mutual_information(labels, own)
