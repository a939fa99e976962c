"""mvlearn: co-EM k-means and the two spectral methods of Kumar et al."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness import Unsupported, View, serve
from mvlearn.cluster import (
    MultiviewCoRegSpectralClustering,
    MultiviewKMeans,
    MultiviewSpectralClustering,
    MultiviewSphericalKMeans,
)


def fit(estimator: type, views: list[View], k: int, seed: int, **params: Any) -> Sequence[int]:
    return estimator(n_clusters=k, random_state=seed, **params).fit_predict(views)


def fit_two(estimator: type, views: list[View], k: int, seed: int) -> Sequence[int]:
    """Refuse a third view: spherical k-means raises an error, and k-means silently ignores it."""
    if len(views) > 2:
        raise Unsupported("2 views only")
    return fit(estimator, views, k, seed)


METHODS = {
    "k-means": partial(fit_two, MultiviewKMeans),
    "spherical k-means": partial(fit_two, MultiviewSphericalKMeans),
    "co-training": partial(fit, MultiviewSpectralClustering),
    "co-regularised, default": partial(fit, MultiviewCoRegSpectralClustering),
    "co-regularised, kNN": partial(fit, MultiviewCoRegSpectralClustering, affinity="nearest_neighbors"),
}
serve(METHODS, ["mvlearn", "scikit-learn", "numpy", "scipy"])
