"""A page that compares results: how well they agree, which samples moved where, and which settings differ."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.checks import plural
from manyview.environment import versions
from manyview.evaluation.comparison import Comparison
from manyview.evaluation.metrics import adjusted_rand_index
from manyview.report.html import fill_template, plain
from manyview.report.words import percent

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("page.js", "comparison.js")
MOST_LISTED = 500  # moved samples listed on the page; the table has all of them


def comparison_table(comparison: Comparison) -> pd.DataFrame:
    """Return one row per sample: its label in each result, and whether it moved from any result to the next."""
    import pandas as pd

    moved = np.where(comparison.moved().any(axis=1), "yes", "no")
    return pd.concat([comparison.labels, pd.Series(moved, comparison.labels.index, name="moved")], axis=1)


def render_comparison(
    comparison: Comparison, settings: Mapping[str, Mapping[str, str]], title: str | None = None
) -> str:
    """Return a comparison as one self-contained HTML page.

    Parameters
    ----------
    comparison : Comparison
        What `compare_results` returned.
    settings : mapping
        The settings of each result by its name; an empty mapping if they are unknown.
    title : str, optional
        The heading of the page.
    """
    names = list(comparison.labels.columns)
    title = title or f"Comparison of {plural(len(names), 'result')}"
    return fill_template(title, comparison_data(comparison, settings, title), "comparison.html", PARTS)


def comparison_data(comparison: Comparison, settings: Mapping[str, Mapping[str, str]], title: str) -> dict[str, Any]:
    """Return everything on the page, ready for JSON."""
    labels, moved = comparison.labels, comparison.moved()
    rows = np.flatnonzero(moved.any(axis=1))
    return plain(
        {
            "title": title,
            "facts": [("samples compared", f"{len(labels):,}"), ("moved", f"{len(rows):,}"), *_scores(comparison)],
            "highlights": comparison_sentences(comparison),
            "results": [
                {"name": name, "others": comparison.others[name], "clusters": _clusters(labels[name])}
                for name in labels.columns
            ],
            "agreement": comparison.agreement.to_dict("records"),
            "steps": [_step(flow, match) for flow, match in zip(comparison.flows, comparison.matches, strict=True)],
            "moved": [{"id": labels.index[i], "labels": labels.iloc[i].tolist()} for i in rows[:MOST_LISTED]],
            "movedTotal": len(rows),
            "differences": differences(settings),
            "unknown": [name for name, known in settings.items() if not known],
            "versions": list(versions().items()),
        }
    )


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Say how well each result agrees with the next, and where most of the samples that moved went."""
    found = []
    for i, (a, b) in enumerate(pairwise(comparison.labels.columns)):
        found += _step_sentences(comparison, i, a, b)
    for name, others in comparison.others.items():
        if others:
            found.append(f"Left out because they are not in all results: {plural(others, 'sample')} of {name}.")
    return found


def _step_sentences(comparison: Comparison, i: int, a: str, b: str) -> list[str]:
    """Say how many samples moved from result `a`, the i-th, to the next, `b`, and where most of them went."""
    n, labels, moved = len(comparison.labels), comparison.labels, int(comparison.moved()[:, i].sum())
    sizes = [plural(labels[name].nunique(), "cluster") for name in (a, b)]
    way = f"From {a} ({sizes[0]}) to {b} ({sizes[1]})"
    if not moved:
        return [f"{way}, no sample moved."]
    ari = adjusted_rand_index(labels[a], labels[b])
    said = f"{way}, {plural(moved, 'sample')} of {n:,} moved ({percent(moved / n)}; ARI {ari:.3f})."
    flows = _flows(comparison.flows[i], comparison.matches[i])
    source, target, count = max((row[:3] for row in flows if not row[3]), key=lambda row: row[2])
    return [
        said,
        f"Largest move: {plural(count, 'sample')} from cluster {source} of {a} to cluster {target} of {b}.",
    ]


def differences(settings: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the settings that differ between the results that have any."""
    known = [values for values in settings.values() if values]
    names = dict.fromkeys(name for values in known for name in values)
    different = [name for name in names if len({values.get(name) for values in known}) > 1]
    return [{"name": name, "values": [values.get(name) for values in settings.values()]} for name in different]


def _scores(comparison: Comparison) -> list[tuple[str, str]]:
    if len(comparison.agreement) > 1:
        return [("least ARI", f"{comparison.agreement['ari'].min():.3f}")]
    row = comparison.agreement.iloc[0]
    return [(name.upper(), f"{row[name]:.3f}") for name in ("ari", "nmi", "acc")]


def _clusters(labels: pd.Series) -> list[dict[str, Any]]:
    counts = labels.value_counts().sort_index()
    return [{"label": str(name), "size": int(size)} for name, size in counts.items()]


def _step(flow: pd.DataFrame, match: Mapping[Any, Any]) -> list[dict[str, Any]]:
    names = ("source", "target", "count", "stays")
    return [dict(zip(names, (str(row[0]), str(row[1]), *row[2:]), strict=True)) for row in _flows(flow, match)]


def _flows(flow: pd.DataFrame, match: Mapping[Any, Any]) -> list[tuple[Any, Any, int, bool]]:
    """Return source, target, number of samples, and whether these clusters match."""
    return [
        (a, b, int(flow.loc[a, b]), bool(match.get(a) == b)) for a in flow.index for b in flow.columns if flow.loc[a, b]
    ]
