"""Reading results of earlier runs: the labels, and the settings behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyview.checks import InputError, a_type_of, helped_by
from manyview.io.guards import reading

if TYPE_CHECKING:
    import pandas as pd

LABELS, SUMMARY = "labels.csv", "summary.json"
WHAT_TO_GIVE = "give a folder written by 'manyview cluster', or a table of sample ids and labels"
SETTINGS = (
    "method",
    "model",
    "parameters",
    "files",
    "reading",
    "n_samples",
    "views",
    "imputation",
    "n_landmarks",
    "versions",
)
"""Entries of a summary that are settings or data; others follow from these, except for the column of the batches."""
EACH = {
    "parameters": "parameter",
    "reading": "reading",
    "views": "view",
    "versions": "version",
}  # one setting for each of their entries
EXPLANATION = "why"  # of a view's kind


@dataclass(frozen=True)
class SavedResult:
    """Labels by sample id, and settings by name; no settings if only labels are known."""

    labels: pd.Series
    settings: dict[str, str]


@helped_by("findings#what-changed-since-the-last-result")
def read_result(path: str | Path) -> SavedResult:
    """Read a folder written by `manyview cluster` or `predict`, or a table with sample ids and labels."""
    from manyview.io.tables import parse_source

    path = Path(path)
    if not parse_source(path).path.exists():
        raise InputError(f"{path} was not found; {WHAT_TO_GIVE}.")
    if not path.is_dir():
        return SavedResult(_read_labels(path), {})
    if not (path / LABELS).is_file():
        raise InputError(f"{path} has no {LABELS}; {WHAT_TO_GIVE}.")
    return SavedResult(_read_labels(path / LABELS), _read_settings(path / SUMMARY))


def _read_labels(path: Path) -> pd.Series:
    import pandas as pd

    from manyview.io.tables import label_column, read_table

    table = read_table(path)
    values = label_column(table)
    if values.isna().any():
        raise InputError(f"{table.where} has {int(values.isna().sum())} missing labels; give one per sample.")
    if len(values) > 2 and values.is_unique:
        raise InputError(
            f"{table.where} has a different label for each of its {len(values):,} samples, such as "
            f"{str(values.iloc[0])!r}, so these are no clusters; {WHAT_TO_GIVE}."
        )
    ids = [str(i) for i in range(len(values))] if table.ids is None else table.ids
    return pd.Series(values.to_numpy(), index=pd.Index(ids, name="sample"))


def _read_settings(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    with reading(path, "JSON"):
        summary = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(summary, dict):
        raise InputError(f"{path} contains {a_type_of(summary)}; give the file that 'manyview cluster' wrote.")
    return dict(_settings(summary))


def _settings(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the settings by name, such as ``parameter n_neighbors``, as people would write them."""
    for name in SETTINGS:
        value = summary.get(name)
        if name in EACH and isinstance(value, Mapping):
            yield from ((f"{EACH[name]} {key}", _as_words(item)) for key, item in value.items())
        elif name in summary:
            yield name.replace("_", " "), _as_words(value)
    batches = summary.get("batches")
    if isinstance(batches, Mapping):
        yield "batch", _as_words(batches.get("column"))


def _as_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{str(name).replace('_', ' ')} {_as_words(item)}" for name, item in value.items() if name != EXPLANATION
        )
    if isinstance(value, list):
        return ", ".join(map(_as_words, value))
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)
