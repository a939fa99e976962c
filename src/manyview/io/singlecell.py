"""AnnData and MuData files. Only the requested tables are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manyview.io.addresses import OBS, TABLES, Place, find_tables
from manyview.io.guards import check_size, declared_bytes, open_hdf5, reading, require
from manyview.io.raw_tables import RawTable, TableOptions, pick


def read_singlecell(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[RawTable]:
    """Read X of an AnnData file, or X of every modality of a MuData file; with keys, the first one found in the file.

    Keys are the addresses of `manyview.io.addresses`.
    """
    with reading(path, "an AnnData or MuData file"):
        require("anndata", "singlecell")
        with open_hdf5(path) as file:
            modalities = _modalities(file)
            tables = find_tables(file, modalities, lambda group, part: group.get(part), (*TABLES, OBS))
            if modalities and not keys:
                chosen = [pick([name], tables, path) for name in modalities]
            else:
                chosen = [pick(keys or ["X"], tables, path)]
            return [_table(path.stem if key == "X" else key, f"{path}::{key}", tables[key]) for key in chosen]


def _modalities(file: Any) -> dict[str, Any]:
    """Return the modalities in their stored order; none for an AnnData file."""
    if "mod" not in file:
        return {}
    order = file["mod"].attrs.get("mod-order", list(file["mod"]))
    return {str(name): file["mod"][name] for name in order}


def _table(name: str, where: str, place: Place) -> RawTable:
    group = place.owner
    obs = _read(group[OBS], where)
    if place.part == OBS:
        return RawTable(name, obs[[place.name]] if place.name else obs, where, obs.index)
    features = None if place.part == "obsm" else _read(group["var"], where).index
    values = group[place.part][place.name] if place.name else group[place.part]
    return RawTable(name, _read(values, where), where, obs.index, features)


def _read(item: Any, where: str) -> Any:
    check_size(where, declared_bytes(item))
    return require("anndata.io", "singlecell").read_elem(item)
