"""Mutation fuzzing of every reader and of saved models: whatever the bytes, the only exception may be an InputError.

python benchmarks/fuzz.py 1000                    # mutants of every format
python benchmarks/fuzz.py 1000 .mat .h5ad model   # of some
python benchmarks/fuzz.py 1000 --seed 7
python benchmarks/fuzz.py 100000 --progress runs/fuzz.json   # resumes if interrupted

A worker process reads mutants in its own memory, as views, as labels and as metadata; a crash is counted and costs a
new worker. For formats that are read in a separate process, each mutant that crashed, hung or used too much memory is
then read that way, and must give an InputError. The last lines are a Markdown table. The exit code is 1 if any mutant
had another outcome.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MODEL = "model"
SLOW, LARGE_MB = 20.0, 2048.0  # limits of a mutant; the seconds are CPU time
PARSER_SLOW = 5.0  # a parser that takes longer is tried again in a separate process, with that process's limits
PATIENCE = 600.0  # seconds of wall-clock time, for a worker that waits without computing
BAD = ("crash", "hang", "swell", "exception")
SAVE_EVERY = 200  # mutants


# Good files ----------------------------------------------------------------------------------------


def write_good_files(folder: Path) -> dict[str, list[Path]]:
    """Write small files of every format, and saved models."""
    import scipy.io
    import scipy.sparse as sp

    from manyview import MFMSC, OCBR, make_views, save

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 4)), index=[f"s{i}" for i in range(12)]).add_prefix("x")
    sparse = sp.csr_array(rng.poisson(0.5, (12, 6)).astype(float))
    for ending, separator in ((".csv", ","), (".tsv", "\t"), (".txt", " ")):
        frame.to_csv(folder / f"a{ending}", sep=separator)
        frame.to_csv(folder / f"a{ending}.gz", sep=separator)
    frame.to_parquet(folder / "a.parquet")
    frame.to_excel(folder / "a.xlsx")
    np.save(folder / "a.npy", frame.to_numpy())
    np.savez(folder / "a.npz", x=frame.to_numpy(), ids=frame.index.to_numpy(str))
    for form in ("csr", "csc", "bsr", "coo", "dia"):
        sp.save_npz(folder / f"{form}.npz", sparse.asformat(form))
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = frame.to_numpy(), sp.csc_matrix(sparse)
    scipy.io.savemat(folder / "a.mat", {"X": cells, "Y": np.arange(12), "note": "text"})
    scipy.io.savemat(folder / "b.mat", {"X": frame.to_numpy()}, do_compression=True)
    _write_hdf5(folder, frame, sparse)
    data = make_views(30, 3, (4, 6), noise=0.5, seed=0)
    for name, method in (("ocbr", OCBR), ("mfmsc", MFMSC)):
        save(method(3).fit(data.views), folder / f"{name}.{MODEL}")
    good: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        good.setdefault(MODEL if path.suffix == f".{MODEL}" else "".join(path.suffixes), []).append(path)
    return good


def _write_hdf5(folder: Path, frame: pd.DataFrame, sparse: object) -> None:
    import anndata
    import h5py
    import mudata

    with warnings.catch_warnings():  # of what will change in mudata
        warnings.simplefilter("ignore")
        adata = anndata.AnnData(frame, obsm={"more": sparse})
        adata.write_h5ad(folder / "a.h5ad")
        anndata.AnnData(sparse).write_h5ad(folder / "b.h5ad")
        mudata.MuData({"x": adata}).write(folder / "a.h5mu")
    with h5py.File(folder / "c.mat", "w", userblock_size=512) as file:
        file["X"] = frame.to_numpy().T


# Mutants -------------------------------------------------------------------------------------------


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Change a few places: flip bits, set bytes, cut out, repeat or swap stretches, or cut off the end."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randint(0, len(data)), rng.choice((1, 1, 2, 4, 8, 64))
        match rng.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at : at + size] = rng.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"9")) * size
            case 2:
                data[at : at + size] = rng.randbytes(size)
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = data[at : at + size] * rng.randint(1, 3)
            case 5 if rng.random() < 0.3:
                del data[at:]
    return bytes(data)


def mutant(good: list[Path], seed: int, number: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a mutant; the same seed and number give the same one."""
    rng = random.Random(f"{seed}, {number}")
    path = rng.choice(good)
    content = _content(path)
    if rng.random() < 0.7:  # otherwise the compression would reveal most changes
        if content.startswith(b"PK"):
            return path.name, mutate_member(_members(path), rng)
        if content.startswith(b"\x1f\x8b"):
            return path.name, gzip.compress(mutate(gzip.decompress(content), rng), compresslevel=1, mtime=0)
    return path.name, mutate(content, rng)


def mutate_member(members: dict[str, bytes], rng: random.Random) -> bytes:
    """Change one file of a zip archive, and pack all of them with their checksums."""
    chosen = rng.choice(list(members))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, mutate(data, rng) if name == chosen else data)
    return packed.getvalue()


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# The worker ----------------------------------------------------------------------------------------


def readings(path: Path) -> list[Callable[[Path], object]]:
    """Return the ways to read a file."""
    from manyview import load
    from manyview.io import read_labels, read_metadata, read_views

    if path.suffix == f".{MODEL}":
        return [load]
    return [lambda p: read_views([p]), lambda p: read_labels(p, None, 12), lambda p: read_metadata(p, None, 12)]


def attempt(path: Path) -> str:
    """Read a file in each way: "read" if one succeeds, "refused", or the type and text of any other exception."""
    from manyview import InputError

    outcome = "refused"
    for read in readings(path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
            outcome = "read"
        except InputError as error:
            if len(str(error).splitlines()) != 1:
                return f"exception: an InputError of several lines: {error}"
        except Exception as error:
            return f"exception: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return outcome


class ReadOnce:
    """A reader that parses a mutant once, for views, labels and metadata alike: the parsing is most of the work."""

    def __init__(self, read: Callable[..., Any]) -> None:
        self._read = read
        self._known: dict[tuple[object, ...], Any] = {}

    def __call__(self, path: Path, *details: object) -> Any:
        """Return the tables of a file, or raise the error that reading it gave."""
        if details not in self._known:
            try:
                self._known[details] = self._read(path, *details)
            except Exception as error:
                self._known[details] = error
        known = self._known[details]
        if isinstance(known, Exception):
            raise known
        return known

    def forget(self) -> None:
        """Make ready for the next mutant."""
        self._known.clear()


def work(seconds: float) -> None:
    """Read the files named on stdin, in this process; report the outcome of each.

    The system's timer ends this process if a file takes more CPU seconds than this.
    """
    import resource

    from manyview.io import FORMATS

    readers = {ending: ReadOnce(getattr(form.read, "__wrapped__", form.read)) for ending, form in FORMATS.items()}
    FORMATS.update({ending: replace(form, read=readers[ending]) for ending, form in FORMATS.items()})
    limit = 12 * 2**30  # address space, so that a mutant that needs too much raises MemoryError and does no harm
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_PROF, seconds)
        outcome = attempt(Path(line.strip()))
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps("swell" if grown > LARGE_MB else outcome), flush=True)
        for reader in readers.values():
            reader.forget()


class Worker:
    """A worker process, started again whenever it ends."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> str:
        """Return the outcome of a file."""
        if self._process is None:
            words = [sys.executable, __file__, "--work", str(self._seconds)]
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        line = _read_line(process)
        if line:
            return str(json.loads(line))
        code = process.wait() if line == "" else None
        self.close()
        return "hang" if code in (None, -signal.SIGPROF) else "crash"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _read_line(process: subprocess.Popen[str]) -> str | None:
    """Return a line, an empty text if the process ended, or None if it hangs."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    return process.stdout.readline() if ready else None


# Counting ------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """The outcomes of the mutants of one format so far."""

    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, outcome: str, mutant: str) -> None:
        """Count the outcome of one mutant; name the mutant if it should not have happened."""
        kind = outcome.partition(":")[0]
        self.done += 1
        self.counts[kind] += 1
        if kind in BAD:
            self.wrong.append(f"{mutant}: {outcome}")


@dataclass
class Progress:
    """The tallies of all formats, in a file if one is named, so that a long run can be interrupted."""

    path: Path | None
    seed: int
    tallies: dict[str, Tally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        stored = json.loads(self.path.read_text())
        if stored["seed"] != self.seed:
            sys.exit(f"{self.path} is of seed {stored['seed']}; give another file, or --seed {stored['seed']}.")
        for form, tally in stored["tallies"].items():
            self.tallies[form] = Tally(tally["done"], Counter(tally["counts"]), tally["wrong"])

    def save(self) -> None:
        """Rewrite the file."""
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            tallies = {form: vars(tally) for form, tally in self.tallies.items()}
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({"seed": self.seed, "tallies": tallies}, indent=1))
            new.replace(self.path)


def fuzz(form: str, good: list[Path], n: int, progress: Progress, folder: Path) -> Tally:
    """Read mutants of a format until there are n; count the outcomes, and list those that should not have happened."""
    tally = progress.tallies.setdefault(form, Tally())
    worker = Worker(PARSER_SLOW if is_isolated(form) else SLOW)
    try:
        for number in range(tally.done, n):
            name, content = mutant(good, progress.seed, number)
            path = folder / name
            path.write_bytes(content)
            outcome = worker.read(path)
            if outcome in ("crash", "hang", "swell") and is_isolated(form):
                tally.counts[f"{outcome} of the parser"] += 1
                outcome = attempt_isolated(path)
            tally.add(outcome, f"{form}, seed {progress.seed}, mutant {number} of {name}")
            if tally.done % SAVE_EVERY == 0:
                progress.save()
    finally:
        worker.close()
        progress.save()
    return tally


def is_isolated(form: str) -> bool:
    """Return whether files of a format are read in a separate process."""
    from manyview.io import FORMATS

    return form in FORMATS and hasattr(FORMATS[form].read, "__wrapped__")


def attempt_isolated(path: Path) -> str:
    """Return the outcome of a file read as users read it: what hung or crashed before must end in time."""
    start = _seconds_of_children()
    outcome = attempt(path)
    return "hang" if _seconds_of_children() - start > len(readings(path)) * (SLOW + PARSER_SLOW) else outcome


def _seconds_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=100, help="mutants per format")
    parser.add_argument("formats", nargs="*", help="endings, or 'model'; all if none is given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--progress", type=Path, metavar="JSON", help="file to go on from, and to count in")
    parser.add_argument("--work", type=float, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.work:
        return work(words.work)
    progress = Progress(words.progress, words.seed)
    with tempfile.TemporaryDirectory() as good_folder, tempfile.TemporaryDirectory() as folder:
        good = write_good_files(Path(good_folder))
        for form in words.formats or good:
            tally = fuzz(form, good[form], words.n, progress, Path(folder))
            print(f"{form}: {tally.done} mutants, {len(tally.wrong)} failures", flush=True)
    failures = [line for tally in progress.tallies.values() for line in tally.wrong]
    print("\n".join(["", *failures, "", *table(progress.tallies)]))
    sys.exit(1 if failures else 0)


def table(tallies: dict[str, Tally]) -> list[str]:
    """Return the lines of a Markdown table, one per format."""
    columns = ("read", "refused", *BAD, "crash of the parser", "hang of the parser", "swell of the parser")
    lines = [f"| format | mutants | {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) + 1)}"]
    for form, tally in sorted(tallies.items()):
        lines.append(f"| {form} | {tally.done} | {' | '.join(str(tally.counts[name]) for name in columns)} |")
    return lines


if __name__ == "__main__":
    main()
