"""snfpy: similarity network fusion, and spectral clustering of the fused network, as in its documentation."""

from collections.abc import Sequence

import snf
from harness import View, serve
from sklearn.cluster import spectral_clustering


def fuse_and_cut(views: list[View], k: int, seed: int) -> Sequence[int]:
    """Do not normalise: the views are scaled already, and sparse ones would lose their unit rows."""
    affinities = snf.make_affinity(*views, metric="euclidean", K=20, mu=0.5, normalize=False)
    return spectral_clustering(snf.snf(*affinities, K=20), n_clusters=k, random_state=seed)


serve({"SNF, spectral": fuse_and_cut}, ["snfpy", "scikit-learn", "numpy", "scipy"])
