"""Plots as matplotlib figures. Nothing here opens a window or writes a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from manyview.checks import InputError
from manyview.evaluation.survival import Survival
from manyview.methods import MultiViewClusterer
from manyview.numerics.division import or_one
from manyview.report.agreement import compare_views
from manyview.report.clusters import QUANTILES, affinity_image, silhouettes, summarize_clusters
from manyview.report.data import analyse_tables, fitted_views
from manyview.report.palette import CLUSTERS, STEPS
from manyview.report.sample_map import choose_samples, lay_out_samples, spectral_coordinates

MOST_GROUP_NAMES = 20  # more would overlap
INK, ACCENT, MUTED = "#1f2933", "#0b6e99", "#b8c4ce"
MARKERS = "o^sDvP"
MOST_POINTS = 5000
STRONG_EFFECT = 4.0  # drawn at full strength
SELECTION_TITLES = {
    "separation": "separation",
    "stability": "stability",
    "score": "score",
    "eigengap": "eigengap (not used)",
}
EFFECTS = LinearSegmentedColormap.from_list("effects", [CLUSTERS["light"][0], "white", CLUSTERS["light"][1]])


def cluster_colour(k: int) -> str:
    """Return the colour of a cluster, as in the report."""
    return CLUSTERS["light"][k % len(CLUSTERS["light"])]


def cluster_marker(k: int) -> str:
    """Return the marker of a cluster, which changes each time the colours repeat."""
    return MARKERS[k // len(CLUSTERS["light"]) % len(MARKERS)]


def literal(name: object) -> str:
    """Escape a name, so that matplotlib does not read it as mathematics between dollar signs."""
    return str(name).replace("$", r"\$")


# Affinities ------------------------------------------------------------------------------------------


def draw_affinity(ax: Any, W: sp.csr_array, labels: NDArray[Any], title: str) -> None:
    """Draw a graph as a heat map ordered by label, with lines between the groups."""
    image, ends = affinity_image(W, labels)
    ax.imshow(np.sqrt(image), cmap="Blues", vmin=0, vmax=np.sqrt(np.quantile(image, 0.99)), interpolation="nearest")
    for end in ends[:-1] * len(image) - 0.5:
        ax.axhline(end, color=MUTED, linewidth=0.5)
        ax.axvline(end, color=MUTED, linewidth=0.5)
    names = [str(name) for name in np.unique(labels)] if len(ends) <= MOST_GROUP_NAMES else []
    centres = ((np.r_[0, ends[:-1]] + ends) / 2 * len(image) - 0.5)[: len(names)]
    ax.set_xticks(centres, names)
    ax.set_yticks(centres, names)
    ax.tick_params(labelsize=8, colors=INK, length=0)
    ax.spines[:].set_color(MUTED)
    ax.set_title(title, fontsize=10, color=INK)


def plot_affinity(W: sp.csr_array, labels: NDArray[Any], title: str = "Affinity, samples ordered by cluster") -> Figure:
    """Heat map of a graph (for instance `affinity_`) with the samples ordered by label."""
    figure = Figure(figsize=(5, 5.2), layout="constrained")
    draw_affinity(figure.subplots(), W, labels, title)
    return figure


def plot_comparison(
    accuracies: Mapping[str, float], affinities: Mapping[str, sp.csr_array], labels: NDArray[Any], title: str
) -> Figure:
    """Bars of accuracy, and the affinities behind them with samples ordered by true class."""
    figure = Figure(figsize=(4.2 + 3.1 * len(affinities), 3.8), layout=ConstrainedLayoutEngine(wspace=0.06))
    axes = figure.subplots(1, 1 + len(affinities), width_ratios=[1.2] + [1] * len(affinities))
    _draw_bars(axes[0], list(accuracies), list(accuracies.values()))
    for ax, (name, W) in zip(axes[1:], affinities.items(), strict=True):
        draw_affinity(ax, W, labels, f"links: {name}")
    figure.suptitle(title, fontsize=11, color=INK)
    return figure


def _draw_bars(ax: Any, names: Sequence[str], values: Sequence[float]) -> None:
    best = int(np.argmax(values))
    colours = [ACCENT if i == best else MUTED for i in range(len(values))]
    ax.barh(names, values, color=colours, height=0.65)
    for i, value in enumerate(values):
        ax.text(
            value - 0.02, i, f"{value:.3f}", va="center", ha="right", fontsize=9, color="white" if i == best else INK
        )
    ax.set(xlim=(0, 1))
    ax.set_title("clustering accuracy (ACC)", fontsize=10, color=INK)
    ax.invert_yaxis()
    ax.tick_params(labelsize=9, colors=INK, left=False)
    ax.spines[["top", "right", "left"]].set_visible(False)


# The figures of the report ---------------------------------------------------------------------------


def plot_cluster_sizes(model: MultiViewClusterer) -> Figure:
    """Bars of the number of samples in each cluster."""
    sizes = np.bincount(model.labels_)
    figure, ax = _rows_of_clusters(len(sizes), "samples")
    bars = ax.barh(range(len(sizes)), sizes, color=[cluster_colour(k) for k in range(len(sizes))], height=0.7)
    ax.bar_label(bars, padding=3, fontsize=8, color=INK)
    ax.margins(x=0.1)
    return figure


def plot_embedding(
    model: MultiViewClusterer, colors: Sequence[Any] | NDArray[Any] | None = None, *, seed: int = 0
) -> Figure:
    """Map of the samples, as in the report: coloured by cluster, or by `colors`, a number or a category per sample."""
    labels = model.labels_
    coordinates = spectral_coordinates(model.affinity_, int(labels.max()) + 1)
    picture = lay_out_samples(coordinates, choose_samples(labels, MOST_POINTS, seed), seed)
    figure = Figure(figsize=(7, 5.4), layout="constrained")
    ax = figure.subplots()
    values = np.asarray(labels if colors is None else colors)
    if len(values) != len(labels):
        raise InputError(f"Got {len(values)} colors for {len(labels)} samples; give one per sample.")
    shown, (x, y) = values[picture.rows], picture.places.T
    if colors is not None and values.dtype.kind == "f":
        points = ax.scatter(x, y, c=shown, cmap=ListedColormap(STEPS["light"]), s=8, linewidths=0)
        figure.colorbar(points, ax=ax)
    else:
        for k, value in enumerate(np.unique(values)):
            here, colour, marker = shown == value, cluster_colour(k), cluster_marker(k)
            ax.scatter(x[here], y[here], color=colour, marker=marker, s=8, linewidths=0, label=literal(value))
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False, markerscale=2)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"Samples by the consensus graph ({picture.how})", fontsize=10, color=INK)
    ax.spines[:].set_color(MUTED)
    return figure


def plot_view_agreement(model: MultiViewClusterer, views: object) -> Figure:
    """Bars of the agreement of each view's own clusters with the consensus, and of the view weights."""
    rows = compare_views(model, fitted_views(model, views)).views
    measures = {"ACC": [row.acc for row in rows], "NMI": [row.nmi for row in rows]}
    if any(row.weight is not None for row in rows):
        measures["weight"] = [row.weight for row in rows]
    figure = Figure(figsize=(6, 1.2 + 0.5 * len(rows)), layout="constrained")
    ax = figure.subplots()
    height = 0.8 / len(measures)
    for i, (name, values) in enumerate(measures.items()):
        places = np.arange(len(rows)) + (i - (len(measures) - 1) / 2) * height
        known = [0.0 if value is None else value for value in values]
        ax.barh(places, known, height=height * 0.9, color=CLUSTERS["light"][i], label=name)
    ax.set_yticks(range(len(rows)), [literal(row.name) for row in rows])
    ax.invert_yaxis()
    ax.set(xlim=(0, 1))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
    ax.set_title("Single views compared with the consensus", fontsize=10, color=INK)
    _tidy(ax)
    return figure


def plot_silhouette(model: MultiViewClusterer) -> Figure:
    """Silhouettes of each cluster: the median, the middle half and 90 % of its samples."""
    labels = model.labels_
    silhouette = silhouettes(spectral_coordinates(model.affinity_, int(labels.max()) + 1), labels)
    clusters = summarize_clusters(model.affinity_, labels, silhouette)
    figure, ax = _rows_of_clusters(len(clusters.size), "silhouette")
    low, first, _, third, high = range(len(QUANTILES))
    for k, spread in enumerate(clusters.quantiles):
        ax.plot(spread[[low, high]], [k, k], color=cluster_colour(k), linewidth=1)
        ax.plot(spread[[first, third]], [k, k], color=cluster_colour(k), linewidth=6, solid_capstyle="butt", alpha=0.6)
    ax.scatter(clusters.quantiles[:, 2], range(len(clusters.size)), color=INK, marker="|", s=60, zorder=3)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    ax.set(xlim=(-1, 1))
    return figure


def plot_convergence(model: MultiViewClusterer) -> Figure:
    """Objective and residual over the iterations."""
    history = model.history_
    if not history:
        raise InputError(f"{type(model).__name__} does not iterate, so there is no convergence to plot.")
    traces = [name for name in ("objective", "residual") if name in history[0]]
    figure = Figure(figsize=(4 * len(traces), 3), layout="constrained")
    for ax, name in zip(np.atleast_1d(figure.subplots(1, len(traces))), traces, strict=True):
        ax.plot(
            range(1, len(history) + 1), [record[name] for record in history], color=ACCENT, marker="o", markersize=3
        )
        ax.set_title(name, fontsize=10, color=INK)
        ax.set_xlabel("iteration", fontsize=9, color=INK)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if name == "residual" and len(history) > 1:
            ax.set_yscale("log")
        _tidy(ax)
    return figure


def plot_corruption(model: MultiViewClusterer) -> Figure:
    """Share of samples whose value looks corrupted, for each feature of each view (`corruption_` of OCBR)."""
    errors = getattr(model, "corruption_", None)
    if errors is None or not all(sp.issparse(E) for E in errors):
        raise InputError(f"{type(model).__name__} does not detect corrupted entries; OCBR does.")
    figure = Figure(figsize=(7, 1.2 + 1.3 * len(errors)), layout="constrained")
    for ax, E, name in zip(np.atleast_1d(figure.subplots(len(errors), 1)), errors, model.view_names_, strict=True):
        counts = np.bincount(E.indices[E.data != 0], minlength=E.shape[1])
        ax.bar(range(E.shape[1]), counts / E.shape[0], width=1, color=ACCENT)
        ax.set_title(f"{literal(name)}: {counts.sum():,} suspected entries", fontsize=9, color=INK, loc="left")
        _tidy(ax)
    ax.set_xlabel("feature", fontsize=9, color=INK)
    figure.supylabel("share of the samples", fontsize=9, color=INK)
    return figure


def plot_features(model: MultiViewClusterer, views: object) -> Figure:
    """Heat map of the features that separate clusters: Cohen's d, orange if higher in the cluster, blue if lower."""
    features, _ = analyse_tables(model, fitted_views(model, views))
    if features is None:
        raise InputError("The views are affinity matrices, which have no features to plot.")
    effects = np.array([feature.effects for feature in features.mapped])
    figure = Figure(figsize=(2.5 + 0.35 * effects.shape[1], 1 + 0.22 * len(effects)), layout="constrained")
    ax = figure.subplots()
    limit = min(float(np.abs(effects).max(initial=1e-9)), STRONG_EFFECT)
    image = ax.imshow(effects, cmap=EFFECTS, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    ax.set_xticks(range(effects.shape[1]))
    ax.set_yticks(range(len(effects)), [literal(f"{feature.feature} ({feature.view})") for feature in features.mapped])
    ax.set_xlabel("cluster", fontsize=9, color=INK)
    ax.tick_params(labelsize=7, colors=INK, length=0)
    figure.colorbar(image, ax=ax, label="Cohen's d")
    return figure


def plot_markers(model: MultiViewClusterer, views: object) -> Figure:
    """Dot plot of the features that mark each cluster.

    Colour is the mean, from the lowest cluster to the highest; size is the share of values above the median.
    """
    features, _ = analyse_tables(model, fitted_views(model, views))
    if features is None:
        raise InputError("The views are affinity matrices, which have no features to plot.")
    means, above = (np.array([getattr(dots, name) for dots in features.dots]) for name in ("means", "above"))
    low, high = np.nanmin(means, axis=1, keepdims=True), np.nanmax(means, axis=1, keepdims=True)
    column, cluster = np.nonzero(~np.isnan(means))
    figure = Figure(figsize=(2.2 + 0.26 * len(means), 1.6 + 0.26 * means.shape[1]), layout="constrained")
    ax = figure.subplots()
    colours = ((means - low) / or_one(high - low))[column, cluster]
    steps = ListedColormap(STEPS["light"])
    dots = ax.scatter(column, cluster, s=140 * above[column, cluster], c=colours, cmap=steps, vmin=0, vmax=1)
    ax.set_xticks(range(len(means)), [literal(dots.feature) for dots in features.dots], rotation=90)
    ax.set_yticks(range(means.shape[1]))
    ax.set(xlim=(-0.7, len(means) - 0.3), ylim=(means.shape[1] - 0.3, -0.7))
    ax.set_ylabel("cluster", fontsize=9, color=INK)
    _tidy(ax)
    bar = figure.colorbar(dots, ax=ax, ticks=[0, 1], label="mean")
    bar.ax.set_yticklabels(["lowest", "highest"], fontsize=8)
    return figure


def plot_survival(survival: Survival, time: str = "time") -> Figure:
    """Kaplan-Meier curves of the clusters with 95 % bands, and the numbers at risk below them."""
    curves = survival.curves
    figure = Figure(figsize=(7, 4 + 0.22 * len(curves)), layout="constrained")
    ax, table = figure.subplots(2, 1, sharex=True, height_ratios=[4, 0.3 + 0.28 * len(curves)])
    for i, curve in enumerate(curves):
        k = curve.cluster if isinstance(curve.cluster, int) else i
        look = {"color": cluster_colour(k), "linestyle": "-" if k < len(CLUSTERS["light"]) else "--"}
        ax.step(curve.times, curve.survival, where="post", label=literal(curve.cluster), **look)
        ax.fill_between(
            curve.times, curve.lower, curve.upper, step="post", color=look["color"], alpha=0.12, linewidth=0
        )
    ax.set(ylim=(0, 1.02))
    ax.set_ylabel("share without the event", fontsize=9, color=INK)
    ax.set_title(f"Survival by cluster, log-rank p = {survival.p_value:.2g}", fontsize=10, color=INK)
    ax.legend(title="cluster", loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
    _tidy(ax)
    for row, curve in enumerate(curves):
        for shown, number in zip(survival.shown, curve.at_risk, strict=True):
            table.text(shown, row, f"{number:,}", ha="center", va="center", fontsize=8, color=INK)
    table.set_yticks(range(len(curves)), [literal(curve.cluster) for curve in curves])
    table.set(ylim=(len(curves) - 0.4, -0.6))
    table.set_xlabel(literal(time), fontsize=9, color=INK)
    table.set_ylabel("at risk", fontsize=9, color=INK)
    _tidy(table)
    return figure


def plot_selection(model: MultiViewClusterer) -> Figure:
    """Separation, stability and score of each number of clusters tried, and the eigengap, which was not used.

    The number with the highest score was chosen: the drop in separation to the next number, times the stability.
    """
    selection = getattr(model, "selection_", None)
    if selection is None:
        raise InputError("The number of clusters was given, not chosen; fit with n_clusters='auto'.")
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    for ax, (name, title) in zip(figure.subplots(2, 2).flat, SELECTION_TITLES.items(), strict=True):
        ax.plot(selection.candidates, getattr(selection, name), color=ACCENT, marker="o", markersize=4)
        ax.axvline(selection.chosen, color=CLUSTERS["light"][1], linestyle="--", linewidth=1)
        ax.set_title(title, fontsize=10, color=INK)
        ax.set_xlabel("number of clusters", fontsize=9, color=INK)
        ax.xaxis.get_major_locator().set_params(integer=True)
        _tidy(ax)
    figure.suptitle(f"Chosen: {selection.chosen} clusters", fontsize=11, color=INK)
    return figure


def plot_stability(result: Any) -> Figure:
    """Bars of the stability of each cluster: how often pairs of its samples stay together on resampled data."""
    figure, ax = _rows_of_clusters(len(result.clusters), f"stability over {result.repeats} repetitions")
    ax.barh(
        range(len(result.clusters)),
        result.clusters,
        color=[cluster_colour(k) for k in range(len(result.clusters))],
        height=0.7,
    )
    ax.set(xlim=(0, 1))
    return figure


def _rows_of_clusters(n_clusters: int, measure: str) -> tuple[Figure, Any]:
    """Return a figure with one row per cluster, the first on top."""
    figure = Figure(figsize=(5, 0.9 + 0.25 * n_clusters), layout="constrained")
    ax = figure.subplots()
    ax.set_yticks(range(n_clusters))
    ax.set_ylim(n_clusters - 0.4, -0.6)
    ax.set_xlabel(measure, fontsize=9, color=INK)
    ax.set_ylabel("cluster", fontsize=9, color=INK)
    _tidy(ax)
    return figure, ax


def _tidy(ax: Any) -> None:
    ax.tick_params(labelsize=8, colors=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)


def png_bytes(figure: Figure, dpi: int = 150) -> bytes:
    """Render a figure as PNG; afterwards its layout is final for other formats too."""
    for _ in range(3):  # images, titles and labels settle one after another
        figure.draw_without_rendering()
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
