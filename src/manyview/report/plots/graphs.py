"""Graphs as heat maps, and the accuracies they explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from manyview.report.clusters import affinity_image
from manyview.report.plots.style import ACCENT, INK, MUTED

MOST_GROUP_NAMES = 20  # more would overlap


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
    """Draw a heat map of a graph (for instance `affinity_`) with the samples ordered by label.

    Parameters
    ----------
    W : sparse array (n_samples, n_samples)
        The graph.
    labels : array (n_samples,)
        The labels that order the samples.
    title : str, default="Affinity, samples ordered by cluster"
        The heading above the picture.
    """
    figure = Figure(figsize=(5, 5.2), layout="constrained")
    draw_affinity(figure.subplots(), W, labels, title)
    return figure


def plot_comparison(
    accuracies: Mapping[str, float], affinities: Mapping[str, sp.csr_array], labels: NDArray[Any], title: str
) -> Figure:
    """Draw bars of accuracy, next to the affinities behind them with samples ordered by true class.

    Parameters
    ----------
    accuracies : mapping of str to float
        ACC of each result by its name.
    affinities : mapping of str to sparse array (n_samples, n_samples)
        Graphs to show next to the bars, by name.
    labels : array (n_samples,)
        The true classes, which order the samples.
    title : str
        The heading above the picture.
    """
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
