"""The inputs: every method gets the same views and the number of clusters, but no labels.

Peers get views scaled as their kind requires; manyview gets the raw views, because it does its own scaling.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import digits, draw_absent, noisy, research_data, research_file, without
from manyview import Dataset, Views, make_views
from manyview.preprocessing.kinds import COORDINATES, recognize_kinds
from manyview.preprocessing.scaling import scale_views
from rivals import DataFiles

SAME_AS_DIGITS = "mfeat"  # this file contains the embedded digits
TEXT = DataFiles("Text", "large", ("reuters1200",))  # facebook_pages exceeds the memory of a fit as dense tables


@dataclass(frozen=True)
class Case:
    """One input. `kind` names the corruption of the data, and `draw` is its seed."""

    data: str
    kind: str
    draw: int
    views: Views
    labels: np.ndarray

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels))

    def write(self, path: Path) -> None:
        """Write the views twice: as they are ("raw_0", ...), and scaled ("scaled_0", ...)."""
        kinds = recognize_kinds(self.views)
        ways = {name: "none" if kind.name == COORDINATES else "auto" for name, kind in kinds.items()}
        tables = {"raw": self.views.arrays, "scaled": scale_views(self.views, ways)[0]}
        np.savez(path, **{f"{form}_{i}": X for form, views in tables.items() for i, X in enumerate(views)})


def accuracy_cases(files: DataFiles | None, only: Sequence[str], draws: int, *, large: bool) -> Iterator[Case]:
    """Every data set clean, smallest first, then every data set corrupted as in the paper."""
    found = _group(files, only) if files else _datasets(only, large=large)
    sets = sorted(found.items(), key=lambda item: (item[1].views.n_samples, item[0]))
    for name, data in sets:
        yield Case(name, "clean", 0, data.views, data.labels)
    for draw in range(draws):
        for name, data in sets:
            yield Case(name, "20 % corrupted", draw, noisy(data, draw), data.labels)


def scale_cases(sizes: Sequence[int]) -> Iterator[Case]:
    """Gaussian clusters in two views of 64 features."""
    for n in sorted(sizes):
        data = make_views(n, 10, (64, 64), noise=1.0, separation=6.0, seed=0)
        yield Case(f"n = {n}", "synthetic", 0, data.views, data.labels)


def missing_cases(percents: Sequence[int], draws: int) -> Iterator[Case]:
    """Digits with two views, samples missing from each."""
    data = digits(2)
    for percent in percents:
        for draw in range(draws):
            absent = draw_absent(data.views.n_samples, data.views.n_views, percent / 100, draw)
            views = Views(without(data.views, absent))
            yield Case("digits-2", f"{percent} % missing", draw, views, data.labels)


def _group(files: DataFiles, only: Sequence[str]) -> dict[str, Dataset]:
    return {name: research_file(f"{files.folder}/{name}") for name in files.names if name in only or not only}


def _datasets(only: Sequence[str], *, large: bool) -> dict[str, Dataset]:
    sets = {"digits-2": digits(2), "digits-6": digits(6)}
    if os.environ.get("MANYVIEW_DATA"):
        files = research_data(large=large, only=only)
        sets |= {data.name: data for data in files if data.name != SAME_AS_DIGITS}
    else:
        print("MANYVIEW_DATA is not set; only the embedded digits are measured.\n", file=sys.stderr)
    return {name: data for name, data in sets.items() if name in only or not only}
