"""The results of `cluster` and `predict`: tables of labels, the summary, and lines for the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.cli.terminal import print_note
from manyview.environment import versions
from manyview.evaluation.findings import Findings
from manyview.evaluation.metrics import score_labels
from manyview.evaluation.stability import Stability
from manyview.evaluation.survival import Survival
from manyview.io import LoadedViews
from manyview.io.results import LABELS, SUMMARY
from manyview.methods import MultiViewClusterer
from manyview.typing import Labels
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

REPORT, MODEL = "report.html", "model.manyview"
FEATURES, ASSOCIATIONS = "features.csv", "associations.csv"
RESULT_FILES = (LABELS, SUMMARY, REPORT, MODEL, FEATURES, ASSOCIATIONS)
SELECTION_FIELDS = ("candidates", "separation", "stability", "score", "eigengap", "chosen")
STABILITY_FIELDS = (
    "repeats",
    "fraction",
    "corrected",
    "verdict",
    "noise",
    "together",
    "apart",
    "clusters",
    "agreement",
)


def build_summary(
    model: MultiViewClusterer,
    method: str,
    loaded: LoadedViews,
    files: Sequence[str],
    seconds: dict[str, float],
    labels: np.ndarray | None,
    stability: Stability | None,
    findings: Findings,
) -> dict[str, Any]:
    """Return everything needed to understand and repeat a result, ready for JSON."""
    params = {name: value for name, value in model.get_params().items() if name != "callback"}
    views = loaded.views
    summary = {
        "method": method,
        "parameters": params,
        "seed": params["random_state"],
        "files": list(files),
        "n_samples": views.n_samples,
        "n_clusters": model.n_clusters_,
        "views": view_facts(model, views),
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
    search = getattr(model, "search_", None)
    if search is not None:
        summary["partition"] = {field.name: rounded(getattr(search, field.name)) for field in fields(search)}
    if model.selection_ is not None:
        summary["selection"] = {name: rounded(getattr(model.selection_, name)) for name in SELECTION_FIELDS}
    if stability is not None:
        summary["stability"] = {name: rounded(getattr(stability, name)) for name in STABILITY_FIELDS}
    if findings.survival is not None:
        summary["survival"] = survival_facts(findings.survival)
    if labels is not None:
        summary["metrics"] = score_labels(labels, model.labels_)
    return summary


def survival_facts(survival: Survival) -> dict[str, Any]:
    """Return the log-rank test, and the numbers of each cluster; a median that is not reached is None."""
    rows = survival.to_frame().to_dict("records")
    return {
        "log_rank": survival.statistic,
        "p_value": survival.p_value,
        "horizon": survival.horizon,
        "missing": survival.missing,
        "clusters": [{str(name): rounded(value) for name, value in row.items()} for row in rows],
    }


def view_facts(model: MultiViewClusterer, views: Views) -> dict[str, dict[str, Any]]:
    """Return the size, the kind, the scaling and the missing values of each view."""
    kinds = getattr(model, "view_kinds_", {})
    present = views.present.sum(axis=0) if any(model.n_missing_.values()) else [views.n_samples] * views.n_views
    return {
        name: {
            "features": int(X.shape[1]),
            "scaling": model.scaling_[name],
            "samples": int(present[i]),
            "missing_values": model.n_missing_[name],
        }
        | ({"kind": kinds[name].name, "why": kinds[name].reason} if name in kinds else {})
        for i, (name, X) in enumerate(views.items())
    }


def rounded(values: Any) -> Any:
    """Round numbers for a file that people read; NaN and infinity become None."""
    if np.ndim(values):
        return [rounded(value) for value in values]
    number = values.item() if isinstance(values, np.generic) else values
    return (round(number, 4) if np.isfinite(number) else None) if isinstance(number, float) else number


def to_json(summary: dict[str, Any]) -> str:
    """Return the content of the summary file."""
    return json.dumps(summary, indent=2) + "\n"


def to_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV, with six significant digits."""
    return table.to_csv(index=False, float_format="%.6g")


def unmatched_counts(loaded: LoadedViews) -> dict[str, Any]:
    """Return the samples missing from each view, ready for JSON."""
    return {name: {"count": some.count, "first": list(some.first)} for name, some in loaded.unmatched.items()}


def print_unmatched(loaded: LoadedViews) -> None:
    """Print which samples are missing from which view."""
    for name, some in loaded.unmatched.items():
        print_note(f"note: view {name!r} lacks {some} of the samples")


def label_table(model: MultiViewClusterer, stability: Stability | None) -> str:
    """Return the labels as CSV, with the stability of each sample if it is known."""
    frame = model.to_frame()
    if stability is not None:
        frame["stability"] = stability.samples.round(4)
    return frame.to_csv(index_label="sample")


def prediction_table(views: Views, labels: Labels) -> str:
    """Return the labels of new samples as CSV."""
    import pandas as pd

    return pd.DataFrame({"label": labels}, index=views.sample_ids).to_csv(index_label="sample")


def outcome_line(model: MultiViewClusterer, summary: dict[str, Any]) -> str:
    """Return the result in one line."""
    chosen = " (chosen)" if model.selection_ is not None else ""
    known = summary.get("stability")
    stable = "" if known is None else f", stability {known['corrected']:.2f} ({known['verdict']})"
    return (
        f"{model.n_clusters_} clusters{chosen} of {summary['n_samples']} samples in {summary['seconds']['fit']:.1f} s"
        f"{scores_text(summary)}{stable}"
    )


def scores_text(summary: dict[str, Any]) -> str:
    """Return the scores, if there are any, as the end of a line."""
    return "".join(f", {name.upper()} {value:.3f}" for name, value in summary.get("metrics", {}).items())
