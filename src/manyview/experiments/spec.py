"""What to run: data sets x corruptions x methods x repeats.

The seed of a run is a hash of its data set, corruption and repeat, but not of its method: every method sees the same
corrupted data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from manyview.checks import InputError, check_int, quoted

Params = Mapping[str, Any]

MOST_REPEATS = 100_000  # all runs are listed before the first


@dataclass(frozen=True)
class DatasetSpec:
    """A data set: its source, the parameters of its loader, and the subset to draw from it."""

    name: str
    source: str
    label: str
    params: Params = field(default_factory=dict)
    subset: Params = field(default_factory=dict)


@dataclass(frozen=True)
class CorruptionSpec:
    """A kind of corruption and its parameters; "none" leaves the data unchanged."""

    name: str
    kind: str
    label: str
    params: Params = field(default_factory=dict)


@dataclass(frozen=True)
class MethodSpec:
    """A method: its source, its parameters, which results to keep, and its swept parameter and value, if any."""

    name: str
    source: str
    label: str
    params: Params = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    swept: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Note:
    """A remark about some cells of the tables; empty `datasets` or `methods` mean all of them."""

    text: str
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def applies_to(self, dataset: str, method: str) -> bool:
        """Return whether the note is about this cell."""
        return (not self.datasets or dataset in self.datasets) and (not self.methods or method in self.methods)


@dataclass(frozen=True)
class Printed:
    """Published numbers: metric -> data set -> method -> value, and the corruption under which each method was run."""

    values: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    corruption: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.02

    def value(self, metric: str, dataset: str, corruption: str, method: str) -> float | None:
        """Return the published number of a cell; None if there is none under this corruption."""
        if self.corruption.get(method) != corruption:
            return None
        return self.values.get(metric, {}).get(dataset, {}).get(method)


@dataclass(frozen=True)
class Run:
    """One method on one data set under one corruption, once: a child process, and a row in the store.

    Attributes
    ----------
    dataset, corruption, method : DatasetSpec, CorruptionSpec, MethodSpec
        What is run.
    repeat : int
        Number of the repeat, from 0.
    """

    dataset: DatasetSpec
    corruption: CorruptionSpec
    method: MethodSpec
    repeat: int

    @property
    def data_axes(self) -> dict[str, Any]:
        """What the corrupted data depend on, for hashing."""
        return {
            "dataset": [self.dataset.name, dict(self.dataset.params), dict(self.dataset.subset)],
            "corruption": [self.corruption.kind, dict(self.corruption.params)],
            "repeat": self.repeat,
        }

    @property
    def seed(self) -> int:
        """Seed of the corruption and of the method (31 bits, as scikit-learn requires)."""
        return hashed_seed(self.data_axes)

    @property
    def subset_seed(self) -> int:
        """Seed of the subset: the same samples under all corruptions and, unless `redraw` is set, in all repeats."""
        axes = self.data_axes["dataset"]
        return hashed_seed([axes, self.repeat] if self.dataset.subset.get("redraw") else axes)

    @property
    def id(self) -> str:
        """Hash of all axes: runs with the same id are the same, even if they come from different specs."""
        method = [self.method.name, self.method.source, dict(self.method.params), list(self.method.keep)]
        return digest({**self.data_axes, "method": method})[:16]


@dataclass(frozen=True)
class Experiment:
    """A whole spec: which methods run on which data, how often, and what is measured.

    Attributes
    ----------
    name, title, description : str
        The name of the spec's file, and its title and description in the report.
    repeats : int
        How often each method runs on each data set under each corruption.
    metrics : tuple of str
        Keys of the scores to compute.
    datasets, corruptions, methods : tuple
        What is combined: every method runs on every data set under every corruption.
    folder : Path
        The folder that relative paths in the spec start from.
    printed : Printed
        Numbers to compare with.
    notes : tuple of Note
        Remarks shown below the tables of the report.
    """

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
        """Yield all runs, one repeat of everything after another, so that early tables already show all methods."""
        for repeat in range(self.repeats):
            for axes in product(self.datasets, self.corruptions, self.methods):
                yield Run(*axes, repeat)

    @property
    def method_names(self) -> list[str]:
        """Base names of the methods, without duplicates."""
        return list(dict.fromkeys(base_name(method.name) for method in self.methods))

    @property
    def dataset_names(self) -> list[str]:
        """Base names of the data sets, without duplicates."""
        return list(dict.fromkeys(base_name(dataset.name) for dataset in self.datasets))

    def select(
        self, datasets: Iterable[str] = (), methods: Iterable[str] = (), repeats: int | None = None
    ) -> Experiment:
        """Return the experiment restricted to these data sets and methods; empty means all."""
        return replace(
            self,
            datasets=_select(self.datasets, tuple(datasets), "data set"),
            methods=_select(self.methods, tuple(methods), "method"),
            repeats=self.repeats if repeats is None else check_repeats("repeats", repeats),
        )


def check_repeats(name: str, value: object) -> int:
    """Return a number of repeats, or raise."""
    return check_int(name, value, minimum=1, maximum=MOST_REPEATS)


def base_name(name: str) -> str:
    """Return a name without its brackets, which contain a swept parameter or the variant of a data set."""
    return name.partition("[")[0]


def digest(value: Any) -> str:
    """Return the sha256 of a value, written as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def hashed_seed(value: Any) -> int:
    """Return a 31-bit seed that depends only on the value."""
    return int(digest(value)[:16], 16) % 2**31


def _select(items: tuple[Any, ...], names: tuple[str, ...], what: str) -> tuple[Any, ...]:
    """Return the items with these base names, in the order of the spec."""
    base = [base_name(item.name) for item in items]
    unknown = [name for name in names if name not in base]
    if unknown:
        raise InputError(f"Unknown {what} {quoted(unknown)}. Choose from: {quoted(dict.fromkeys(base), 20)}.")
    return tuple(item for item, name in zip(items, base, strict=True) if not names or name in names)
