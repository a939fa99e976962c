"""RMSC: one low-rank transition matrix for all views, with sparse noise removed from each."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manyview.checks import OneOf, Rules
from manyview.graphs.affinity import PRECOMPUTED, as_graph, local_scaling_graph
from manyview.methods.lowrank import transition
from manyview.methods.lowrank.representation import (
    OTHERWISE,
    RepresentationClusterer,
    RepresentationClustering,
    dense_columns,
    itemsize,
    keep_largest,
    tidy_graph,
)
from manyview.numerics.loop import Callback
from manyview.preprocessing.scaling import Scaling, scale_views
from manyview.typing import Array, Graph, Seed
from manyview.views.container import Views

COPIES_PER_VIEW, COPIES = 4, 16  # n x n matrices held at the peak of a fit; measured, rounded up


class RMSC(RepresentationClusterer):
    r"""Robust multi-view spectral clustering: one low-rank transition matrix P that all views share.

    With K_v the affinities of view v, D_v their row sums and P_v = D_v^-1 K_v, it solves

    .. math::

        \min_{P, E_v} |P|_* + \lambda \sum_v |E_v|_1 \quad \text{s.t.} \quad P_v = P + E_v,\ P \ge 0,\ P 1 = 1,

    and cuts the graph of the random walk, (Pi P + P' Pi)/2 with Pi its stationary distribution. The problem is convex
    and solved by the method of multipliers. Xia, Pan, Du and Yin, AAAI 2014; `RLRR` is the form on features in which
    Wang and Wu compare with it.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    sparsity : float, default=1
        lambda = sparsity / sqrt(n). With larger values, fewer entries of the P_v count as noise.
    n_neighbors : int, default=10
        How many of the largest entries of each row are kept in the final graph. With more, clusters blend; with fewer,
        the graph falls apart.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        "self_tuning": affinities of all pairs of samples, with one bandwidth per sample. "precomputed": the views are
        affinities K_v (n x n, symmetric, non-negative).
    scaling : {"auto", "standard", "robust", "unit", "none"}, or one per view, default="auto"
        See `MFMSC`; not used with "precomputed".
    degree_regularization : float, default=0
        tau in the normalised cut, see `MFMSC`.
    max_iter : int, default=300
        Maximum number of sweeps; a run that needs more ends with a warning and `converged_` False.
    tol : float, default=0.005
        Stop when no constraint is violated by more than this, relative to the size of its terms, and P changes by no
        more. Smaller is more exact, and slower.
    max_memory : float, optional
        Limit in GB; problems that need more are refused. By default 80% of the free memory.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means. With an int, a fit gives the same labels each time; None draws a new seed.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.
    callback : callable, optional
        Called with the record of each sweep; return True to stop.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
    affinity_ : sparse array (n_samples, n_samples)
    representation_ : array (n_samples, n_samples)
        P.
    corruption_ : list of arrays (n_samples, n_samples)
        E_v.
    sparsity_ : float
        lambda.
    eigenvalues_ : array (n_clusters,)
        Eigenvalues of the normalised affinity, descending.
    scaling_, n_iter_, converged_, history_, n_views_, view_names_, sample_ids_
    neighbor_recall_ : dict
        Share of the true neighbours that an approximate search found, by graph; empty if the search was exact.
    n_clusters_, selection_, n_missing_, imputation_
        As for `RLRR`.
    levels_ : Levels
        Nested partitions around the clusters, from one cluster to `max_clusters`; `cut` returns their labels.

    Notes
    -----
    Measured with two views of 64 features: 2,000 samples in 50 CPU seconds and 697 MB (docs/scaling.md).

    With V views, time O(V n^2 log n) per sweep, memory O((4 V + 16) n^2).

    Examples
    --------
    >>> from manyview import RMSC, load_digits
    >>> digits = load_digits(views=("fourier", "profile"))
    >>> model = RMSC(n_clusters=10).fit(digits.views[::10])
    >>> model.representation_.shape, len(model.corruption_)
    ((200, 200), 2)
    """

    _rules: ClassVar[Rules] = {**RepresentationClusterer._rules, "affinity": OneOf(("self_tuning", PRECOMPUTED))}

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        sparsity: float = 1.0,
        n_neighbors: int = 10,
        affinity: str = "self_tuning",
        scaling: Scaling = "auto",
        degree_regularization: float = 0.0,
        max_iter: int = 300,
        tol: float = 5e-3,
        max_memory: float | None = None,
        max_clusters: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.sparsity = sparsity
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit(self, views: Views, n_clusters: int) -> RepresentationClustering:
        n = views.n_samples
        needed = float(itemsize(views)) * n**2 * (COPIES_PER_VIEW * views.n_views + COPIES)
        self._check_memory(views, needed, OTHERWISE[0].upper() + OTHERWISE[1:])
        affinities, tables, scaling = self._affinities(views)
        P_v = [transition.transition_matrix(K) for K in affinities]
        lam = self.sparsity / float(np.sqrt(n))
        state = transition.initial_state(P_v)
        outcome = self._run(lambda _: transition.sweep(P_v, state, lam))
        flow = keep_largest(transition.symmetric_flow(state.P), self.n_neighbors)
        W = tidy_graph(flow, dense_columns(tables), n_clusters)
        cut = self._cut(W, n_clusters)
        return RepresentationClustering(
            labels=cut.labels,
            embedding=cut.embedding,
            affinity=W,
            eigenvalues=cut.eigenvalues,
            representation=state.P,
            corruption=state.E,
            sparsity=lam,
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, cut.labels, n_clusters),
            outcome=outcome,
        )

    def _affinities(self, views: Views) -> tuple[list[Graph], list[Array], dict[str, str]]:
        """Return the affinities, and tables that can link their components."""
        if self.affinity == PRECOMPUTED:
            graphs = [as_graph(A, name) for name, A in views.items()]
            return graphs, graphs, dict.fromkeys(views.names, "none")
        tables, scaling = scale_views(views, self.scaling)
        return [local_scaling_graph(X, views.n_samples - 1) for X in tables], tables, scaling
