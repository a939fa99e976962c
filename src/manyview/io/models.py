"""Fitted models in one file: a zip archive of a JSON text and plain numpy arrays. Nothing is pickled.

The JSON holds the format version, the method, its parameters and fitted attributes, and a checksum of every array.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview._version import __version__
from manyview.checks import InputError, a_type_of, helped_by, quoted
from manyview.io.encoding import Decoder, Encoder
from manyview.io.guards import check_size, reading
from manyview.io.writing import write_files
from manyview.methods import METHODS, MultiViewClusterer

FORMAT, FORMAT_VERSION = "manyview model", 1
CONTENTS = "model.json"
LARGEST_CONTENTS = 2**28  # bytes; a million names take about 2**24
NOT_SAVED = ("callback",)  # parameters that hold code


def save(model: MultiViewClusterer, path: str | Path) -> Path:
    """Write a fitted model to a file; an existing file of that name is replaced.

    `load` reads it back; the predictions stay the same. Callbacks are not saved, and a random_state that is a
    RandomState becomes None.

    Parameters
    ----------
    model : MultiViewClusterer
        A fitted estimator of any method.
    path : str or Path
        The file to write.
    """
    path = Path(path)
    if path.is_dir():  # as is an empty path, which means the current folder
        raise InputError(f"{path} is a folder; give the name of the file to write, such as model.manyview.")
    (written,) = write_files(path.parent, {path.name: to_bytes(model)}, force=True)
    return written


@helped_by("new-samples")
def load(path: str | Path) -> MultiViewClusterer:
    """Read a model written by `save`; damaged files and files of another kind are refused with the reason.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"{path} {'is a folder' if path.is_dir() else 'was not found'}; give a file written by save() or by "
            "'manyview cluster --save'."
        )
    with reading(path, "a manyview model"), zipfile.ZipFile(path) as archive:
        return _read(archive, str(path))


def to_bytes(model: MultiViewClusterer) -> bytes:
    """Return the content of a model file."""
    key = next((key for key, cls in METHODS.items() if type(model) is cls), None)
    if key is None:
        raise InputError(f"Only the methods {quoted(METHODS)} can be saved, not {a_type_of(model)}.")
    if not hasattr(model, "labels_"):
        raise InputError(f"This {type(model).__name__} is not fitted; call fit before saving it.")
    params = model.get_params(deep=False)
    return _pack(
        lambda encoder: {
            "method": key,
            "parameters": {name: _parameter(name, value, encoder) for name, value in params.items()},
            "attributes": {name: encoder.encode(value) for name, value in vars(model).items() if name not in params},
        }
    )


def record_bytes(record: object) -> bytes:
    """Return the content of a file that holds a record (`manyview.records`) instead of a model."""
    return _pack(lambda encoder: {"record": encoder.encode(record)})


def load_record(path: str | Path) -> Any:
    """Read a file that may hold a model or a record."""
    with reading(path, "a manyview record"), zipfile.ZipFile(path) as archive:
        contents = json.loads(archive.read(CONTENTS))
        if "record" not in contents:
            return _read(archive, str(path))
        decoder = Decoder(lambda name: _array(archive, name, contents["checksums"][name], str(path)), str(path))
        return decoder.decode(contents["record"])


def _pack(describe: Callable[[Encoder], dict[str, Any]]) -> bytes:
    files: dict[str, bytes] = {}
    encoder = Encoder(lambda name, array: files.update({name: _npy_bytes(array)}))
    contents: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION, "manyview": __version__}
    contents |= describe(encoder)
    contents["checksums"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENTS, json.dumps(contents, allow_nan=False))
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _parameter(name: str, value: Any, encoder: Encoder) -> Any:
    return None if name in NOT_SAVED or isinstance(value, np.random.RandomState) else encoder.encode(value)


def _npy_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


# Reading ---------------------------------------------------------------------------------------------


def _read(archive: zipfile.ZipFile, path: str) -> MultiViewClusterer:
    check_size(path, sum(member.file_size for member in archive.infolist()))
    contents = _contents(archive, path)
    cls = METHODS.get(contents["method"])
    if cls is None:
        raise InputError(f"{path} contains a model of an unknown method, {contents['method']!r}; update manyview.")
    decoder = Decoder(lambda name: _array(archive, name, contents["checksums"][name], path), path)
    try:
        params = {name: decoder.decode(value) for name, value in contents["parameters"].items()}
        model = cls(**params)
        for name, value in contents["attributes"].items():
            setattr(model, name, decoder.decode(value))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a complete manyview model: {type(error).__name__}: {error}.") from error
    return model


def _array(archive: zipfile.ZipFile, name: str, checksum: str, path: str) -> NDArray[Any]:
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != checksum:
        raise InputError(f"{path} is damaged: {name} does not match its checksum.")
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)


def _contents(archive: zipfile.ZipFile, path: str) -> Mapping[str, Any]:
    try:
        if archive.getinfo(CONTENTS).file_size > LARGEST_CONTENTS:
            raise InputError(f"{path} is not a manyview model: {CONTENTS} has more than {LARGEST_CONTENTS} bytes.")
        contents = json.loads(archive.read(CONTENTS))
    except (KeyError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not a manyview model: it has no readable {CONTENTS} ({error}).") from error
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
