"""The estimator: parameters in plain words, the stages of a fit, and the results on the fitted object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from manyview.checks import CALLBACK, Number, OneOf, OrNone, Rules, Whole
from manyview.methods.base import MultiViewClusterer
from manyview.methods.ocbr.consensus import GRAPHS, PartitionOptions, find_partition, make_layers
from manyview.methods.ocbr.layers import spread
from manyview.methods.ocbr.placing import LayerPlacing
from manyview.methods.ocbr.recovered import RecoveredViews, RecoveryOptions, recover
from manyview.methods.ocbr.settings import Settings
from manyview.methods.result import PRIVATE, WeightedClustering
from manyview.numerics.loop import Callback, Outcome
from manyview.partition.blockmodel import Search
from manyview.preprocessing.scaling import Scaler, Scaling, choose_scalings
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Mask, Seed, is_sparse
from manyview.views.container import Views


@saved
@dataclass(frozen=True)
class Reconstruction:
    """What turns bases into cleaned views: loadings, the scaling of each view, and who is in it."""

    loadings: tuple[Dense, ...]
    scalers: tuple[Scaler, ...]
    present: Mask

    def of(self, bases: list[Dense]) -> list[Dense]:
        """Return U D' of each view in its own units; rows of samples that are absent from it are NaN."""
        views = zip(bases, self.loadings, self.scalers, self.present.T, strict=True)
        return [np.where(here[:, None], _undo(U @ D.T, scaler), U.dtype.type(np.nan)) for U, D, scaler, here in views]


def _undo(Y: Dense, scaler: Scaler) -> Dense:
    return Y if scaler.columns is None else scaler.columns.undo(Y)


@dataclass(frozen=True, kw_only=True)
class OCBRClustering(WeightedClustering):
    """Adds the views taken apart, and how the partition was found."""

    bases: list[Dense]
    graphs: list[Graph]
    corruption: list[Graph]
    search: Search | None
    reconstruction: Reconstruction = field(metadata=PRIVATE)


@dataclass(frozen=True)
class Prepared:
    """Views that have been scaled and recovered."""

    views: Views
    scaling: dict[str, str]
    scalers: list[Scaler]
    recovered: RecoveredViews


class OCBR(MultiViewClusterer):
    r"""Orthogonal clustering basis reconstruction: robust to corrupted entries, any number of views.

    Each view X_i is split into a low-rank part on an orthonormal basis of the samples, gross errors in single
    entries, and small noise; the clusters are the partition that the neighbour graphs of the cleaned views agree on.
    With samples in rows (X_i: n x d_i, U_i: n x r, D_i: d_i x r), it solves

    .. math:: \min_{U_i'U_i = I,\, D_i,\, E_i} \sum_i \tau_i |D_i|_* + \kappa_i |E_i|_1
              + \tfrac12 |X_i - U_i D_i' - E_i|_F^2

    and then maximises the likelihood of a block model of all graphs. See docs/method.md for the derivation, and for
    what each part buys. The paper's own algorithm is `PaperOCBR`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, optional
        s, neighbours per sample in each graph; by default 10, or 20 for sparse views, and at most a sixth of n. Fewer
        keeps small clusters apart, more smooths over noise.
    n_components : int, optional
        r, columns of each basis; max(60, c) by default, at most a third of n and the number of features. Too few
        loses small clusters, more costs time.
    sparsity : float, default=1.0
        Factor on the weight kappa of |E|_1. Larger declares fewer entries corrupted.
    noise_level : float, default=0.2
        theta, in robust standard deviations of a view: noise of this size in every entry is expected, and taken
        out; tau = theta (sqrt(n) + sqrt(d)), kappa = tau / sqrt(max(n, d)). More cleans more. In a view of fewer
        features than `n_components` it is raised, up to three times.
    graph : {"consensus", "joint", "sum", "blend"}, default="consensus"
        What is partitioned. "consensus": all graphs, each telling only what it can tell
        (`manyview.partition.blockmodel`). The others cut one graph: "joint", of distances summed over the views;
        "sum", the views' graphs added; "blend", both.
    scaling : {"auto", "robust", "standard", "unit", "none"}, or one per view, default="auto"
        "robust" standardises with outliers left out; "unit" scales rows, for counts and text. "auto" takes "unit"
        for views that are mostly zeros, otherwise "robust".
    degree_regularization : float, default=1.0
        tau in D + tau mean(D); keeps a cut from splitting off a few outliers. 0 turns it off.
    max_iter : int, default=200
        Most sweeps of the recovery.
    tol : float, default=1e-3
        The recovery stops when the relative change at its fixed point is this small.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means, where one graph is cut; the consensus has no random step.
    n_jobs : int, optional
        Threads of the linear algebra; -1 for all cores. By default one for small problems, otherwise all.
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
    search_ : Search or None
        How the partition was found: its objective J, starts, sweeps, and how near the runner-up was. None if one graph
        was cut.
    scaling_ : dict
        The scaling used, by view.
    n_iter_, history_
        Sweeps of the recovery; per sweep: objective, residual, mu, seconds.
    converged_ : bool
        Whether the recovery, and the search for the partition, ended by themselves.
    n_clusters_, selection_
        The number of clusters found, and what it was chosen by (with "auto"), otherwise None.
    n_missing_ : dict
        Values missing, by view. Nothing is filled in: the recovery counts what was observed.
    n_views_, view_names_, sample_ids_

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

    _rules: ClassVar[Rules] = {
        **MultiViewClusterer._rules,
        "n_neighbors": OrNone(Whole(1)),
        "n_components": OrNone(Whole(1)),
        "sparsity": Number(1e-6),  # at 0, every entry would be an error
        "noise_level": Number(1e-6),
        "graph": OneOf(GRAPHS),
        "degree_regularization": Number(0),
        "max_iter": Whole(1),
        "tol": Number(0),
        "callback": CALLBACK,
    }
    _takes_missing: ClassVar[bool] = True
    _settings: ClassVar[Settings] = Settings()

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        sparsity: float = 1.0,
        noise_level: float = 0.2,
        graph: str = "consensus",
        scaling: Scaling = "auto",
        degree_regularization: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.sparsity = sparsity
        self.noise_level = noise_level
        self.graph = graph
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def reconstructions_(self) -> list[Array]:
        """The cleaned and completed views, U_i D_i' in the views' own units; computed anew at each call, O(n d r).

        Rows of samples that are absent from a view are NaN.
        """
        return self._reconstruction.of(self.bases_)

    def _prepare(self, views: Views) -> Prepared:
        scaling = choose_scalings(views, self.scaling, dense="robust")
        scalers = [Scaler.fit(X, scaling[name]) for name, X in views.items()]
        # sparse views stay as they are, to be cleaned before their rows are scaled
        tables = [
            X if scaler.columns is None else scaler.columns.apply(X)
            for X, scaler in zip(views.arrays, scalers, strict=True)
        ]
        counts = [way == "unit" or is_sparse(X) for way, X in zip(scaling.values(), tables, strict=True)]
        options = RecoveryOptions(
            self.n_components,
            self.sparsity,
            self.noise_level,
            self.max_iter,
            self.tol,
            self.callback,
            self._settings,
        )
        asked = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        return Prepared(views, scaling, scalers, recover(tables, counts, asked, options))

    def _graphs_to_select_by(self, prepared: Prepared) -> list[Graph]:
        """Return the joint graph of the recovered views."""
        return [make_layers(prepared.recovered, self.n_neighbors, self._settings).joint_graph()]

    def _fit(self, prepared: Prepared, n_clusters: int) -> OCBRClustering:
        recovered, scalers = prepared.recovered, prepared.scalers
        layers = make_layers(recovered, self.n_neighbors, self._settings)
        graphs = [layers.view_graph(v) for v in range(len(recovered.views))]
        options = PartitionOptions(
            n_clusters, self.graph, self.degree_regularization, self.random_state, self._settings
        )
        layers, found = find_partition(layers, graphs, options)
        n = recovered.n_samples
        errors = [spread(view.E, view.samples, n) for view in recovered.views]
        return OCBRClustering(
            labels=found.labels,
            embedding=found.embedding,
            affinity=found.affinity,
            view_weights=found.view_weights,
            bases=[spread(view.U, view.samples, n) for view in recovered.views],
            graphs=graphs,
            # sparse views were cleaned as they are
            corruption=[
                E if scaler.columns is None else scaler.to_own_units(E, X)
                for E, scaler, X in zip(errors, scalers, prepared.views.arrays, strict=True)
            ],
            search=found.search,
            reconstruction=Reconstruction(
                tuple(view.D for view in recovered.views), tuple(scalers), prepared.views.present
            ),
            scaling=prepared.scaling,
            placing=LayerPlacing.of(scalers, recovered, layers, found),
            outcome=_whole_outcome(recovered.outcome, found.search),
        )


def _whole_outcome(recovery: Outcome, search: Search | None) -> Outcome:
    """Return the outcome of recovery and partition together: not converged if either was cut short."""
    if search is None or search.converged or not recovery.converged:
        return recovery
    return Outcome("max_iter", recovery.history)
