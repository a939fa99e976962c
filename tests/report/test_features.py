"""Features in the heat map and suspected entries, against values computed by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import Views
from manyview.evaluation.moments import table_moments
from manyview.report.features import find_suspects, separating_features

LABELS = np.array([0, 0, 1, 1])
COLUMN = np.array([[0.0], [2.0], [10.0], [12.0]])


def test_the_strongest_features_come_first_with_their_names():
    first = pd.DataFrame({"weak": [0.0, 3, 1, 4], "strong": COLUMN.ravel()})
    views = Views({"a": first, "b": 2 * COLUMN + np.array([[0.0], [0], [0], [5]])})
    moments = [table_moments(X, LABELS) for X in views.arrays]
    found = separating_features(views.arrays, moments, views, LABELS)
    first, second = ([row for row in found.markers if row.cluster == k] for k in (0, 1))
    assert [(row.view, row.feature) for row in first] == [("a", "strong"), ("b", "column 0"), ("a", "weak")]
    assert first[0].effect == pytest.approx(-10 / np.sqrt(2))
    assert (first[0].auc, second[0].auc) == (0, 1)
    assert (second[0].mean_inside, second[0].mean_outside) == (pytest.approx(11), pytest.approx(1))
    assert [row.feature for row in found.mapped] == ["strong", "column 0", "weak"]
    assert [(row.feature, row.cluster) for row in found.dots] == [("strong", 0), ("column 0", 0), ("weak", 0)]
    assert found.dots[0].means.tolist() == pytest.approx([1, 11])
    assert found.dots[0].above.tolist() == [0, 1]


def test_suspected_entries_are_counted_and_the_largest_listed():
    X = np.array([[0.0, 1], [2, 100], [10, 3], [np.nan, 4]])
    E = sp.csr_array(np.array([[0.0, 0], [0, 98], [2.0, 0], [0, 0]]))
    views = Views({"v": pd.DataFrame(X, columns=["f", "g"])})
    suspects = find_suspects([E], views, [table_moments(X - E, LABELS)])
    (view,) = suspects.views
    assert (view.count, view.share) == (2, 2 / 7)
    assert sorted(view.features) == [("f", 1), ("g", 1)]
    assert sorted(view.samples) == [(1, 1), (2, 1)]
    first, second = suspects.entries
    assert (first.row, first.feature, first.observed, first.expected) == (1, "g", 100, 2)
    assert first.size == pytest.approx(98 / np.std([1, 2, 3, 4]))
    assert (second.row, second.feature, second.observed, second.expected) == (2, "f", 10, 8)
