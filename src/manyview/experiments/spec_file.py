"""Reads an experiment from a TOML file, and checks it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from manyview.checks import InputError, check_choice, check_int, helped_by, quoted
from manyview.evaluation.metrics import METRICS
from manyview.experiments.corruptions import CLEAN, CORRUPTIONS
from manyview.experiments.similarity_scores import SIMILARITY_SCORES
from manyview.experiments.spec import (
    CorruptionSpec,
    DatasetSpec,
    Experiment,
    MethodSpec,
    Note,
    Params,
    Printed,
    check_repeats,
)

SUBSET_KEYS = ("classes", "per_class", "redraw")
ARTIFACTS = ("affinity",)


@helped_by("experiments")
def read_spec(path: str | Path) -> Experiment:
    """Read a TOML spec; the key `base` names another file, which provides the keys missing from this one.

    Parameters
    ----------
    path : str or Path
        The TOML file; docs/experiments.md describes its contents.
    """
    path = Path(path)
    table = _read_toml(path)
    if "base" in table:
        table = _read_toml(path.parent / _string(table, "base", str(path))) | table
    return parse_spec(table, path)


def parse_spec(table: Mapping[str, Any], path: Path) -> Experiment:
    """Create an experiment from a parsed TOML file; error messages name the file and the key."""
    where = str(path)
    known = ("base", "name", "title", "description", "repeats", "metrics", "datasets", "corruptions", "methods")
    _check_keys(table, where, (*known, "printed", "notes"))
    corruptions = [_corruption(item, f"{where}, corruptions") for item in _tables(table, "corruptions", where, [{}])]
    methods = [m for item in _tables(table, "methods", where) for m in _methods(item, f"{where}, methods")]
    experiment = Experiment(
        name=_string(table, "name", where, path.stem),
        title=_string(table, "title", where, path.stem),
        description=_string(table, "description", where, ""),
        repeats=check_repeats(f"{where}: repeats", table.get("repeats", 10)),
        metrics=_strings(table, "metrics", where) or ("acc", "nmi"),
        datasets=tuple(_dataset(item, f"{where}, datasets") for item in _tables(table, "datasets", where)),
        corruptions=tuple(corruptions),
        methods=tuple(methods),
        folder=path.resolve().parent,
        printed=_printed(table.get("printed", {}), where),
        notes=tuple(_note(item, f"{where}, notes") for item in _tables(table, "notes", where, [])),
    )
    for what in ("datasets", "corruptions", "methods"):
        _check_unique([item.name for item in getattr(experiment, what)], f"{where}, {what}")
    for metric in experiment.metrics:
        check_choice(f"metric ({where})", metric, (*METRICS, *SIMILARITY_SCORES))
    _check_names(experiment, where)
    return experiment


def _read_toml(path: Path) -> dict[str, Any]:
    if not path.is_file():  # reading a device might never end
        what = "is not a file" if path.exists() else "not found"
        raise InputError(f"{path} {what}; give the path of a TOML spec (see docs/experiments.md).")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from error


def _dataset(item: Params, where: str) -> DatasetSpec:
    _check_keys(item, where, ("name", "source", "label", "params", "subset"))
    name = _string(item, "name", where)
    subset = _params(item, "subset", where)
    _check_keys(subset, f"{where}, {name}, subset", SUBSET_KEYS)
    for key, value in subset.items():
        if key != "redraw":
            check_int(f"{where}, {name}, subset: {key}", value, minimum=1)
    source, label = _string(item, "source", where, name), _string(item, "label", where, name)
    return DatasetSpec(name, source, label, _params(item, "params", where), subset)


def _corruption(item: Params, where: str) -> CorruptionSpec:
    _check_keys(item, where, ("name", "kind", "label", "params"))
    name = _string(item, "name", where, "clean")
    kind = check_choice(f"kind of corruption ({where})", item.get("kind", CLEAN), tuple(CORRUPTIONS))
    return CorruptionSpec(name, kind, _string(item, "label", where, name), _params(item, "params", where))


def _methods(item: Params, where: str) -> Iterator[MethodSpec]:
    """Read a method; with `sweep`, yield one per value of each swept parameter, with the others as in `params`."""
    _check_keys(item, where, ("name", "source", "label", "params", "keep", "sweep"))
    name = _string(item, "name", where)
    keep = _strings(item, "keep", where)
    for artifact in keep:
        check_choice(f"keep ({where}, {name})", artifact, ARTIFACTS)
    source, label = _string(item, "source", where, name), _string(item, "label", where, name)
    method = MethodSpec(name, source, label, _params(item, "params", where), keep)
    sweep = _params(item, "sweep", where)
    if not sweep:
        yield method
    for parameter, values in sweep.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{where}, {name}: sweep of {parameter} is {values!r}; give a list of values.")
        for value in values:
            yield replace(
                method,
                name=f"{name}[{parameter}={value}]",
                params={**method.params, parameter: value},
                swept=(parameter, value),
            )


def _printed(item: Params, where: str) -> Printed:
    rest = dict(item)
    percent = bool(rest.pop("percent", False))
    tolerance, corruption = float(rest.pop("tolerance", 0.02)), rest.pop("corruption", {})
    try:
        values = {
            metric: {
                dataset: {method: float(value) / (100 if percent else 1) for method, value in row.items()}
                for dataset, row in rows.items()
            }
            for metric, rows in rest.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: printed must map metric -> data set -> method -> number, as in "
            f"[printed.acc] digits = {{ocbr = 92.22}} ({error})."
        ) from error
    return Printed(values, corruption, tolerance)


def _note(item: Params, where: str) -> Note:
    _check_keys(item, where, ("text", "datasets", "methods"))
    return Note(_string(item, "text", where), _strings(item, "datasets", where), _strings(item, "methods", where))


# Checks --------------------------------------------------------------------------------------------


def _check_keys(table: Params, where: str, known: Iterable[str]) -> None:
    unknown = [key for key in table if key not in tuple(known)]
    if unknown:
        raise InputError(f"{where}: unknown key {quoted(unknown)}. Choose from: {quoted(known, 20)}.")


def _check_names(experiment: Experiment, where: str) -> None:
    """Raise if printed numbers or notes name something that the spec does not define."""
    printed, notes = experiment.printed, experiment.notes
    rows = [item for rows in printed.values.values() for item in rows.items()]
    datasets = [name for name, _ in rows] + [name for note in notes for name in note.datasets]
    methods = [name for _, row in rows for name in row] + [name for note in notes for name in note.methods]
    for what, used, known in (
        ("data set", datasets, [*experiment.dataset_names, *(d.name for d in experiment.datasets)]),
        ("method", [*methods, *printed.corruption], [*experiment.method_names, *(m.name for m in experiment.methods)]),
        ("corruption", printed.corruption.values(), [c.name for c in experiment.corruptions]),
    ):
        unknown = [name for name in dict.fromkeys(used) if name not in known]
        if unknown:
            raise InputError(f"{where}: printed or notes name the {what} {quoted(unknown)}, not defined in the spec.")


def _check_unique(names: list[str], where: str) -> None:
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(f"{where}: the name {quoted(sorted(repeated))} is used twice; names must be unique.")


def _string(table: Params, key: str, where: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise InputError(f'{where}: {key} is {value!r}; give a string, {key} = "...".')
    return value


def _strings(table: Params, key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f'{where}: {key} is {value!r}; give a list of strings, {key} = ["..."].')
    return tuple(value)


def _params(table: Params, key: str, where: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key} is {value!r}; give a table, {key} = {{name = value}}.")
    try:  # rows of results hold them
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {key} is {value!r}; give finite numbers, strings, true, false, or lists."
        ) from error
    return value


def _tables(table: Params, key: str, where: str, default: list[Any] | None = None) -> list[dict[str, Any]]:
    value = table.get(key, default)
    if (
        not isinstance(value, list)
        or not all(isinstance(item, dict) for item in value)
        or (not value and default is None)
    ):
        raise InputError(f"{where}: {key} is {value!r}; give at least one [[{key}]] table.")
    return value
