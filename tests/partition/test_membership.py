"""How likely labels are: probabilities by hand, and calibrated on data whose classes are known."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import DIGITS_VIEWS, OCBR, load_digits, make_views
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import SearchSettings
from manyview.partition.membership import Calibration, assess_membership, confidence, second_cluster
from manyview.preprocessing import corrupt_entries

# two cliques of four, and a sample that is linked to both
BRIDGE = np.zeros((9, 9))
BRIDGE[:4, :4] = BRIDGE[4:8, 4:8] = 1 - np.eye(4)
BRIDGE[8, [0, 4, 5]] = BRIDGE[[0, 4, 5], 8] = 1
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])


def calibration_error(sure, right, bins=10):
    """Return the mean distance between confidence and share of right labels, over bins of confidence."""
    found = np.minimum((sure * bins).astype(int), bins - 1)
    groups = [found == k for k in range(bins) if (found == k).any()]
    return sum(group.mean() * abs(sure[group].mean() - right[group].mean()) for group in groups)


def majority_right(truth, labels):
    classes = [np.bincount(truth[labels == k]).argmax() for k in range(labels.max() + 1)]
    return np.array(classes)[labels] == truth


@pytest.fixture
def model():
    return Agreement.of_views(ViewGraphs.of([sp.csr_array(BRIDGE)]), 2, SearchSettings())


def test_probabilities_are_the_formula(model):
    P, _ = assess_membership(model, LABELS)
    beta = 2.8 * (10 / (10 + 4.5)) ** 0.25
    expected = np.exp(beta * model.evaluate(LABELS)[1])
    np.testing.assert_allclose(P, expected / expected.sum(axis=1, keepdims=True))


def test_a_sample_between_clusters_is_the_least_sure(model):
    P, _ = assess_membership(model, LABELS)
    assert confidence(P, LABELS).argmin() == 8
    assert second_cluster(P, LABELS).tolist() == [1] * 4 + [0] * 5


def test_new_samples_get_the_evidence_of_their_links(model):
    _, calibration = assess_membership(model, LABELS)
    links = np.zeros((3, 9))
    links[0, :4] = 1 / 4
    links[1, [0, 4]] = 1 / 2
    P = calibration.of_links(LABELS, [sp.csr_array(links)])
    assert P[0, 0] > P[1, 0]
    np.testing.assert_allclose(P[2], 1 / 2)  # no links, no evidence
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_neighbours_in_larger_clusters_are_fewer_witnesses():
    W = sp.csr_array(np.ones((40, 40)))
    small, large = (
        Calibration.of(Agreement.of_views(ViewGraphs.of([W]), c, SearchSettings()), np.arange(40) % c) for c in (10, 2)
    )
    assert small.beta > large.beta


def test_one_cluster_is_certain_and_has_no_second():
    model = OCBR(1).fit(make_views(30, 2, (4, 4), seed=0).views)
    frame = model.to_frame()
    assert frame["confidence"].tolist() == [1] * 30
    assert frame["second"].tolist() == [-1] * 30


@pytest.mark.parametrize("fraction", [0, 0.2])
def test_digits_are_calibrated(fraction):
    digits = load_digits(list(DIGITS_VIEWS)[:2])
    views = corrupt_entries(digits.views, fraction, seed=1) if fraction else digits.views
    fitted, new = np.arange(0, 2000, 2), np.arange(1, 2000, 2)
    model = OCBR(10).fit(views[fitted])
    for frame, truth in ((model.to_frame(), digits.labels[fitted]), (model.to_frame(views[new]), digits.labels[new])):
        right = majority_right(truth, frame["label"].to_numpy())
        assert calibration_error(frame["confidence"].to_numpy(), right) < 0.05


def test_evidence_is_compared_within_a_sample_however_strong_that_of_others(model):
    _, calibration = assess_membership(model, LABELS)
    P = calibration.probabilities(np.array([[1e6, 1e6], [0.0, 0.0], [-1e6, -1e6 - 1 / calibration.beta]]))
    np.testing.assert_allclose(P, [[1 / 2, 1 / 2], [1 / 2, 1 / 2], [np.e / (1 + np.e), 1 / (1 + np.e)]])
