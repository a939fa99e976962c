"""From results to the files of the paper's figures."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError
from manyview.experiments.results import Results
from manyview.experiments.runner import artifact_path
from manyview.experiments.spec import DatasetSpec
from manyview.experiments.store import Store


def draw_figure(part: str, results: Results, store: Store) -> dict[str, bytes]:
    """Draw a figure from the results and the affinities that the runs saved; return its files."""
    plots = plot_functions()
    if part == "figure-parameters":
        curves = parameter_curves(results)
        return plots.render(part, plots.plot_parameters(curves)) if curves else {}
    drawn: dict[str, bytes] = {}
    for dataset in results.experiment.datasets:
        saved = saved_affinities(results, store, dataset)
        if saved:
            figure = plots.plot_affinities(
                saved, f"{dataset.label}: {_subset_text(dataset)}, 20 % of entries corrupted"
            )
            drawn |= plots.render(f"{part}-{dataset.name}", figure)
    return drawn


def plot_functions() -> ModuleType:
    """Return the plotting module, or raise an error that says what to install."""
    try:
        from manyview.reproduction import figures as plots  # matplotlib is an extra
    except ImportError as error:
        raise InputError(f'Figures need matplotlib: pip install "manyview[plot]" ({error}).') from error
    return plots


def saved_affinities(
    results: Results, store: Store, dataset: DatasetSpec
) -> dict[str, tuple[sp.csr_array, np.ndarray, float]]:
    """Return affinity, true classes and ACC by method, for runs that have saved them."""
    found = {}
    for run in results.experiment.runs():
        path = artifact_path(store, run)
        acc = results.cell(dataset.name, run.corruption.name, run.method.name).mean("acc")
        if run.dataset == dataset and acc is not None and path.exists():
            with np.load(path, allow_pickle=False) as saved:
                n = int(saved["n"])
                W = sp.csr_array((saved["weight"], (saved["row"], saved["column"])), shape=(n, n))
                found[run.method.label] = (W, saved["labels"], acc)
    return found


def parameter_curves(results: Results) -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    """Map each parameter to its curves, and each curve (method and data set) to points (value, mean ACC, std)."""
    curves: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for dataset in results.experiment.datasets:
        for method in results.experiment.methods:
            cell = results.cell(dataset.name, results.experiment.corruptions[0].name, method.name)
            mean = cell.mean("acc")
            if mean is not None and method.swept is not None:
                parameter, value = method.swept
                line = f"{method.label}, {dataset.label}"
                curves.setdefault(parameter, {}).setdefault(line, []).append((value, mean, cell.std("acc") or 0.0))
    return curves


def _subset_text(dataset: DatasetSpec) -> str:
    return f"{dataset.subset.get('classes', '?')} classes x {dataset.subset.get('per_class', '?')} samples"
