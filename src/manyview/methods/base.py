"""What every estimator shares: the gate, the checks, and the attributes of a fitted object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from manyview.checks import InputError, check_choice, check_int, check_real
from manyview.graph import GRAPHS, PRECOMPUTED, view_graphs
from manyview.optimize import Outcome
from manyview.scaling import Scaling
from manyview.views import Views, check_views, is_table

if TYPE_CHECKING:
    import pandas as pd


class MultiViewClusterer(ClusterMixin, BaseEstimator, ABC):
    """Base of the estimators; a subclass writes `_check_params` and `_fit`.

    `_fit` sets `labels_`, `embedding_` and `affinity_`, and returns the `Outcome` of the loop.
    """

    n_clusters: int
    labels_: NDArray[np.int32]
    feature_names_in_: NDArray[Any]

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of tables (samples by features), Views, or one table
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        views = check_views(X)
        self._check_size(views)
        self._remember(X, views)
        outcome = self._fit(views)
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self.history_ = list(outcome.history)
        return self

    def to_frame(self) -> pd.DataFrame:
        """Return the labels as a DataFrame, one row per sample, indexed by sample id where ids were given."""
        import pandas as pd  # kept out of `import manyview`

        check_is_fitted(self, "labels_")
        index = None if self.sample_ids_ is None else pd.Index(self.sample_ids_, name="sample")
        return pd.DataFrame({"label": self.labels_}, index=index)

    def _check_params(self) -> None:
        check_int("n_clusters", self.n_clusters, minimum=1)

    @abstractmethod
    def _fit(self, views: Views) -> Outcome:
        """Cluster views that have passed the gate."""

    def _check_size(self, views: Views) -> None:
        if views.n_samples < self.n_clusters:
            raise InputError(
                f"n_samples={views.n_samples} is fewer than n_clusters={self.n_clusters}; "
                "ask for fewer clusters or give more samples."
            )

    def _remember(self, X: object, views: Views) -> None:
        self.n_views_ = views.n_views
        self.view_names_ = views.names
        self.sample_ids_ = views.sample_ids
        self.n_features_in_ = views.shape[1]
        names = views.feature_names[0]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if is_table(X) and names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
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
        graphs, self.scaling_ = view_graphs(views, self.affinity, self.n_neighbors, self.n_clusters, self.scaling)
        return graphs
