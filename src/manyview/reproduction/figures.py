"""Plots of the paper's figures: affinities ordered by class, and accuracy against parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from numpy.typing import NDArray

from manyview.report.clusters import affinity_image, within_share
from manyview.report.plots.style import ACCENT, INK, MUTED, png_bytes

SYMBOLS = {
    "graph_weight": r"graph_weight ($\lambda_2$)",
    "consensus_weight": r"consensus_weight ($\beta$)",
}
PAPER_CHOICE = {"graph_weight": 0.7, "consensus_weight": 0.25}
Curve = Sequence[tuple[float, float, float]]  # value, mean ACC, standard deviation
COLOURS = (ACCENT, "#c2571a", "#5b8c3a", "#7a4fa3")
MARKERS = "osD^"
CELLS = 160  # five of the 800 samples per cell, so that single links are still visible in print


def render(name: str, figure: Figure) -> dict[str, bytes]:
    """Return the figure as files: PNG and PDF."""
    png = png_bytes(figure, dpi=200)  # comes first because it fixes the layout
    pdf = BytesIO()
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    return {f"{name}.png": png, f"{name}.pdf": pdf.getvalue()}


def plot_affinities(by_method: Mapping[str, tuple[sp.csr_array, NDArray[Any], float]], title: str) -> Figure:
    """Plot affinities side by side, with samples ordered by class; white is strong, as in the paper.

    `by_method` maps the name of each method to its affinity, the true classes, and ACC.
    """
    figure = Figure(figsize=(4.1 * len(by_method) + 0.5, 4.7), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(by_method)))
    for ax, (name, (W, labels, acc)) in zip(axes, by_method.items(), strict=True):
        _draw_grey(ax, W, labels)
        ax.set_title(f"{name}: {within_share(W, labels):.0%} of affinity within classes, ACC {acc:.3f}", fontsize=9)
    figure.suptitle(title, fontsize=11, color=INK)
    return figure


def _draw_grey(ax: Any, W: sp.csr_array, labels: NDArray[Any]) -> None:
    image, ends = affinity_image(W, labels, CELLS)
    ax.imshow(np.sqrt(image), cmap="gray", vmin=0, vmax=np.sqrt(np.quantile(image, 0.98)), interpolation="nearest")
    for end in ends[:-1] * len(image) - 0.5:
        ax.axhline(end, color=COLOURS[1], linewidth=0.4, alpha=0.7)
        ax.axvline(end, color=COLOURS[1], linewidth=0.4, alpha=0.7)
    centres = (np.r_[0, ends[:-1]] + ends) / 2 * len(image) - 0.5
    names = [str(i + 1) for i in range(len(ends))]
    ax.set_xticks(centres, names)
    ax.set_yticks(centres, names)
    ax.tick_params(labelsize=8, colors=INK, length=0)
    ax.set_xlabel("class", fontsize=9, color=INK)


def plot_parameters(curves: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """Plot ACC against each parameter, a line per data set, with bands of one standard deviation."""
    figure = Figure(figsize=(4.4 * len(curves) + 0.4, 3.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(curves), sharey=True))
    for ax, (parameter, lines) in zip(axes, curves.items(), strict=True):
        _draw_lines(ax, parameter, lines)
    axes[0].set_ylabel("clustering accuracy (ACC)", fontsize=10, color=INK)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return figure


def _draw_lines(ax: Any, parameter: str, lines: Mapping[str, Curve]) -> None:
    """Draw one panel. The values are evenly spaced on the axis, whatever their differences."""
    values = sorted({point[0] for points in lines.values() for point in points})
    for i, (name, points) in enumerate(lines.items()):
        x = [values.index(value) for value, _, _ in points]
        mean, std = np.array([p[1] for p in points]), np.array([p[2] for p in points])
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(x, mean, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=5, linewidth=1.5, label=name)
        ax.fill_between(x, mean - std, mean + std, color=colour, alpha=0.15, linewidth=0)
    if PAPER_CHOICE.get(parameter) in values:
        chosen = values.index(PAPER_CHOICE[parameter])
        ax.axvline(chosen, color=MUTED, linestyle="--", linewidth=1, zorder=0)
        ax.text(chosen + 0.08, 0.03, "paper's choice", fontsize=8, color=INK, transform=ax.get_xaxis_transform())
    ax.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    ax.set_xlabel(SYMBOLS.get(parameter, parameter), fontsize=10, color=INK)
    ax.set_ylim(0, 1)
    ax.tick_params(labelsize=9, colors=INK)
    ax.grid(axis="y", color=MUTED, linewidth=0.4, alpha=0.6)
    ax.spines[["top", "right"]].set_visible(False)
