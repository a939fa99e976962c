"""What every estimator shares: the gate, the checks, new samples, and the attributes of a fitted object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.checks import InputError, InputTypeError, check_choice, check_int, check_real, quoted
from manyview.graphs.affinity import GRAPHS, PRECOMPUTED, adaptive_graph, as_graph, view_graphs
from manyview.methods.imputation import IMPUTATION, fill_in
from manyview.methods.placing import AffinityExtension, Evidence, Extension, NeighborExtension
from manyview.numerics.loop import Outcome
from manyview.partition.selection import Selection, select_n_clusters
from manyview.preprocessing.scaling import Scaling, scale_views
from manyview.typing import Array, Dense, Labels
from manyview.views.container import Views
from manyview.views.conversion import is_table
from manyview.views.gate import check_views
from manyview.views.presence import spread_rows

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"
SELECTION_NEIGHBORS = 10


class MultiViewClusterer(TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """Base of the estimators; a subclass writes `_check_params` and `_fit`.

    `_fit` sets `labels_`, `embedding_`, `affinity_` and `scaling_`, and returns the `Outcome` of the loop; the number
    of clusters to find is `n_clusters_`. Missing values are filled in beforehand, unless `_takes_missing` says that
    the method can do without.
    """

    n_clusters: int | str
    n_clusters_: int
    labels_: Labels
    embedding_: Dense
    scaling: Scaling
    scaling_: dict[str, str]
    feature_names_in_: NDArray[Any]

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
        self._check_params()
        views = check_views(X)
        self.n_missing_ = views.n_missing
        self.imputation_ = None if self._takes_missing() or not any(self.n_missing_.values()) else IMPUTATION
        if self.imputation_ is not None:
            views = fill_in(views)
        self.selection_ = self._select(views) if self.n_clusters == AUTO else None
        self.n_clusters_ = int(self.n_clusters) if self.selection_ is None else self.selection_.chosen
        self._check_size(views)
        self._remember(X, views)
        outcome = self._fit(views)
        self._extension = self._extend(views)
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self.history_ = list(outcome.history)
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
        total = np.asarray(links.sum(axis=1)).ravel()
        mean: Dense = (links @ self.embedding_) / np.where(total > 0, total, 1)[:, None]
        return mean.astype(self.embedding_.dtype, copy=False)

    def _place(self, X: object) -> Evidence:
        check_is_fitted(self, "labels_")
        return self._extension.extend(self._like_fitted(X).arrays)

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

    def to_frame(self) -> pd.DataFrame:
        """Return the labels as a DataFrame, one row per sample, indexed by sample id where ids were given."""
        import pandas as pd  # kept out of `import manyview`

        check_is_fitted(self, "labels_")
        index = None if self.sample_ids_ is None else pd.Index(self.sample_ids_, name="sample")
        return pd.DataFrame({"label": self.labels_}, index=index)

    def _check_params(self) -> None:
        if not isinstance(self.n_clusters, str):
            check_int("n_clusters", self.n_clusters, minimum=1)
        elif self.n_clusters != AUTO:
            raise InputTypeError(f"n_clusters={self.n_clusters!r} is a str; give a whole number, or {AUTO!r}.")

    def _takes_missing(self) -> bool:
        return False

    def _is_precomputed(self) -> bool:
        return getattr(self, "affinity", None) == PRECOMPUTED

    def _select(self, views: Views) -> Selection:
        """Choose the number of clusters, from the graphs of the views."""
        return select_n_clusters(self._graphs_to_select_by(views))

    def _graphs_to_select_by(self, views: Views) -> list[sp.csr_array]:
        if self._is_precomputed():
            return [as_graph(A, name) for name, A in views.items()]
        tables, _ = scale_views(views, self.scaling)
        return [adaptive_graph(X, SELECTION_NEIGHBORS) for X in tables]

    def _extend(self, views: Views) -> Extension:
        """Return what places new samples: their neighbours, unless the method has a way of its own."""
        if self._is_precomputed():
            return AffinityExtension(self.labels_, self.n_clusters_)
        return NeighborExtension.of(views, self.scaling_, self.labels_, self.n_clusters_)

    @abstractmethod
    def _fit(self, views: Views) -> Outcome:
        """Cluster views that have passed the gate."""

    def _check_size(self, views: Views) -> None:
        if views.n_samples < self.n_clusters_:
            raise InputError(
                f"n_samples={views.n_samples} is fewer than n_clusters={self.n_clusters_}; "
                "ask for fewer clusters or give more samples."
            )

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

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class GraphClusterer(MultiViewClusterer):
    """Base of the estimators that start from one graph per view, built from it or given as it ("precomputed")."""

    n_neighbors: int
    affinity: str
    scaling: Scaling
    degree_regularization: float

    def _check_params(self) -> None:
        super()._check_params()
        check_int("n_neighbors", self.n_neighbors, minimum=1)
        check_choice("affinity", self.affinity, (*GRAPHS, PRECOMPUTED))
        check_real("degree_regularization", self.degree_regularization, minimum=0)

    def _view_graphs(self, views: Views) -> list[sp.csr_array]:
        graphs, self.scaling_ = view_graphs(views, self.affinity, self.n_neighbors, self.n_clusters_, self.scaling)
        return graphs
