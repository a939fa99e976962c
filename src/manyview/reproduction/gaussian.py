"""The baselines as they were usually run when the paper was written: Gaussian affinities of all pairs of samples.

For reproduction only, to see why the printed baselines are lower than ours: everything here is n x n and dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from manyview.methods import get_method
from manyview.partition.spectral import normalized_cut
from manyview.preprocessing.scaling import scale_views
from manyview.views.container import Views


class GaussianBaseline:
    """A method with K = exp(-d^2 / 2 sigma^2), where sigma is the median distance, instead of its neighbour graph.

    With `method` "mfmsc" the views are concatenated; other methods get one affinity per view. `views` selects views by
    position; None means all.
    """

    def __init__(
        self,
        n_clusters: int,
        method: str = "mfmsc",
        scaling: str = "standard",
        views: Sequence[int] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_clusters, self.method, self.scaling = n_clusters, method, scaling
        self.views, self.random_state = views, random_state

    def fit_predict(self, views: Sequence[Any]) -> NDArray[Any]:
        """Return the labels."""
        chosen = list(views) if self.views is None else [views[i] for i in self.views]
        tables, _ = scale_views(Views(chosen), self.scaling)
        if self.method == "mfmsc":
            K = gaussian_affinity(np.hstack(tables))
            return normalized_cut(sp.csr_array(K), self.n_clusters, random_state=self.random_state).labels
        model = get_method(self.method)(
            n_clusters=self.n_clusters,
            affinity="precomputed",
            degree_regularization=0.0,
            random_state=self.random_state,
        )
        return np.asarray(model.fit_predict([gaussian_affinity(X) for X in tables]))


def gaussian_affinity(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return K of all pairs; the diagonal is 0."""
    distances = pairwise_distances(np.asarray(X, dtype=np.float64))
    sigma = np.median(distances[np.triu_indices_from(distances, 1)])
    K = np.exp(-(distances**2) / (2 * sigma**2))
    np.fill_diagonal(K, 0)
    return (K + K.T) / 2
