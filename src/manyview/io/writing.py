"""Writing results: all files or none, and never over earlier results unless asked to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path

from manyview.checks import InputError, quoted


def check_output(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Raise if `folder` cannot hold these files, or already holds one of them and `force` is not set."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder for the results with --out.")
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise InputError(f"{folder} already holds {quoted(existing)}; give another --out, or --force to overwrite.")


def unused_folder(base: str | Path) -> Path:
    """Return `base` if nothing of that name exists, otherwise the first unused of `base`-2, `base`-3, ..."""
    names = chain([str(base)], (f"{base}-{i}" for i in count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def write_files(folder: Path, contents: Mapping[str, str | bytes], *, force: bool = False) -> list[Path]:
    """Write several files into a folder; they appear only once all have been written completely."""
    check_output(folder, contents, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".manyview-", dir=folder) as staging:
        for name, content in contents.items():
            data = content.encode() if isinstance(content, str) else content
            (Path(staging) / name).write_bytes(data)
        for name in contents:
            os.replace(Path(staging) / name, folder / name)
    return [folder / name for name in contents]
