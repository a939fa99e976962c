"""The estimator: parameters in plain words, the variants behind it, and the results on the fitted object."""

from __future__ import annotations

from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from manyview.checks import check_choice, check_int, check_real
from manyview.methods.base import MultiViewClusterer
from manyview.methods.ocbr import balanced
from manyview.methods.ocbr.solution import GRAPHS, Defaults, Problem
from manyview.methods.paper_ocbr import corrected, printed
from manyview.methods.placing import Extension
from manyview.numerics.loop import Callback, Outcome
from manyview.partition.spectral import ASSIGNERS
from manyview.preprocessing.scaling import Scaler, Scaling, Standardizer, choose_scalings
from manyview.typing import Array, Seed
from manyview.views.container import Views

VARIANTS: dict[str, ModuleType] = {"balanced": balanced, "corrected": corrected, "printed": printed}


class OCBR(MultiViewClusterer):
    r"""Orthogonal clustering basis reconstruction: robust to corrupted entries, any number of views.

    Each view X_i is split into a low-rank part on an orthonormal basis of the samples, gross errors in single
    entries, and small noise; a consensus of the neighbour graphs of the cleaned views is then cut into clusters.
    With samples in rows (X_i: n x d_i, U_i: n x r, D_i: d_i x r), the default variant solves

    .. math:: \min_{U_i'U_i = I,\, D_i,\, E_i} \sum_i \tau_i |D_i|_* + \kappa_i |E_i|_1
              + \tfrac12 |X_i - U_i D_i' - E_i|_F^2 .

    See docs/method.md for the derivation, the errata of the paper, and what each term buys.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    variant : {"balanced", "corrected", "printed"}, default="balanced"
        "balanced": the form above. "corrected": the paper's objective and alternation with its errata mended.
        "printed": Algorithm 1 of the paper as printed; it shows what the printed equations give, and is no use else.
    graph_weight : float, optional
        lambda_2, no unit: how strongly samples are drawn to their neighbours. Default 0 ("balanced") or 0.7, the
        paper's. In "balanced" it smooths the representation of each view along the joint graph; more helps a plain
        cut (`graph="joint"`), too much blurs clusters.
    consensus_weight : float, optional
        beta, no unit: how strongly the views' bases follow one another. Default 0 ("balanced") or 0.25, the paper's.
        In "balanced" it is measured in tau_i^2, the square of the singular value that just survives. More makes
        views agree, too much lets a bad view spoil a good one.
    n_neighbors : int, optional
        s, neighbours per sample in each graph; by default 10 (5 in "printed"; in "balanced" 20 for sparse views, and
        at most a sixth of n). Fewer keeps small clusters apart, more smooths over noise.
    n_components : int, optional
        r, columns of each basis; max(60, c) by default, at most a third of n and the number of features. Too few
        loses small clusters, more costs time. "balanced" only: the other variants have r = c.
    sparsity : float, default=1.0
        Factor on the weight kappa (or gamma) of |E|_1. Larger declares fewer entries corrupted.
    noise_level : float, default=0.2
        theta, in robust standard deviations of a view: noise of this size in every entry is expected, and taken
        out; tau = theta (sqrt(n) + sqrt(d)), kappa = tau / sqrt(max(n, d)). More cleans more. In a view of fewer
        features than `n_components` it is raised, up to three times. "balanced" only.
    graph : {"consensus", "joint", "sum", "blend"}, default="consensus"
        The graph that is cut. "joint": distances summed over the views. "sum": the views' graphs added. "blend":
        both. "consensus": the partition that views' graphs and joint graph agree on best, each telling only what
        it can tell (`manyview.partition.blockmodel`). "balanced" only: the other variants cut the sum.
    orthonormalize : {"polar", "kmeans"}, default="polar"
        How "corrected" keeps U orthonormal: by the nearest such matrix, or by hard k-means as in the paper.
    scaling : {"auto", "robust", "standard", "unit", "none"}, or one per view, default="auto"
        "robust" standardises with outliers left out; "unit" scales rows, for counts and text. "auto" takes "unit"
        for views that are mostly zeros, else "robust" ("standard" in "printed").
    degree_regularization : float, default=1.0
        tau in D + tau mean(D); keeps the cut from splitting off a few outliers. 0 turns it off.
    assign_labels : {"kmeans", "discretize", "qr"}, default="kmeans"
        How labels are read off the spectral embedding; `graph="consensus"` does not need it.
    max_iter : int, optional
        Most sweeps: 200, in "corrected" 100, in "printed" 25.
    tol : float, optional
        Stop when the residual is this small: the relative change at the fixed point ("balanced", 1e-3), or the
        relative gap of the constraints ("corrected" 1e-3, "printed" 1e-6).
    random_state : int, RandomState instance or None, default=0
        Seed of k-means (and of the noise that "printed" starts from).
    callback : callable, optional
        Called with the record of each sweep; returning True stops.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_clusters)
        Leading eigenvectors of the normalised consensus graph.
    affinity_ : sparse array (n_samples, n_samples)
        The consensus graph.
    bases_ : list of arrays (n_samples, r)
        U_i, orthonormal columns.
    graphs_ : list of sparse arrays (n_samples, n_samples)
        W_i.
    corruption_ : list of sparse arrays (n_samples, n_features_i)
        E_i in the view's own units: the entries that look corrupted, and by how much.
    reconstructions_ : list of arrays (n_samples, n_features_i)
        The cleaned views U_i D_i' in their own units, computed when asked for.
    view_weights_ : array (n_views,)
        Share of each view in the consensus; they add up to 1.
    scaling_ : dict
        The scaling used, by view.
    history_ : list of dict
        Per sweep: objective, residual, mu, seconds.
    n_clusters_, selection_
        The number of clusters found, and what it was chosen by ("auto"), else None.
    n_missing_ : dict
        Values missing, by view. Nothing is filled in by "balanced"; the other variants take `imputation_`.
    n_iter_, converged_, n_views_, view_names_, sample_ids_

    Notes
    -----
    Time per sweep O(n d r); the graphs take O(n^2 (d + r)) once. Memory O(n (d + s V + r)) over all views: nothing
    is n x n but the sparse graphs.

    Examples
    --------
    >>> from manyview import OCBR, clustering_accuracy, load_digits
    >>> from manyview.preprocessing import corrupt_entries
    >>> digits = load_digits()
    >>> noisy = corrupt_entries(digits.views, fraction=0.2, seed=0)
    >>> model = OCBR(n_clusters=10).fit(noisy)
    >>> bool(clustering_accuracy(digits.labels, model.labels_) > 0.95)
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        variant: str = "balanced",
        graph_weight: float | None = None,
        consensus_weight: float | None = None,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        sparsity: float = 1.0,
        noise_level: float = 0.2,
        graph: str = "consensus",
        orthonormalize: str = "polar",
        scaling: Scaling = "auto",
        degree_regularization: float = 1.0,
        assign_labels: str = "kmeans",
        max_iter: int | None = None,
        tol: float | None = None,
        random_state: Seed = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.graph_weight = graph_weight
        self.consensus_weight = consensus_weight
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.sparsity = sparsity
        self.noise_level = noise_level
        self.graph = graph
        self.orthonormalize = orthonormalize
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.assign_labels = assign_labels
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback

    @property
    def reconstructions_(self) -> list[Array]:
        """The cleaned and completed views, U_i D_i' in the views' own units; computed anew at each call, O(n d r).

        Rows of samples that are absent from a view are NaN.
        """
        views = zip(self.bases_, self._loadings, self._standardizers, self._present.T, strict=True)
        return [
            np.where(present[:, None], U @ D.T if columns is None else columns.undo(U @ D.T), U.dtype.type(np.nan))
            for U, D, columns, present in views
        ]

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("variant", self.variant, tuple(VARIANTS))
        check_choice("graph", self.graph, GRAPHS)
        check_choice("orthonormalize", self.orthonormalize, ("polar", "kmeans"))
        check_choice("assign_labels", self.assign_labels, ASSIGNERS)
        for name, minimum in (("n_neighbors", 1), ("n_components", 1), ("max_iter", 1)):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), minimum=minimum)
        for name in ("graph_weight", "consensus_weight", "tol"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), minimum=0)
        for name in ("sparsity", "noise_level"):  # at 0, every entry would be an error
            check_real(name, getattr(self, name), minimum=1e-6)
        check_real("degree_regularization", self.degree_regularization, minimum=0)

    def _takes_missing(self) -> bool:
        return self.variant == "balanced"

    def _graphs_to_select_by(self, views: Views) -> list[sp.csr_array]:
        """Return the joint graph of the recovered views, whatever the variant."""
        return [balanced.joint_graph(self._problem(self._scale(views), balanced.DEFAULTS, n_clusters=1))]

    def _fit(self, views: Views) -> Outcome:
        variant = VARIANTS[self.variant]
        solution = variant.fit(self._problem(self._scale(views), variant.DEFAULTS, self.n_clusters_))
        self.labels_, self.embedding_ = solution.labels, solution.embedding
        self.affinity_, self.view_weights_ = solution.affinity, solution.view_weights
        self.bases_ = [view.U for view in solution.factors]
        self.graphs_ = [view.W for view in solution.factors]
        self._loadings = [view.D for view in solution.factors]
        self._present = views.present
        self.corruption_ = [
            view.E if columns is None else in_own_units(view.E, columns)
            for view, columns in zip(solution.factors, self._standardizers, strict=True)
        ]
        self._layers = solution.extension and replace(solution.extension, standardizers=tuple(self._standardizers))
        return solution.outcome

    def _extend(self, views: Views) -> Extension:
        return self.__dict__.pop("_layers") or super()._extend(views)

    def _scale(self, views: Views) -> list[Array]:
        """Standardise the dense views; sparse ones stay as they are, to be cleaned first."""
        self.scaling_ = choose_scalings(views, self.scaling, "standard" if self.variant == "printed" else "robust")
        self._standardizers = [Scaler.fit(X, self.scaling_[name]).columns for name, X in views.items()]
        return [
            X if columns is None else columns.apply(X)
            for X, columns in zip(views.arrays, self._standardizers, strict=True)
        ]

    def _problem(self, tables: list[Array], defaults: Defaults, n_clusters: int) -> Problem:
        filled: dict[str, Any] = {
            field.name: getattr(self, field.name)
            if getattr(self, field.name) is not None
            else getattr(defaults, field.name)
            for field in fields(defaults)
        }
        seed = self.random_state
        return Problem(
            tables=tables,
            sparse=[way == "unit" for way in self.scaling_.values()],
            n_clusters=n_clusters,
            n_components=self.n_components,
            sparsity=self.sparsity,
            noise_level=self.noise_level,
            graph=self.graph,
            orthonormalize=self.orthonormalize,
            degree_regularization=self.degree_regularization,
            assign_labels=self.assign_labels,
            seed=int(seed) if isinstance(seed, int | np.integer) else check_random_state(seed).randint(2**31 - 1),
            callback=self.callback,
            **filled,
        )


def in_own_units(E: sp.csr_array, scaler: Standardizer) -> sp.csr_array:
    """Return the errors found in a standardised view in the units of the view."""
    unit = (scaler.sd * scaler.largest).astype(E.dtype)
    return sp.csr_array((E.data * unit[E.indices], E.indices, E.indptr), E.shape)
