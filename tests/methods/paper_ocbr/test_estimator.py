"""The paper's algorithm as an estimator: what its variants give."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from manyview import OCBR, InputError, PaperOCBR, adjusted_rand_index, clustering_accuracy, load_digits


@pytest.mark.parametrize("variant", ["corrected", "printed"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_attributes(variant, blobs):
    model = PaperOCBR(3, variant=variant).fit(blobs.views)
    for X, U, W, E in zip(blobs.views.arrays, model.bases_, model.graphs_, model.corruption_, strict=True):
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-8)
        assert abs(W - W.T).max() < 1e-12
        assert E.shape == X.shape
    assert model.view_weights_.sum() == pytest.approx(1)
    assert model.embedding_.shape == (60, 3)


def test_the_printed_algorithm_runs_and_is_far_behind():
    digits = load_digits()
    few, truth = digits.views[np.arange(0, 2000, 10)], digits.labels[::10]
    with pytest.warns(ConvergenceWarning, match="PaperOCBR stopped after 25 iterations"):
        printed = PaperOCBR(10, variant="printed").fit(few)
    assert (printed.n_iter_, printed.converged_) == (25, False)
    assert printed.scaling_ == dict.fromkeys(digits.views.names, "standard")
    ours = OCBR(10).fit(few)
    assert clustering_accuracy(truth, ours.labels_) > clustering_accuracy(truth, printed.labels_) + 0.3


@pytest.mark.parametrize("orthonormalize", ["polar", "kmeans"])
def test_the_corrected_algorithm_converges(orthonormalize, blobs):
    model = PaperOCBR(3, orthonormalize=orthonormalize).fit(blobs.views)
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert model.converged_
    mu = [record["mu"] for record in model.history_]
    assert mu == sorted(mu)
    if orthonormalize == "kmeans":  # one entry per row: the indicator of a partition
        assert all((np.count_nonzero(U, axis=1) == 1).all() for U in model.bases_)


def test_errors_are_in_the_units_of_the_view(blobs):
    plain, scaled = (PaperOCBR(3).fit([a * X + b for X in blobs.views.arrays]) for a, b in ((1, 0), (1000, 5)))
    for E, F in zip(plain.corruption_, scaled.corruption_, strict=True):
        assert np.abs(E).max() > 0
        np.testing.assert_allclose(F, 1000 * E, atol=1e-3 * np.abs(F).max())


def test_sparse_matrices_can_go_unscaled(rng):
    counts = sp.csr_array(np.kron(np.eye(3), np.ones((20, 8))) * rng.poisson(4, (60, 24)).astype(float))
    model = PaperOCBR(3, scaling="none").fit([counts, counts.toarray()])
    assert adjusted_rand_index(np.repeat(np.arange(3), 20), model.labels_) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"variant": "best"}, "Unknown variant='best'. Choose one of: 'corrected', 'printed'"),
        ({"orthonormalize": "qr"}, "Unknown orthonormalize='qr'. Choose one of: 'polar', 'kmeans'"),
        ({"graph_weight": -0.1}, "graph_weight=-0.1 is out of range"),
        ({"consensus_weight": np.nan}, "consensus_weight=nan is out of range"),
        ({"consensus_weight": "1"}, "consensus_weight='1' is a str"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        PaperOCBR(3, **wrong).fit(blobs.views)
