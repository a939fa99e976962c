"""Mutation fuzzing of every reader and of saved models: whatever the bytes, nothing but an InputError may come of it.

python benchmarks/fuzz.py 1000                    # mutants of every format
python benchmarks/fuzz.py 1000 .mat .h5ad model   # of some
python benchmarks/fuzz.py 1000 --seed 7
python benchmarks/fuzz.py 100000 --progress runs/fuzz.json   # interrupted, it goes on where it was

A worker process makes mutants and reads them in its own memory, as views, as labels and as metadata; a crash is
counted and costs a new worker. Of formats that are read in a process of their own, each mutant that crashed, hung or
swelled is then read in that way, and must give an InputError. TMPDIR=/dev/shm keeps the mutants off the disk, which is
faster. The last lines are a Markdown table. The exit code is 1 if anything else came of a mutant.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fuzzed_files import MODEL, mutant, write_good_files

SLOW, LARGE_MB = 20.0, 2048.0  # a mutant may take no more; seconds are of computing
PARSER_SLOW = 2.0  # a parser that takes longer is tried again in a process of its own, with the limits of that
STARTING = 5.0  # seconds that starting Python and importing the parsers take at most
PATIENCE = 600.0  # seconds on the clock, for a worker that waits without computing
BAD = ("crash", "hang", "swell", "exception")
SAVE_EVERY = 1000  # mutants


# The worker ----------------------------------------------------------------------------------------


def readings(path: Path) -> list[Callable[[Path], object]]:
    """Return the ways to read a file."""
    from manyview import load
    from manyview.io import read_labels, read_metadata, read_views

    if path.suffix == f".{MODEL}":
        return [load]
    return [lambda p: read_views([p]), lambda p: read_labels(p, None, 12), lambda p: read_metadata(p, None, 12)]


def attempt(path: Path, ways: list[Callable[[Path], object]]) -> str:
    """Read a file in these ways: "read" if one succeeds, "refused", or the type and text of any other exception."""
    from manyview import InputError

    outcome = "refused"
    for read in ways:
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


@dataclass(frozen=True)
class Task:
    """The mutants that a worker is to make and read."""

    good: list[str]
    folder: str
    seed: int
    numbers: tuple[int, int]  # from the first to before the second
    seconds: float

    def write(self, number: int) -> Path:
        """Write a mutant, and return its path."""
        name, content = mutant([Path(path) for path in self.good], self.seed, number)
        path = Path(self.folder) / name
        path.write_bytes(content)
        return path


def work(task: Task) -> None:
    """Read mutants here instead of in processes of their own; print what came of each, one line per mutant.

    The timer of the system ends this process when a mutant takes more than the task's seconds of computing.
    """
    import resource

    from manyview.io import FORMATS

    readers = {ending: ReadOnce(getattr(form.read, "__wrapped__", form.read)) for ending, form in FORMATS.items()}
    FORMATS.update({ending: replace(form, read=readers[ending]) for ending, form in FORMATS.items()})
    outcomes_to = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # some parsers print
    limit = 12 * 2**30  # address space; so a mutant that swells is a MemoryError and not the end of the machine
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(*task.numbers):
        path = task.write(number)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_PROF, task.seconds)
        outcome = attempt(path, readings(path))
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps("swell" if grown > LARGE_MB else outcome), file=outcomes_to, flush=True)
        for reader in readers.values():
            reader.forget()


def outcomes(task: Task) -> Iterator[str]:
    """Yield what came of each mutant of a task, with a new worker after each that did not survive."""
    start, stop = task.numbers
    while start < stop:
        for outcome in _outcomes_of_one_worker(replace(task, numbers=(start, stop))):
            start += 1
            yield outcome


def _outcomes_of_one_worker(task: Task) -> Iterator[str]:
    """Yield what came of each mutant up to the first that ended the worker, that one included."""
    words = [sys.executable, __file__, "--work", json.dumps(vars(task))]
    # Unbuffered, as lines that wait in a buffer of ours would not count as ready.
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    try:
        for _ in range(*task.numbers):
            line = _read_line(process)
            if not line:
                code = process.wait() if line == b"" else None
                yield "hang" if code in (None, -signal.SIGPROF) else "crash"
                return
            yield str(json.loads(line))
    finally:
        process.kill()
        process.communicate()


def _read_line(process: subprocess.Popen[bytes]) -> bytes | None:
    """Return a line, nothing if the process ended, or None if it waits for something that does not come."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    return process.stdout.readline() if ready else None


# Counting ------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What came of the mutants of one format so far."""

    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, outcome: str, mutant: str) -> None:
        """Count what came of one mutant; name it if that should not have happened."""
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
        """Write the file anew."""
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            tallies = {form: vars(tally) for form, tally in self.tallies.items()}
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps({"seed": self.seed, "tallies": tallies}, indent=1))
            new.replace(self.path)


def fuzz(form: str, good: list[Path], n: int, progress: Progress, folder: Path) -> Tally:
    """Read mutants of a format until there are n; count what came of them, and list what should not have."""
    tally = progress.tallies.setdefault(form, Tally())
    seconds = PARSER_SLOW if is_isolated(form) else SLOW
    task = Task([str(path) for path in good], str(folder), progress.seed, (tally.done, n), seconds)
    try:
        for number, outcome in enumerate(outcomes(task), tally.done):
            if outcome in ("crash", "hang", "swell") and is_isolated(form):
                tally.counts[f"{outcome} of the parser"] += 1
                outcome = attempt_isolated(task, number)
            tally.add(outcome, f"{form}, seed {progress.seed}, mutant {number}")
            if tally.done % SAVE_EVERY == 0:
                progress.save()
    finally:
        progress.save()
    return tally


def is_isolated(form: str) -> bool:
    """Whether files of a format are read in a process of their own."""
    from manyview.io import FORMATS

    return form in FORMATS and hasattr(FORMATS[form].read, "__wrapped__")


def attempt_isolated(task: Task, number: int) -> str:
    """Return what comes of a mutant that is read as users read it: what crashed or hung before must be refused."""
    with tempfile.TemporaryDirectory() as folder:  # the worker may have gone on to the next
        path = replace(task, folder=folder).write(number)
        for way in readings(path):  # up to the one that crashed or hung before
            start = _seconds_of_children()
            outcome = attempt(path, [way])
            if _seconds_of_children() - start > SLOW + STARTING:
                return "hang"
            if outcome != "read":
                return outcome
    return "read"


def _seconds_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=100, help="mutants per format")
    parser.add_argument("formats", nargs="*", help="endings, or 'model'; all if none is given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--progress", type=Path, metavar="JSON", help="file to go on from, and to count in")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.work:
        return work(Task(**json.loads(words.work)))
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
