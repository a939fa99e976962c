"""The files of `fuzz.py`: small good ones of every format, and mutants of them."""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

MODEL = "model"


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
    if rng.random() < 0.7:  # the packing would give most changes away
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
