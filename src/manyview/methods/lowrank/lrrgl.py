"""LRRGL: one low-rank representation per view, smooth on the view's graph and drawn towards agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from manyview.checks import Number, OneOf, Rules
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, as_graph, build_graph
from manyview.graphs.laplacian import laplacian
from manyview.methods.lowrank.representation import (
    LowRank,
    RepresentationClustering,
    SelfExpressionClusterer,
    dense_columns,
    tidy_graph,
)
from manyview.methods.lowrank.selfexpression import (
    Problem,
    State,
    initial_state,
    largest_gaps,
    make_problem,
    nuclear_norm,
    row_space,
    sweep,
    unit_weight,
)
from manyview.numerics.loop import Callback
from manyview.preprocessing.scaling import Scaling
from manyview.typing import Array, Dense, Graph, Seed
from manyview.views.container import Views


@dataclass(frozen=True, kw_only=True)
class LRRGLClustering(RepresentationClustering):
    """Adds the Laplacians of the views' graphs."""

    laplacians: list[Graph]


class LRRGL(SelfExpressionClusterer):
    r"""Low-rank representation with multi-graph regularisation and iterative agreement of the views.

    With X_v (d_v x n, samples in columns) the v-th view and L_v the normalised Laplacian of its neighbour graph,
    Wang et al. (IJCAI 2016, arXiv:1608.05560) solve

    .. math::

        \min_{Z_v, E_v} \sum_v \left( |Z_v|_* + \lambda_v |E_v|_1 + \lambda_2 \mathrm{Tr}\, Z_v L_v Z_v'
        + \frac{\beta}{2} \sum_{w \ne v} |Z_v - Z_w|_F^2 \right)
        \quad \text{s.t.} \quad X_v = X_v Z_v + E_v,\ Z_v \ge 0.

    The problem is convex. It is solved by the method of multipliers; as in the paper, the smooth terms are linearised
    in each view's step, with the other views as they were after the last sweep.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    sparsity : float, default=1
        Weight of the corruption E, :math:`\lambda_v = \mathrm{sparsity} \min(d_v, n) / |X_v|_1`: at 1, calling all of
        X_v corruption costs as much as representing all of it. Larger values call fewer entries corrupted. (The paper
        has one lambda_1 for all views, tuned per data set; in this unit one value suits views of any scale and size.)
        Not suitable for views that are mostly zeros, such as text: :math:`|E|_1` treats all of them as corruption or,
        with more weight, each sample represents only itself.
    graph_weight : float, default=0.5
        lambda_2: how similar the representations of neighbours in a view should be; 0 ignores the graphs.
    consensus_weight : float, default=0.5
        beta: how much the views should agree; 0 treats each view separately.
    n_neighbors : int, default=10
        Neighbours per sample, in the graphs of the views and in the final affinity. With more, clusters blend; with
        fewer, the graphs fall apart.
    affinity : {"self_tuning", "knn", "adaptive", "precomputed"}, default="self_tuning"
        How neighbours are weighted in the graphs of the views, see `MFMSC`. "precomputed": the views are affinities K_v
        (n x n, symmetric, non-negative); L_v is taken from them, and each sample is represented by the leading
        eigenvectors of the normalised K_v, scaled so that their products reproduce K_v.
    nonnegative : bool, default=True
        Keep Z >= 0, as in the paper. This needs all n x n entries of each Z; without it, Z_v = Q W_v, where the columns
        of Q (n x r) are an orthonormal basis of the row space of all views, and only W_v (r x n) is iterated. This is
        exact: projecting every Z_v onto Q increases no term.
    representation_graph : {"angle", "sum"}, default="angle"
        How the Z_v become a graph. "angle": each sample is linked to the `n_neighbors` others whose columns of Z make
        the smallest angle with its own (mean cosine over the views, the weight of the link); all other entries are
        dropped. "sum": the sum of :math:`(|Z_v| + |Z_v'|)/2` as in the paper, keeping the `n_neighbors` largest entries
        of each row; it needs more of them (50).
    scaling : {"auto", "standard", "robust", "unit", "none"}, or one per view, default="auto"
        "standard" scales features to mean 0 and standard deviation 1, "unit" scales rows to the same length, for counts
        and text. "auto" uses "unit" for views that are mostly zeros, otherwise "standard".
    degree_regularization : float, default=0
        tau of the normalised cut; 1 keeps it from splitting off a few outliers.
    max_iter : int, default=300
        Maximum number of sweeps; a run that needs more ends with a warning and `converged_` False.
    tol : float, default=0.005
        Stop when no constraint is violated by more than this, relative to the size of its terms, and no Z changes by
        more. Smaller is more exact, and slower. (The paper stops at a gap of 1e-6 while its penalty grows without
        bound, which ends the run rather than solving the problem; here the penalty is fixed.)
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
    representation_ : list of arrays (n_samples, n_samples), one per view
        Z_v; with ``nonnegative=False`` a pair of factors (`left`, `right`, `toarray()`).
    corruption_ : list of arrays (n_samples, n_features of the view)
        E_v', in the units of the view.
    laplacians_ : list of sparse arrays
        L_v.
    sparsity_ : list of float
        lambda_v.
    eigenvalues_ : array (n_clusters,)
        Eigenvalues of the normalised affinity, descending.
    scaling_ : dict
        The scaling used, by view.
    n_iter_, converged_, history_
        For each sweep, `history_` holds the gap of the fit, the gaps between Z and its low-rank and non-negative
        copies, and the change in Z.
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
    Measured with two views of 64 features: 1,000 samples in 12 CPU seconds and 157 MB (docs/scaling.md).

    With d features over all views, V views and rank q of the Z: time O(V n^2 (d + q)) and memory O(n d + 15 V n^2) per
    sweep; with ``nonnegative=False`` time O(V n r (d + r)) and memory O(n d + 15 V n r), r <= min(n, d).

    Examples
    --------
    >>> from manyview import LRRGL, clustering_accuracy, load_digits
    >>> digits = load_digits(views=("fourier", "profile"))
    >>> model = LRRGL(n_clusters=10, nonnegative=False).fit(digits.views[::5])
    >>> model.affinity_.shape, len(model.representation_)
    ((400, 400), 2)
    """

    _rules: ClassVar[Rules] = {
        **SelfExpressionClusterer._rules,
        "graph_weight": Number(0),
        "consensus_weight": Number(0),
        "affinity": OneOf((*GRAPHS, PRECOMPUTED)),
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        sparsity: float = 1.0,
        graph_weight: float = 0.5,
        consensus_weight: float = 0.5,
        n_neighbors: int = 10,
        affinity: str = "self_tuning",
        nonnegative: bool = True,
        representation_graph: str = "angle",
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
        self.graph_weight = graph_weight
        self.consensus_weight = consensus_weight
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.nonnegative = nonnegative
        self.representation_graph = representation_graph
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit(self, views: Views, n_clusters: int) -> LRRGLClustering:
        self._check_memory(views, self._bytes_needed(views, views.n_views), self._advice())
        tables, scaling = self._features(views, n_clusters)
        X = dense_columns(tables)
        self._announce(X, len(X))
        L = [laplacian(W, "normalized") for W in self._graphs(views, tables)]
        R = None if self.nonnegative else row_space(X)
        lam = [self.sparsity * unit_weight(Xv) for Xv in X]
        eta = smoothness(self.graph_weight, self.consensus_weight, len(X))
        problems = [make_problem(Xv, R, lam_v, smoothness=eta) for Xv, lam_v in zip(X, lam, strict=True)]
        states = [initial_state(problem) for problem in problems]
        outcome = self._run(lambda _: sweep_views(problems, states, L, self.graph_weight, self.consensus_weight))
        codes = [state.solution for state in states]
        W = tidy_graph(self._representation_affinity(codes, R), X, n_clusters)
        cut = self._cut(W, n_clusters)
        return LRRGLClustering(
            labels=cut.labels,
            embedding=cut.embedding,
            affinity=W,
            eigenvalues=cut.eigenvalues,
            representation=codes if R is None else [LowRank(R, Z) for Z in codes],
            corruption=self._errors([state.E for state in states], views, scaling),
            sparsity=lam,
            laplacians=L,
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, cut.labels, n_clusters),
            outcome=outcome,
        )

    def _graphs(self, views: Views, tables: Sequence[Array]) -> list[Graph]:
        if self.affinity == PRECOMPUTED:
            return [as_graph(A, name) for name, A in views.items()]
        return [build_graph(X, self.affinity, self.n_neighbors) for X in tables]


# The objective and its smooth part ---------------------------------------------------------------


def objective(
    Z: Sequence[Dense], E: Sequence[Dense], L: Sequence[sp.csr_array], lam: Sequence[float], lam_2: float, beta: float
) -> float:
    """Evaluate the objective in the docstring of `LRRGL`."""
    low_rank = sum(nuclear_norm(Zv) for Zv in Z)
    sparse = sum(lam_v * float(np.abs(Ev).sum()) for lam_v, Ev in zip(lam, E, strict=True))
    return low_rank + sparse + smooth_part(Z, L, lam_2, beta)


def smooth_part(Z: Sequence[Dense], L: Sequence[sp.csr_array], lam_2: float, beta: float) -> float:
    r"""``f = lam_2 sum_v Tr Z_v L_v Z_v' + beta/2 sum_v sum_{w != v} |Z_v - Z_w|^2``."""
    roughness = sum(float(np.sum(times_laplacian(Zv, Lv) * Zv)) for Zv, Lv in zip(Z, L, strict=True))
    # the sum over pairs of |Z_v - Z_w|^2 is V times the sum of |Z_v - mean|^2
    mean = sum(Z[1:], Z[0]) / len(Z)
    disagreement = len(Z) * sum(float(np.linalg.norm(Zv - mean)) ** 2 for Zv in Z)
    return lam_2 * roughness + beta * disagreement


def smooth_gradients(Z: Sequence[Dense], L: Sequence[sp.csr_array], lam_2: float, beta: float) -> list[Dense]:
    r"""Gradient of f for each view, ``2 lam_2 Z_v L_v + 2 beta sum_w (Z_v - Z_w)``."""
    total = sum(Z[1:], Z[0])
    return [2 * lam_2 * times_laplacian(Zv, Lv) + 2 * beta * (len(Z) * Zv - total) for Zv, Lv in zip(Z, L, strict=True)]


def times_laplacian(Z: Dense, L: sp.csr_array) -> Dense:
    """Return Z L for symmetric L."""
    return np.asarray(L @ Z.T).T


def smoothness(lam_2: float, beta: float, n_views: int) -> float:
    """Lipschitz constant of the gradient of f; no eigenvalue of a normalised Laplacian exceeds 2."""
    return 4 * lam_2 + 2 * beta * (n_views if n_views > 1 else 0)


def sweep_views(
    problems: Sequence[Problem], states: Sequence[State], L: Sequence[sp.csr_array], lam_2: float, beta: float
) -> dict[str, float]:
    """Sweep every view once, with the gradient of f at the last Z of all views."""
    gradients = smooth_gradients([state.Z for state in states], L, lam_2, beta)
    return largest_gaps(sweep(*step) for step in zip(problems, states, gradients, strict=True))
