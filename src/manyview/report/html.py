"""The report as one HTML file: the numbers as JSON, a template, a style sheet and a script, all inline.

Everything from users' files is in the JSON, and the script inserts it as text only. The content security policy blocks
all other scripts and all requests.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.checks import plural
from manyview.environment import versions
from manyview.evaluation.batches import labels_without_batches
from manyview.evaluation.findings import Findings, Questions, relate
from manyview.methods import MultiViewClusterer
from manyview.report.data import ReportData, compute_report_data, fitted_views
from manyview.report.metadata import Column, match_metadata
from manyview.report.palette import css_variables
from manyview.report.words import (
    highlights,
    methods_paragraph,
    parameters,
    percent,
    references,
    shortened,
)
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TEXT = 200  # characters of a name
DIGITS = 6  # significant digits of a number
PARTS = ("page.js", "map.js", "findings.js", "levels.js", "report.js")
TRACES = ("objective", "residual")
SELECTION = ("candidates", "separation", "stability", "score", "eigengap", "chosen", "suggestions")
STRONGEST = 0.99  # cells of the heat map above this quantile are drawn at full strength


def render_report(
    model: MultiViewClusterer,
    views: object,
    *,
    metadata: pd.DataFrame | None = None,
    survival: tuple[str, str] | None = None,
    batch: str | None = None,
    findings: Findings | None = None,
    stability: Any = None,
    title: str | None = None,
    unmatched: Mapping[str, Any] | None = None,
    max_points: int = 5000,
    seed: int = 0,
) -> str:
    """Return a report on a fitted model as one self-contained HTML page.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    views : as for `fit`
        The views the model was fitted on.
    metadata : DataFrame, optional
        Columns to colour the samples by and to test against the clusters, matched by sample id (its index), or row by
        row if the views have no ids.
    survival : (str, str), optional
        Columns of the metadata: the time, and the event (1 if it was observed, 0 if not).
    batch : str, optional
        Column of the metadata: the batch of each sample. If the model was fitted with batches, it is fitted once more
        without them, to show what they changed.
    findings : optional
        Result of `manyview.evaluation.findings.relate`; computed if not given.
    stability : optional
        Result of `assess_stability`: ``samples`` (n,) and ``clusters`` (c,) from 0 to 1, NaN if unknown, and
        ``repeats``.
    title : str, optional
        The heading of the page.
    unmatched : mapping, optional
        Samples missing from each view's file, by the view's name: their `count` and the `first` ids, as returned by
        `manyview.io.read_views`.
    max_points : int, default=5000
        Largest number of samples on the map. If there are more, a sample of every cluster is drawn.
    seed : int, default=0
        Seed for choosing samples and for the layout of the map.

    Returns
    -------
    str
        The page; write it as UTF-8. The same input gives the same page.
    """
    views = fitted_views(model, views)
    if findings is None:
        matched = None if metadata is None else match_metadata(metadata, views.sample_ids, views.n_samples)
        compare = batch is not None and model.batch_ is not None
        without = labels_without_batches(model, views) if compare else None
        findings = relate(model.labels_, matched, Questions(survival, batch), without_batches=without, seed=seed)
    data = compute_report_data(
        model, views, metadata=metadata, findings=findings, stability=stability, max_points=max_points, seed=seed
    )
    title = title or f"{plural(data.n_clusters, 'cluster')} of {plural(data.n_samples, 'sample')}"
    return fill_template(title, page_data(model, views, data, title, unmatched or {}))


def fill_template(
    title: str, data: Mapping[str, Any], template: str = "template.html", parts: Sequence[str] = PARTS
) -> str:
    """Assemble a page from the template, the style sheet, and one script made of these parts."""
    css = f":root{{{css_variables('light')}}}@media screen{{:root[data-theme=dark]{{{css_variables('dark')}}}}}\n"
    css += _part("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in parts) + "})();\n"
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_part(template)).substitute(
        title=html.escape(shortened(title, LONGEST_TEXT)).encode("ascii", "xmlcharrefreplace").decode(),
        policy=policy,
        css=css,
        script=script,
        data=to_json(data),
    )


def _part(name: str) -> str:
    return (files("manyview.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# Data for the script --------------------------------------------------------------------------------


def page_data(
    model: MultiViewClusterer,
    views: Views,
    data: ReportData,
    title: str,
    unmatched: Mapping[str, Any],
) -> dict[str, Any]:
    """Return everything on the page, ready for JSON."""
    selection = getattr(model, "selection_", None)
    numbers = {
        "title": title,
        "facts": facts(model, data),
        "points": points(data),
        "columns": [column_data(column, data) for column in [cluster_column(data), *data.columns]],
        "columnsLeftOut": data.columns_left_out,
        "clusters": cluster_rows(data),
        "doubtful": [sample_data(data, row) for row in data.doubtful],
        "links": data.clusters.links,
        "ends": data.ends,
        "within": data.within,
        "agreement": data.agreement,
        "features": None if data.features is None else {"markers": data.features.markers, "dots": data.features.dots},
        **findings_data(data),
        "suspects": suspects_data(data),
        "converged": model.converged_,
        "convergence": convergence_data(model),
        "selection": None if selection is None else {name: getattr(selection, name) for name in SELECTION},
        "levels": data.tree,
        "unmatched": [{"name": name, "count": some.count, "ids": some.first} for name, some in unmatched.items()],
        "parameters": [(name, str(value)) for name, value in parameters(model).items()],
        "versions": list(versions().items()),
    }
    prose = {
        "image": image_data(data),
        "highlights": highlights(model, data),
        "paragraph": methods_paragraph(model, views, data.stability),
        "references": references(model),
    }
    return plain(numbers) | prose


def facts(model: MultiViewClusterer, data: ReportData) -> list[tuple[str, str]]:
    """Return the names and values of the facts at the top of the page."""
    found = [
        ("samples", f"{data.n_samples:,}"),
        *([("landmarks", f"{data.n_described:,}")] if data.n_described < data.n_samples else []),
        ("views", str(len(data.agreement.views))),
        ("clusters", str(data.n_clusters)),
        ("method", type(model).__name__),
        ("converged", "yes" if model.converged_ else "no"),
    ]
    if data.n_clusters > 1:
        found.append(("links within clusters", percent(data.within)))
        found.append(("mean silhouette", f"{data.silhouette.mean():.2f}"))
    if data.stability is not None:
        found.append(("mean stability", f"{np.nanmean(data.stability.samples):.2f}"))
    return found


def points(data: ReportData) -> dict[str, Any]:
    """Return the samples on the map; positions are in thousandths of its width and height."""
    rows = data.sample_map.rows
    x, y = np.round(1000 * data.sample_map.places).astype(int).T
    return {
        "how": data.sample_map.how,
        "total": data.n_samples,
        "id": data.ids[rows],
        "x": x,
        "y": y,
        "cluster": data.labels[rows],
        "other": data.membership.other[rows],
        "own": data.membership.own[rows].round(3),
        "next": data.membership.next[rows].round(3),
    }


def cluster_column(data: ReportData) -> Column:
    """Return the clusters as a column to colour by."""
    return Column("cluster", False, [str(k) for k in range(data.n_clusters)], data.all_labels.astype(np.intp))


def column_data(column: Column, data: ReportData) -> dict[str, Any]:
    """Return a column for the samples on the map, with counts over all samples that it is known of."""
    rows = data.sample_map.rows if len(column.codes) == data.n_described else data.positions[data.sample_map.rows]
    return {
        "name": column.name,
        "ordered": column.ordered,
        "labels": column.labels,
        "counts": np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels)),
        "missing": int(np.sum(column.codes < 0)),
        "codes": column.codes[rows],
        "values": None if column.values is None else column.values[rows],
    }


def cluster_rows(data: ReportData) -> list[dict[str, Any]]:
    """Return the rows of the table of clusters."""
    clusters, stability = data.clusters, data.stability
    return [
        {
            "cluster": k,
            "size": clusters.size[k],
            "inside": clusters.inside[k],
            "silhouette": clusters.silhouette[k],
            "quantiles": clusters.quantiles[k],
            "stability": None if stability is None else stability.clusters[k],
        }
        for k in range(data.n_clusters)
    ]


def sample_data(data: ReportData, row: int) -> dict[str, Any]:
    """Return how firmly a sample belongs to its cluster."""
    membership, stability = data.membership, data.stability
    return {
        "id": data.ids[row],
        "cluster": data.labels[row],
        "own": membership.own[row],
        "other": membership.other[row],
        "next": membership.next[row],
        "silhouette": data.silhouette[row],
        "stability": None if stability is None else stability.samples[data.positions[row]],
    }


def suspects_data(data: ReportData) -> dict[str, Any] | None:
    """Return the suspected entries, with sample ids instead of rows."""
    suspects = data.suspects
    if suspects is None:
        return None
    views = [plain(view) | {"samples": [(data.ids[i], times) for i, times in view.samples]} for view in suspects.views]
    entries = [plain(entry) | {"id": data.ids[entry.row]} for entry in suspects.entries]
    return {"views": views, "entries": entries}


def findings_data(data: ReportData) -> dict[str, Any]:
    """Return what the clusters are associated with: associations, survival and batches; None if not requested."""
    table = data.findings.associations
    rows = None
    if table is not None:
        rows = [row | {"inViews": data.clustered.get(row["column"], [])} for row in table.to_dict("records")]
    return {
        "associations": rows,
        "survival": data.findings.survival,
        "survivalColumns": data.findings.questions.survival,
        "batches": data.findings.batches,
        "batchesWithout": data.findings.batches_without,
    }


def convergence_data(model: MultiViewClusterer) -> dict[str, list[float]]:
    """Return the traces of the algorithm, if it iterates."""
    history = model.history_ if len(model.history_) > 1 else []
    return {name: [record[name] for record in history] for name in TRACES if history and name in history[0]}


def image_data(data: ReportData) -> dict[str, Any]:
    """Return the heat map of the affinity, one byte per cell; square roots of the shares make weak links visible."""
    cells = np.sqrt(data.affinity)
    strongest = np.quantile(cells, STRONGEST) or cells.max() or 1
    grey = np.clip(np.round(255 * cells / strongest), 0, 255).astype(np.uint8)
    return {"size": len(grey), "cells": base64.b64encode(grey.tobytes()).decode()}


# JSON ------------------------------------------------------------------------------------------------


def to_json(data: object) -> str:
    """Return JSON that is safe inside a script element: ASCII only, without the characters of HTML tags."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(value: Any) -> Any:
    """Turn arrays and dataclasses into lists and dicts; round numbers, and use None for non-finite ones."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value if value is None or isinstance(value, bool | int) else shortened(str(value), LONGEST_TEXT)
