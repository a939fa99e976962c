"""Plots: what is drawn, and that it can be drawn."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

pytest.importorskip("matplotlib")

from manyview import MFMSC, OCBR, InputError, Views, make_views, report
from manyview.evaluation import compare_survival
from manyview.preprocessing.corruption import corrupt_entries
from manyview.report import plot_affinity, plot_comparison
from manyview.report.agreement import compare_views
from manyview.report.clusters import affinity_image
from manyview.report.plots.style import png_bytes
from manyview.reproduction.figures import plot_affinities

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


@pytest.fixture(scope="module")
def fitted():
    noisy = corrupt_entries(make_views(60, 12, (5, 8), noise=0.3, separation=20, seed=1).views, 0.1, seed=0)
    first, second = noisy.arrays
    views = Views({r"$\no mathematics$": pd.DataFrame(first).add_prefix(r"$\gene{$"), "second": second})
    return OCBR(12).fit(views), views


def test_every_plot_of_the_report_is_a_figure(fitted):
    model, views = fitted
    stability = SimpleNamespace(samples=np.ones(60), clusters=np.linspace(0.5, 1, 12), repeats=10)
    model.selection_ = SimpleNamespace(
        candidates=[11, 12, 13],
        separation=[0.9, 0.8, 0.2],
        stability=[0.8, 1.0, 0.7],
        score=[0.08, 0.6, 0.0],
        eigengap=[0.1, 0.5, 0.2],
        chosen=12,
        suggestions=[12, 13],
    )
    figures = [
        report.plot_cluster_sizes(model),
        report.plot_embedding(model),
        report.plot_embedding(model, np.linspace(0, 1, 60)),
        report.plot_embedding(model, ["$a{$", "b"] * 30),
        report.plot_view_agreement(model, views),
        report.plot_silhouette(model),
        report.plot_convergence(model),
        report.plot_corruption(model),
        report.plot_features(model, views),
        report.plot_markers(model, views),
        report.plot_selection(model),
        report.plot_levels(model),
        report.plot_stability(stability),
    ]
    for figure in figures:
        assert png_bytes(figure, dpi=40).startswith(b"\x89PNG")


def test_plots_show_the_numbers_of_the_report(fitted):
    model, views = fitted
    sizes = [bar.get_width() for bar in report.plot_cluster_sizes(model).axes[0].patches]
    assert sizes == np.bincount(model.labels_).tolist()
    widths = [bar.get_width() for bar in report.plot_view_agreement(model, views).axes[0].patches]
    agreement = compare_views(model, views).views
    np.testing.assert_allclose(
        widths, [row.acc for row in agreement] + [row.nmi for row in agreement] + list(model.view_weights_)
    )
    heights = [bar.get_height() for bar in report.plot_corruption(model).axes[0].patches]
    assert sum(heights) * 60 == pytest.approx(model.corruption_[0].nnz)


def test_the_choice_of_k_is_plotted_with_what_it_was_made_by(blobs):
    model = MFMSC("auto").fit(blobs.views)
    lines = {ax.get_title(): ax.lines[0].get_ydata() for ax in report.plot_selection(model).axes}
    assert list(lines) == ["separation", "stability", "score", "eigengap (not used)"]
    np.testing.assert_array_equal(lines["separation"], model.selection_.separation)
    np.testing.assert_array_equal(lines["score"], model.selection_.score)
    model.selection_ = replace(model.selection_, chosen=3, suggestions=np.array([3, 7]))
    marks = [(line.get_xdata()[0], line.get_linestyle()) for line in report.plot_selection(model).axes[0].lines[1:]]
    assert marks == [(3, "--"), (7, ":")]


def test_the_map_names_what_its_colours_show(blobs):
    model = MFMSC(3).fit(blobs.views)
    assert report.plot_embedding(model).axes[0].get_legend().get_title().get_text() == "cluster"
    confidence = pd.Series(np.linspace(0, 1, 60), name="confidence")
    assert report.plot_embedding(model, confidence).axes[1].get_ylabel() == "confidence"
    assert report.plot_embedding(model, confidence.to_numpy()).axes[1].get_ylabel() == ""


def test_plots_of_what_is_not_there_say_so(blobs):
    model = MFMSC(3).fit(blobs.views)
    with pytest.raises(InputError, match="MFMSC does not detect corrupted entries"):
        report.plot_corruption(model)
    with pytest.raises(InputError, match="MFMSC does not iterate"):
        report.plot_convergence(model)
    with pytest.raises(InputError, match="n_clusters='auto'"):
        report.plot_selection(model)
    with pytest.raises(InputError, match="5 colors for 60 samples"):
        report.plot_embedding(model, range(5))
    with pytest.raises(AttributeError, match="no attribute 'plot_nothing'"):
        _ = report.plot_nothing


def test_a_figure_of_the_paper_is_drawn_when_its_layout_has_settled(rng):
    """Before that, its titles run together, and words are cut off."""
    W = sp.csr_array(rng.random((60, 60)))
    figure = plot_affinities(dict.fromkeys(("OCBR", "LRRGL"), (W, np.repeat(np.arange(3), 20), 0.5)), "Digits")
    assert png_bytes(figure) == png_bytes(figure)


def test_survival_is_drawn_with_the_numbers_at_risk(rng):
    pytest.importorskip("lifelines")
    labels = np.repeat(["basal", "luminal"], 20)
    survival = compare_survival(labels, rng.exponential(9, 40), np.ones(40))
    figure = report.plot_survival(survival, r"months $\no")
    upper, lower = figure.axes
    assert [text.get_text() for text in upper.get_legend().get_texts()] == ["basal", "luminal"]
    assert lower.texts[0].get_text() == "20"
    assert png_bytes(figure, dpi=50).startswith(b"\x89PNG")


@pytest.mark.parametrize(("clusters", "bands"), [(5, 5), (6, 0)])
def test_bands_are_drawn_where_they_can_be_told_apart(rng, clusters, bands):
    pytest.importorskip("lifelines")
    survival = compare_survival(np.arange(60) % clusters, rng.exponential(9, 60), np.ones(60))
    assert len(report.plot_survival(survival).axes[0].collections) == bands
