"""MAASC: affinity aggregation. Learn a weight for each view's graph while cutting their weighted sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from manyview.checks import CALLBACK, Number, Rules, Whole
from manyview.graphs.laplacian import degrees
from manyview.methods.from_graphs import GraphClusterer
from manyview.methods.result import WeightedClustering
from manyview.numerics.division import or_one, unit_length_rows
from manyview.numerics.loop import Callback, run
from manyview.partition.spectral import kmeans_labels, spectral_embedding
from manyview.preprocessing.scaling import Scaling
from manyview.typing import Dense, Seed
from manyview.views.container import Views

MOST_HALVINGS = 6  # of a step that would raise the objective, before the weights are left unchanged
NEGLIGIBLE = 1e-9  # relative difference below which two ratios a_v/b_v count as equal


class MAASC(GraphClusterer):
    r"""Affinity aggregation for spectral clustering: one graph per view, each with a learned weight.

    With K_v the affinity of view v and D_v its degrees, it solves

    .. math::
        \min_{F, w} \sum_v w_v^2\, \mathrm{Tr}\, F'(D_v - K_v)F / c
        \quad \text{s.t.} \quad F' \left(\sum_v w_v^2 D_v\right) F = I, \quad \sum_v w_v = 1

    alternately, starting from equal weights: F are the bottom c eigenvectors of the pencil of
    :math:`\sum_v w_v^2 (D_v - K_v)` against :math:`\sum_v w_v^2 D_v`; w is the exact optimum for this F
    (`best_weights`), with the first constraint replaced by its trace, as in the paper. For c > 1 this alone could raise
    the objective; the step is then shortened (`update_weights`) so that it never does. Huang, Chuang and Chen, CVPR
    2012.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, default=10
        Neighbours per sample in each graph. With more, clusters blend; with fewer, the graphs fall apart.
    affinity : {"knn", "adaptive", "self_tuning", "precomputed"}, default="knn"
        How neighbours are weighted, see `MFMSC`. With "precomputed" every view is an affinity matrix
        (n_samples, n_samples): symmetric, non-negative, dense or sparse; its diagonal is not used.
    scaling : {"auto", "standard", "unit", "none"}, or one per view, default="auto"
        See `MFMSC`; not used with "precomputed".
    degree_regularization : float, default=1
        tau: D_v above is the degrees plus tau times their mean. This keeps a sample that is loosely linked in the sum
        of the graphs from becoming a cluster of its own; 0 is the form in the paper.
    max_iter : int, default=20
        Maximum number of rounds of (w, F), as in the paper. Fewer may stop before the weights settle.
    tol : float, default=1e-4
        Stop when no weight changes by more than this. Smaller is more exact, and slower.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means. With an int, a fit gives the same labels each time; None draws a new seed.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.
    callback : callable, optional
        Called with the record of each round; return True to stop.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    view_weights_ : array (n_views,)
        Weight of each graph in `affinity_`: w_v^2, scaled to add up to 1.
    embedding_ : array (n_samples, n_clusters)
        Eigenvectors of the normalised `affinity_`; F up to the scaling of its rows.
    affinity_ : sparse array (n_samples, n_samples)
        The weighted sum of the graphs.
    history_ : list of dict
        The "objective" of each round, and the "residual": the largest change of a weight.
    scaling_, n_iter_, converged_, n_views_, view_names_, sample_ids_
    neighbor_recall_ : dict
        Share of the true neighbours that an approximate search found, by graph; empty if the search was exact.
    n_clusters_, selection_, n_missing_, imputation_
        As for `MFMSC`; `n_iter_` counts rounds, and `converged_` says whether `tol` ended them.
    levels_ : Levels
        Nested partitions around the clusters, from one cluster to `max_clusters`; `cut` returns their labels.

    Notes
    -----
    Measured with two views of 64 features: 20,000 samples in 6.0 CPU seconds and 79 MB (docs/scaling.md).

    Only views whose graphs differ in their degrees D_v can get different weights: with equal :math:`\mathrm{Tr}\,
    F'D_vF`, the two constraints allow only equal weights. With two views they allow two points. The neighbour graphs
    built here have nearly equal degrees, so their weights stay near 1/V; give affinities of your own to allow for
    larger differences.

    Time O(n^2 d) for the neighbours, d the features of all views, and O(V n k c) per Lanczos step of each round;
    memory O(n (d + V k + c)). Nothing dense is n x n.

    Examples
    --------
    >>> from manyview import MAASC, clustering_accuracy, load_digits
    >>> digits = load_digits()
    >>> model = MAASC(n_clusters=10).fit(digits.views)
    >>> bool(clustering_accuracy(digits.labels, model.labels_) > 0.7)
    True
    """

    _rules: ClassVar[Rules] = {
        **GraphClusterer._rules,
        "max_iter": Whole(1),
        "tol": Number(0),
        "callback": CALLBACK,
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int = 10,
        affinity: str = "knn",
        scaling: Scaling = "auto",
        degree_regularization: float = 1.0,
        max_iter: int = 20,
        tol: float = 1e-4,
        max_clusters: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit(self, views: Views, n_clusters: int) -> WeightedClustering:
        graphs, scaling = self._view_graphs(views, n_clusters)
        dtype = np.result_type(*graphs)
        K = [W.astype(np.float64) for W in graphs]
        state = start(K, n_clusters, self.degree_regularization)

        def sweep(_i: int) -> dict[str, float]:
            before = state.w
            state.w = update_weights(state.F, before, K, state.tau)
            state.U, state.F = embed(aggregate(K, state.w), n_clusters, state.tau)
            change = float(np.abs(state.w - before).max())
            return {"objective": objective(state.F, state.w, K, state.tau), "residual": change}

        outcome = run(sweep, max_iter=self.max_iter, tol=self.tol, name="MAASC", callback=self.callback)
        weights = state.w**2 / np.sum(state.w**2)
        embedding = state.U.astype(dtype)
        labels = kmeans_labels(unit_length_rows(embedding), n_clusters, self.random_state)
        return WeightedClustering(
            labels=labels,
            embedding=embedding,
            affinity=aggregate(K, np.sqrt(weights)).astype(dtype),
            view_weights=weights,
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, labels, n_clusters),
            outcome=outcome,
        )


@dataclass
class State:
    """What changes from round to round: w (V,), F (n x c) and the eigenvectors U = D^1/2 F; and tau, which does not."""

    w: Dense
    F: Dense
    U: Dense
    tau: float


def start(K: Sequence[sp.csr_array], c: int, tau: float) -> State:
    """Return equal weights, and their F."""
    w = np.full(len(K), 1 / len(K))
    U, F = embed(aggregate(K, w), c, tau)
    return State(w, F, U, tau)


def aggregate(K: Sequence[sp.csr_array], w: Dense) -> sp.csr_array:
    r""":math:`\sum_v w_v^2 K_v`."""
    return sp.csr_array(reduce(add, (weight**2 * W for W, weight in zip(K, w, strict=True))))


def regularized_degrees(K: sp.csr_array, tau: float) -> Dense:
    """Diagonal of D_v: the degrees, plus tau times their mean."""
    d = degrees(K)
    return d + tau * d.mean()


def embed(W: sp.csr_array, c: int, tau: float) -> tuple[Dense, Dense]:
    """Bottom c eigenvectors F of the pencil of D - W against D, F'DF = I; and U = D^1/2 F first."""
    _, U = spectral_embedding(W, c, tau)
    d = regularized_degrees(W, tau)
    return U, U / np.sqrt(or_one(d))[:, None]


def quadratic_forms(F: Dense, K: Sequence[sp.csr_array], tau: float) -> tuple[Dense, Dense]:
    """A_v = F'(D_v - K_v)F / c and B_v = F'D_vF / c of all views, each V x c x c."""
    c = F.shape[1]
    B = np.array([F.T @ (regularized_degrees(W, tau)[:, None] * F) for W in K]) / c
    return B - np.array([F.T @ (W @ F) for W in K]) / c, B


def quotient(w: Dense, A: Dense, B: Dense) -> float:
    """Tr (sum w_v^2 B_v)^-1 (sum w_v^2 A_v) / c: the objective, whatever the scale of F or w."""
    numerator, denominator = (np.tensordot(w**2, forms, 1) for forms in (A, B))
    return float(np.trace(np.linalg.pinv(denominator, hermitian=True) @ numerator)) / A.shape[1]


def objective(F: Dense, w: Dense, K: Sequence[sp.csr_array], tau: float = 0.0) -> float:
    r"""Return :math:`\mathrm{Tr}\, (F'DF)^{-1} F'(D - W)F / c` of the aggregated graph W and its degrees D."""
    return quotient(w, *quadratic_forms(F, K, tau))


def update_weights(F: Dense, w: Dense, K: Sequence[sp.csr_array], tau: float) -> Dense:
    """Move from w towards the best weights for F as far as the objective does not rise; stay if it always rises.

    `best_weights` uses only the traces of the forms. For c = 1 that is the objective; for larger c, a full step nearly
    always lowers it.
    """
    A, B = quadratic_forms(F, K, tau)
    best = best_weights(np.trace(A, axis1=1, axis2=2), np.trace(B, axis1=1, axis2=2), w)
    now = quotient(w, A, B)
    steps = (w + (best - w) / 2**halvings for halvings in range(MOST_HALVINGS))
    return next((step for step in steps if quotient(step, A, B) <= now), w)


def best_weights(a: Dense, b: Dense, w: Dense) -> Dense:
    r"""Solve :math:`\min_w \sum_v a_v w_v^2` subject to :math:`\sum_v b_v w_v^2 = 1, \sum_v w_v = 1`.

    `w` is feasible. Stationary points are :math:`w_v \propto 1/(a_v - t b_v)`. One quadratic constraint: the global
    optimum is the one with :math:`a - t b` positive definite along the plane :math:`\sum w = 0`, that is with t below
    the zero t* of :math:`\sum_v 1/(a_v - t b_v)` between the two smallest ratios a_v/b_v; and up to t*,
    :math:`\sum_v b_v w_v(t)^2` rises with t. So one root search finds it. For t beyond the smallest ratio, the other
    weights become negative; only their squares matter.
    """
    if len(b) == 1 or not np.all(b > 0):
        return w
    ratio = a / b
    excess = ratio - ratio.min()
    if excess.max() <= NEGLIGIBLE * np.abs(ratio).max():
        return w  # every feasible point has the same objective

    def miss(s: float) -> float:
        u = _direction(s, excess, b)
        return float(b @ u**2 - u.sum() ** 2)

    upper = _last_step(excess, b)
    lower = next((s for s in -excess.max() * 4.0 ** np.arange(-20, 20) if miss(s) < 0), None)
    if lower is None or miss(upper) <= 0:
        return w  # the only feasible point; or the best views tie, and how they share the weight is arbitrary
    u = _direction(brentq(miss, lower, upper, xtol=1e-300, rtol=1e-14), excess, b)
    return u / u.sum()


def _direction(s: float, excess: Dense, b: Dense) -> Dense:
    """Return 1/(a_v - t b_v) at t = s + min(a/b), times -s so that it stays finite at s = 0."""
    best = excess == 0
    return np.where(best, 1 / b, -s / (b * np.where(best, 1, excess - s)))


def _last_step(excess: Dense, b: Dense) -> float:
    """Return t* as a step s from the smallest ratio; just below it if two views tie for the smallest."""
    gap = float(np.sort(excess)[1])
    if gap <= NEGLIGIBLE * excess.max():
        return float(-NEGLIGIBLE * excess.max())
    return float(brentq(lambda s: _direction(s, excess, b).sum(), 0, gap * (1 - 1e-12)))
