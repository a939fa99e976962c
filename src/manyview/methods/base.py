"""What all estimators share: input checks, parameter rules, new samples, and the attributes of a fitted object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.checks import (
    SEED,
    InputError,
    Is,
    OrNone,
    OrWord,
    Rules,
    Whole,
    check_parameters,
    helped_by,
    quoted,
)
from manyview.graphs.affinity import PRECOMPUTED, adaptive_graph, as_graph
from manyview.graphs.recall import noted_recall
from manyview.graphs.structureless import Rows
from manyview.methods.cautions import warn_of_codes, warn_of_separate_views, warn_of_split_samples
from manyview.methods.imputation import IMPUTATION, fill_in
from manyview.methods.placing import AffinityPlacing, Linker, NeighborPlacing, Placing
from manyview.methods.result import Clustering, label_frame
from manyview.numerics.division import or_one
from manyview.numerics.threads import limited_threads
from manyview.partition.levels import Levels, build_levels
from manyview.partition.membership import Assigned, Calibration, assess_membership
from manyview.partition.selection import MAX_CLUSTERS, Selection, select_n_clusters
from manyview.partition.spectral import Cut, normalized_cut
from manyview.preprocessing.scaling import SCALING, Scaling, choose_scalings, scale_views, to_unit_distance
from manyview.typing import Array, Dense, Graph, Indices, Labels, Seed
from manyview.views import Views, check_views, is_table, spread_rows

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"
SELECTION_NEIGHBORS = 10


class MultiViewClusterer(TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """Base of all estimators; a subclass defines `_rules`, a rule for each of its parameters, and `_fit`.

    `_fit` returns a `Clustering`, whose fields become the attributes of the estimator; nothing else sets attributes, so
    a failed fit leaves the estimator as it was. Work that does not depend on the number of clusters can be done once,
    in `_prepare`. Missing values are filled in beforehand, unless `_takes_missing`.
    """

    _rules: ClassVar[Rules] = {
        "n_clusters": OrWord(AUTO, Whole(1)),
        "max_clusters": OrNone(Whole(2)),
        "scaling": SCALING,
        "random_state": SEED,
        "n_jobs": OrNone(Is(lambda n: n == -1 or (isinstance(n, int) and n > 0), "a number of threads, -1, or None")),
    }
    _takes_missing: ClassVar[bool] = False
    _takes_batch: ClassVar[bool] = False

    n_clusters: int | str
    max_clusters: int | None
    scaling: Scaling
    random_state: Seed
    n_jobs: int | None
    n_clusters_: int
    labels_: Labels
    membership_: Dense
    embedding_: Dense
    affinity_: Graph
    scaling_: dict[str, str]
    batch_: Indices | None = None  # models saved by earlier versions have none
    feature_names_in_: NDArray[Any]
    _placing: Placing
    _calibration: Calibration
    _levels: Levels | None = None

    def fit(self, X: object, y: object = None, *, batch: object = None) -> Self:  # noqa: ARG002
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of tables (samples by features), Views, or one table
            NaN is a missing value; a row of NaN is a sample that is absent from that view.
        y : ignored
        batch : array-like (n_samples,), optional
            The batch of each sample, such as the laboratory, the donor or the day; any hashable values. If batches are
            separated in the data, the shifts between them are estimated and removed, and neighbours are drawn from each
            batch, so that clusters do not simply reproduce the batches. Methods that are not based on neighbours refuse
            it, and so does ``affinity="precomputed"``.

        Returns
        -------
        self
        """
        self._check_parameters()
        with helped_by("missing"):
            views = check_views(X)
        with helped_by("findings#batches"):
            views = views if batch is None else views.with_batch(batch)
            self._check_batch(views)
        with helped_by(self._reference()):
            self._check_views(views)
        warn_of_separate_views(views)
        n_missing = views.n_missing
        imputation = None if self._takes_missing or not any(n_missing.values()) else IMPUTATION
        with limited_threads(self.n_jobs, int(np.prod(views.shape))), noted_recall() as recall:
            prepared = self._prepare(views if imputation is None else fill_in(views))
            selection = self._select(prepared) if self.n_clusters == AUTO else None
            n_clusters = int(self.n_clusters) if selection is None else selection.chosen
            found = self._fit(prepared, n_clusters)
            membership, calibration = assess_membership(found.layers(n_clusters), found.labels)
        if not self._is_precomputed():  # equal affinities do not make equal samples
            warn_of_codes(views)
            warn_of_split_samples(views, found.labels)
        self._remember(X, views)
        self.n_missing_, self.imputation_ = n_missing, imputation
        self.n_clusters_, self.selection_ = n_clusters, selection
        self.neighbor_recall_ = recall
        self._levels = None
        self.membership_, self._calibration = membership, calibration
        self._publish(found)
        return self

    def predict(self, X: object) -> Labels:
        """Assign new samples to the fitted clusters, which do not change.

        Parameters
        ----------
        X : as for `fit`, with the same views and features
            A dict or `Views` is matched by view name and may lack some views; so may single samples (a row of NaN).
            Each sample must be in at least one view.

        Returns
        -------
        labels : array (n_new,) of int
        """
        return self._likeliest(self._links(X))

    def predict_proba(self, X: object) -> Dense:
        """Return the probability of each cluster for new samples (n_new, n_clusters); rows add up to 1.

        `X` is as for `predict`. The probabilities of fitted samples are in `membership_`; passed here, they are treated
        as new samples, about which a little less is known. `predict` weights the same links by a different rule; it
        rarely returns a cluster other than the most likely one here.
        """
        return self._sureness(self._links(X))

    def transform(self, X: object) -> Dense:
        """Return the embedding (n_new, n_clusters) of new samples: the mean over their fitted neighbours.

        `X` is as for `predict`. The embedding of fitted samples is in `embedding_`; passed here, they are treated as
        new samples.
        """
        of_layers = self._links(X)
        links = self._placing.read(of_layers)[1]
        mean: Dense = (links @ self.embedding_) / or_one(np.asarray(links.sum(axis=1)).ravel())[:, None]
        return mean.astype(self.embedding_.dtype, copy=False)

    @property
    def levels_(self) -> Levels:
        """Nested partitions, from one cluster to `max_clusters`, of which `labels_` is one.

        They are computed on first access: coarser ones by merging the clusters that are nearest in `affinity_`, finer
        ones by halving clusters.
        """
        check_is_fitted(self, "labels_")
        if self._levels is None:
            with limited_threads(self.n_jobs, self.affinity_.nnz):
                self._levels = self._build_levels()
        return self._levels

    def cut(self, n_clusters: int) -> Labels:
        """Return the labels of a coarser or finer partition, without another fit.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number at the finest level, which is `max_clusters` unless clusters become too small first.

        Returns
        -------
        labels : array (n_samples,) of int
            Numbered from the largest cluster to the smallest. All partitions are nested: each cluster of one lies
            within a cluster of every coarser one.
        """
        return self.levels_.cut(n_clusters)

    def to_frame(self, X: object = None) -> pd.DataFrame:
        """Return labels as a DataFrame, one row per sample, indexed by sample id if ids were given.

        The columns are `label`, `confidence` (its probability), and `second`, the most likely other cluster (-1 if
        there is none).

        Parameters
        ----------
        X : as for `predict`, optional
            New samples; by default the fitted ones.
        """
        check_is_fitted(self, "labels_")
        if X is None:
            return label_frame(self.labels_, self._own_assignment(), self.sample_ids_)
        assigned = self._assign(X)
        return label_frame(assigned.labels, assigned, Views(X).sample_ids)

    # What a subclass must or may define ------------------------------------------------------------------

    @abstractmethod
    def _fit(self, prepared: Any, n_clusters: int) -> Clustering:
        """Cluster what `_prepare` returned."""

    def _prepare(self, views: Views) -> Any:
        """Do the work that does not depend on the number of clusters."""
        return views

    def _graphs_to_select_by(self, views: Any) -> list[Graph]:
        """Return the graphs from which the number of clusters is chosen."""
        if self._is_precomputed():
            return [as_graph(A, name) for name, A in views.items()]
        tables, _ = scale_views(views, self.scaling)
        return [adaptive_graph(X, SELECTION_NEIGHBORS, views.batch) for X in tables]

    def _rows_to_select_by(self, views: Any) -> Rows | None:
        """Return the samples as rows, for comparison with data without clusters; None if there are no features."""
        if self._is_precomputed():
            return None
        tables, _ = scale_views(views, self.scaling)
        return Rows.complete([to_unit_distance(X) for X in tables], SELECTION_NEIGHBORS)

    def _select(self, prepared: Any) -> Selection:
        """Choose the number of clusters."""
        return select_n_clusters(
            self._graphs_to_select_by(prepared),
            self._rows_to_select_by(prepared),
            max_clusters=self.max_clusters,
        )

    def _build_levels(self) -> Levels:
        return build_levels(*self._level_graphs(), self.labels_, self.max_clusters or MAX_CLUSTERS)

    def _level_graphs(self) -> tuple[list[Graph], Graph | None]:
        """Return the graphs that show how far apart clusters are: one per view, and one of all views or None."""
        return [self.affinity_], None

    def _check_parameters(self) -> None:
        """Check the parameters by their rules, before any work is done."""
        with helped_by(self._reference()):
            check_parameters(self._rules, self.get_params(deep=False))

    def _check_views(self, views: Views) -> None:
        """Check the parameters that depend on the views, before any work is done."""
        choose_scalings(views, self.scaling)
        self._check_n_clusters(views)

    @helped_by("choosing-k")
    def _check_n_clusters(self, views: Views) -> None:
        if not isinstance(self.n_clusters, str) and views.n_samples < self.n_clusters:
            raise InputError(
                f"n_samples={views.n_samples} is fewer than n_clusters={self.n_clusters}; "
                "choose fewer clusters or give more samples."
            )

    def _check_batch(self, views: Views) -> None:
        """Raise if batches are given to a method that cannot use them."""
        if views.batch is None or (self._takes_batch and not self._is_precomputed()):
            return
        why = "affinities have no neighbours to draw" if self._takes_batch else "it is not based on neighbours"
        raise InputError(
            f"{type(self).__name__} cannot use batch: {why}. Use OCBR, MFMSC, MAASC, CCAMSC or CoTraining on features."
        )

    # What they share ---------------------------------------------------------------------------------

    def _reference(self) -> str:
        """Return the page of the documentation that describes the parameters."""
        cls = type(self)
        return f"api/generated/manyview.{cls.__name__}" if cls.__module__.startswith("manyview.") else "api/index"

    def _is_precomputed(self) -> bool:
        return getattr(self, "affinity", None) == PRECOMPUTED

    def _cut(self, W: Graph, n_clusters: int) -> Cut:
        return normalized_cut(
            W, n_clusters, degree_regularization=self.degree_regularization, random_state=self.random_state
        )

    def _placing_by_neighbors(
        self, views: Views, scaling: Mapping[str, str], labels: Labels, n_clusters: int
    ) -> Placing:
        """Return the placing of new samples, by their neighbours or by the affinities they come with."""
        if self._is_precomputed():
            return AffinityPlacing(labels, n_clusters)
        return NeighborPlacing.of(views, scaling, labels, n_clusters)

    def _publish(self, found: Clustering) -> None:
        """Turn the fields of the result into attributes of the estimator."""
        outcome = found.outcome
        self.n_iter_, self.converged_, self.history_ = outcome.n_iter, outcome.converged, list(outcome.history)
        for field in fields(found):
            if not field.metadata.get("used up"):
                name = f"_{field.name}" if field.metadata.get("private") else f"{field.name}_"
                setattr(self, name, getattr(found, field.name))

    def _remember(self, X: object, views: Views) -> None:
        self.n_views_, self.view_names_ = views.n_views, views.names
        self.sample_ids_, self.batch_ = views.sample_ids, views.batch
        self.n_features_in_ = views.shape[1]
        self._fitted_features = {
            name: (int(array.shape[1]), known)
            for (name, array), known in zip(views.items(), views.feature_names, strict=True)
        }
        names = views.feature_names[0]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if is_table(X) and names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names

    # New samples -------------------------------------------------------------------------------------

    @helped_by("new-samples")
    def _links(self, X: object) -> list[Graph]:
        check_is_fitted(self, "labels_")
        views = self._like_fitted(X)
        with limited_threads(self.n_jobs, int(np.prod(views.shape))):
            return Linker(self._placing, views.n_samples).links(views.arrays)

    def _sureness(self, links: list[Graph]) -> Dense:
        return self._calibration.of_links(self._placing.labels, links)

    def _own_assignment(self) -> Assigned | None:
        """Return what the fitted samples were assigned to, if their probabilities are known."""
        known = len(self.membership_) == len(self.labels_)
        return Assigned.of(self.labels_, self.membership_) if known else None

    def _assign(self, X: object) -> Assigned:
        """Return the clusters of new samples, and how likely these are."""
        links = self._links(X)
        return Assigned.of(self._likeliest(links), self._sureness(links))

    def _likeliest(self, links: list[Graph]) -> Labels:
        return self._placing.read(links)[0].argmax(axis=1).astype(np.int32)

    def _like_fitted(self, X: object) -> Views:
        """Put the views of new samples in the fitted order; if a view is not given, all samples are absent from it."""
        given = Views(X)
        by_position = given.n_views == self.n_views_ and not isinstance(X, Mapping | Views)
        names = self.view_names_ if by_position else given.names
        unknown = [name for name in names if name not in self.view_names_]
        if unknown:
            raise InputError(
                f"{type(self).__name__} was fitted on the views {quoted(self.view_names_)}, but got "
                f"{quoted(unknown)}. Name the views as in the fit: {{NAME: table}}, or NAME=FILE on the command line."
            )
        for i, name in enumerate(names):
            self._check_features(given.arrays[i], given.feature_names[i], name)
        if not self._is_precomputed():
            warn_of_codes(given)
        arrays = dict(zip(names, given.arrays, strict=True))
        tables = {name: arrays.get(name, self._absent(name, given)) for name in self.view_names_}
        return check_views(Views(tables, sample_ids=given.sample_ids), allow_empty=True)

    def _absent(self, name: str, like: Views) -> Array:
        nobody = np.empty((0, self._fitted_features[name][0]), like.arrays[0].dtype)
        return spread_rows(nobody, np.empty(0, dtype=np.intp), like.n_samples)

    def _check_features(self, X: Array, names: NDArray[Any] | None, view: str) -> None:
        expected, known = self._fitted_features[view]
        where = f"X (view {view!r})" if self.n_views_ > 1 else "X"
        if known is not None and names is not None and list(names) != list(known):
            odd = [name for name in names if name not in set(known)] or [n for n in known if n not in set(names)]
            told = f"not in both: {quoted(odd)}" if odd else "they must be in the same order as in fit"
            raise InputError(f"The feature names should match those that were passed during fit, in {where}; {told}.")
        if X.shape[1] != expected and self._is_precomputed():
            raise InputError(
                f"{where} has {X.shape[1]} columns, but {type(self).__name__} was fitted on the affinities of "
                f"{expected} samples; give each new sample's affinity to all of them."
            )
        if X.shape[1] != expected:
            told = f"{type(self).__name__} is expecting {expected} features as input"
            raise InputError(f"{where} has {X.shape[1]} features, but {told}.")

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
