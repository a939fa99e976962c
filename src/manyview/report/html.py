"""The report as one HTML file: the numbers as JSON, a template, a style sheet and a script, all inline.

Everything that comes from users' files is in the JSON, and the script writes it as text only; the content security
policy lets nothing else run, and nothing be fetched.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.environment import versions
from manyview.methods import MultiViewClusterer
from manyview.report.metadata import Column
from manyview.report.palette import css_variables
from manyview.report.summary import Summary, fitted_views, summarize
from manyview.report.words import counted, highlights, methods_paragraph, parameters, percent, references
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TEXT = 200  # characters of a name that are kept
DIGITS = 6  # significant ones, of a number
TRACES = ("objective", "residual")
SELECTION = ("candidates", "eigengap", "stability", "chosen")
STRONGEST = 0.99  # quantile of the cells of the heat map from which on they are drawn at full strength


def render_report(
    model: MultiViewClusterer,
    views: object,
    *,
    metadata: pd.DataFrame | None = None,
    stability: Any = None,
    title: str | None = None,
    unmatched: Mapping[str, Any] | None = None,
    max_points: int = 5000,
    seed: int = 0,
) -> str:
    """Return a report on a fitted model as one self-contained HTML page.

    Parameters
    ----------
    model : a fitted estimator
    views : as for `fit`
        What it was fitted on.
    metadata : DataFrame, optional
        Columns to colour the samples by, matched by sample id (its index), or row by row if the views have no ids.
    stability : optional
        Result of `assess_stability`: ``samples`` (n,) and ``clusters`` (c,) from 0 to 1, NaN where
        not known, and ``repeats``.
    title : str, optional
    unmatched : mapping, optional
        Samples that a view's file lacks, by the view's name: their `count` and the `first` ids, as
        `manyview.io.read_views` returns them.
    max_points : int
        Most samples drawn on the map, sampled from all clusters.
    seed : int
        Of what is sampled, and of the layout of the map.

    Returns
    -------
    str
        The page; write it in UTF-8. The same input gives the same page.
    """
    views = fitted_views(model, views)
    summary = summarize(model, views, metadata=metadata, stability=stability, max_points=max_points, seed=seed)
    title = title or f"{counted(summary.n_clusters, 'cluster')} of {counted(summary.n_samples, 'sample')}"
    return fill_template(title, describe(model, views, summary, title, unmatched or {}))


def fill_template(title: str, data: Mapping[str, Any]) -> str:
    """Put the parts of the page together."""
    css = f":root{{{css_variables('light')}}}@media screen{{:root[data-theme=dark]{{{css_variables('dark')}}}}}\n"
    css += _part("report.css")
    script = _part("report.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_part("template.html")).substitute(
        title=html.escape(shortened(title)).encode("ascii", "xmlcharrefreplace").decode(),
        policy=policy,
        css=css,
        script=script,
        data=to_json(data),
    )


def _part(name: str) -> str:
    return (files("manyview.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# What the script is given ----------------------------------------------------------------------------


def describe(
    model: MultiViewClusterer,
    views: Views,
    summary: Summary,
    title: str,
    unmatched: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything on the page, ready for JSON."""
    selection = getattr(model, "selection_", None)
    numbers = {
        "title": title,
        "facts": facts(model, summary),
        "points": points(summary),
        "columns": [
            column_data(column, summary.picture.rows) for column in [cluster_column(summary), *summary.columns]
        ],
        "columnsLeftOut": summary.columns_left_out,
        "clusters": cluster_rows(summary),
        "doubtful": [sample_data(summary, row) for row in summary.doubtful],
        "links": summary.clusters.links,
        "ends": summary.ends,
        "within": summary.within,
        "agreement": summary.agreement,
        "features": summary.features,
        "suspects": suspects_data(summary),
        "converged": model.converged_,
        "convergence": convergence_data(model),
        "selection": None if selection is None else {name: getattr(selection, name) for name in SELECTION},
        "unmatched": [{"name": name, "count": some.count, "ids": some.first} for name, some in unmatched.items()],
        "parameters": [(name, str(value)) for name, value in parameters(model).items()],
        "versions": list(versions().items()),
    }
    prose = {
        "image": image_data(summary),
        "highlights": highlights(model, summary),
        "paragraph": methods_paragraph(model, views, summary.stability),
        "references": references(model),
    }
    return plain(numbers) | prose


def facts(model: MultiViewClusterer, summary: Summary) -> list[tuple[str, str]]:
    """Return the numbers at the head of the page, with their names."""
    found = [
        ("samples", f"{summary.n_samples:,}"),
        ("views", str(len(summary.agreement.views))),
        ("clusters", str(summary.n_clusters)),
        ("method", type(model).__name__),
        ("converged", "yes" if model.converged_ else "no"),
    ]
    if summary.n_clusters > 1:
        found.append(("links within clusters", percent(summary.within)))
        found.append(("mean silhouette", f"{summary.silhouette.mean():.2f}"))
    if summary.stability is not None:
        found.append(("mean stability", f"{np.nanmean(summary.stability.samples):.2f}"))
    return found


def points(summary: Summary) -> dict[str, Any]:
    """Return the samples on the map; places are in thousandths of its width and height."""
    rows = summary.picture.rows
    x, y = np.round(1000 * summary.picture.places).astype(int).T
    return {
        "how": summary.picture.how,
        "total": summary.n_samples,
        "id": summary.ids[rows],
        "x": x,
        "y": y,
        "cluster": summary.labels[rows],
        "other": summary.standing.other[rows],
        "own": summary.standing.own[rows].round(3),
        "next": summary.standing.next[rows].round(3),
    }


def cluster_column(summary: Summary) -> Column:
    """Return the clusters as a column to colour by."""
    return Column("cluster", False, [str(k) for k in range(summary.n_clusters)], summary.labels.astype(np.intp))


def column_data(column: Column, rows: Any) -> dict[str, Any]:
    """Return a column for the samples on the map, with counts over all samples."""
    return {
        "name": column.name,
        "ordered": column.ordered,
        "labels": column.labels,
        "counts": np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels)),
        "missing": int(np.sum(column.codes < 0)),
        "codes": column.codes[rows],
        "values": None if column.values is None else column.values[rows],
    }


def cluster_rows(summary: Summary) -> list[dict[str, Any]]:
    """Return what the table of clusters shows, row by row."""
    clusters, stability = summary.clusters, summary.stability
    return [
        {
            "size": clusters.size[k],
            "inside": clusters.inside[k],
            "silhouette": clusters.silhouette[k],
            "quantiles": clusters.quantiles[k],
            "stability": None if stability is None else stability.clusters[k],
        }
        for k in range(summary.n_clusters)
    ]


def sample_data(summary: Summary, row: int) -> dict[str, Any]:
    """Return how a sample stands in its cluster."""
    standing, stability = summary.standing, summary.stability
    return {
        "id": summary.ids[row],
        "cluster": summary.labels[row],
        "own": standing.own[row],
        "other": standing.other[row],
        "next": standing.next[row],
        "silhouette": summary.silhouette[row],
        "stability": None if stability is None else stability.samples[row],
    }


def suspects_data(summary: Summary) -> dict[str, Any] | None:
    """Return the suspected entries, rows of samples replaced by their ids."""
    suspects = summary.suspects
    if suspects is None:
        return None
    views = [
        plain(view) | {"samples": [(summary.ids[i], times) for i, times in view.samples]} for view in suspects.views
    ]
    entries = [plain(entry) | {"id": summary.ids[entry.row]} for entry in suspects.entries]
    return {"views": views, "entries": entries}


def convergence_data(model: MultiViewClusterer) -> dict[str, list[float]]:
    """Return the traces of the algorithm, if it iterates."""
    history = model.history_ if len(model.history_) > 1 else []
    return {name: [record[name] for record in history] for name in TRACES if history and name in history[0]}


def image_data(summary: Summary) -> dict[str, Any]:
    """Return the heat map of the affinity, a byte per cell: roots of shares, so that weak links can be seen."""
    cells = np.sqrt(summary.affinity)
    strongest = np.quantile(cells, STRONGEST) or cells.max() or 1
    grey = np.clip(np.round(255 * cells / strongest), 0, 255).astype(np.uint8)
    return {"size": len(grey), "cells": base64.b64encode(grey.tobytes()).decode()}


# JSON ------------------------------------------------------------------------------------------------


def to_json(data: object) -> str:
    """Write as JSON that can stand in a script element: ASCII only, and nothing that HTML would read as a tag."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def plain(value: Any) -> Any:
    """Turn arrays and dataclasses into lists and dicts; round numbers, null for those that are not finite."""
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
    return value if value is None or isinstance(value, bool | int) else shortened(str(value))


def shortened(text: str) -> str:
    """Cut a text off where it is too long to be a name."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
