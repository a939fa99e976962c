"""What to run: data sets x corruptions x methods x repeats, read from TOML.

Seeds are hashed from the axes of a run. The method is not among them, so every method sees the same corrupted data.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from manyview.checks import InputError, check_choice, check_int, quoted
from manyview.evaluation.metrics import METRICS
from manyview.experiments.measures import NAMES

CORRUPTIONS = ("none", "entries", "replace", "gaussian", "missing", "views")
SUBSET_KEYS = ("classes", "per_class", "redraw")
ARTIFACTS = ("affinity",)
Params = Mapping[str, Any]


@dataclass(frozen=True)
class DatasetSpec:
    """A data set: where it comes from, its loader's parameters, and the subset to draw from it."""

    name: str
    source: str
    label: str
    params: Params = field(default_factory=dict)
    subset: Params = field(default_factory=dict)


@dataclass(frozen=True)
class CorruptionSpec:
    """A kind of noise and its parameters; kind "none" leaves the data as they are."""

    name: str
    kind: str
    label: str
    params: Params = field(default_factory=dict)


@dataclass(frozen=True)
class MethodSpec:
    """A method: where it comes from, its parameters, what to keep of its result, and the parameter it is swept over."""

    name: str
    source: str
    label: str
    params: Params = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    swept: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Note:
    """What is known about some cells of the tables; no names means all."""

    text: str
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def is_about(self, dataset: str, method: str) -> bool:
        """Whether the note belongs to this cell."""
        return (not self.datasets or dataset in self.datasets) and (not self.methods or method in self.methods)


@dataclass(frozen=True)
class Printed:
    """Numbers printed in a publication: metric -> data set -> method -> value, and the corruption they are under."""

    values: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    corruption: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.02

    def value(self, metric: str, dataset: str, corruption: str, method: str) -> float | None:
        """Return the printed number of a cell, if there is one under this corruption."""
        if self.corruption.get(method) != corruption:
            return None
        return self.values.get(metric, {}).get(dataset, {}).get(method)


@dataclass(frozen=True)
class Run:
    """One cell of the experiment's grid: what a child process does, and one row of the store."""

    dataset: DatasetSpec
    corruption: CorruptionSpec
    method: MethodSpec
    repeat: int

    @property
    def data_axes(self) -> dict[str, Any]:
        """What the corrupted data depend on."""
        return {
            "dataset": [self.dataset.name, dict(self.dataset.params), dict(self.dataset.subset)],
            "corruption": [self.corruption.kind, dict(self.corruption.params)],
            "repeat": self.repeat,
        }

    @property
    def seed(self) -> int:
        """Seed of the noise and of the method (31 bits, as scikit-learn wants)."""
        return hashed_seed(self.data_axes)

    @property
    def subset_seed(self) -> int:
        """Seed of the subset: the same samples under all corruptions, and in all repeats unless `redraw` is set."""
        axes = self.data_axes["dataset"]
        return hashed_seed([axes, self.repeat] if self.dataset.subset.get("redraw") else axes)

    @property
    def id(self) -> str:
        """Hash of all axes: runs with the same id are the same run, whatever spec they come from."""
        method = [self.method.name, self.method.source, dict(self.method.params), list(self.method.keep)]
        return digest({**self.data_axes, "method": method})[:16]


@dataclass(frozen=True)
class Experiment:
    """A whole spec."""

    name: str
    title: str
    repeats: int
    metrics: tuple[str, ...]
    datasets: tuple[DatasetSpec, ...]
    corruptions: tuple[CorruptionSpec, ...]
    methods: tuple[MethodSpec, ...]
    folder: Path
    printed: Printed = field(default_factory=Printed)
    notes: tuple[Note, ...] = ()
    description: str = ""

    def runs(self) -> Iterator[Run]:
        """Yield all runs; a repeat of everything comes before the next, so that early tables are about all methods."""
        for repeat in range(self.repeats):
            for axes in product(self.datasets, self.corruptions, self.methods):
                yield Run(*axes, repeat)

    @property
    def method_names(self) -> list[str]:
        """Plain names of the methods, each once."""
        return list(dict.fromkeys(plain_name(method.name) for method in self.methods))

    @property
    def dataset_names(self) -> list[str]:
        """Plain names of the data sets, each once."""
        return list(dict.fromkeys(plain_name(dataset.name) for dataset in self.datasets))

    def select(
        self, datasets: Iterable[str] = (), methods: Iterable[str] = (), repeats: int | None = None
    ) -> Experiment:
        """Return the part of the experiment with these data sets and methods; none given means all."""
        return replace(
            self,
            datasets=_named(self.datasets, tuple(datasets), "data set"),
            methods=_named(self.methods, tuple(methods), "method"),
            repeats=self.repeats if repeats is None else check_int("repeats", repeats, minimum=1),
        )


def plain_name(name: str) -> str:
    """Return a name without what stands in brackets: a swept parameter, or a variant of a data set."""
    return name.partition("[")[0]


def digest(value: Any) -> str:
    """sha256 of a value, written as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def hashed_seed(value: Any) -> int:
    """Return a seed of 31 bits."""
    return int(digest(value)[:16], 16) % 2**31


# Reading -------------------------------------------------------------------------------------------


def read_spec(path: str | Path) -> Experiment:
    """Read a TOML spec; a key `base` names another file whose keys count where this one has none."""
    path = Path(path)
    table = _read_toml(path)
    if "base" in table:
        table = _read_toml(path.parent / _text(table, "base", str(path))) | table
    return parse_spec(table, path)


def parse_spec(table: Mapping[str, Any], path: Path) -> Experiment:
    """Make an experiment from a parsed TOML file; every mistake is told with the file and the key."""
    where = str(path)
    known = ("base", "name", "title", "description", "repeats", "metrics", "datasets", "corruptions", "methods")
    _check_keys(table, where, (*known, "printed", "notes"))
    corruptions = [_corruption(item, f"{where}, corruptions") for item in _tables(table, "corruptions", where, [{}])]
    methods = [m for item in _tables(table, "methods", where) for m in _methods(item, f"{where}, methods")]
    experiment = Experiment(
        name=_text(table, "name", where, path.stem),
        title=_text(table, "title", where, path.stem),
        description=_text(table, "description", where, ""),
        repeats=check_int(f"{where}: repeats", table.get("repeats", 10), minimum=1),
        metrics=_texts(table, "metrics", where) or ("acc", "nmi"),
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
        check_choice(f"metric ({where})", metric, (*METRICS, *NAMES))
    _check_names(experiment, where)
    return experiment


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is not there; give the path of a TOML spec (see docs/experiments.md).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from error


def _dataset(item: Params, where: str) -> DatasetSpec:
    _check_keys(item, where, ("name", "source", "label", "params", "subset"))
    name = _text(item, "name", where)
    subset = _params(item, "subset", where)
    _check_keys(subset, f"{where}, {name}, subset", SUBSET_KEYS)
    for key, value in subset.items():
        if key != "redraw":
            check_int(f"{where}, {name}, subset: {key}", value, minimum=1)
    source, label = _text(item, "source", where, name), _text(item, "label", where, name)
    return DatasetSpec(name, source, label, _params(item, "params", where), subset)


def _corruption(item: Params, where: str) -> CorruptionSpec:
    _check_keys(item, where, ("name", "kind", "label", "params"))
    name = _text(item, "name", where, "clean")
    kind = check_choice(f"kind of corruption ({where})", item.get("kind", "none"), CORRUPTIONS)
    return CorruptionSpec(name, kind, _text(item, "label", where, name), _params(item, "params", where))


def _methods(item: Params, where: str) -> Iterator[MethodSpec]:
    """Read a method; with `sweep`, one for every value of every swept parameter, the others as in `params`."""
    _check_keys(item, where, ("name", "source", "label", "params", "keep", "sweep"))
    name = _text(item, "name", where)
    keep = _texts(item, "keep", where)
    for artifact in keep:
        check_choice(f"keep ({where}, {name})", artifact, ARTIFACTS)
    source, label = _text(item, "source", where, name), _text(item, "label", where, name)
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
            f"{where}: printed is not metric -> data set -> method -> number ({error}), as in "
            "[printed.acc] digits = {ocbr = 92.22}."
        ) from error
    return Printed(values, corruption, tolerance)


def _note(item: Params, where: str) -> Note:
    _check_keys(item, where, ("text", "datasets", "methods"))
    return Note(_text(item, "text", where), _texts(item, "datasets", where), _texts(item, "methods", where))


# Checks --------------------------------------------------------------------------------------------


def _check_keys(table: Params, where: str, known: Iterable[str]) -> None:
    unknown = [key for key in table if key not in tuple(known)]
    if unknown:
        raise InputError(f"{where}: unknown key {quoted(unknown)}. Choose from: {quoted(known, 20)}.")


def _check_names(experiment: Experiment, where: str) -> None:
    """Raise if printed numbers or notes are about something that the spec does not have."""
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
            raise InputError(f"{where}: printed or notes name the {what} {quoted(unknown)}, which the spec has not.")


def _check_unique(names: list[str], where: str) -> None:
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(f"{where}: the name {quoted(sorted(repeated))} is used twice; give every entry its own.")


def _text(table: Params, key: str, where: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise InputError(f'{where}: {key} is {value!r}; give a text, {key} = "...".')
    return value


def _texts(table: Params, key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(f'{where}: {key} is {value!r}; give a list of texts, {key} = ["..."].')
    return tuple(value)


def _params(table: Params, key: str, where: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key} is {value!r}; give a table, {key} = {{name = value}}.")
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


def _named(items: tuple[Any, ...], names: tuple[str, ...], what: str) -> tuple[Any, ...]:
    """Return the items of these names, in the order of the spec; those with brackets go by their plain name."""
    plain = [plain_name(item.name) for item in items]
    unknown = [name for name in names if name not in plain]
    if unknown:
        raise InputError(f"Unknown {what} {quoted(unknown)}. Choose from: {quoted(dict.fromkeys(plain), 20)}.")
    return tuple(item for item, name in zip(items, plain, strict=True) if not names or name in names)
