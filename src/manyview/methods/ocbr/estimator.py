"""The estimator: parameters in plain words, the stages of a fit, and the attributes of the fitted object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from manyview.checks import CALLBACK, Number, OneOf, OrNone, Rules, Whole
from manyview.graphs.recall import graph_named
from manyview.graphs.structureless import Rows
from manyview.methods.base import MultiViewClusterer
from manyview.methods.landmarks.strategy import N_LANDMARKS, LandmarkStrategy
from manyview.methods.ocbr.consensus import GRAPHS, PartitionOptions, described, find_partition, make_layers
from manyview.methods.ocbr.layers import Layers, spread
from manyview.methods.ocbr.placing import LayerPlacing
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.shifts import without_shifts
from manyview.methods.ocbr.treated import TreatedViews, TreatmentOptions, treat_views
from manyview.methods.ocbr.treatment import DenseModel, SparseModel
from manyview.methods.result import PRIVATE, WeightedClustering
from manyview.numerics.loop import Callback, Outcome
from manyview.partition.blockmodel import Search
from manyview.partition.search import Candidate
from manyview.preprocessing.kinds import KINDS_RULE, Kind, check_kind_names
from manyview.preprocessing.scaling import Scaler, Scaling, one_per_view
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Indices, Mask, Seed, is_sparse
from manyview.views.container import Views


@saved
@dataclass(frozen=True)
class Reconstruction:
    """What turns bases into cleaned views: loadings, the inverse of the scaling, and the samples present in each."""

    loadings: tuple[Dense, ...]
    models: tuple[DenseModel | SparseModel, ...]
    present: Mask

    def of(self, bases: list[Dense]) -> list[Dense]:
        """Return U D' of each view, dense ones in their original units; rows of absent samples are NaN."""
        views = zip(bases, self.loadings, self.models, self.present.T, strict=True)
        return [np.where(here[:, None], _undo(U @ D.T, model), U.dtype.type(np.nan)) for U, D, model, here in views]


def _undo(B: Dense, model: DenseModel | SparseModel) -> Dense:
    return model.undo(B) if isinstance(model, DenseModel) else B


@dataclass(frozen=True, kw_only=True)
class OCBRClustering(WeightedClustering):
    """Adds the decomposed views, and how the partition was found."""

    bases: list[Dense]
    graphs: list[Graph]
    corruption: list[Graph]
    view_kinds: dict[str, Kind]
    search: Search | None
    alternatives: list[Candidate]
    reconstruction: Reconstruction = field(metadata=PRIVATE)


class OCBR(LandmarkStrategy):
    r"""Orthogonal clustering basis reconstruction: robust to corrupted entries, any number of views.

    Each view X_i is split into a low-rank part on an orthonormal basis of the samples, gross errors in single
    entries, and small noise; the clusters are the partition that the neighbour graphs of the cleaned views agree on.
    With samples in rows (X_i: n x d_i, U_i: n x r, D_i: d_i x r), it solves

    .. math:: \min_{U_i'U_i = I,\, D_i,\, E_i} \sum_i \tau_i |D_i|_* + \kappa_i |E_i|_1
              + \tfrac{1}{2} |X_i - U_i D_i' - E_i|_F^2

    and removes E only where there are gross errors. Then it finds the partition on which neighbours in different views
    agree. See docs/method.md for the derivation and the contribution of each part. The paper's own algorithm is
    `PaperOCBR`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, optional
        s, neighbours per sample in each graph; by default 10, or 20 for sparse views, and at most a sixth of n. Fewer
        keep small clusters separate; more smooth over noise.
    n_components : int, optional
        r, columns of each basis; max(60, c) by default, at most a third of n and the number of features. Too few lose
        small clusters; more cost time.
    sparsity : float, default=1.0
        Factor on the weight kappa of :math:`|E|_1`. With larger values, fewer entries count as corrupted.
    noise_level : float, default=0.2
        theta, in robust standard deviations of a view: noise of this size is expected in every entry, and removed; tau
        = theta (sqrt(n) + sqrt(d)), kappa = tau / sqrt(max(n, d)). A higher level cleans more. In a view with fewer
        features than `n_components` it is raised, up to three times.
    graph : {"consensus", "joint", "sum", "blend"}, default="consensus"
        What is partitioned. "consensus": all graphs, each for the clusters it can distinguish
        (`manyview.partition.agreement`). The other options cut a single graph: "joint", from distances summed over the
        views; "sum", the sum of the views' graphs; "blend", both added.
    kinds : dict of view name to kind, optional
        The kind of a view, if the values do not show it: "features", "coordinates" (of a PCA, LSI or other embedding),
        "counts", "binary", "sparse", "composition", "affinities" or "graph". By default the kind is recognised
        automatically, and `view_kinds_` says what was decided and why.
    scaling : {"auto", "soft", "standard", "robust", "unit", "none"}, or one per view, default="auto"
        How much each column counts after cleaning. "auto" depends on the kind: "soft" for features (divided by the root
        of the squared deviation plus the squared geometric mean of all deviations), or "robust" if the view had to be
        cleaned; "none" for coordinates, "unit" (rows of one length) for sparse kinds. "standard" and "robust"
        standardise.
    degree_regularization : float, default=1.0
        tau in D + tau mean(D); keeps a cut from splitting off a few outliers. 0 turns it off.
    max_iter : int, default=200
        Maximum number of sweeps of the recovery. Fewer may leave errors in the views; more cost time.
    tol : float, default=1e-3
        The recovery stops when its relative change is this small. Smaller is more exact, and slower.
    strategy : {"auto", "exact", "landmarks"}, default="auto"
        "exact" clusters all samples at once. "landmarks" clusters some of them, assigns the rest, and revises both
        (docs/large-data.md). "auto" is exact up to 200,000 samples.
    n_landmarks : int, default=20000
        Number of samples that the landmark strategy clusters directly. More is more accurate, and slower.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means, if one graph is cut, and of the draw of landmarks; otherwise the consensus has no random step.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.
    callback : callable, optional
        Called with the record of each sweep of the recovery, including the name of the "step", the "share" of it that
        is done and the "seconds_left"; return True to stop. `manyview.numerics.progress.watched_by` reports all steps.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    membership_ : array (n_samples, n_clusters)
        Probability of each cluster for each sample; rows add up to 1. Calibrated (docs/use.md).
    embedding_ : array (n_samples, n_clusters)
        Leading eigenvectors of the normalised consensus graph.
    affinity_ : sparse array (n_samples, n_samples)
        The consensus graph.
    bases_ : list of arrays (n_samples, r)
        U_i, orthonormal columns.
    graphs_ : list of sparse arrays (n_samples, n_samples)
        W_i.
    corruption_ : list of sparse arrays (n_samples, n_features_i)
        E_i in the view's units: the entries that look corrupted, and by how much.
    reconstructions_ : list of arrays (n_samples, n_features_i)
        The cleaned views U_i D_i' in their original units, computed on access.
    view_weights_ : array (n_views,)
        Share of each view in the consensus; they add up to 1.
    search_ : Search or None
        How the partition was found: its objective J, starts, sweeps, and how close the runner-up was. None if one graph
        was cut.
    alternatives_ : list of Candidate
        Up to three other partitions of nearly the same quality: their `labels`, the `separation` of their two nearest
        clusters, their `objective`, the `price` of labels they were found with, and the `difference` from `labels_` in
        a sentence: which clusters they merge and split. May be empty.
    view_kinds_ : dict of view name to Kind
        The kind of each view (`name`), the evidence for it, and whether the view was cleaned (`reason`).
    scaling_ : dict
        The scaling used, by view.
    n_iter_, history_
        Sweeps of the recovery; per sweep: objective, residual, mu (the mean of u / tau, always the same), seconds.
    converged_ : bool
        Whether the recovery and the search for the partition converged.
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
    n_missing_ : dict
        Number of missing values, by view. Nothing is filled in: the recovery uses only observed values.
    n_views_, view_names_, sample_ids_

    Notes
    -----
    Measured with two views of 64 features: 100,000 samples in 27 CPU seconds and 757 MB (docs/scaling.md).

    Time per sweep O(n d r); the graphs take O(n^2 (d + r)) once, less above 20,000 samples. Memory O(n (d + s V + r))
    over all views: only the sparse graphs are n x n.

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
        **LandmarkStrategy._rules,
        "n_neighbors": OrNone(Whole(1)),
        "n_components": OrNone(Whole(1)),
        "sparsity": Number(1e-6),  # at 0, every entry would be an error
        "noise_level": Number(1e-6),
        "kinds": KINDS_RULE,
        "graph": OneOf(GRAPHS),
        "degree_regularization": Number(0),
        "max_iter": Whole(1),
        "tol": Number(0),
        "callback": CALLBACK,
    }
    _takes_missing: ClassVar[bool] = True
    _takes_batch: ClassVar[bool] = True
    _settings: ClassVar[Settings] = Settings()
    alternatives_: list[Candidate]

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        sparsity: float = 1.0,
        noise_level: float = 0.2,
        graph: str = "consensus",
        kinds: Mapping[str, str] | None = None,
        scaling: Scaling = "auto",
        degree_regularization: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-3,
        strategy: str = "auto",
        n_landmarks: int = N_LANDMARKS,
        max_clusters: int | None = None,
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
        self.kinds = kinds
        self.scaling = scaling
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.strategy = strategy
        self.n_landmarks = n_landmarks
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def reconstructions_(self) -> list[Array]:
        """The cleaned and completed views, U_i D_i' in the original units; computed at each access, O(n d r).

        Rows of samples that are absent from a view are NaN.
        """
        return self._reconstruction.of(self.bases_)

    def _check_views(self, views: Views) -> None:
        super()._check_views(views)
        check_kind_names(views, self.kinds)
        for X, way in zip(views.arrays, self._scalings(views).values(), strict=True):
            if is_sparse(X) and way in ("standard", "soft", "robust"):
                Scaler.fit(X, way)  # raises with the reason

    def _scalings(self, views: Views) -> dict[str, str]:
        return one_per_view(views, self.scaling)

    def _prepare(self, views: Views) -> tuple[Views, TreatedViews]:
        options = TreatmentOptions(
            scaling=self._scalings(views),
            kinds=dict(self.kinds or {}),
            n_components=self.n_components,
            sparsity=self.sparsity,
            noise_level=self.noise_level,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self.callback,
            settings=self._settings,
        )
        asked = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        return views, treat_views(views, asked, options)

    def _graphs_to_select_by(self, prepared: tuple[Views, TreatedViews]) -> list[Graph]:
        """Return the joint graph of the treated views."""
        views, treated = prepared
        return [make_layers(treated, self.n_neighbors, self._settings, views.batch).joint_graph()]

    def _rows_to_select_by(self, prepared: tuple[Views, TreatedViews]) -> Rows:
        layers = make_layers(prepared[1], self.n_neighbors, self._settings)
        return Rows(layers.rows, layers.samples, layers.n_samples, layers.neighbors)

    def _fit(self, prepared: tuple[Views, TreatedViews], n_clusters: int) -> OCBRClustering:
        views, treated = prepared
        layers = make_layers(treated, self.n_neighbors, self._settings, views.batch)
        aligned = without_shifts(layers, treated, n_clusters)
        graphs = [_view_graph(aligned, v, name) for v, name in enumerate(views.names)]
        options = PartitionOptions(
            n_clusters, self.graph, self.degree_regularization, self.random_state, self._settings
        )
        aligned, found = find_partition(aligned, graphs, options)
        # a new sample has the shift of its batch, which is not known: it is placed beside samples as they are
        layers = replace(layers.weighted(aligned.weights), joined=aligned.joined)
        n = views.n_samples
        kinds = {name: view.kind for name, view in zip(views.names, treated.views, strict=True)}
        loadings, models = (tuple(getattr(view, part) for view in treated.views) for part in ("D", "model"))
        return OCBRClustering(
            labels=found.labels,
            embedding=found.embedding,
            affinity=found.affinity,
            view_weights=found.view_weights,
            bases=[spread(view.U, view.samples, n) for view in treated.views],
            graphs=graphs,
            corruption=[spread(view.E, view.samples, n) for view in treated.views],
            view_kinds=kinds,
            search=found.search,
            alternatives=found.alternatives,
            reconstruction=Reconstruction(loadings, models, views.present),
            scaling={name: view.scaling for name, view in zip(views.names, treated.views, strict=True)},
            placing=LayerPlacing.of(treated, layers, found),
            outcome=_whole_outcome(treated.outcome, found.search),
            agreement=found.agreement,
        )

    def _level_graphs(self) -> tuple[list[Graph], Graph | None]:
        return self.graphs_, self.affinity_

    def _reorder_clusters(self, order: Indices) -> None:
        super()._reorder_clusters(order)
        self.alternatives_ = [described(other, self._placing.labels) for other in self.alternatives_]


def _view_graph(layers: Layers, v: int, name: str) -> Graph:
    with graph_named(name):
        return layers.view_graph(v)


def _whole_outcome(recovery: Outcome, search: Search | None) -> Outcome:
    """Return the outcome of recovery and partition together: not converged if either was stopped early."""
    if search is None or search.converged or not recovery.converged:
        return recovery
    return Outcome("max_iter", recovery.history)
