"""Readers in a separate process, for formats whose parsers can crash, hang or exhaust memory on a damaged file.

The child reads the file under limits of time and memory, and leaves JSON and plain arrays in a folder; nothing is
pickled. If the child ends early, the reason becomes a one-line error here.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from manyview.checks import InputError
from manyview.io import guards
from manyview.io.encoding import Decoder, Encoder
from manyview.io.raw_tables import RawTable, Reader, TableOptions
from manyview.io.transfer import pack_table, unpack_table

RESULT, ERRORS = "result.json", "stderr"
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from manyview.io.isolated import main; main()"
MB, GB = 2**20, 2**30
LIBRARIES = GB  # address space that importing h5py, anndata or openpyxl takes
DAMAGED = "the file is damaged or malicious."


@dataclass(frozen=True)
class Limits:
    """What reading a file may take: CPU seconds, and bytes of memory in addition to those of the libraries."""

    seconds: float
    memory: float

    @classmethod
    def for_file(cls, path: Path) -> Limits:
        """Allow much more than any intact file of this size needs, but no more memory than is free."""
        size = path.stat().st_size
        return cls(20 + 20 * size / MB, min(2 * GB + 100 * size, guards.free_memory()))

    @property
    def patience(self) -> float:
        """Seconds of wall-clock time: the process may have to wait for the disk or for other processes."""
        return 60 + 5 * self.seconds


def isolated(read: Reader) -> Reader:
    """Return a reader that does its work in a separate process."""

    @wraps(read)
    def read_isolated(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[RawTable]:
        if not sys.executable:  # Python is embedded in another program, which cannot be started for this
            return read(path, keys, options)
        limits = Limits.for_file(path)
        task = {
            "reader": [read.__module__, read.__qualname__],
            "path": str(path),
            "keys": keys,
            "options": asdict(options),
            "limits": asdict(limits),
        }
        with tempfile.TemporaryDirectory(prefix="manyview-") as folder:
            _run(task, Path(folder), limits)
            return _collect(Path(folder), path)

    return read_isolated


# Here ----------------------------------------------------------------------------------------------


def _run(task: dict[str, Any], folder: Path, limits: Limits) -> None:
    """Run the child until it ends; raise if it left no result."""
    words = [sys.executable, "-P", "-c", START, json.dumps(sys.path), str(folder)]
    with (folder / ERRORS).open("wb") as errors:
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=errors, stderr=errors)
        try:
            child.communicate(json.dumps(task).encode(), timeout=limits.patience)
        except subprocess.TimeoutExpired:
            raise InputError(f"{task['path']} was not read within {limits.patience:.0f} s; {DAMAGED}") from None
        finally:
            child.kill()
            child.wait()
    if child.returncode or not (folder / RESULT).exists():
        raise InputError(f"{task['path']} cannot be read: {_ending(child.returncode, folder, limits)}; {DAMAGED}")


def _ending(code: int, folder: Path, limits: Limits) -> str:
    """Say how the child ended."""
    if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
        return f"it took more than {limits.seconds:.0f} s of CPU time"
    lines = (folder / ERRORS).read_text(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    if "MemoryError" in said or "alloc" in said:
        return f"it took more than {limits.memory / GB:.1f} GiB of memory"
    with suppress(ValueError):
        return f"the reader crashed on it ({signal.Signals(-code).name})"
    return f"the reader failed with exit code {code} ({said[:200]})"


def _collect(folder: Path, path: Path) -> list[RawTable]:
    """Return the tables that the child left; pass on its warnings and its error."""
    result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    for message in result["warnings"]:
        warnings.warn(message, stacklevel=4)
    if "error" in result:
        raise InputError(result["error"])
    decoder = Decoder(lambda name: np.load(folder / name, allow_pickle=False), str(path))
    return [unpack_table(decoder.decode(parts)) for parts in result["tables"]]


# In the child --------------------------------------------------------------------------------------


def main() -> None:
    """Do the task given on stdin, and leave the result in the folder named on the command line."""
    task, folder = json.load(sys.stdin), Path(sys.argv[2])
    module, name = task["reader"]
    read = getattr(importlib.import_module(module), name)
    read = getattr(read, "__wrapped__", read)
    limits = Limits(**task["limits"])
    guards.limit_memory(limits.memory)
    _limit_process(limits)
    result = _attempt(
        lambda: read(Path(task["path"]), tuple(task["keys"]), TableOptions(**task["options"])), folder, task["path"]
    )
    (folder / RESULT).write_text(json.dumps(result), encoding="utf-8")
    os._exit(0)  # a normal exit could crash on corrupted memory


def _attempt(read: Callable[[], list[RawTable]], folder: Path, path: str) -> dict[str, Any]:
    """Return the tables, or the message of the error, and the warnings."""
    encoder = Encoder(lambda name, array: np.save(folder / name, array, allow_pickle=False))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with guards.refusing(path, "a table"):
                result: dict[str, Any] = {"tables": [encoder.encode(pack_table(table)) for table in read()]}
        except InputError as error:
            result = {"error": str(error)}
    told = dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return result | {"warnings": list(told)}


def _limit_process(limits: Limits) -> None:
    """Set the limits of the operating system if it has them; otherwise the parent's timeout is the only limit."""
    try:
        import resource
    except ImportError:  # Windows
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    _lower(resource.RLIMIT_CPU, int(used + limits.seconds) + 1)
    _lower(resource.RLIMIT_AS, int(_mapped_bytes() + limits.memory + LIBRARIES))
    _lower(resource.RLIMIT_CORE, 0)


def _mapped_bytes() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # macOS; it does not enforce this limit anyway
        return 0


def _lower(limit: int, value: int) -> None:
    """Set a limit for this process, unless a stricter one is already set."""
    import resource

    hard = resource.getrlimit(limit)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
