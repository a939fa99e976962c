"""MFMSC: early fusion. Standardise, concatenate, build one graph, cut it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from manyview.checks import Each, InputError, Number, OrNone, Rules
from manyview.graphs.affinity import PRECOMPUTED, as_graph, linked_graph
from manyview.methods.from_graphs import GraphClusterer
from manyview.methods.landmarks.strategy import N_LANDMARKS, LandmarkStrategy
from manyview.methods.result import CutClustering
from manyview.preprocessing.scaling import Scaling, scale_views, side_by_side
from manyview.typing import Graph, Seed
from manyview.views.container import Views


class MFMSC(LandmarkStrategy, GraphClusterer):
    r"""Multi-feature spectral clustering: the views are concatenated and clustered as one table.

    With F the n x c embedding, W the graph of the concatenated views and D its degrees, it solves

    .. math:: \max_{F'F = I} \mathrm{Tr}\, F' (D + \tau \bar d I)^{-1/2} W (D + \tau \bar d I)^{-1/2} F

    and finds the labels by k-means on the rows of F. It is the baseline in every result table.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, default=10
        Neighbours per sample in the graph. With more, clusters blend; with fewer, the graph falls apart.
    affinity : {"knn", "adaptive", "self_tuning", "precomputed"}, default="knn"
        How neighbours are weighted: all equally, by the closed form of adaptive neighbours, or by local scaling.
        "precomputed": the views are affinity matrices (n x n, symmetric, non-negative); W is their weighted sum.
    scaling : {"auto", "standard", "unit", "none"}, or one per view, default="auto"
        "standard" scales features to mean 0 and standard deviation 1, "unit" scales rows to the same length, for counts
        and text. "auto" uses "unit" for views that are mostly zeros, otherwise "standard".
    view_weights : sequence of float, optional
        Weight of each view's squared distances; a larger one makes the view count more. All 1 by default.
    degree_regularization : float, default=0
        tau above; 1 keeps the cut from splitting off a few outliers, 0 is the usual normalised cut.
    strategy : {"auto", "exact", "landmarks"}, default="auto"
        "exact" clusters all samples at once. "landmarks" clusters some of them, assigns the rest, and revises both
        (docs/large-data.md). "auto" is exact up to 200,000 samples.
    n_landmarks : int, default=20000
        Number of samples that the landmark strategy clusters directly. More is more accurate, and slower.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means. With an int, a fit gives the same labels each time; None draws a new seed.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
        Rows of F.
    affinity_ : sparse array (n_samples, n_samples)
        W.
    eigenvalues_ : array (n_clusters,)
        Eigenvalues of the normalised W, descending; a drop after the c-th suggests c clusters.
    scaling_ : dict
        The scaling used, by view.
    n_iter_, converged_, history_
        0, True and empty: the method does not iterate.
    landmarks_ : array (n_landmarks,) of int or None
        Positions of the landmarks, ascending; None if all samples were clustered at once. With landmarks, attributes
        with one row per sample cover only the landmarks, except `labels_`; `on_landmarks()` returns a model of them
        alone.
    neighbor_recall_ : dict
        Share of the true neighbours that an approximate search found, by graph; empty if the search was exact.
    n_clusters_, selection_
        The number of clusters, and how it was chosen with "auto", otherwise None.
    levels_ : Levels
        Nested partitions around the clusters, from one cluster to `max_clusters`; `cut` returns their labels.
    n_views_, view_names_, sample_ids_, n_missing_
        Number and names of the views, sample ids, and number of missing values by view.
    imputation_ : str or None
        How missing values were filled in.

    Notes
    -----
    Measured with two views of 64 features: 100,000 samples in 6.8 CPU seconds and 377 MB (docs/scaling.md).

    Time O(n^2 d) for the neighbours and O(n (k + c) c) per Lanczos step; memory O(n (d + k + c)).

    Examples
    --------
    >>> from manyview import MFMSC, clustering_accuracy, load_digits
    >>> digits = load_digits()
    >>> model = MFMSC(n_clusters=10).fit(digits.views)
    >>> bool(clustering_accuracy(digits.labels, model.labels_) > 0.96)
    True
    """

    _rules: ClassVar[Rules] = {
        **GraphClusterer._rules,
        **LandmarkStrategy._rules,
        "view_weights": OrNone(Each(Number(0))),
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int = 10,
        affinity: str = "knn",
        scaling: Scaling = "auto",
        view_weights: Sequence[float] | None = None,
        degree_regularization: float = 0.0,
        strategy: str = "auto",
        n_landmarks: int = N_LANDMARKS,
        max_clusters: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.view_weights = view_weights
        self.degree_regularization = degree_regularization
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_views(self, views: Views) -> None:
        super()._check_views(views)
        weights = self._weights(views.n_views)
        if len(weights) != views.n_views or not any(weights):
            raise InputError(f"view_weights={weights} for {views.n_views} views; give one weight per view, not all 0.")

    def _fit(self, views: Views, n_clusters: int) -> CutClustering:
        W, scaling = self._graph(views, n_clusters)
        cut = self._cut(W, n_clusters)
        return CutClustering(
            labels=cut.labels,
            embedding=cut.embedding,
            affinity=W,
            eigenvalues=cut.eigenvalues,
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, cut.labels, n_clusters),
        )

    def _graph(self, views: Views, n_clusters: int) -> tuple[Graph, dict[str, str]]:
        weights = self._weights(views.n_views)
        if self.affinity == PRECOMPUTED:
            graphs = [as_graph(A, name) for name, A in views.items()]
            total = sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(graphs, weights, strict=True)))
            return total, dict.fromkeys(views.names, "none")
        tables, scaling = scale_views(views, self.scaling)
        X = side_by_side([X * X.dtype.type(np.sqrt(w)) for X, w in zip(tables, weights, strict=True)])
        return linked_graph(X, self.affinity, self.n_neighbors, n_clusters, views.batch), scaling

    def _weights(self, n_views: int) -> list[float]:
        return [1.0] * n_views if self.view_weights is None else [float(w) for w in self.view_weights]
