"""Fitted models in one file: a zip archive of a JSON text and plain numpy arrays. Nothing is pickled.

The JSON holds the format version, the method, its parameters and fitted attributes, and a checksum of every array.
Arrays, sparse matrices and the dataclasses in `manyview.records` are marked by tags.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview._version import __version__
from manyview.checks import InputError, quoted
from manyview.io.guards import check_size, one_line
from manyview.io.writing import write_files
from manyview.methods import METHODS, MultiViewClusterer
from manyview.records import SAVED

FORMAT, FORMAT_VERSION = "manyview model", 1
CONTENTS = "model.json"
NOT_SAVED = ("callback",)  # parameters that are code


def save(model: MultiViewClusterer, path: str | Path) -> Path:
    """Write a fitted model to a file; an existing file of that name is replaced.

    `load` reads it back, with the same predictions. A callback is not saved, and a RandomState as random_state becomes
    None.
    """
    path = Path(path)
    (written,) = write_files(path.parent, {path.name: to_bytes(model)}, force=True)
    return written


def load(path: str | Path) -> MultiViewClusterer:
    """Read a model written by `save`; damaged and foreign files are refused with the reason."""
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"{path} {'is a folder' if path.is_dir() else 'was not found'}; give a file written by save()."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, str(path))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} cannot be read as a manyview model: {one_line(error)}.") from error


def to_bytes(model: MultiViewClusterer) -> bytes:
    """Return the content of a model file."""
    key = next((key for key, cls in METHODS.items() if type(model) is cls), None)
    if key is None:
        raise InputError(f"Only the methods {quoted(METHODS)} can be saved, not a {type(model).__name__}.")
    if not hasattr(model, "labels_"):
        raise InputError(f"This {type(model).__name__} is not fitted; call fit before saving it.")
    params = model.get_params(deep=False)
    writer = _Writer()
    contents: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "manyview": __version__,
        "method": key,
        "parameters": {name: _parameter(name, value, writer) for name, value in params.items()},
        "attributes": {name: writer.encode(value) for name, value in vars(model).items() if name not in params},
    }
    contents["checksums"] = {name: hashlib.sha256(data).hexdigest() for name, data in writer.files.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENTS, json.dumps(contents, allow_nan=False))
        for name, data in writer.files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _parameter(name: str, value: Any, writer: _Writer) -> Any:
    return None if name in NOT_SAVED or isinstance(value, np.random.RandomState) else writer.encode(value)


# Writing ---------------------------------------------------------------------------------------------


class _Writer:
    """Turns values into JSON, with arrays as separate files; an array that occurs twice is written once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._names: dict[int, tuple[str, Any]] = {}  # keeps the array alive, so that its id is not reused

    def encode(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        for kind, write in self._writers().items():
            if isinstance(value, kind):
                return write(value)
        if is_dataclass(value) and SAVED.get(type(value).__name__) is type(value):
            parts = {field.name: self.encode(getattr(value, field.name)) for field in fields(value)}
            return {"record": type(value).__name__, "fields": parts}
        raise InputError(f"A value of type {type(value).__name__} cannot be saved: {value!r:.80}.")

    def _writers(self) -> dict[type, Callable[[Any], Any]]:
        return {
            list: lambda value: [self.encode(item) for item in value],
            tuple: lambda value: {"tuple": [self.encode(item) for item in value]},
            dict: lambda value: {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]},
            np.ndarray: self._array,
            sp.csr_array: self._sparse,
        }

    def _array(self, value: np.ndarray) -> Any:
        if value.dtype == object:  # names
            return {"objects": [self.encode(item) for item in value.tolist()]}
        if id(value) not in self._names:
            name = f"{len(self.files)}.npy"
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(value), allow_pickle=False)
            self.files[name] = buffer.getvalue()
            self._names[id(value)] = (name, value)
        return {"array": self._names[id(value)][0]}

    def _sparse(self, value: sp.csr_array) -> Any:
        parts = {part: self._array(getattr(value, part)) for part in ("data", "indices", "indptr")}
        return {"csr": parts, "shape": list(value.shape)}


# Reading ---------------------------------------------------------------------------------------------


def _read(archive: zipfile.ZipFile, path: str) -> MultiViewClusterer:
    check_size(path, sum(member.file_size for member in archive.infolist()))
    contents = _contents(archive, path)
    cls = METHODS.get(contents["method"])
    if cls is None:
        raise InputError(f"{path} holds a model of the unknown method {contents['method']!r}; update manyview.")
    reader = _Reader(archive, contents["checksums"], path)
    try:
        params = {name: reader.decode(value) for name, value in contents["parameters"].items()}
        model = cls(**params)
        for name, value in contents["attributes"].items():
            setattr(model, name, reader.decode(value))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a complete manyview model: {type(error).__name__}: {error}.") from error
    return model


def _contents(archive: zipfile.ZipFile, path: str) -> Mapping[str, Any]:
    try:
        contents = json.loads(archive.read(CONTENTS))
    except (KeyError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not a manyview model: it holds no readable {CONTENTS} ({error}).") from error
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise InputError(f"{path} is not a manyview model: {CONTENTS} does not say {FORMAT!r}.")
    if contents.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{path} has format version {contents.get('format_version')!r}, written by manyview "
            f"{contents.get('manyview')}; this is manyview {__version__}, which reads version {FORMAT_VERSION}."
        )
    lacking = [key for key in ("method", "parameters", "attributes", "checksums") if key not in contents]
    if lacking:
        raise InputError(f"{path} is not a complete manyview model: {CONTENTS} lacks {quoted(lacking)}.")
    return contents


class _Reader:
    """The inverse of `_Writer`; accepts only known tags and records, and checks arrays."""

    def __init__(self, archive: zipfile.ZipFile, checksums: Mapping[str, str], path: str) -> None:
        self._archive, self._checksums, self._path = archive, checksums, path
        self._arrays: dict[str, np.ndarray] = {}
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
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag = next((tag for tag in self._tags if tag in value), None)
        if tag is None:
            raise InputError(f"{self._path} holds unknown content: {quoted(value)}; it may need a newer manyview.")
        return self._tags[tag](value)

    def _objects(self, items: list[Any]) -> np.ndarray:
        array = np.empty(len(items), dtype=object)
        array[:] = [self.decode(item) for item in items]
        return array

    def _array(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            data = self._archive.read(name)
            if hashlib.sha256(data).hexdigest() != self._checksums[name]:
                raise InputError(f"{self._path} is damaged: {name} does not match its checksum.")
            self._arrays[name] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        return self._arrays[name]

    def _sparse(self, value: Mapping[str, Any]) -> sp.csr_array:
        parts = (self.decode(value["csr"][part]) for part in ("data", "indices", "indptr"))
        matrix = sp.csr_array(tuple(parts), shape=tuple(value["shape"]))
        matrix.check_format()
        return matrix

    def _record(self, value: Mapping[str, Any]) -> Any:
        record = SAVED.get(value["record"])
        if record is None:
            raise InputError(f"{self._path} holds an unknown {value['record']!r}; it may need a newer manyview.")
        return record(**{name: self.decode(part) for name, part in value["fields"].items()})
