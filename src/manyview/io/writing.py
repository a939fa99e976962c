"""Writing results: the files of a run form one set, and replace earlier results only on request.

All files are staged first. Then the old set is removed, and the new one moved into place; the next process that writes
to the folder finishes or removes what a killed one left behind. So old and new files are never mixed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyview.checks import InputError, quoted
from manyview.io.locks import try_lock

if TYPE_CHECKING:
    import pandas as pd

STAGING = ".manyview-"
LOCK = ".lock"
STAGED, CLEARED = "staged.json", "cleared.json"  # mark the progress: everything is staged; the old set has been removed


def check_output(folder: Path, names: Collection[str], *, force: bool) -> None:
    """Raise if `folder` cannot take these files, or already contains one of them and `force` is not set.

    Parameters
    ----------
    folder : Path
        Where the files should go.
    names : collection of str
        Names of the files.
    force : bool
        Whether existing files may be replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose a folder for the results with --out.")
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise InputError(
            f"{folder} already contains {quoted(existing)}; choose another --out, or use --force to overwrite."
        )
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise InputError(f"{folder} cannot be written to ({error.strerror}); choose another --out.") from error


def csv_text(table: pd.DataFrame, **options: Any) -> str:
    """Return a table as CSV, with the same line endings on every system; `options` are those of `DataFrame.to_csv`."""
    return table.to_csv(lineterminator="\n", **options)


def unused_folder(base: str | Path) -> Path:
    """Return `base` if nothing of that name exists, otherwise the first unused of `base`-2, `base`-3, ...

    Parameters
    ----------
    base : str or Path
        The name to start from.
    """
    names = chain([str(base)], (f"{base}-{i}" for i in count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def write_files(
    folder: Path,
    contents: Mapping[str, str | bytes | Iterable[bytes]],
    *,
    force: bool = False,
    replaces: Collection[str] = (),
) -> list[Path]:
    """Write several files into a folder as one set.

    Parameters
    ----------
    folder : Path
        The folder; created if it does not exist.
    contents : mapping of str to str, bytes or an iterable of them
        Content of each file by its name; an iterable is written piece by piece.
    force : bool, default=False
        Whether existing files may be replaced.
    replaces : collection of str, optional
        Names of files that belong to the set; those that are not in `contents` are removed.
    """
    names = list(dict.fromkeys((*contents, *replaces)))
    check_output(folder, names, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    _finish_earlier(folder)
    with _staging(folder) as staging:
        for name, content in contents.items():
            _write(staging / name, content)
        # a single file is replaced atomically, so nothing has to be removed first
        _write_whole(staging / STAGED, json.dumps({"old": names if len(names) > 1 else [], "new": list(contents)}))
        _put_in_place(staging)
    return [folder / name for name in contents]


def _write(path: Path, content: str | bytes | Iterable[bytes]) -> None:
    pieces = (
        [content.encode() if isinstance(content, str) else content] if isinstance(content, str | bytes) else content
    )
    with path.open("wb") as file:
        file.writelines(pieces)


def _put_in_place(staging: Path) -> None:
    """Remove the old set and move the new one into place, continuing from where this stopped before."""
    if (staging / STAGED).exists():
        for name in _names(staging / STAGED, "old"):
            with _in_use(staging.parent / name):
                (staging.parent / name).unlink(missing_ok=True)
        os.replace(staging / STAGED, staging / CLEARED)
    for name in _names(staging / CLEARED, "new"):
        with suppress(FileNotFoundError), _in_use(staging.parent / name):  # not found: moved before
            os.replace(staging / name, staging.parent / name)


def _names(mark: Path, which: str) -> list[str]:
    """Return the names of the old or new files; the folder may come from anyone, so no name may lead out of it."""
    try:
        names = json.loads(mark.read_text(encoding="utf-8"))[which]
        return [name for name in names if Path(name).name == name]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{mark} is damaged; delete the folder {mark.parent}.") from error


@contextmanager
def _in_use(path: Path) -> Iterator[None]:
    """Say what to do if a file cannot be replaced: Windows refuses that while a program has it open."""
    try:
        yield
    except PermissionError as error:
        raise InputError(
            f"{path} cannot be replaced ({error.strerror}); close it if another program has it open, and run the "
            "command again."
        ) from error


def _finish_earlier(folder: Path) -> None:
    """Finish the sets that were staged completely before a process was killed, and remove the others."""
    for staging in sorted(folder.glob(f"{STAGING}*")):
        with suppress(FileNotFoundError):
            with _locked(staging) as mine:
                if mine and _is_staged(staging):
                    _put_in_place(staging)
            if mine:
                shutil.rmtree(staging)


def _is_staged(staging: Path) -> bool:
    return any((staging / mark).exists() for mark in (STAGED, CLEARED))


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Create a staging folder, and keep it locked so that no other process takes it for a leftover."""
    staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=folder))
    try:
        with _locked(staging):
            yield staging
    except BaseException:
        if not _is_staged(staging):  # otherwise the next process finishes it
            shutil.rmtree(staging, ignore_errors=True)
        raise
    shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder, unless another process has; the lock ends with the process.

    The lock is on a file inside it, because Windows cannot lock folders. Nor can Windows remove an open file, so a
    folder is removed after its lock is released; by then nothing is left for another process to disturb.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it appears only when it is complete."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
