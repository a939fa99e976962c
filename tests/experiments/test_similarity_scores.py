"""Consensus ratios of fitted models."""

from types import SimpleNamespace

import pytest
import scipy.sparse as sp

from manyview import LRRGL, OCBR, consensus_ratio
from manyview.experiments.similarity_scores import similarity_scores


def test_similarity_scores_equal_the_dense_ones(blobs):
    model = OCBR(3).fit(blobs.views)
    scores = similarity_scores(model)
    assert scores["consensus"] == pytest.approx(consensus_ratio(model.graphs_))
    assert scores["consensus_basis"] == pytest.approx(consensus_ratio([U @ U.T for U in model.bases_]))
    for nonnegative in (True, False):
        model = LRRGL(3, nonnegative=nonnegative, tol=0.05).fit(blobs.views)
        dense = [Z if nonnegative else Z.toarray() for Z in model.representation_]
        assert similarity_scores(model) == {"consensus": pytest.approx(consensus_ratio(dense), rel=1e-4)}
    assert similarity_scores(SimpleNamespace(graphs_=[sp.csr_array((3, 3))] * 2)) == {}
