"""Plots: what is drawn, and that it can be drawn."""

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("matplotlib")

from manyview.report import plot_affinity, plot_comparison
from manyview.report.plots import affinity_image, png_bytes

W = sp.csr_array(sp.block_diag([np.ones((6, 6)), np.ones((4, 4))]))
LABELS = np.array([1] * 6 + [0] * 4)


def test_affinity_image_is_ordered_by_label_and_row_stochastic():
    image, ends = affinity_image(W, LABELS, size=10)
    np.testing.assert_allclose(image.sum(axis=1), 1)
    np.testing.assert_allclose(image[:4, 4:], 0)
    np.testing.assert_allclose(ends, [0.4, 1.0])


def test_large_graphs_are_summed_into_cells():
    image, _ = affinity_image(W, LABELS, size=5)
    assert image.shape == (5, 5)
    np.testing.assert_allclose(image[:2, 2:], 0)


def test_figures_render():
    for figure in (plot_affinity(W, LABELS), plot_comparison({"a": 0.5, "b": 1.0}, {"a": W}, LABELS, "title")):
        assert png_bytes(figure, dpi=50).startswith(b"\x89PNG")
