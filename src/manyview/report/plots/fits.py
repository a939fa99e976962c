"""The fit behind the clusters: its iterations, suspected errors, the chosen number of clusters, and stability."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

from manyview.checks import InputError
from manyview.methods import MultiViewClusterer
from manyview.report.palette import CLUSTERS
from manyview.report.plots.style import ACCENT, INK, cluster_colour, literal, rows_of_clusters, tidy

SELECTION_TITLES = {
    "separation": "separation",
    "stability": "stability",
    "score": "score",
    "eigengap": "eigengap (not used)",
}


def plot_convergence(model: MultiViewClusterer) -> Figure:
    """Plot the objective and the residual over the iterations.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    """
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
        tidy(ax)
    return figure


def plot_corruption(model: MultiViewClusterer) -> Figure:
    """Plot the share of samples whose value looks corrupted, by feature and view (`corruption_` of OCBR).

    Parameters
    ----------
    model : OCBR
        A fitted estimator with `corruption_`.
    """
    errors = getattr(model, "corruption_", None)
    if errors is None or not all(sp.issparse(E) for E in errors):
        raise InputError(f"{type(model).__name__} does not detect corrupted entries; OCBR does.")
    figure = Figure(figsize=(7, 1.2 + 1.3 * len(errors)), layout="constrained")
    for ax, E, name in zip(np.atleast_1d(figure.subplots(len(errors), 1)), errors, model.view_names_, strict=True):
        counts = np.bincount(E.indices[E.data != 0], minlength=E.shape[1])
        ax.bar(range(E.shape[1]), counts / E.shape[0], width=1, color=ACCENT)
        ax.set_title(f"{literal(name)}: {counts.sum():,} suspected entries", fontsize=9, color=INK, loc="left")
        tidy(ax)
    ax.set_xlabel("feature", fontsize=9, color=INK)
    figure.supylabel("share of the samples", fontsize=9, color=INK)
    return figure


def plot_selection(model: MultiViewClusterer) -> Figure:
    """Plot separation, stability and score of each number of clusters tried, and the eigengap, which is not used.

    The score is the drop in separation to the next number, times the squared stability and the entropy of the sizes.
    The number with the highest score wins, around the numbers whose scores add up to most; a dashed line marks it.
    Dotted lines mark the other numbers that are suggested.

    Parameters
    ----------
    model : MultiViewClusterer
        An estimator that was fitted with ``n_clusters="auto"``.
    """
    selection = getattr(model, "selection_", None)
    if selection is None:
        raise InputError("The number of clusters was given, not chosen; fit with n_clusters='auto'.")
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    for ax, (name, title) in zip(figure.subplots(2, 2).flat, SELECTION_TITLES.items(), strict=True):
        ax.plot(selection.candidates, getattr(selection, name), color=ACCENT, marker="o", markersize=4)
        for k in selection.suggestions:
            style = "--" if k == selection.chosen else ":"
            ax.axvline(k, color=CLUSTERS["light"][1], linestyle=style, linewidth=1)
        ax.set_title(title, fontsize=10, color=INK)
        ax.set_xlabel("number of clusters", fontsize=9, color=INK)
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)
    figure.suptitle(f"Chosen: {selection.chosen} clusters", fontsize=11, color=INK)
    return figure


def plot_stability(result: Any) -> Figure:
    """Draw bars of the stability of each cluster: how often pairs of its samples stay together on resampled data.

    Parameters
    ----------
    result : Stability
        What `assess_stability` returned.
    """
    figure, ax = rows_of_clusters(len(result.clusters), f"stability over {result.repeats} repetitions")
    ax.barh(
        range(len(result.clusters)),
        result.clusters,
        color=[cluster_colour(k) for k in range(len(result.clusters))],
        height=0.7,
    )
    ax.set(xlim=(0, 1))
    return figure
