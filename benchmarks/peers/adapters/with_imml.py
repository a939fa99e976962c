"""imml: methods for incomplete views that need neither Octave, R nor torch."""

import pandas as pd
from harness import Method, serve
from imml import cluster


def fit(name: str) -> Method:
    def method(views, k, seed):
        estimator = getattr(cluster, name)(n_clusters=k, random_state=seed)
        return estimator.fit_predict([pd.DataFrame(X) for X in views])

    return method


NAMES = ("NEMO", "EEIMVC", "LFIMVC", "PIMVC", "SIMCADC", "DAIMC", "OPIMC")
serve({name: fit(name) for name in NAMES}, ["imml", "scikit-learn", "numpy", "scipy", "pandas"])
