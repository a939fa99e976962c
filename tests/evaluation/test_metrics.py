from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import entropy
from scipy.stats.contingency import crosstab
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from manyview import (
    InputError,
    adjusted_rand_index,
    clustering_accuracy,
    consensus_ratio,
    normalized_mutual_information,
    pairwise_f_score,
    purity,
    score_labels,
)
from manyview.evaluation.metrics import METRICS

labellings = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n).map(np.array)] * 2)
)


@pytest.fixture(params=[(1, 1), (1, 4), (4, 1), (3, 3), (2, 5), (5, 2), (40, 40)], ids=str)
def pair(request, rng):
    return tuple(rng.integers(0, count, 40) for count in request.param)


def joined_pairs(labels):
    return np.array([labels[i] == labels[j] for i, j in combinations(range(len(labels)), 2)])


def test_accuracy_agrees_with_the_assignment_problem(pair):
    counts = crosstab(*pair).count
    rows, columns = linear_sum_assignment(-counts)
    assert clustering_accuracy(*pair) == pytest.approx(counts[rows, columns].sum() / 40, abs=1e-12)


@pytest.mark.parametrize(("classes", "clusters"), [(2, 2), (3, 5), (5, 3), (4, 4)])
def test_accuracy_is_the_best_over_all_matchings(classes, clusters, rng):
    a, b = rng.integers(0, classes, 30), rng.integers(0, clusters, 30)
    names = range(max(classes, clusters))
    best = max(np.mean(np.array(matching)[b] == a) for matching in permutations(names))
    assert clustering_accuracy(a, b) == pytest.approx(best, abs=1e-12)


def test_nmi_is_its_formula_and_agrees_with_sklearn(pair):
    joint = crosstab(*pair).count / 40
    of_a, of_b = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
    mutual = of_a + of_b - entropy(joint.ravel())
    expected = 1.0 if of_a + of_b == 0 else 2 * mutual / (of_a + of_b)
    assert normalized_mutual_information(*pair) == pytest.approx(expected, abs=1e-12)
    assert normalized_mutual_information(*pair) == pytest.approx(normalized_mutual_info_score(*pair), abs=1e-12)


def test_ari_is_its_formula_over_pairs_and_agrees_with_sklearn(pair):
    a, b = map(joined_pairs, pair)
    expected_index = a.mean() * b.mean()
    largest = (a.mean() + b.mean()) / 2
    ari = 1.0 if largest == expected_index else (np.mean(a & b) - expected_index) / (largest - expected_index)
    assert adjusted_rand_index(*pair) == pytest.approx(ari, abs=1e-12)
    assert adjusted_rand_index(*pair) == pytest.approx(adjusted_rand_score(*pair), abs=1e-12)


def test_purity_is_the_share_of_the_majority_class(pair):
    truth, found = pair
    majority = sum(np.bincount(truth[found == cluster]).max() for cluster in np.unique(found))
    assert purity(*pair) == pytest.approx(majority / 40, abs=1e-12)


def test_f_score_is_precision_and_recall_over_pairs(pair):
    together, joined = map(joined_pairs, pair)
    hits = np.sum(together & joined)
    expected = 2 * hits / (together.sum() + joined.sum()) if together.any() or joined.any() else 1.0
    assert pairwise_f_score(*pair) == pytest.approx(expected, abs=1e-12)


def test_f_score_of_all_singletons_is_one():
    assert pairwise_f_score([1, 2, 3], [3, 1, 2]) == 1


@pytest.mark.parametrize("name", METRICS)
@given(labellings, st.permutations(range(5)), st.permutations(range(5)))
def test_metrics_do_not_care_what_labels_are_called(name, pair, first, second):
    a, b = pair
    renamed = METRICS[name](np.array(first)[a], np.array(list("vwxyz"))[np.array(second)[b]])
    assert renamed == pytest.approx(METRICS[name](a, b), abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
@given(labellings)
def test_metrics_lie_below_one_and_reach_it_for_equal_labellings(name, pair):
    assert METRICS[name](*pair) <= 1 + 1e-12
    assert METRICS[name](pair[0], pair[0]) == pytest.approx(1)


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"purity"}))
@given(labellings)
def test_metrics_but_purity_are_symmetric(name, pair):
    assert METRICS[name](*pair) == pytest.approx(METRICS[name](*pair[::-1]), abs=1e-12)


def test_score_labels_has_every_metric_and_takes_strings_and_fractions():
    scores = score_labels(["cat", "cat", "dog", "emu"], [0.5, 0.5, 0.25, 0.75])
    assert scores == dict.fromkeys(["acc", "nmi", "ari", "purity", "f_score"], 1.0)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("a", "b"), [([1, 2], [1]), ([], []), ([[1], [2]], [1, 2])])
def test_labels_that_do_not_match_are_refused_with_their_shapes(name, a, b):
    with pytest.raises(InputError, match=r"shapes \(.*\) and \(.*\); give two 1-D labellings"):
        METRICS[name](a, b)


def test_consensus_ratio_is_its_closed_form_sparse_or_dense():
    matrices = [np.eye(4), 3 * np.eye(4), -2 * np.eye(4)]
    expected = np.mean([3, 2, 1.5])
    assert consensus_ratio(matrices) == pytest.approx(expected)
    assert consensus_ratio([sp.csr_array(M) for M in matrices]) == pytest.approx(expected)
    assert consensus_ratio([sp.csr_array(matrices[0]), *matrices[1:]]) == pytest.approx(expected)


def test_consensus_ratio_of_equal_norms_is_one(rng):
    M = rng.standard_normal((5, 5))
    assert consensus_ratio([M, M.T, -M]) == pytest.approx(1)


@pytest.mark.parametrize("matrices", [[], [np.eye(2)]])
def test_consensus_ratio_needs_two_matrices(matrices):
    with pytest.raises(InputError, match=f"Got {len(matrices)} similarity matrices"):
        consensus_ratio(matrices)


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), np.full((2, 2), np.nan), np.full((2, 2), 1e300)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_consensus_ratio_refuses_norms_that_are_zero_or_not_finite(bad, kind):
    with pytest.raises(InputError, match="finite and not 0"):
        consensus_ratio([np.eye(2), kind(bad)])
