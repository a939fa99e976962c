"""mofapy2: a factor model of all views, and k-means on its factors. Takes missing views as NaN."""

from collections.abc import Sequence

import numpy as np
from harness import View, serve
from mofapy2.run.entry_point import entry_point
from sklearn.cluster import KMeans


def factors_and_k_means(views: list[View], k: int, seed: int) -> Sequence[int]:
    model = entry_point()
    model.set_data_options()
    model.set_data_matrix([[X.astype(np.float64)] for X in views])
    model.set_model_options()
    model.set_train_options(seed=seed, quiet=True)
    model.build()
    model.run()
    factors = model.model.nodes["Z"].getExpectation()
    return KMeans(k, n_init=10, random_state=seed).fit_predict(factors)


serve({"factors, k-means": factors_and_k_means}, ["mofapy2", "scikit-learn", "numpy", "scipy"])
