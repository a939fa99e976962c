"""The results of `cluster` and `predict`: tables of labels, the summary, and lines for the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.checks import plural
from manyview.cli.terminal import print_note
from manyview.environment import versions
from manyview.evaluation.batches import BatchMixing
from manyview.evaluation.findings import Findings
from manyview.evaluation.metrics import score_labels
from manyview.evaluation.stability import Stability
from manyview.evaluation.survival import Survival
from manyview.io import SAMPLES, LoadedViews, TableOptions
from manyview.io.results import LABELS, SUMMARY
from manyview.io.writing import csv_text
from manyview.methods import MultiViewClusterer
from manyview.report.words import other_numbers

if TYPE_CHECKING:
    import pandas as pd

REPORT_PAGE, MODEL = "report.html", "model.manyview"
FEATURES, ASSOCIATIONS = "features.csv", "associations.csv"
RESULT_FILES = (LABELS, SUMMARY, REPORT_PAGE, MODEL, FEATURES, ASSOCIATIONS)
DOUBTFUL = 0.5  # a label less likely than this is doubtful
ALTERNATIVE_FIELDS = ("separation", "objective", "price", "difference")
SELECTION_FIELDS = (
    *("candidates", "separation", "stability", "score", "eigengap"),
    *("chosen", "suggestions", "halves", "by_chance"),
)
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


@dataclass(frozen=True)
class DataFacts:
    """What a summary says about the data: sizes, samples present in each view, and samples missing from files."""

    n_samples: int
    n_features: dict[str, int]
    n_present: dict[str, int]
    unmatched: dict[str, Any]

    @classmethod
    def of(cls, loaded: LoadedViews, n_missing: dict[str, int]) -> DataFacts:
        """Collect them from views that were read whole; the fit has counted the missing values."""
        views = loaded.views
        present = views.present.sum(axis=0) if any(n_missing.values()) else [views.n_samples] * views.n_views
        return cls(
            n_samples=views.n_samples,
            n_features={name: int(X.shape[1]) for name, X in views.items()},
            n_present={name: int(n) for name, n in zip(views.names, present, strict=True)},
            unmatched=unmatched_counts(loaded),
        )


def build_summary(
    model: MultiViewClusterer,
    method: str,
    facts: DataFacts,
    files: Sequence[str],
    seconds: dict[str, float],
    labels: np.ndarray | None,
    stability: Stability | None,
    findings: Findings,
) -> dict[str, Any]:
    """Return everything needed to understand and repeat a result, ready for JSON."""
    params = {name: value for name, value in model.get_params().items() if name != "callback"}
    summary = {
        "method": method,
        "parameters": params,
        "seed": params["random_state"],
        "files": list(files),
        "n_samples": facts.n_samples,
        "n_clusters": model.n_clusters_,
        "views": view_facts(model, facts),
        "imputation": model.imputation_,
        "neighbor_recall": {name: rounded(recall) for name, recall in model.neighbor_recall_.items()},
        "unmatched": facts.unmatched,
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        "converged": model.converged_,
        "iterations": model.n_iter_,
        "seconds": seconds,
        "versions": versions(),
    }
    if getattr(model, "landmarks_", None) is not None:
        summary["n_landmarks"] = len(model.landmarks_)
    weights = getattr(model, "view_weights_", None)
    if weights is not None:
        summary["view_weights"] = dict(zip(facts.n_features, np.round(weights, 4).tolist(), strict=True))
    search = getattr(model, "search_", None)
    if search is not None:
        summary["partition"] = {field.name: rounded(getattr(search, field.name)) for field in fields(search)}
        summary["alternatives"] = [
            {name: rounded(getattr(other, name)) for name in ALTERNATIVE_FIELDS} for other in model.alternatives_
        ]
    if model.selection_ is not None:
        summary["selection"] = {name: rounded(getattr(model.selection_, name)) for name in SELECTION_FIELDS}
    summary["levels"] = level_facts(model)
    if stability is not None:
        summary["stability"] = {name: rounded(getattr(stability, name)) for name in STABILITY_FIELDS}
    if labels is not None:
        summary["metrics"] = score_labels(labels, model.labels_)
    if len(model.labels_) == facts.n_samples:  # on a Dask cluster, the model only has the labels of its landmarks
        summary |= confidence_facts(model.to_frame())
    return summary | finding_facts(findings)


def reading_facts(options: TableOptions, samples: str = SAMPLES[0]) -> dict[str, Any]:
    """Return how the files were read, as far as options say so."""
    given = options.given | ({} if samples == SAMPLES[0] else {"samples": samples})
    return {"reading": given} if given else {}


def level_facts(model: MultiViewClusterer) -> dict[str, Any]:
    """Return the number of clusters of each coarser and finer partition, and the separation of its next merge."""
    numbers = list(range(2, model.levels_.finest + 1))
    return {"n_clusters": numbers, "separation": rounded([model.levels_.separation_of(k) for k in numbers])}


def finding_facts(findings: Findings) -> dict[str, Any]:
    """Return survival and batches, if they were requested."""
    found = {}
    if findings.survival is not None:
        found["survival"] = survival_facts(findings.survival)
    if findings.batches is not None:
        found["batches"] = batch_facts(findings.questions.batch, findings.batches, findings.batches_without)
    return found


def survival_facts(survival: Survival) -> dict[str, Any]:
    """Return the log-rank test, and the numbers for each cluster; a median that is not reached is None."""
    rows = survival.to_frame().to_dict("records")
    return {
        "log_rank": survival.statistic,
        "p_value": survival.p_value,
        "horizon": survival.horizon,
        "missing": survival.missing,
        "clusters": [{str(name): rounded(value) for name, value in row.items()} for row in rows],
    }


def batch_facts(column: str | None, mixing: BatchMixing, without: BatchMixing | None) -> dict[str, Any]:
    """Return the share of samples from an unexpected batch, in these clusters and in those found without batches."""
    return {
        "column": column,
        "p_value": mixing.p_value,
        "misplaced": rounded(mixing.overall),
        "misplaced_without": None if without is None else rounded(without.overall),
    }


def view_facts(model: MultiViewClusterer, facts: DataFacts) -> dict[str, dict[str, Any]]:
    """Return the size, kind, scaling and missing values of each view."""
    kinds = getattr(model, "view_kinds_", {})
    return {
        name: {
            "features": n_features,
            "scaling": model.scaling_[name],
            "samples": facts.n_present[name],
            "missing_values": model.n_missing_[name],
        }
        | ({"kind": kinds[name].name, "why": kinds[name].reason} if name in kinds else {})
        for name, n_features in facts.n_features.items()
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
    return csv_text(table, index=False, float_format="%.6g")


def unmatched_counts(loaded: LoadedViews) -> dict[str, Any]:
    """Return the samples missing from each view, ready for JSON."""
    return {name: {"count": some.count, "first": list(some.first)} for name, some in loaded.unmatched.items()}


def print_unmatched(loaded: LoadedViews) -> None:
    """Print which samples are missing from which view."""
    for name, some in loaded.unmatched.items():
        print_note(f"note: samples missing from view {name!r}: {some}")


def label_table(frame: pd.DataFrame, stability: Stability | None = None, *, header: bool = True) -> str:
    """Return the labels and their confidence as CSV, with the stability of each sample if known."""
    table = frame.round({"confidence": 4})
    if stability is not None:
        table["stability"] = stability.samples.round(4)
    return csv_text(table, index_label="sample", header=header)


def confidence_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the confidence of the labels overall; nothing if it is unknown."""
    if "confidence" not in frame:
        return {}
    sure = frame["confidence"]
    return {"confidence": {"mean": rounded(float(sure.mean())), "doubtful": int((sure < DOUBTFUL).sum())}}


def outcome_line(model: MultiViewClusterer, summary: dict[str, Any]) -> str:
    """Return the result in one line."""
    others = "" if model.selection_ is None else other_numbers(model.selection_)
    chosen = "" if model.selection_ is None else f" (chosen; {others})" if others else " (chosen)"
    known = summary.get("stability")
    stable = "" if known is None else f", stability {known['corrected']:.2f} ({known['verdict']})"
    return (
        f"{plural(model.n_clusters_, 'cluster')}{chosen} of {plural(summary['n_samples'], 'sample')} "
        f"in {summary['seconds']['fit']:.1f} s"
        f"{scores_text(summary)}{stable}"
    )


def scores_text(summary: dict[str, Any]) -> str:
    """Return the scores, if there are any, as the end of a line."""
    return "".join(f", {name.upper()} {value:.3f}" for name, value in summary.get("metrics", {}).items())
