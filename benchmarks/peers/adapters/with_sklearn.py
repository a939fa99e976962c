"""scikit-learn: single-view clustering of the concatenated features, and of the mean graph of the views."""

from collections.abc import Sequence

import numpy as np
from harness import View, serve
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.neighbors import kneighbors_graph


def k_means(views: list[View], k: int, seed: int) -> Sequence[int]:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.hstack(views))


def spectral_rbf(views: list[View], k: int, seed: int) -> Sequence[int]:
    return SpectralClustering(k, random_state=seed).fit_predict(np.hstack(views))


def spectral_knn(views: list[View], k: int, seed: int) -> Sequence[int]:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(np.hstack(views))


def spectral_mean_graph(views: list[View], k: int, seed: int) -> Sequence[int]:
    """Average the graphs of affinity="nearest_neighbors" over the views."""
    graph = sum(kneighbors_graph(X, 10, include_self=True) for X in views) / len(views)
    return SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict((graph + graph.T) / 2)


METHODS = {
    "k-means, concatenation": k_means,
    "spectral, concatenation, default rbf": spectral_rbf,
    "spectral, concatenation, kNN": spectral_knn,
    "spectral, mean kNN graph": spectral_mean_graph,
}
serve(METHODS, ["scikit-learn", "numpy", "scipy"])
