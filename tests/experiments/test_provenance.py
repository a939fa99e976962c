"""Checksums of the data."""

import numpy as np
import scipy.sparse as sp

from manyview.experiments import provenance


def test_checksums_depend_on_values_shapes_and_sparsity():
    X = np.arange(6.0).reshape(2, 3)
    sums = [provenance.checksum([A]) for A in (X, X.reshape(3, 2), X.astype("f4"), X + 1, sp.csr_array(X))]
    assert len(set(sums)) == 5
    assert provenance.checksum([X[:, ::-1]]) == provenance.checksum([X[:, ::-1].copy()])
