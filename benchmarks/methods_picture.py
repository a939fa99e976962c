"""Draw docs/images/methods.png: every registered method on five toy data sets. Also prints the accuracies.

python benchmarks/methods_picture.py [--out docs/images/methods.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_circles, make_moons
from threadpoolctl import threadpool_limits

from common import print_table
from manyview import METHODS, Dataset, Views, make_views
from manyview.evaluation.metrics import clustering_accuracy
from manyview.preprocessing.corruption import corrupt_entries
from manyview.report.plots.style import INK, MUTED, png_bytes

COLOURS = np.array(["#0b6e99", "#d9822b", "#4f9d69", "#b04a6f"])


@dataclass(frozen=True)
class Toy:
    """Data, and the two columns that are plotted."""

    title: str
    data: Dataset
    shown: np.ndarray


def halves() -> Toy:
    """Four clusters; each view separates two pairs of them."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 75)
    tables = [rng.standard_normal((300, 2)) * 0.6 for _ in range(2)]
    tables[0][:, 0] += 3.0 * (labels % 2)
    tables[1][:, 0] += 3.0 * (labels // 2)
    shown = np.column_stack([X[:, 0] for X in tables])
    return Toy("each view\nshows half", Dataset("halves", Views(tables), labels), shown)


def curves() -> Toy:
    """Two moons in one view, two rings in the other."""
    X, labels = make_moons(300, noise=0.11, random_state=0, shuffle=False)
    Y, _ = make_circles(300, noise=0.09, factor=0.5, random_state=1, shuffle=False)
    return Toy("curved\nclusters", Dataset("curves", Views([X, Y]), labels), X)


def noise_view() -> Toy:
    """Three clusters in one view; the other is noise."""
    data = make_views(300, 3, (2, 2), noise=[0.7, np.inf], separation=8, seed=0)
    return Toy("one view\nis noise", data, data.views.arrays[0])


def lines() -> Toy:
    """Three lines through the origin, with different directions in each view."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(3), 100)
    along = rng.uniform(-1, 1, (2, 300, 1))
    tables = [
        t * np.linalg.qr(rng.standard_normal((6, 3)))[0].T[labels] + 0.02 * rng.standard_normal((300, 6)) for t in along
    ]
    angle = np.pi / 3 * labels  # the lines span three dimensions, but are drawn in a plane
    shown = along[0] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Toy("lines through\nthe origin", Dataset("lines", Views(tables), labels), shown)


def corrupted() -> Toy:
    """Four clusters in 40 and 60 features; a fifth of the entries are corrupted."""
    data = make_views(300, 4, (40, 60), noise=1, separation=6, seed=3)
    noisy = corrupt_entries(data.views, 0.2, seed=0)
    X = data.views.arrays[0] - data.views.arrays[0].mean(axis=0)
    shown = X @ np.linalg.svd(X, full_matrices=False)[2][:2].T
    return Toy("20 % of entries\ncorrupted", Dataset("corrupted", noisy, data.labels), shown)


TOYS: tuple[Callable[[], Toy], ...] = (halves, curves, noise_view, lines, corrupted)


def in_colours_of(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Rename clusters so that each has the colour of the class it matches best."""
    c = max(labels.max(), truth.max()) + 1
    overlap = np.zeros((c, c))
    np.add.at(overlap, (labels, truth), 1)
    return linear_sum_assignment(-overlap)[1][labels]


def draw_points(ax: Any, points: np.ndarray, labels: np.ndarray, note: str = "") -> None:
    ax.scatter(*points.T, c=COLOURS[labels], s=5, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.margins(0.06, 0.16)
    ax.spines[:].set_color(MUTED)
    ax.text(0.97, 0.03, note, transform=ax.transAxes, ha="right", va="bottom", fontsize=11, color=INK, weight="bold")


def draw(toys: list[Toy], results: dict[str, list[tuple[np.ndarray, float]]]) -> Figure:
    columns = 1 + len(results)
    figure = Figure(figsize=(1.75 * columns + 0.6, 1.6 * len(toys) + 0.4), layout="constrained")
    axes = figure.subplots(len(toys), columns, squeeze=False)
    for row, toy in zip(axes, toys, strict=True):
        row[0].set_ylabel(toy.title, fontsize=11, color=INK)
        draw_points(row[0], toy.shown, toy.data.labels)
    for column, found in enumerate(results.values(), 1):
        for row, toy, (labels, acc) in zip(axes, toys, found, strict=True):
            draw_points(row[column], toy.shown, in_colours_of(labels, toy.data.labels), f"{acc:.2f}")
    for ax, name in zip(axes[0], ["truth", *results], strict=True):
        ax.set_title(name, fontsize=13, color=INK)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs/images/methods.png")
    options = parser.parse_args()
    toys = [make() for make in TOYS]
    results: dict[str, list[tuple[np.ndarray, float]]] = {}
    with threadpool_limits(1):
        for key, method in METHODS.items():
            fitted = [method(toy.data.n_classes).fit(toy.data.views).labels_ for toy in toys]
            accs = [clustering_accuracy(toy.data.labels, labels) for toy, labels in zip(toys, fitted, strict=True)]
            results[key] = list(zip(fitted, accs, strict=True))
    print_table(
        ["toy", *results],
        ([toy.title.replace("\n", " "), *(found[i][1] for found in results.values())] for i, toy in enumerate(toys)),
    )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(png_bytes(draw(toys, results), dpi=100))


if __name__ == "__main__":
    main()
