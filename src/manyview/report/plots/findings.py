"""What the clusters are associated with: features that mark them, and survival."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure

from manyview.checks import InputError
from manyview.evaluation.survival import Survival
from manyview.methods import MultiViewClusterer
from manyview.numerics.division import or_one
from manyview.report.data import analyse_tables, fitted_views
from manyview.report.palette import CLUSTERS, STEPS
from manyview.report.plots.style import INK, cluster_colour, literal, tidy

STRONG_EFFECT = 4.0  # drawn at full strength
MOST_BANDS = 5  # survival curves whose bands can be told apart
EFFECTS = LinearSegmentedColormap.from_list("effects", [CLUSTERS["light"][0], "white", CLUSTERS["light"][1]])


def plot_features(model: MultiViewClusterer, views: object) -> Figure:
    """Draw a heat map of features that separate clusters: Cohen's d, orange if higher in the cluster, blue if lower.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    views : as for `fit`
        The views the model was fitted on.
    """
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
    """Draw a dot plot of the features that mark each cluster.

    Colour shows the mean, from the lowest cluster to the highest; size shows the share of values above the median.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    views : as for `fit`
        The views the model was fitted on.
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
    tidy(ax)
    bar = figure.colorbar(dots, ax=ax, ticks=[0, 1], label="mean")
    bar.ax.set_yticklabels(["lowest", "highest"], fontsize=8)
    return figure


def plot_survival(survival: Survival, time: str = "time") -> Figure:
    """Draw Kaplan-Meier curves of the clusters, and the numbers at risk below them.

    Up to five clusters have 95% bands; those of more would cover each other.

    Parameters
    ----------
    survival : Survival
        What `compare_survival` returned.
    time : str, default="time"
        Name of the horizontal axis, for instance "months".
    """
    curves = survival.curves
    figure = Figure(figsize=(7, 4 + 0.22 * len(curves)), layout="constrained")
    ax, table = figure.subplots(2, 1, sharex=True, height_ratios=[4, 0.3 + 0.28 * len(curves)])
    for i, curve in enumerate(curves):
        k = curve.cluster if isinstance(curve.cluster, int) else i
        look = {"color": cluster_colour(k), "linestyle": "-" if k < len(CLUSTERS["light"]) else "--"}
        ax.step(curve.times, curve.survival, where="post", label=literal(curve.cluster), **look)
        if len(curves) <= MOST_BANDS:
            ax.fill_between(
                curve.times, curve.lower, curve.upper, step="post", color=look["color"], alpha=0.12, linewidth=0
            )
    ax.set(ylim=(0, 1.02))
    ax.set_ylabel("share without the event", fontsize=9, color=INK)
    ax.set_title(f"Survival by cluster, log-rank p = {survival.p_value:.2g}", fontsize=10, color=INK)
    ax.legend(title="cluster", loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
    tidy(ax)
    for row, curve in enumerate(curves):
        for shown, number in zip(survival.shown, curve.at_risk, strict=True):
            table.text(shown, row, f"{number:,}", ha="center", va="center", fontsize=8, color=INK)
    table.set_yticks(range(len(curves)), [literal(curve.cluster) for curve in curves])
    table.set(ylim=(len(curves) - 0.4, -0.6))
    table.set_xlabel(literal(time), fontsize=9, color=INK)
    table.set_ylabel("at risk", fontsize=9, color=INK)
    tidy(table)
    return figure
