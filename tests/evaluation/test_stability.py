"""Which pairs of samples stay together when the clustering is done again on parts of the data."""

from dataclasses import replace

import numpy as np
import pytest

from manyview import CCAMSC, MFMSC, OCBR, InputError, assess_stability, make_views
from manyview.evaluation.stability import _PairCounts
from manyview.graphs.affinity import knn_graph


def test_clear_clusters_are_stable(blobs):
    model = OCBR(3).fit(blobs.views)
    found = assess_stability(model, blobs.views, 5)
    assert found.repeats == 5
    assert (found.samples.shape, found.clusters.shape) == ((60,), (3,))
    np.testing.assert_allclose(found.samples[np.isfinite(found.samples)], 1)
    np.testing.assert_allclose([found.together, found.apart, *found.clusters, *found.agreement], 1)


def test_one_cluster_too_many_is_not_stable():
    data = make_views(120, 3, (6, 6), noise=0.4, separation=20, seed=0)
    right, wrong = (assess_stability(MFMSC(k).fit(data.views), data.views, 8) for k in (3, 4))
    assert right.together == pytest.approx(1)
    assert wrong.together < 0.95
    assert wrong.clusters.min() < 0.9


def test_pairs_are_counted_as_by_hand():
    counts = _PairCounts(5, 2)
    counts.add(np.arange(5), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))
    found = counts.summary(np.array([0.0]), 1.0, np.empty(0))
    np.testing.assert_allclose(found.samples, [1 / 2, 1 / 2, 0, 1, 1])
    np.testing.assert_allclose(found.clusters, [1 / 3, 1])
    assert found.together == pytest.approx(2 / 4)
    assert found.apart == pytest.approx(4 / 6)


def test_samples_never_drawn_are_nan(blobs):
    found = assess_stability(MFMSC(3).fit(blobs.views), blobs.views, 1, fraction=0.5)
    assert np.isnan(found.samples).sum() == 30


def test_the_seed_decides_and_the_model_stays(blobs):
    model = MFMSC(3).fit(blobs.views)
    before = model.labels_.copy()
    seen = []
    one, two = (assess_stability(model, blobs.views, 2, seed=4, on_repeat=seen.append) for _ in range(2))
    np.testing.assert_array_equal(one.samples, two.samples)
    np.testing.assert_array_equal(model.labels_, before)
    assert seen == [1, 2, 1, 2]


def test_affinities_are_cut_on_both_sides(blobs):
    W = [knn_graph(X, 10) for X in blobs.views.arrays]
    model = CCAMSC(3, affinity="precomputed").fit(W)
    assert assess_stability(model, W, 2).together == pytest.approx(1)


def test_other_samples_are_refused(blobs):
    model = MFMSC(3).fit(blobs.views)
    with pytest.raises(InputError, match="fitted on 60 samples, but got 10"):
        assess_stability(model, blobs.views[:10])
    with pytest.raises(InputError, match="repeats=0 is too small"):
        assess_stability(model, blobs.views, 0)


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_called_noise(seed):
    """Most pairs stay together in noise, too: in one large cluster, by chance."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(150, 5)), rng.normal(size=(150, 8))]
    found = assess_stability(MFMSC(3).fit(X), X, 4)
    assert found.noise.shape == (5,)
    assert found.verdict != "stable"
    assert found.corrected < 0.5 or found.verdict == "no better than noise"


def test_the_verdict_depends_on_the_agreement_and_on_noise(blobs):
    model = MFMSC(3).fit(blobs.views)
    found = assess_stability(model, blobs.views, 3)
    assert (found.corrected, found.verdict) == (1, "stable")
    assert found.noise.max() < 1
    assert replace(found, noise=np.array([0.9, 1.0, 1.0])).verdict == "no better than noise"
    assert replace(found, agreement=np.array([0.5, 0.7]), noise=np.array([0.3])).verdict == "doubtful"
    assert assess_stability(model, blobs.views, 3, noise_repeats=0).noise.size == 0
