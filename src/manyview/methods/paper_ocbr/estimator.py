"""The estimator: the paper's parameters, and the two variants behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from manyview.checks import CALLBACK, Number, OneOf, OrNone, Rules, Whole
from manyview.methods.base import MultiViewClusterer
from manyview.methods.paper_ocbr import corrected, printed
from manyview.methods.paper_ocbr.lagrangian import Coupling
from manyview.methods.result import WeightedClustering
from manyview.numerics.loop import Callback, run
from manyview.preprocessing.scaling import Scaler, Scaling, choose_scalings
from manyview.typing import Dense, Graph, Seed, is_sparse
from manyview.views.container import Views


@dataclass(frozen=True)
class Variant:
    """The defaults of one variant, and the scaling that "auto" uses for dense views."""

    n_neighbors: int
    max_iter: int
    tol: float
    dense_scaling: str


VARIANTS = {
    "corrected": Variant(n_neighbors=10, max_iter=100, tol=1e-3, dense_scaling="robust"),
    "printed": Variant(n_neighbors=5, max_iter=25, tol=1e-6, dense_scaling="standard"),
}


@dataclass(frozen=True, kw_only=True)
class PaperClustering(WeightedClustering):
    """Adds bases, graphs and errors of the views."""

    bases: list[Dense]
    graphs: list[Graph]
    corruption: list[Dense]


class PaperOCBR(MultiViewClusterer):
    r"""The paper's algorithm, as printed or corrected; for reproduction only. Otherwise use `OCBR`.

    With samples in columns (X_i: d_i x n, U_i: n x c, D_i: d_i x c), Wang and Wu (arXiv:1708.02288) pose

    .. math::
        \min \sum_i |E_i|_1 + \lambda_1 |W_i|_F^2 + \frac{\lambda_2}{2} \mathrm{Tr}(U_i' L_i U_i)
             + \frac{\beta}{2} \sum_{j \ne i} |U_i - U_j|_F^2
        \quad \text{s.t.}\quad X_i = D_i U_i' + E_i,\; D_i = X_i U_i,\; U_i'U_i = I,\; U_i \ge 0 .

    See docs/errata.md for the errata and for the results of each variant.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    variant : {"corrected", "printed"}, default="corrected"
        "corrected": the paper's objective and alternation with its errata corrected. "printed": Algorithm 1 as printed,
        to show the results of the printed equations.
    graph_weight : float, default=0.7
        lambda_2: how strongly samples are drawn to their neighbours. Larger values smooth more; too much blurs
        clusters.
    consensus_weight : float, default=0.25
        beta: how strongly the views' bases follow each other. Too much lets a bad view spoil a good one.
    n_neighbors : int, optional
        s, neighbours per sample in each graph; 10 ("corrected") or 5 ("printed") by default. With more, clusters blend;
        with fewer, the graphs fall apart.
    sparsity : float, default=1.0
        Factor on the weight of :math:`|E|_1`. With larger values, fewer entries count as corrupted. "corrected" only.
    orthonormalize : {"polar", "kmeans"}, default="polar"
        How "corrected" keeps U orthonormal: by the nearest orthonormal matrix, or by hard k-means as in the paper.
    scaling : {"auto", "robust", "standard", "unit", "none"}, or one per view, default="auto"
        "robust" standardises without outliers; "unit" scales rows, for counts and text. "auto" uses "unit" for views
        that are mostly zeros, otherwise "robust" ("standard" in "printed").
    degree_regularization : float, default=1.0
        tau in the normalised cut of the summed graphs, see `MFMSC`.
    max_iter : int, optional
        Maximum number of sweeps: 100 ("corrected") or 25 ("printed") by default. A run that needs more ends with a
        warning.
    tol : float, optional
        Stop when the relative gap of the constraints is this small: 1e-3 ("corrected") or 1e-6 ("printed") by default.
        Smaller is more exact, and slower.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means, and of the noise that "printed" starts from. None draws a new seed each time.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.
    callback : callable, optional
        Called with the record of each sweep; return True to stop.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
        Leading eigenvectors of the normalised `affinity_`.
    affinity_ : sparse array (n_samples, n_samples)
        The sum of the views' graphs.
    bases_ : list of arrays (n_samples, n_clusters)
        U_i, orthonormal columns.
    graphs_ : list of sparse arrays (n_samples, n_samples)
        W_i.
    corruption_ : list of arrays (n_samples, n_features_i)
        E_i in the view's own units; few of its entries are 0.
    view_weights_ : array (n_views,)
        Share of each view's graph in the sum; "printed" leaves out views that have converged.
    history_ : list of dict
        Per sweep: objective, residual, mu, seconds.
    scaling_, n_iter_, converged_, n_views_, view_names_, sample_ids_
    neighbor_recall_ : dict
        Share of the true neighbours that an approximate search found, by graph; empty if the search was exact.
    n_clusters_, selection_, n_missing_, imputation_
        As for `MFMSC`.
    levels_ : Levels
        Nested partitions around the clusters, from one cluster to `max_clusters`; `cut` returns their labels.

    Notes
    -----
    Time O(n (d + s) c) per step of conjugate gradients ("corrected") or per sweep ("printed"), and O(n^2 c) for the
    graphs of each sweep; memory O(n (d + c + s)). E has no zero entries, so sparse views are made dense.

    Examples
    --------
    >>> from manyview import PaperOCBR, load_digits
    >>> digits = load_digits()
    >>> model = PaperOCBR(n_clusters=10).fit(digits.views[::10])
    >>> [U.shape for U in model.bases_]
    [(200, 10), (200, 10)]
    """

    _rules: ClassVar[Rules] = {
        **MultiViewClusterer._rules,
        "variant": OneOf(tuple(VARIANTS)),
        "graph_weight": Number(0),
        "consensus_weight": Number(0),
        "n_neighbors": OrNone(Whole(1)),
        "sparsity": Number(1e-6),
        "orthonormalize": OneOf(("polar", "kmeans")),
        "degree_regularization": Number(0),
        "max_iter": OrNone(Whole(1)),
        "tol": OrNone(Number(0)),
        "callback": CALLBACK,
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        variant: str = "corrected",
        graph_weight: float = 0.7,
        consensus_weight: float = 0.25,
        n_neighbors: int | None = None,
        sparsity: float = 1.0,
        orthonormalize: str = "polar",
        scaling: Scaling = "auto",
        degree_regularization: float = 1.0,
        max_iter: int | None = None,
        tol: float | None = None,
        max_clusters: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.graph_weight = graph_weight
        self.consensus_weight = consensus_weight
        self.n_neighbors = n_neighbors
        self.sparsity = sparsity
        self.orthonormalize = orthonormalize
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _fit(self, views: Views, n_clusters: int) -> PaperClustering:
        defaults = VARIANTS[self.variant]
        scaling = choose_scalings(views, self.scaling, defaults.dense_scaling)
        scalers = [Scaler.fit(X, scaling[name]) for name, X in views.items()]
        tables = [_dense(scaler.apply(X)) for X, scaler in zip(views.arrays, scalers, strict=True)]
        tol = _given(self.tol, defaults.tol)
        algorithm = self._algorithm(tables, n_clusters, tol)
        max_iter = _given(self.max_iter, defaults.max_iter)
        outcome = run(algorithm.sweep, max_iter=max_iter, tol=tol, name="PaperOCBR", callback=self.callback)
        weights = algorithm.weights()
        W = sp.csr_array(sum(view.W * view.W.dtype.type(w) for w, view in zip(weights, algorithm.views, strict=True)))
        cut = self._cut(W, n_clusters)
        errors = (view.E.T * view.scale for view in algorithm.views)
        return PaperClustering(
            labels=cut.labels,
            embedding=cut.embedding,
            affinity=W,
            view_weights=weights,
            bases=[view.U for view in algorithm.views],
            graphs=[view.W for view in algorithm.views],
            corruption=[scaler.to_own_units(E, X) for E, scaler, X in zip(errors, scalers, views.arrays, strict=True)],
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, cut.labels, n_clusters),
            outcome=outcome,
        )

    def _algorithm(self, tables: list[Dense], n_clusters: int, tol: float) -> Any:
        seed = self.random_state
        coupling = Coupling(
            c=n_clusters,
            lam2=self.graph_weight,
            beta=self.consensus_weight,
            s=_given(self.n_neighbors, VARIANTS[self.variant].n_neighbors),
            seed=int(seed) if isinstance(seed, int | np.integer) else check_random_state(seed).randint(2**31 - 1),
        )
        if self.variant == "printed":
            return printed.Algorithm1.start(tables, coupling, tol)
        return corrected.Alternation.start(tables, coupling, self.sparsity, hard=self.orthonormalize == "kmeans")


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value


def _dense(X: Any) -> Dense:
    return X.toarray() if is_sparse(X) else X
