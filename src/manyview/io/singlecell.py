"""AnnData and MuData files. Only what is asked for is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manyview.io.guards import check_size, declared_bytes, open_hdf5, reading, require
from manyview.io.reading import Table, TableOptions, pick


def read_singlecell(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[Table]:
    """Read X of an AnnData file, or X of every modality of a MuData file; or what has the key.

    Keys are "X", "layers/NAME", "obsm/NAME", "obs" and "obs/NAME"; of a modality its name, alone or with one of
    these behind: "rna", "rna/obsm/X_pca".
    """
    with reading(path, "an AnnData or MuData file"):
        require("anndata", "singlecell")
        with open_hdf5(path) as file:
            modalities = _modalities(file)
            items = _items(file)
            for name in modalities:
                items |= {f"{name}/{key}": item for key, item in _items(file["mod"][name]).items()}
                items[name] = file["mod"][name], "X"
            chosen = modalities if modalities and not keys else [pick(keys or ["X"], items, path)]
            return [_table(path.stem if key == "X" else key, f"{path}::{key}", *items[key]) for key in chosen]


def _modalities(file: Any) -> list[str]:
    """Return the modalities in the order in which they were put together."""
    if "mod" not in file:
        return []
    return [str(name) for name in file["mod"].attrs.get("mod-order", list(file["mod"]))]


def _items(group: Any) -> dict[str, tuple[Any, str]]:
    """Return what can be picked, by key: the AnnData or MuData that it is in, and the path there."""
    parts = [f"{part}/{name}" for part in ("layers", "obsm", "obs") if part in group for name in group[part]]
    return {key: (group, key) for key in ("X", "obs", *parts) if key in group}


def _table(name: str, where: str, group: Any, element: str) -> Table:
    part, _, column = element.partition("/")
    obs = _read(group["obs"], where)
    if part == "obs":
        return Table(name, obs[[column]] if column else obs, where, obs.index)
    features = _read(group["var"], where).index if part in ("X", "layers") else None
    return Table(name, _read(group[element], where), where, obs.index, features)


def _read(item: Any, where: str) -> Any:
    check_size(where, declared_bytes(item))
    return require("anndata.io", "singlecell").read_elem(item)
