"""What each view contributed, and how far its own clusters agree with the consensus."""

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

Integers = Indices

NEIGHBORS = 10
REGULARIZATION = 1.0  # a few outliers of the view do not become clusters


@dataclass(frozen=True)
class ViewRow:
    """A view: its size, the shares of samples and values in it, its weight, and agreement; None where not known."""

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
    """The views, and how many samples their clusters were compared on."""

    views: list[ViewRow]
    n_compared: int


def describe_views(model: MultiViewClusterer, views: Views, *, max_samples: int = 5000, seed: int = 0) -> Agreement:
    """Cluster each view on its own, as the consensus was, and compare."""
    graphs, rows = own_graphs(model, views, max_samples, seed)
    labels, present, n_missing = model.labels_[rows], views.present, views.n_missing
    weights = getattr(model, "view_weights_", [None] * views.n_views)
    described = []
    for i, (name, X) in enumerate(views.items()):
        acc, nmi = agree(graphs[i], labels, present[rows, i])
        described.append(
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
    return Agreement(described, len(rows))


def own_graphs(
    model: MultiViewClusterer, views: Views, max_samples: int, seed: int
) -> tuple[Sequence[sp.csr_array], Integers]:
    """Return the graph of each view and the rows it is of: the model's if it has some, else built from the views.

    A neighbour search takes O(n^2 d): more than `max_samples` are sampled for it.
    """
    rows = np.arange(views.n_samples)
    if hasattr(model, "graphs_"):
        return model.graphs_, rows
    params = model.get_params()
    kind = params.get("affinity", "knn")
    if kind != PRECOMPUTED and len(rows) > max_samples:
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), max_samples, replace=False))
    graphs, _ = view_graphs(
        fill_in(views[rows]),
        kind if kind in (*GRAPHS, PRECOMPUTED) else "knn",
        params.get("n_neighbors", NEIGHBORS),
        int(model.labels_.max()) + 1,
        model.scaling_,
    )
    return graphs, rows


def agree(W: sp.csr_array, labels: Integers, present: Mask) -> tuple[float | None, float | None]:
    """ACC and NMI of a view's own clusters against the consensus, over the samples that the view holds."""
    W, labels = sp.csr_array(W[present][:, present]), labels[present]
    n_clusters = len(np.unique(labels))
    if W.nnz == 0 or n_clusters < 2:
        return None, None
    own = normalized_cut(W, n_clusters, degree_regularization=REGULARIZATION, random_state=0).labels
    return clustering_accuracy(labels, own), normalized_mutual_information(labels, own)
