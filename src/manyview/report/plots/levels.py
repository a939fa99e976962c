"""The partitions coarser and finer than the fitted one, as a tree."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from manyview.checks import InputError
from manyview.methods import MultiViewClusterer
from manyview.report.levels import Branch, between, lay_out_tree
from manyview.report.palette import CLUSTERS, STEPS
from manyview.report.plots.style import INK, MUTED, cluster_colour, tidy

LEVEL_TICKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)


def plot_levels(model: MultiViewClusterer) -> Figure:
    """Draw the tree of nested partitions (`levels_`); a vertical line at k crosses the k clusters of ``model.cut(k)``.

    Dots are merges, darker if the two clusters are farther apart. Branches have the colours of the fitted clusters.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    """
    tree = lay_out_tree(model.levels_, model.labels_)
    n_leaves = len(tree.sizes)
    if n_leaves == 1:
        raise InputError("There is one cluster, and it cannot be split, so there is no tree to plot.")
    figure = Figure(figsize=(7, 1.2 + 0.2 * n_leaves), layout="constrained")
    ax = figure.subplots()
    for fork in tree.forks:
        start = between(fork.level)
        for branch in fork.branches:
            ax.plot([start, branch.end], [branch.height] * 2, color=branch_colour(branch), linewidth=1.5)
        ax.plot([start] * 2, [branch.height for branch in fork.branches], color=INK, linewidth=1)
    x = [between(fork.level) for fork in tree.forks]
    y = [np.mean([branch.height for branch in fork.branches]) for fork in tree.forks]
    shades = [fork.separation for fork in tree.forks]
    dots = ax.scatter(x, y, c=shades, cmap=ListedColormap(STEPS["light"]), vmin=0, vmax=1, zorder=3)
    ax.axvline(tree.fitted, color=CLUSTERS["light"][1], linestyle="--", linewidth=1, zorder=0)
    names = [f"{k} ({size:,})" for k, size in zip(tree.clusters, tree.sizes, strict=True)]
    ax.set_yticks(range(n_leaves), names)
    ax.yaxis.tick_right()
    ax.invert_yaxis()
    ax.set_xscale("log")
    ticks = sorted({k for k in (*LEVEL_TICKS, tree.fitted) if k <= n_leaves})
    ax.set_xticks(ticks, [str(k) for k in ticks], minor=False)
    ax.set_xticks([], minor=True)
    ax.set_xlabel("number of clusters", fontsize=9, color=INK)
    ax.set_title(f"Fitted: {tree.fitted} clusters. At the right: cluster (samples)", fontsize=10, color=INK)
    ax.set(xlim=(1, n_leaves * 1.02))
    tidy(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    bar = figure.colorbar(dots, ax=ax, shrink=0.5, location="left")
    bar.set_label("separation of the two clusters", fontsize=9, color=INK)
    bar.ax.tick_params(labelsize=8, colors=INK)
    return figure


def branch_colour(branch: Branch) -> str:
    """Return the colour of the fitted cluster that a branch belongs to, grey if it contains several."""
    return MUTED if branch.cluster is None else cluster_colour(branch.cluster)
