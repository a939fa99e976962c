"""MFMSC: early fusion. Standardise, concatenate, build one graph, cut it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, check_choice, check_int, check_real
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, as_graph, linked_graph
from manyview.methods.base import MultiViewClusterer
from manyview.numerics.loop import Outcome
from manyview.partition.spectral import normalized_cut
from manyview.preprocessing.scaling import Scaling, scale_views, side_by_side
from manyview.typing import Seed
from manyview.views.container import Views


class MFMSC(MultiViewClusterer):
    r"""Multi-feature spectral clustering: the views are laid side by side and clustered as one table.

    With F the n x c embedding, W the graph of the concatenated views and D its degrees, it solves

    .. math:: \max_{F'F = I} \mathrm{Tr}\, F' (D + \tau \bar d I)^{-1/2} W (D + \tau \bar d I)^{-1/2} F

    and reads the labels off the rows of F. The baseline that every result table starts from.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, default=10
        Neighbours per sample in the graph. More makes clusters blend, fewer makes the graph fall apart.
    affinity : {"knn", "adaptive", "self_tuning", "precomputed"}, default="knn"
        How neighbours are weighted: all alike, by the adaptive-neighbour closed form, or by local scaling.
        "precomputed": the views are affinity matrices (n x n, symmetric, non-negative); W is their weighted sum.
    scaling : {"auto", "standard", "unit", "none"}, or one per view, default="auto"
        "standard": features to mean 0 and standard deviation 1. "unit": rows to the same length, for
        counts and text. "auto" takes "unit" for views that are mostly zeros, else "standard".
    view_weights : sequence of float, optional
        How much each view's squared distances count; all 1 by default.
    degree_regularization : float, default=0
        tau above; 1 keeps the cut from splitting off a few outliers.
    assign_labels : {"kmeans", "discretize", "qr"}, default="kmeans"
        How labels are read off the embedding.
    random_state : int, RandomState instance or None, default=0
        Seed of the assignment of labels. The default repeats the same labels; None draws anew each time.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
        Rows of F.
    affinity_ : sparse array (n_samples, n_samples)
        W.
    eigenvalues_ : array (n_clusters,)
        Of the normalised W, descending; a drop after the c-th speaks for c clusters.
    scaling_ : dict
        The scaling used, by view.
    n_iter_, converged_, history_
        1, True and one record: nothing is iterated.
    n_clusters_, selection_
        The number of clusters found, and what it was chosen by ("auto"), else None.
    n_views_, view_names_, sample_ids_, n_missing_
        What came in; values missing by view.
    imputation_ : str or None
        How missing values were filled in.

    Notes
    -----
    Time O(n^2 d) for the neighbours and O(n (k + c) c) per Lanczos step; memory O(n (d + k + c)).

    Examples
    --------
    >>> from manyview import MFMSC, clustering_accuracy, load_digits
    >>> digits = load_digits()
    >>> model = MFMSC(n_clusters=10).fit(digits.views)
    >>> bool(clustering_accuracy(digits.labels, model.labels_) > 0.96)
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int = 10,
        affinity: str = "knn",
        scaling: Scaling = "auto",
        view_weights: Sequence[float] | None = None,
        degree_regularization: float = 0.0,
        assign_labels: str = "kmeans",
        random_state: Seed = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.view_weights = view_weights
        self.degree_regularization = degree_regularization
        self.assign_labels = assign_labels
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_int("n_neighbors", self.n_neighbors, minimum=1)
        check_choice("affinity", self.affinity, (*GRAPHS, PRECOMPUTED))
        check_real("degree_regularization", self.degree_regularization, minimum=0)

    def _fit(self, views: Views) -> Outcome:
        W = self._graph(views, self._weights(views.n_views))
        cut = normalized_cut(
            W,
            self.n_clusters_,
            regularization=self.degree_regularization,
            assign=self.assign_labels,
            random_state=self.random_state,
        )
        self.affinity_, self.labels_, self.embedding_ = W, cut.labels, cut.embedding
        self.eigenvalues_ = cut.eigenvalues
        return Outcome("converged", ({"iteration": 1, "residual": 0.0},))

    def _graph(self, views: Views, weights: list[float]) -> sp.csr_array:
        if self.affinity == PRECOMPUTED:
            self.scaling_ = dict.fromkeys(views.names, "none")
            graphs = [as_graph(A, name) for name, A in views.items()]
            return sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(graphs, weights, strict=True)))
        tables, self.scaling_ = scale_views(views, self.scaling)
        X = side_by_side([X * X.dtype.type(np.sqrt(w)) for X, w in zip(tables, weights, strict=True)])
        return linked_graph(X, self.affinity, self.n_neighbors, self.n_clusters_)

    def _weights(self, n_views: int) -> list[float]:
        if self.view_weights is None:
            return [1.0] * n_views
        weights = [check_real("view_weights", w, minimum=0) for w in self.view_weights]
        if len(weights) != n_views or not any(weights):
            raise InputError(f"view_weights={weights} for {n_views} views; give one weight per view, not all 0.")
        return weights
