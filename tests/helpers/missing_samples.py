"""Views that lack some of the samples."""

import numpy as np


def drop_samples(views, share, seed):
    """Take that share of the samples out of each of two views, never the same ones."""
    rng = np.random.default_rng(seed)
    order, size = rng.permutation(views.n_samples), round(share * views.n_samples)
    X, Y = (array.copy() for array in views.arrays)
    X[order[:size]] = np.nan
    Y[order[size : 2 * size]] = np.nan
    return [X, Y]
