"""polyview: k-means with view weights, and the two spectral methods of Kumar et al.; missing samples are imputed."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness import View, serve
from polyview.cluster import MultiViewCoRegSpectralClustering, MultiViewCoTrainSpectralClustering, MultiViewKMeans
from polyview.imputation import CrossViewRegressionImputer, KNNViewImputer


def fit(estimator: type, views: list[View], k: int, seed: int, **params: Any) -> Sequence[int]:
    return estimator(n_clusters=k, random_state=seed, **params).fit_predict(views)


def impute_and_fit(imputer: type, views: list[View], k: int, seed: int) -> Sequence[int]:
    return fit(MultiViewCoRegSpectralClustering, imputer().fit_transform(views), k, seed)


METHODS = {
    "k-means": partial(fit, MultiViewKMeans),
    "co-regularised": partial(fit, MultiViewCoRegSpectralClustering),
    "co-training, default": partial(fit, MultiViewCoTrainSpectralClustering),
    "co-training, median bandwidth": partial(fit, MultiViewCoTrainSpectralClustering, gamma="median"),
    "kNN imputer, co-regularised": partial(impute_and_fit, KNNViewImputer),
    "regression imputer, co-regularised": partial(impute_and_fit, CrossViewRegressionImputer),
}
serve(METHODS, ["polyview", "scikit-learn", "numpy", "scipy"])
