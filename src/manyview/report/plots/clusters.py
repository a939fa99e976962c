"""The clusters: their sizes, their samples on a map, how compact they are, and how well each view agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from manyview.checks import InputError
from manyview.methods import MultiViewClusterer
from manyview.report.agreement import compare_views
from manyview.report.clusters import QUANTILES, silhouettes, summarize_clusters
from manyview.report.data import fitted_views
from manyview.report.palette import CLUSTERS, STEPS
from manyview.report.plots.style import INK, MUTED, cluster_colour, cluster_marker, literal, rows_of_clusters, tidy
from manyview.report.sample_map import choose_samples, lay_out_samples, spectral_coordinates

MOST_POINTS = 5000


def plot_cluster_sizes(model: MultiViewClusterer) -> Figure:
    """Draw bars of the number of samples in each cluster.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    """
    sizes = np.bincount(model.labels_)
    figure, ax = rows_of_clusters(len(sizes), "samples")
    bars = ax.barh(range(len(sizes)), sizes, color=[cluster_colour(k) for k in range(len(sizes))], height=0.7)
    ax.bar_label(bars, padding=3, fontsize=8, color=INK)
    ax.margins(x=0.1)
    return figure


def plot_embedding(
    model: MultiViewClusterer, colors: Sequence[Any] | NDArray[Any] | None = None, *, seed: int = 0
) -> Figure:
    """Draw a map of the samples, as in the report, coloured by cluster or by `colors`.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    colors : array (n_samples,), optional
        A number or a category per sample; by default the cluster. The name of a Series becomes that of the colours.
    seed : int, default=0
        Seed of the layout. Another seed rotates the map and may rearrange the groups.
    """
    labels = model.labels_
    coordinates = spectral_coordinates(model.affinity_, int(labels.max()) + 1)
    picture = lay_out_samples(coordinates, choose_samples(labels, MOST_POINTS, seed), seed)
    figure = Figure(figsize=(7, 5.4), layout="constrained")
    ax = figure.subplots()
    values = np.asarray(labels if colors is None else colors)
    name = "cluster" if colors is None else literal(getattr(colors, "name", None) or "")
    if len(values) != len(labels):
        raise InputError(f"Got {len(values)} colors for {len(labels)} samples; give one per sample.")
    shown, (x, y) = values[picture.rows], picture.places.T
    if colors is not None and values.dtype.kind == "f":
        points = ax.scatter(x, y, c=shown, cmap=ListedColormap(STEPS["light"]), s=8, linewidths=0)
        figure.colorbar(points, ax=ax, label=name)
    else:
        for k, value in enumerate(np.unique(values)):
            here, colour, marker = shown == value, cluster_colour(k), cluster_marker(k)
            ax.scatter(x[here], y[here], color=colour, marker=marker, s=8, linewidths=0, label=literal(value))
        ax.legend(title=name, loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False, markerscale=2)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"Samples in the consensus graph ({picture.how})", fontsize=10, color=INK)
    ax.spines[:].set_color(MUTED)
    return figure


def plot_silhouette(model: MultiViewClusterer) -> Figure:
    """Draw the silhouettes of each cluster: the median, the middle half and 90% of its samples.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    """
    labels = model.labels_
    silhouette = silhouettes(spectral_coordinates(model.affinity_, int(labels.max()) + 1), labels)
    clusters = summarize_clusters(model.affinity_, labels, silhouette)
    figure, ax = rows_of_clusters(len(clusters.size), "silhouette")
    low, first, _, third, high = range(len(QUANTILES))
    for k, spread in enumerate(clusters.quantiles):
        ax.plot(spread[[low, high]], [k, k], color=cluster_colour(k), linewidth=1)
        ax.plot(spread[[first, third]], [k, k], color=cluster_colour(k), linewidth=6, solid_capstyle="butt", alpha=0.6)
    ax.scatter(clusters.quantiles[:, 2], range(len(clusters.size)), color=INK, marker="|", s=60, zorder=3)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    ax.set(xlim=(-1, 1))
    return figure


def plot_view_agreement(model: MultiViewClusterer, views: object) -> Figure:
    """Draw bars of how well each view's own clusters agree with the consensus, and of the view weights.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    views : as for `fit`
        The views the model was fitted on.
    """
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
    tidy(ax)
    return figure
