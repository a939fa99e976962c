"""Addresses of the tables in AnnData and MuData, in memory or in a file.

An address is "X", "layers/NAME" or "obsm/NAME"; files also have "obs" and "obs/COLUMN". In a MuData, the name of a
modality comes first: "rna/obsm/X_pca". The name alone means its X.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TABLES = ("X", "layers", "obsm")
OBS = "obs"
WHOLE = ("X", OBS)  # parts that are tables themselves


@dataclass(frozen=True)
class Place:
    """Where a table is: the AnnData, MuData or HDF5 group that owns it, the part of that owner, and its name there."""

    owner: Any
    part: str
    name: str = ""


def find_tables(
    data: Any, modalities: Mapping[str, Any], part_of: Callable[[Any, str], Any], parts: Sequence[str] = TABLES
) -> dict[str, Place]:
    """Return the place of every table, by address.

    Parameters
    ----------
    data : the whole object or file
    modalities : the modalities of a MuData by name; empty for an AnnData
    part_of : returns a part ("X", "layers", ...) of an owner, None if it has none
    parts : the parts to look in
    """

    def tables_of(owner: Any) -> dict[str, Place]:
        found = {part: content for part in parts if (content := part_of(owner, part)) is not None}
        places = [Place(owner, part) for part in found if part in WHOLE]
        places += [Place(owner, part, name) for part, content in found.items() if part != "X" for name in content]
        return {f"{place.part}/{place.name}" if place.name else place.part: place for place in places}

    tables: dict[str, Place] = {}
    for name, modality in modalities.items():
        own = tables_of(modality)
        tables |= {name: own["X"]} if "X" in own else {}
        tables |= {f"{name}/{address}": place for address, place in own.items()}
    return tables | tables_of(data)
