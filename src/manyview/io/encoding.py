"""Values as JSON and plain arrays, and back. Nothing is pickled, so files from untrusted sources are safe to read.

Arrays, sparse matrices and the dataclasses in `manyview.records` are marked by tags.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.records import SAVED


class Encoder:
    """Turns values into JSON; `write` stores an array under a name. An array that occurs twice is stored once."""

    def __init__(self, write: Callable[[str, NDArray[Any]], object]) -> None:
        self._write = write
        self._names: dict[int, tuple[str, Any]] = {}  # keeps the array alive, so that its id is not reused
        self._kinds: dict[type, Callable[[Any], Any]] = {
            list: lambda value: [self.encode(item) for item in value],
            tuple: lambda value: {"tuple": [self.encode(item) for item in value]},
            dict: lambda value: {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]},
            np.ndarray: self._array,
            sp.csr_array: self._sparse,
        }

    def encode(self, value: Any) -> Any:
        """Return a value as JSON."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        for kind, encode in self._kinds.items():
            if isinstance(value, kind):
                return encode(value)
        if is_dataclass(value) and SAVED.get(type(value).__name__) is type(value):
            parts = {field.name: self.encode(getattr(value, field.name)) for field in fields(value)}
            return {"record": type(value).__name__, "fields": parts}
        raise InputError(f"A value of type {type(value).__name__} cannot be saved: {value!r:.80}.")

    def _array(self, value: NDArray[Any]) -> Any:
        if value.dtype == object:  # names
            return {"objects": [self.encode(item) for item in value.tolist()]}
        if id(value) not in self._names:
            name = f"{len(self._names)}.npy"
            self._write(name, np.asarray(value))
            self._names[id(value)] = (name, value)
        return {"array": self._names[id(value)][0]}

    def _sparse(self, value: sp.csr_array) -> Any:
        parts = {part: self._array(getattr(value, part)) for part in ("data", "indices", "indptr")}
        return {"csr": parts, "shape": list(value.shape)}


class Decoder:
    """The inverse of `Encoder`: `read` returns an array by name. Only known tags and records are accepted."""

    def __init__(self, read: Callable[[str], NDArray[Any]], where: str) -> None:
        self._read, self._where = read, where
        self._arrays: dict[str, NDArray[Any]] = {}
        self._tags: dict[str, Callable[[Any], Any]] = {
            "float": lambda value: float(value["float"]),
            "tuple": lambda value: tuple(self.decode(item) for item in value["tuple"]),
            "dict": lambda value: {self.decode(k): self.decode(v) for k, v in value["dict"]},
            "objects": lambda value: self._objects(value["objects"]),
            "array": lambda value: self._array(value["array"]),
            "csr": self._sparse,
            "record": self._record,
        }

    def decode(self, value: Any) -> Any:
        """Return the value that the JSON represents."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag = next((tag for tag in self._tags if tag in value), None)
        if tag is None:
            raise InputError(
                f"{self._where} contains something unknown: {quoted(value)}; it may need a newer manyview."
            )
        return self._tags[tag](value)

    def _objects(self, items: list[Any]) -> NDArray[Any]:
        array = np.empty(len(items), dtype=object)
        array[:] = [self.decode(item) for item in items]
        return array

    def _array(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _sparse(self, value: Mapping[str, Any]) -> sp.csr_array:
        parts = (self.decode(value["csr"][part]) for part in ("data", "indices", "indptr"))
        matrix = sp.csr_array(tuple(parts), shape=tuple(value["shape"]))
        matrix.check_format()
        return matrix

    def _record(self, value: Mapping[str, Any]) -> Any:
        record = SAVED.get(value["record"])
        if record is None:
            raise InputError(f"{self._where} contains an unknown {value['record']!r}; it may need a newer manyview.")
        return record(**{name: self.decode(part) for name, part in value["fields"].items()})
