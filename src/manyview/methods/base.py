"""What every estimator shares: the gate, the rules, new samples, and the attributes of a fitted object."""

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

from manyview.checks import SEED, InputError, Is, Number, OneOf, OrNone, OrWord, Rules, Whole, check_parameters, quoted
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, adaptive_graph, as_graph, view_graphs
from manyview.methods.imputation import IMPUTATION, fill_in
from manyview.methods.placing import AffinityPlacing, NeighborPlacing, Placing
from manyview.methods.result import Clustering
from manyview.numerics.division import or_one
from manyview.numerics.threads import limited_threads
from manyview.partition.selection import select_n_clusters
from manyview.partition.spectral import Cut, normalized_cut
from manyview.preprocessing.scaling import SCALING, Scaling, choose_scalings, scale_views
from manyview.typing import Array, Dense, Graph, Labels, Seed
from manyview.views import Views, check_views, is_table, spread_rows

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"
SELECTION_NEIGHBORS = 10


class MultiViewClusterer(TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """Base of the estimators; a subclass writes `_rules`, a rule for each of its parameters, and `_fit`.

    `_fit` returns a `Clustering`, whose fields become the attributes of the estimator; nothing else assigns any, so a
    fit that fails leaves the estimator as it was. What does not depend on the number of clusters may be done in
    `_prepare`, once. Missing values are filled in beforehand, unless `_takes_missing`.
    """

    _rules: ClassVar[Rules] = {
        "n_clusters": OrWord(AUTO, Whole(1)),
        "scaling": SCALING,
        "random_state": SEED,
        "n_jobs": OrNone(Is(lambda n: n == -1 or (isinstance(n, int) and n > 0), "a number of threads, -1, or None")),
    }
    _takes_missing: ClassVar[bool] = False

    n_clusters: int | str
    scaling: Scaling
    random_state: Seed
    n_jobs: int | None
    n_clusters_: int
    labels_: Labels
    embedding_: Dense
    affinity_: Graph
    scaling_: dict[str, str]
    feature_names_in_: NDArray[Any]
    _placing: Placing

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of tables (samples by features), Views, or one table
            NaN is a missing value, a row of NaN a sample that is absent from that view.
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self._rules, self.get_params(deep=False))
        views = check_views(X)
        self._check_views(views)
        n_missing = views.n_missing
        imputation = None if self._takes_missing or not any(n_missing.values()) else IMPUTATION
        with limited_threads(self.n_jobs, int(np.prod(views.shape))):
            prepared = self._prepare(views if imputation is None else fill_in(views))
            selection = select_n_clusters(self._graphs_to_select_by(prepared)) if self.n_clusters == AUTO else None
            n_clusters = int(self.n_clusters) if selection is None else selection.chosen
            found = self._fit(prepared, n_clusters)
        self._remember(X, views)
        self.n_missing_, self.imputation_ = n_missing, imputation
        self.n_clusters_, self.selection_ = n_clusters, selection
        self._publish(found)
        return self

    def predict(self, X: object) -> Labels:
        """Return the clusters of new samples; the clusters themselves stay as they are.

        Parameters
        ----------
        X : as for `fit`, with the same views and features
            A dict or `Views` is matched by the names of its views, and may lack some; so may single samples (a row of
            NaN). Each sample must be in one view at least.

        Returns
        -------
        labels : array (n_new,) of int
        """
        return self._place(X)[0].argmax(axis=1).astype(np.int32)

    def transform(self, X: object) -> Dense:
        """Return the embedding (n_new, n_clusters) of new samples: the mean over their neighbours among those fitted.

        `X` is as for `predict`. Samples that were fitted have theirs in `embedding_`; given here, they are treated as
        new ones that happen to be alike.
        """
        links = self._place(X)[1]
        mean: Dense = (links @ self.embedding_) / or_one(np.asarray(links.sum(axis=1)).ravel())[:, None]
        return mean.astype(self.embedding_.dtype, copy=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the labels as a DataFrame, one row per sample, indexed by sample id where ids were given."""
        import pandas as pd  # kept out of `import manyview`

        check_is_fitted(self, "labels_")
        index = None if self.sample_ids_ is None else pd.Index(self.sample_ids_, name="sample")
        return pd.DataFrame({"label": self.labels_}, index=index)

    # What a subclass writes, or may ------------------------------------------------------------------

    @abstractmethod
    def _fit(self, prepared: Any, n_clusters: int) -> Clustering:
        """Cluster what `_prepare` returned."""

    def _prepare(self, views: Views) -> Any:
        """Do what does not depend on the number of clusters."""
        return views

    def _graphs_to_select_by(self, views: Any) -> list[Graph]:
        """Return the graphs from which the number of clusters is chosen."""
        if self._is_precomputed():
            return [as_graph(A, name) for name, A in views.items()]
        tables, _ = scale_views(views, self.scaling)
        return [adaptive_graph(X, SELECTION_NEIGHBORS) for X in tables]

    def _check_views(self, views: Views) -> None:
        """Check the parameters that depend on the views, before any work is done."""
        choose_scalings(views, self.scaling)
        if not isinstance(self.n_clusters, str) and views.n_samples < self.n_clusters:
            raise InputError(
                f"n_samples={views.n_samples} is fewer than n_clusters={self.n_clusters}; "
                "ask for fewer clusters or give more samples."
            )

    # What they share ---------------------------------------------------------------------------------

    def _is_precomputed(self) -> bool:
        return getattr(self, "affinity", None) == PRECOMPUTED

    def _cut(self, W: Graph, n_clusters: int) -> Cut:
        return normalized_cut(
            W,
            n_clusters,
            degree_regularization=self.degree_regularization,
            random_state=self.random_state,
        )

    def _placing_by_neighbors(
        self, views: Views, scaling: Mapping[str, str], labels: Labels, n_clusters: int
    ) -> Placing:
        """Return what places new samples by their neighbours, or by the affinities they come with."""
        if self._is_precomputed():
            return AffinityPlacing(labels, n_clusters)
        return NeighborPlacing.of(views, scaling, labels, n_clusters)

    def _publish(self, found: Clustering) -> None:
        """Make the fields of the result attributes of the estimator."""
        outcome = found.outcome
        self.n_iter_, self.converged_, self.history_ = outcome.n_iter, outcome.converged, list(outcome.history)
        for field in fields(found):
            if field.name != "outcome":
                name = f"_{field.name}" if field.metadata.get("private") else f"{field.name}_"
                setattr(self, name, getattr(found, field.name))

    def _remember(self, X: object, views: Views) -> None:
        self.n_views_ = views.n_views
        self.view_names_ = views.names
        self.sample_ids_ = views.sample_ids
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

    def _place(self, X: object) -> tuple[Dense, Graph]:
        check_is_fitted(self, "labels_")
        views = self._like_fitted(X)
        with limited_threads(self.n_jobs, int(np.prod(views.shape))):
            return self._placing.place(views.arrays)

    def _like_fitted(self, X: object) -> Views:
        """Bring new samples into the order of the views that were fitted; from one not given, all are absent."""
        given = Views(X)
        by_position = given.n_views == self.n_views_ and not isinstance(X, Mapping | Views)
        names = self.view_names_ if by_position else given.names
        unknown = [name for name in names if name not in self.view_names_]
        if unknown:
            raise InputError(
                f"{type(self).__name__} was fitted on the views {quoted(self.view_names_)}; there was none called "
                f"{quoted(unknown)}. Give the same ones, as a dict if some are missing."
            )
        for i, name in enumerate(names):
            self._check_features(given.arrays[i], given.feature_names[i], name)
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
            told = f"not in both: {quoted(odd)}" if odd else "they must be in the same order as they were in fit"
            raise InputError(f"The feature names should match those that were passed during fit, in {where}; {told}.")
        if X.shape[1] != expected and self._is_precomputed():
            raise InputError(
                f"{where} has {X.shape[1]} columns, but {type(self).__name__} was fitted on the affinities of "
                f"{expected} samples; give each new sample's affinity to every one of these."
            )
        if X.shape[1] != expected:
            told = f"{type(self).__name__} is expecting {expected} features as input"
            raise InputError(f"{where} has {X.shape[1]} features, but {told}.")

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class GraphClusterer(MultiViewClusterer):
    """Base of the estimators that start from graphs of the views, built from them or given as them ("precomputed")."""

    _rules: ClassVar[Rules] = {
        **MultiViewClusterer._rules,
        "n_neighbors": Whole(1),
        "affinity": OneOf((*GRAPHS, PRECOMPUTED)),
        "degree_regularization": Number(0),
    }

    n_neighbors: int
    affinity: str
    degree_regularization: float

    def _view_graphs(self, views: Views, n_clusters: int) -> tuple[list[Graph], dict[str, str]]:
        return view_graphs(views, self.affinity, self.n_neighbors, n_clusters, self.scaling)
