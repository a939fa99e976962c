"""Writing results: the files of a run are one set, and never replace earlier results unless asked to.

All files are staged first. Then the old set is removed, and the new one moved into place; whoever writes to the folder
next finishes or clears away what a kill left. So old and new files never lie side by side.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path

from manyview.checks import InputError, quoted

try:
    import fcntl
except ImportError:  # not on Windows; there, what a kill left stays
    fcntl = None  # type: ignore[assignment]

STAGING = ".manyview-"
STAGED, CLEARED = "staged.json", "cleared.json"  # say how far it got: all is staged; the old set is gone as well


def check_output(folder: Path, names: Collection[str], *, force: bool) -> None:
    """Raise if `folder` cannot hold these files, or already holds one of them and `force` is not set."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder for the results with --out.")
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise InputError(f"{folder} already holds {quoted(existing)}; give another --out, or --force to overwrite.")
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror}); give another --out.") from error


def unused_folder(base: str | Path) -> Path:
    """Return `base` if nothing of that name exists, otherwise the first unused of `base`-2, `base`-3, ..."""
    names = chain([str(base)], (f"{base}-{i}" for i in count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def write_files(
    folder: Path, contents: Mapping[str, str | bytes], *, force: bool = False, replaces: Collection[str] = ()
) -> list[Path]:
    """Write several files into a folder as one set.

    Parameters
    ----------
    folder : made if it does not exist
    contents : content of each file by its name
    force : whether existing files may be replaced
    replaces : names of files that belong to the set; those that are not in `contents` are removed
    """
    names = list(dict.fromkeys((*contents, *replaces)))
    check_output(folder, names, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    _finish_earlier(folder)
    with _staging(folder) as staging:
        for name, content in contents.items():
            (staging / name).write_bytes(content.encode() if isinstance(content, str) else content)
        # a single file is replaced by one step of the system, so nothing has to be removed before
        _write_whole(staging / STAGED, json.dumps({"old": names if len(names) > 1 else [], "new": list(contents)}))
        _put_in_place(staging)
    return [folder / name for name in contents]


def _put_in_place(staging: Path) -> None:
    """Remove the old set and move the new one, from wherever this stopped before."""
    if (staging / STAGED).exists():
        for name in json.loads((staging / STAGED).read_text())["old"]:
            (staging.parent / name).unlink(missing_ok=True)
        os.replace(staging / STAGED, staging / CLEARED)
    for name in json.loads((staging / CLEARED).read_text())["new"]:
        with suppress(FileNotFoundError):  # moved before
            os.replace(staging / name, staging.parent / name)


def _finish_earlier(folder: Path) -> None:
    """Finish the sets that were staged completely before a kill, and clear away the others."""
    for staging in sorted(folder.glob(f"{STAGING}*")):
        with suppress(FileNotFoundError), _locked(staging) as mine:
            if mine and _is_staged(staging):
                _put_in_place(staging)
            if mine:
                shutil.rmtree(staging)


def _is_staged(staging: Path) -> bool:
    return any((staging / mark).exists() for mark in (STAGED, CLEARED))


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Make a folder for files on their way, and keep it locked, so that nobody takes it for one that was left."""
    staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=folder))
    with _locked(staging):
        try:
            yield staging
        except BaseException:
            if not _is_staged(staging):  # otherwise the next to come finishes it
                shutil.rmtree(staging, ignore_errors=True)
            raise
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder, if nobody else has; the lock ends with the process."""
    if fcntl is None:
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it appears only when it is complete."""
    part = path.with_suffix(".part")
    part.write_text(text)
    os.replace(part, path)
