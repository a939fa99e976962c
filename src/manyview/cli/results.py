"""Results as files and lines: labels, the summary, what to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.cli.terminal import note
from manyview.environment import versions
from manyview.evaluation.metrics import score_labels
from manyview.evaluation.stability import Stability
from manyview.io import (
    Loaded,
)
from manyview.methods import MultiViewClusterer
from manyview.views.container import Views

LABELS, SUMMARY, REPORT, MODEL = "labels.csv", "summary.json", "report.html", "model.manyview"


def describe(
    model: MultiViewClusterer,
    method: str,
    loaded: Loaded,
    files: Sequence[str],
    seconds: dict[str, float],
    labels: np.ndarray | None,
    stability: Stability | None,
) -> dict[str, Any]:
    """Everything needed to understand and repeat a result, ready for JSON."""
    params = {name: value for name, value in model.get_params().items() if name != "callback"}
    views = loaded.views
    present = views.present.sum(axis=0)
    summary = {
        "method": method,
        "parameters": params,
        "seed": params["random_state"],
        "files": list(files),
        "n_samples": views.n_samples,
        "n_clusters": model.n_clusters_,
        "views": {
            name: {
                "features": int(X.shape[1]),
                "scaling": model.scaling_[name],
                "samples": int(present[i]),
                "missing_values": model.n_missing_[name],
            }
            for i, (name, X) in enumerate(views.items())
        },
        "imputation": model.imputation_,
        "unmatched": unmatched_counts(loaded),
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        "converged": model.converged_,
        "iterations": model.n_iter_,
        "seconds": seconds,
        "versions": versions(),
    }
    weights = getattr(model, "view_weights_", None)
    if weights is not None:
        summary["view_weights"] = dict(zip(views.names, np.round(weights, 4).tolist(), strict=True))
    if model.selection_ is not None:
        summary["selection"] = {
            name: as_json(getattr(model.selection_, name)) for name in ("candidates", "eigengap", "stability", "chosen")
        }
    if stability is not None:
        summary["stability"] = {
            name: as_json(getattr(stability, name))
            for name in ("repeats", "fraction", "together", "apart", "clusters", "agreement")
        }
    if labels is not None:
        summary["metrics"] = score_labels(labels, model.labels_)
    return summary


def as_json(values: Any) -> Any:
    """Round numbers for a file that is read by people; NaN becomes null."""
    if np.ndim(values):
        return [as_json(value) for value in values]
    number = values.item() if isinstance(values, np.generic) else values
    return (None if np.isnan(number) else round(number, 4)) if isinstance(number, float) else number


def unmatched_counts(loaded: Loaded) -> dict[str, Any]:
    """Return what did not match, ready for JSON."""
    return {name: {"count": some.count, "first": list(some.first)} for name, some in loaded.unmatched.items()}


def tell_unmatched(loaded: Loaded) -> None:
    """Say which samples are not in which view."""
    for name, some in loaded.unmatched.items():
        note(f"note: view {name!r} lacks {some} of the samples")


def label_table(model: MultiViewClusterer, stability: Stability | None) -> str:
    """Return the labels as CSV, with the stability of each sample where it is known."""
    frame = model.to_frame()
    if stability is not None:
        frame["stability"] = stability.samples.round(4)
    return frame.to_csv(index_label="sample")


def frame_of(views: Views, columns: dict[str, Any]) -> Any:
    """Return columns as a DataFrame over the samples."""
    import pandas as pd

    return pd.DataFrame(columns, index=views.sample_ids)


def outcome_line(model: MultiViewClusterer, summary: dict[str, Any]) -> str:
    """Say in a line what came out."""
    chosen = " (chosen)" if model.selection_ is not None else ""
    stable = f", {summary['stability']['together']:.1%} of pairs stay together" if "stability" in summary else ""
    return (
        f"{model.n_clusters_} clusters{chosen} of {summary['n_samples']} samples in {summary['seconds']['fit']:.1f} s"
        f"{scores_text(summary)}{stable}"
    )


def scores_text(summary: dict[str, Any]) -> str:
    """Return the scores, if there are any, to go on a line."""
    return "".join(f", {name.upper()} {value:.3f}" for name, value in summary.get("metrics", {}).items())
