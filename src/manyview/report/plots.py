"""Plots as matplotlib figures; nothing here opens a window or writes a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

MOST_GROUP_NAMES = 20  # beyond, they would run into each other
INK, ACCENT, MUTED = "#1f2933", "#0b6e99", "#b8c4ce"


def affinity_image(W: sp.csr_array, labels: NDArray[Any], size: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum a graph over blocks of samples, ordered by label; also return where each label ends (0 to 1).

    Cells hold the share of their row's links, so rows of hubs do not outshine the others.
    """
    n = len(labels)
    order = np.argsort(labels, kind="stable")
    size = min(size, n)
    cell = np.empty(n, dtype=np.intp)
    cell[order] = np.arange(n) * size // n
    links = W.tocoo()
    image = np.zeros((size, size))
    np.add.at(image, (cell[links.coords[0]], cell[links.coords[1]]), links.data)
    image /= np.maximum(image.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return image, np.cumsum(np.unique(labels, return_counts=True)[1]) / n


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
    """Bars of accuracy beside the affinities they come from, samples ordered by true class."""
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


def png_bytes(figure: Figure, dpi: int = 150) -> bytes:
    """Render a figure as a PNG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
