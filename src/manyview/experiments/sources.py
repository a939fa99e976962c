"""Where methods and data sets come from: this package, entry points of other packages, or a user's file.

A source in a spec is a key ("ocbr"), the name of an entry point in the group `manyview.methods` or
`manyview.datasets`, ``path.py:Name`` relative to the spec, ``package.module:Name``, or (data sets) an npz file.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from manyview.checks import InputError, a_type_of, quoted
from manyview.datasets import DATASETS, Dataset
from manyview.io import read_labels, read_views
from manyview.methods import METHODS
from manyview.views.container import Views

GROUPS = {"method": "manyview.methods", "data set": "manyview.datasets"}


def find_source(kind: str, source: str, folder: Path) -> Any:
    """Return the object that a source names; `kind` is "method" or "data set", `folder` is that of the spec."""
    builtin: Mapping[str, Any] = METHODS if kind == "method" else DATASETS
    if source in builtin:
        return builtin[source]
    if ".py:" in source:
        return _from_file(kind, source, folder)
    if ":" in source:
        return _from_module(kind, source)
    plugins = entry_points(group=GROUPS[kind])
    if source in plugins.names:
        return plugins[source].load()
    raise InputError(
        f"Unknown {kind} {source!r}. Choose one of: {quoted([*builtin, *sorted(plugins.names)], 20)}; "
        f"or give path.py:Name, module:Name, or an entry point in the group {GROUPS[kind]!r}."
    )


def plugin_version(source: str) -> dict[str, str]:
    """Return the name and version of the package that provides a method as an entry point; otherwise empty."""
    plugins = entry_points(group=GROUPS["method"])
    dist = plugins[source].dist if source in plugins.names and source not in METHODS else None
    return {} if dist is None else {dist.name: dist.version}


def identify_data(source: str, folder: Path) -> str | None:
    """Return what identifies a data set: the content of an npz file (None if it is gone), otherwise the source."""
    if not source.endswith(".npz"):
        return source
    path = folder / Path(source).expanduser()
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def check_source(kind: str, source: str, folder: Path) -> None:
    """Raise if the source cannot be found, without running a user's file."""
    if ".py:" in source:
        _python_file(kind, source, folder)
    elif kind == "data set" and source.endswith(".npz"):
        _npz_file(source, folder)
    else:
        find_source(kind, source, folder)


def make_method(source: str, folder: Path, params: Mapping[str, Any], n_clusters: int, seed: int) -> Any:
    """Return an object with `fit_predict`; it is given the number of clusters and the seed if it accepts them."""
    found = find_source("method", source, folder)
    offered = {"n_clusters": n_clusters, "random_state": seed}
    model = _call(found, offered, params, source) if callable(found) else _configure(found, offered, params, source)
    if not callable(getattr(model, "fit_predict", None)):
        raise InputError(f"Method {source!r} is {a_type_of(model)} without fit_predict; it needs one.")
    return model


def load_dataset(name: str, source: str, folder: Path, params: Mapping[str, Any]) -> Dataset:
    """Load a data set: a loader may return a `Dataset`, or a pair of views and labels."""
    if source.endswith(".npz"):
        path = _npz_file(source, folder)
        views = read_views([path]).views
        return Dataset(name, views, read_labels(path, views.sample_ids, views.n_samples))
    loaded = _call(find_source("data set", source, folder), {}, params, source)
    if not isinstance(loaded, Dataset):
        loaded = _as_dataset(name, loaded, source)
    if len(loaded.labels) != loaded.views.n_samples:
        raise InputError(f"Data set {source!r} has {loaded.views.n_samples} samples but {len(loaded.labels)} labels.")
    return loaded


def _as_dataset(name: str, loaded: Any, source: str) -> Dataset:
    if not isinstance(loaded, tuple) or len(loaded) != 2:
        raise InputError(
            f"Data set {source!r} returned {type(loaded).__name__}; return a Dataset, or the pair (views, labels)."
        )
    return Dataset(name, Views(loaded[0]), np.asarray(loaded[1]))


def _call(make: Any, offered: Mapping[str, Any], params: Mapping[str, Any], source: str) -> Any:
    """Call a class or function with the parameters, and with the offered ones that it accepts."""
    if not callable(make):
        raise InputError(f"{source!r} is {a_type_of(make)}; give a class or a function.")
    known = inspect.signature(make).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    unknown = [] if anything else [name for name in params if name not in known]
    if unknown:
        raise InputError(f"{source!r} has no parameter {quoted(unknown)}. Choose from: {quoted(known, 20)}.")
    return make(**{name: value for name, value in offered.items() if name in known}, **params)


def _configure(model: Any, offered: Mapping[str, Any], params: Mapping[str, Any], source: str) -> Any:
    """Copy an object, and set its attributes."""
    model = copy.deepcopy(model)
    unknown = [name for name in params if not hasattr(model, name)]
    if unknown:
        raise InputError(f"{source!r} has no attribute {quoted(unknown)}.")
    for name, value in {**{k: v for k, v in offered.items() if hasattr(model, k)}, **params}.items():
        setattr(model, name, value)
    return model


def _from_file(kind: str, source: str, folder: Path) -> Any:
    path, name = _python_file(kind, source, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # so that objects of the file can be pickled
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise InputError(f"{path} does not define {name!r}, as the {kind} {source!r} requires.")
    return getattr(module, name)


def _from_module(kind: str, source: str) -> Any:
    module, _, name = source.rpartition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"The {kind} {source!r} cannot be imported: {error}.") from error


def _python_file(kind: str, source: str, folder: Path) -> tuple[Path, str]:
    text, _, name = source.rpartition(":")
    return _existing_file(text, folder, f"the {kind} {source!r} is path.py:Name"), name


def _npz_file(source: str, folder: Path) -> Path:
    return _existing_file(source, folder, f"the data set {source!r} is an npz file")


def _existing_file(text: str, folder: Path, meaning: str) -> Path:
    path = folder / Path(text).expanduser()
    if not path.is_file():
        raise InputError(f"{path} not found; {meaning}, relative to the folder of the spec.")
    return path
