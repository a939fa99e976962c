"""Mutation fuzzing of every reader and of saved models: whatever the bytes, nothing but an InputError may come of it.

python benchmarks/fuzz.py 1000                    # mutants of every format
python benchmarks/fuzz.py 1000 .mat .h5ad model   # of some
python benchmarks/fuzz.py 1000 --seed 7

A worker process reads mutants in its own memory, where a crash is counted and costs a new worker. Of formats that are
read in a process of their own, each mutant that crashed, hung or swelled is then read in that way, and must give an
InputError. The last lines are a Markdown table. The exit code is 1 if anything else came of a mutant.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

MODEL = "model"
SLOW, LARGE_MB = 20.0, 2048.0  # a mutant may take no more
BAD = ("crash", "hang", "swell", "exception")


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


def mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few places: flip bits, set bytes, cut out, repeat or swap stretches, or cut off the end."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at, size = int(rng.integers(len(data) + 1)), int(rng.choice([1, 1, 2, 4, 8, 64]))
        match int(rng.integers(6)):
            case 0 if at < len(data):
                data[at] ^= 1 << int(rng.integers(8))
            case 1:
                data[at : at + size] = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80", b"9"]) * size
            case 2:
                data[at : at + size] = rng.bytes(size)
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = data[at : at + size] * int(rng.integers(1, 4))
            case 5 if rng.random() < 0.3:
                del data[at:]
    return bytes(data)


def mutant(good: list[Path], seed: int, number: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a mutant; the same seed and number give the same one."""
    rng = np.random.default_rng([seed, number])
    path = good[int(rng.integers(len(good)))]
    content = path.read_bytes()
    if rng.random() < 0.7:  # the packing would give most changes away
        if content.startswith(b"PK"):
            return path.name, mutate_member(content, rng)
        if content.startswith(b"\x1f\x8b"):
            return path.name, gzip.compress(mutate(gzip.decompress(content), rng), mtime=0)
    return path.name, mutate(content, rng)


def mutate_member(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one file in a zip archive, and pack it again with its checksum."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(members)[int(rng.integers(len(members)))]
    members[chosen] = mutate(members[chosen], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


# The worker ----------------------------------------------------------------------------------------


def attempt(path: Path) -> str:
    """Read a file: "read", "refused", or the type and text of any other exception."""
    from manyview import InputError, load
    from manyview.io import read_labels, read_metadata, read_views

    readers = [load] if path.suffix == f".{MODEL}" else [lambda p: read_views([p])]
    readers += (
        [] if path.suffix == f".{MODEL}" else [lambda p: read_labels(p, None, 12), lambda p: read_metadata(p, None, 12)]
    )
    outcome = "refused"
    for read in readers:
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


def work() -> None:
    """Read the files named on stdin, here instead of in processes of their own; say what came of each."""
    import resource

    sys.executable = ""
    limit = 12 * 2**30  # address space; so a mutant that swells is a MemoryError and not the end of the machine
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = attempt(Path(line.strip()))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps("swell" if grown > LARGE_MB else outcome), flush=True)


class Worker:
    """A worker process, started again whenever it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> str:
        """Return what came of a file."""
        if self._process is None:
            words = [sys.executable, __file__, "--work"]
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        line = _read_line(process)
        if line:
            return str(json.loads(line))
        self.close()
        return "hang" if line is None else "crash"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _read_line(process: subprocess.Popen[str]) -> str | None:
    """Return a line, an empty text if the process ended, or None if it took too long."""
    import select

    ready, _, _ = select.select([process.stdout], [], [], 3 * SLOW)
    return process.stdout.readline() if ready and process.stdout else None


# Counting ------------------------------------------------------------------------------------------


def fuzz(form: str, good: list[Path], n: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Read n mutants of a format; count what came of them, and list what should not have."""
    from manyview.io import FORMATS

    isolated = form in FORMATS and hasattr(FORMATS[form].read, "__wrapped__")
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    worker = Worker()
    try:
        for number in range(n):
            name, content = mutant(good, seed, number)
            path = folder / name
            path.write_bytes(content)
            outcome = worker.read(path)
            kind = outcome.partition(":")[0]
            if isolated and kind in ("crash", "hang", "swell"):
                counts[f"{kind} of the parser"] += 1
                start = time.perf_counter()
                outcome = attempt(path)
                kind = "hang" if time.perf_counter() - start > 3 * SLOW else outcome.partition(":")[0]
            counts[kind] += 1
            if kind in BAD:
                wrong.append(f"{form}, seed {seed}, mutant {number} of {name}: {outcome}")
    finally:
        worker.close()
    return counts, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=100, help="mutants per format")
    parser.add_argument("formats", nargs="*", help="endings, or 'model'; all if none is given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.work:
        return work()
    failures: list[str] = []
    columns = ("read", "refused", *BAD, "crash of the parser", "hang of the parser", "swell of the parser")
    lines = [f"| format | mutants | {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) + 1)}"]
    with tempfile.TemporaryDirectory() as good_folder, tempfile.TemporaryDirectory() as folder:
        good = write_good_files(Path(good_folder))
        for form in words.formats or good:
            counts, wrong = fuzz(form, good[form], words.n, words.seed, Path(folder))
            failures += wrong
            lines.append(f"| {form} | {words.n} | {' | '.join(str(counts[name]) for name in columns)} |")
            print(lines[-1], flush=True)
    print("\n".join(["", *failures, "", *lines]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
