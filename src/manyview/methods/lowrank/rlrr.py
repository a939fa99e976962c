"""RLRR: one low-rank representation for all views, with sparse corruption removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from manyview.checks import OneOf, Rules
from manyview.graphs.affinity import PRECOMPUTED
from manyview.methods.lowrank.representation import (
    LowRank,
    RepresentationClustering,
    SelfExpressionClusterer,
    dense_columns,
    tidy_graph,
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
from manyview.numerics.loop import Callback
from manyview.preprocessing.scaling import Scaling
from manyview.typing import Dense, Seed
from manyview.views.container import Views


class RLRR(SelfExpressionClusterer):
    r"""Robust low-rank representation: one Z for all views, and sparse corruption E_v removed from each.

    With X_v (d_v x n, samples in columns) the v-th view, it solves

    .. math::

        \min_{Z, E_v} |Z|_* + \lambda \sum_v |E_v|_1 \quad \text{s.t.} \quad X_v = X_v Z + E_v,\ Z \ge 0,

    the form in which Wang and Wu (arXiv:1708.02288, Eq. 1) compare with Xia, Pan, Du and Yin (AAAI 2014), whose own
    form is `RMSC`. The problem is convex and solved by the method of multipliers.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    sparsity : float, default=1
        Weight of the corruption E, in units in which one value suits data of any scale and size:
        :math:`\lambda = \mathrm{sparsity} \min(d, n) / |X|_1`, with X all views stacked and d its rows, so that at 1,
        calling all of X corruption costs as much as representing all of it. Larger values call fewer entries corrupted.
        (The papers tune lambda per data set.) Not suitable for views that are mostly zeros, such as text: :math:`|E|_1`
        treats all of them as corruption or, with more weight, each sample represents only itself. No weight we tried
        helps; use another method.
    nonnegative : bool, default=True
        Keep Z >= 0, as in the paper. This needs all n x n entries of Z; without it, Z = Q W, where the columns of Q, n
        x r, are an orthonormal basis of the row space of all views, and only W (r x n) is iterated. This is exact:
        projecting Z onto Q increases no term.
    n_neighbors : int, default=10
        Neighbours per sample in the final affinity. With more, clusters blend; with fewer, the graph falls apart.
    representation_graph : {"angle", "sum"}, default="angle"
        How Z becomes a graph. "angle": each sample is linked to the `n_neighbors` others whose columns of Z make the
        smallest angle with its own (the cosine is the weight of the link); all other entries are dropped. "sum":
        :math:`(|Z| + |Z'|)/2` as in the paper, keeping the `n_neighbors` largest entries of each row; it needs more of
        them (50).
    affinity : {"linear", "precomputed"}, default="linear"
        "linear": the views are features. "precomputed": they are affinities K_v (n x n, symmetric, non-negative); each
        sample is represented by the leading eigenvectors of the normalised K_v, scaled so that their products reproduce
        K_v.
    scaling : {"auto", "standard", "robust", "unit", "none"}, or one per view, default="auto"
        "standard" scales features to mean 0 and standard deviation 1, "unit" scales rows to the same length, for counts
        and text. "auto" uses "unit" for views that are mostly zeros, otherwise "standard".
    degree_regularization : float, default=0
        tau of the normalised cut; 1 keeps it from splitting off a few outliers.
    max_iter : int, default=300
        Maximum number of sweeps; a run that needs more ends with a warning and `converged_` False.
    tol : float, default=0.005
        Stop when no constraint is violated by more than this, relative to the size of its terms, and Z changes by no
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
    representation_ : array (n_samples, n_samples)
        Z; with ``nonnegative=False`` a pair of factors (`left`, `right`, `toarray()`).
    corruption_ : list of arrays (n_samples, n_features of the view)
        E_v', in the units of the view.
    sparsity_ : float
        lambda.
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
    Measured with two views of 64 features: 2,000 samples in 12 CPU seconds and 390 MB (docs/scaling.md).

    With one Z for all views, the problem is the same as for a single view of all features. With d features over all
    views and rank q of Z: time O(n^2 (d + q)) per sweep, memory O(n d + 15 n^2); with ``nonnegative=False`` time O(n r
    (d + r)), memory O(n d + 15 n r), r <= min(n, d).

    Examples
    --------
    >>> from manyview import RLRR, load_digits
    >>> digits = load_digits(views=("fourier", "profile"))
    >>> model = RLRR(n_clusters=10, nonnegative=False).fit(digits.views[::5])
    >>> model.affinity_.shape, [E.shape for E in model.corruption_]
    ((400, 400), [(400, 76), (400, 216)])
    """

    _rules: ClassVar[Rules] = {**SelfExpressionClusterer._rules, "affinity": OneOf(("linear", PRECOMPUTED))}

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        sparsity: float = 1.0,
        nonnegative: bool = True,
        n_neighbors: int = 10,
        representation_graph: str = "angle",
        affinity: str = "linear",
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
        self.nonnegative = nonnegative
        self.n_neighbors = n_neighbors
        self.representation_graph = representation_graph
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
        self._check_memory(views, self._bytes_needed(views, 1), self._advice())
        tables, scaling = self._features(views, n_clusters)
        X = dense_columns(tables)
        self._announce(X, 1)
        stacked = np.vstack(X)
        R = None if self.nonnegative else row_space(X)
        lam = self.sparsity * unit_weight(stacked)
        problem = make_problem(stacked, R, lam)
        state = initial_state(problem)
        outcome = self._run(lambda _: largest_gaps([sweep(problem, state)]))
        Z = state.solution
        W = tidy_graph(self._representation_affinity([Z], R), X, n_clusters)
        cut = self._cut(W, n_clusters)
        return RepresentationClustering(
            labels=cut.labels,
            embedding=cut.embedding,
            affinity=W,
            eigenvalues=cut.eigenvalues,
            representation=Z if R is None else LowRank(R, Z),
            corruption=self._errors(np.split(state.E, np.cumsum([len(Xv) for Xv in X])[:-1]), views, scaling),
            sparsity=lam,
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, cut.labels, n_clusters),
            outcome=outcome,
        )


def objective(Z: Dense, E: Sequence[Dense], lam: float) -> float:
    """Evaluate the objective: nuclear norm of Z and lam times the sum of all |E_v|."""
    return nuclear_norm(Z) + lam * sum(float(np.abs(Ev).sum()) for Ev in E)
