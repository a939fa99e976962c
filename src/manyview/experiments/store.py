"""One row per run, in an append-only file of JSON lines that survives being killed at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyview.checks import InputError
from manyview.io.locks import try_lock

Row = dict[str, Any]
FILE = "runs.jsonl"
BINARY = getattr(os, "O_BINARY", 0)  # otherwise Windows changes the line endings
DONE = ("converged", "max_iter")
FAILED = ("failed", "timeout")


class Store:
    """The rows of a folder. Reading never changes the file; `append` works only inside `writing()`.

    Parameters
    ----------
    folder : str or Path
        Where the file is, or will be.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE

    def rows(self) -> dict[str, Row]:
        """Return the latest row of every run by its id, without an incomplete last line."""
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        rows = [self._parse(line, number) for number, line in enumerate(lines, 1)]
        return {row["run"]: row for row in rows}

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Lock the file for this process, and drop a last line left incomplete by a killed process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o644)
        try:
            self._lock()
            self._drop_incomplete_line()
            _sync_folder(self.folder)
            yield self
        finally:
            os.close(self._file)

    def append(self, row: Row) -> None:
        """Write a row, and return when it is on disk."""
        line = json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        written = 0
        while written < len(line):
            written += os.write(self._file, line[written:])
        os.fsync(self._file)

    def _parse(self, line: bytes, number: int) -> Row:
        try:
            row = json.loads(line)
            _ = row["run"], row["status"]  # both are required
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{self.path}, line {number} is not a row of results; delete that line, or choose another --out."
            ) from error
        return row

    def _lock(self) -> None:
        if not try_lock(self._file):
            raise InputError(
                f"{self.folder} is in use by another manyview process; wait for it, or choose another --out."
            )

    def _drop_incomplete_line(self) -> None:
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.ftruncate(self._file, end)
            os.fsync(self._file)


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable as well, if the system can sync folders."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
