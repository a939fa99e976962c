"""Corrected p-values, against scipy and by hand."""

import numpy as np
from scipy.stats import false_discovery_control

from manyview.evaluation.p_values import adjust_p_values


def test_by_hand():
    np.testing.assert_allclose(adjust_p_values([0.01, 0.04, 0.03, 0.5]), [0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_what_was_not_tested_does_not_count(rng):
    p = rng.random(20)
    adjusted = adjust_p_values(np.r_[np.nan, p, np.nan])
    assert np.isnan(adjusted[[0, -1]]).all()
    np.testing.assert_allclose(adjusted[1:-1], false_discovery_control(p))
    assert np.isnan(adjust_p_values([np.nan])).all()
    assert adjust_p_values([]).shape == (0,)
