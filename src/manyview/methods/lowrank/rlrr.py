"""RLRR: one low-rank representation for all views, with sparse corruption taken out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manyview.checks import check_choice, check_real
from manyview.graphs.affinity import PRECOMPUTED, as_graph, local_scaling_graph
from manyview.methods.lowrank import transition
from manyview.methods.lowrank.representation import (
    COPIES,
    LowRank,
    RepresentationClusterer,
    advice,
    bytes_needed,
    check_memory,
    dense_columns,
    keep_largest,
)
from manyview.methods.lowrank.selfexpression import (
    initial_state,
    largest_gaps,
    make_problem,
    nuclear_norm,
    row_space,
    sweep,
    unit_weight,
)
from manyview.numerics.loop import Callback, Outcome
from manyview.preprocessing.scaling import Scaling
from manyview.typing import Array, Dense, Seed
from manyview.views.container import Views

LEVELS = ("feature", "transition")


class RLRR(RepresentationClusterer):
    r"""Robust low-rank representation: one Z for all views, and sparse corruption E_v taken out of each.

    With X_v (d_v x n, samples in columns) the v-th view, ``level="feature"`` solves

    .. math::

        \min_{Z, E_v} |Z|_* + \lambda \sum_v |E_v|_1 \quad \text{s.t.} \quad X_v = X_v Z + E_v,\ Z \ge 0,

    the form in which Wang and Wu (arXiv:1708.02288, Eq. 1) compare with Xia, Pan, Du and Yin (AAAI 2014). The
    latter's own form, ``level="transition"``, is on the transition matrices P_v = D_v^-1 K_v of the views:

    .. math::

        \min_{P, E_v} |P|_* + \lambda \sum_v |E_v|_1 \quad \text{s.t.} \quad P_v = P + E_v,\ P \ge 0,\ P 1 = 1.

    Both are convex, and solved by the method of multipliers.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    level : {"feature", "transition"}, default="feature"
        Which of the two problems. "transition" takes self-tuned affinities K_v of all pairs of samples.
    sparsity : float, default=1
        Weight of the corruption E, in units in which one value serves data of any scale and size. Feature level:
        lambda = sparsity min(d, n) / |X|_1, X all views stacked and d its rows, so that at 1 it costs the
        same to call all of X corruption and to represent all of it. Transition level: lambda = sparsity / sqrt(n).
        (The sources tune lambda per data set.) Not for views that are mostly zeros themselves, such as text: |E|_1
        takes them for corruption altogether, or with more weight each sample represents only itself; no weight
        that we tried helps, take another method.
    nonnegative : bool, default=True
        Keep Z >= 0, as the source does. This needs all n x n entries of Z; without it Z = Q W, where the columns of
        Q (n x r) are an orthonormal basis of the row space of all views, and only W (r x n) is iterated. That is exact:
        projecting Z onto Q increases no term. The transition level is always non-negative.
    n_neighbors : int, default=10
        Neighbours per sample in the final affinity.
    affinity : {"angle", "sum", "precomputed"}, default="angle"
        How Z becomes a graph. "angle": each sample is linked to the `n_neighbors` others whose columns of Z make the
        smallest angle with its own (the cosine is the weight of the link); all other entries are dropped.
        "sum": (|Z| + |Z'|)/2 as in the source, of which the `n_neighbors` largest entries of each
        row are kept; it needs more of them (50). The transition level always takes the source's
        (Pi P + P' Pi)/2, Pi the stationary distribution, and keeps the `n_neighbors` largest of each row.
        "precomputed": the views are affinities K_v (n x n, symmetric, non-negative). The transition level takes them
        as they are; the feature level represents each sample by the leading eigenvectors of the normalised K_v, scaled
        so that their products make up K_v, and then goes on as with "angle".
    scaling : {"auto", "standard", "robust", "unit", "none"}, or one per view, default="auto"
        "standard": features to mean 0 and standard deviation 1. "unit": rows to the same length, for
        counts and text. "auto" takes "unit" for views that are mostly zeros, else "standard".
    degree_regularization : float, default=0
        tau of the normalised cut; 1 keeps it from splitting off a few outliers.
    assign_labels : {"kmeans", "discretize", "qr"}, default="kmeans"
        How labels are read off the embedding.
    max_iter : int, default=300
    tol : float, default=0.005
        Stop when no constraint is violated by more, relative to the size of its terms, and Z changes by no more.
        (The source stops at a gap of 1e-6 while its penalty grows without bound, which ends the run
        rather than solving the problem; here the penalty is fixed.)
    max_memory : float, optional
        Limit in GB; larger problems are refused. By default 80 % of the memory that is free.
    random_state : int, RandomState instance or None, default=0
        Seed of the assignment of labels.
    callback : callable, optional
        Called with the record of each sweep; returning True stops the run.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
    affinity_ : sparse array (n_samples, n_samples)
    representation_ : array (n_samples, n_samples)
        Z, or P; with ``nonnegative=False`` the pair of Z's factors (`left`, `right`, `toarray()`).
    corruption_ : list of arrays (n_samples, n_features of the view)
        E_v', in the units of the scaled view; E_v (n_samples, n_samples) at the transition level.
    sparsity_ : float
        lambda.
    eigenvalues_ : array (n_clusters,)
        Of the normalised affinity, descending.
    scaling_ : dict
        The scaling used, by view.
    n_iter_, converged_, history_
        history_ holds the gaps of each sweep: of the fit, between Z and its low-rank and non-negative copies, and the
        change of Z.
    n_clusters_, selection_
        The number of clusters found, and what it was chosen by ("auto"), else None.
    n_views_, view_names_, sample_ids_, n_missing_
        What came in; values missing by view.
    imputation_ : str or None
        How missing values were filled in.

    Notes
    -----
    One Z for all views makes the problem that of the views stacked on one another. With d features over all views and
    rank q of Z: time O(n^2 (d + q)) per sweep, memory O(n d + 15 n^2); with ``nonnegative=False`` time O(n r (d + r)),
    memory O(n d + n r), r <= min(n, d). Transition level, V views: time O(V n^2 log n), memory O((4 V + 16) n^2).

    Examples
    --------
    >>> from manyview import RLRR, load_digits
    >>> digits = load_digits(views=("fourier", "profile"))
    >>> model = RLRR(n_clusters=10, nonnegative=False).fit(digits.views[::5])
    >>> model.affinity_.shape, [E.shape for E in model.corruption_]
    ((400, 400), [(400, 76), (400, 216)])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        level: str = "feature",
        sparsity: float = 1.0,
        nonnegative: bool = True,
        n_neighbors: int = 10,
        affinity: str = "angle",
        scaling: Scaling = "auto",
        degree_regularization: float = 0.0,
        assign_labels: str = "kmeans",
        max_iter: int = 300,
        tol: float = 5e-3,
        max_memory: float | None = None,
        random_state: Seed = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level = level
        self.sparsity = sparsity
        self.nonnegative = nonnegative
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.assign_labels = assign_labels
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.random_state = random_state
        self.callback = callback

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("level", self.level, LEVELS)
        check_real("sparsity", self.sparsity, minimum=0)

    def _fit(self, views: Views) -> Outcome:
        at_transitions = self.level == "transition"
        full = self.nonnegative or at_transitions
        copies = (4 * views.n_views + 16) / COPIES if at_transitions else 1
        hint = advice(nonnegative=full, feature_level=not at_transitions)
        check_memory(bytes_needed(views, copies, nonnegative=full), self.max_memory, views, hint)
        tables = self._features(views)
        if not at_transitions:
            return self._fit_features(tables)
        if self.affinity == PRECOMPUTED:
            return self._fit_transitions([as_graph(A, name) for name, A in views.items()], tables)
        return self._fit_transitions([local_scaling_graph(X, views.n_samples - 1) for X in tables], tables)

    def _fit_features(self, tables: Sequence[Array]) -> Outcome:
        X = dense_columns(tables)
        stacked = np.vstack(X)
        R = None if self.nonnegative else row_space(X)
        self.sparsity_ = self.sparsity * unit_weight(stacked)
        problem = make_problem(stacked, R, self.sparsity_)
        state = initial_state(problem)
        outcome = self._run(lambda _: largest_gaps([sweep(problem, state)]))
        Z = state.solution
        self.representation_ = Z if R is None else LowRank(R, Z)
        self.corruption_ = [E.T for E in np.split(state.E, np.cumsum([len(Xv) for Xv in X])[:-1])]
        self._cut(self._code_affinity([Z], R), X)
        return outcome

    def _fit_transitions(self, affinities: Sequence[Array], tables: Sequence[Array]) -> Outcome:
        P_v = [transition.transition_matrix(K) for K in affinities]
        self.sparsity_ = self.sparsity / float(np.sqrt(len(P_v[0])))
        state = transition.initial_state(P_v)
        outcome = self._run(lambda _: transition.sweep(P_v, state, self.sparsity_))
        self.representation_, self.corruption_ = state.P, state.E
        self._cut(keep_largest(transition.symmetric_flow(state.P), self.n_neighbors), dense_columns(tables))
        return outcome


def objective(Z: Dense, E: Sequence[Dense], lam: float) -> float:
    """Evaluate the objective at the feature level: nuclear norm of Z and lam times the sum of all |E_v|."""
    return nuclear_norm(Z) + lam * sum(float(np.abs(Ev).sum()) for Ev in E)
