"""Affinities that the user brings, in every method that starts from graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import METHODS, InputError, adjusted_rand_index
from manyview.graphs.affinity import knn_graph

takes_affinities = pytest.mark.parametrize(
    "method", [method for method in METHODS.values() if hasattr(method(), "affinity")], ids=lambda m: m.__name__
)


@takes_affinities
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_precomputed_affinities_find_the_clusters(method, form, dtype, blobs):
    affinities = [form(knn_graph(X.astype(dtype), 10).toarray()) for X in blobs.views.arrays]
    model = method(n_clusters=3, affinity="precomputed").fit(affinities)
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert (model.embedding_.dtype, model.affinity_.dtype) == (dtype, dtype)
    assert set(model.scaling_.values()) == {"none"}


def test_all_systems_but_those_on_features_take_affinities():
    assert {key for key, method in METHODS.items() if not hasattr(method(), "affinity")} == {"ocbr", "paper-ocbr"}


@takes_affinities
def test_what_is_no_affinity_is_refused(method, blobs):
    with pytest.raises(InputError, match=r"View 'view_0' has shape \(60, 5\), which is not square"):
        method(n_clusters=3, affinity="precomputed").fit(blobs.views)
