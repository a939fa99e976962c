"""Reading what is known about the samples besides the views: true labels and metadata."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from manyview.io import TableOptions, read_labels, read_metadata
from manyview.io.tables import parse_source


@dataclass(frozen=True)
class Samples:
    """The samples in the views: their ids, if any, how many there are, and the files they were read from."""

    ids: NDArray[Any] | None
    count: int
    files: Sequence[str]

    def truth(self, path: Path | None) -> NDArray[Any] | None:
        """Read a label for each sample, if a file is given."""
        if path is None:
            return None
        labels = read_labels(path, self.ids, self.count)
        self._say_if_by_position(path)
        return labels

    def metadata(self, path: Path | None, missing: Sequence[str]) -> pd.DataFrame | None:
        """Read the metadata of the samples, if a file is given; `missing` are codes for missing values."""
        if path is None:
            return None
        about = read_metadata(path, self.ids, self.count, options=TableOptions(missing=missing))
        self._say_if_by_position(path)
        return about

    def _say_if_by_position(self, path: Path) -> None:
        """Warn if the views have no ids, unless the table is in the same file: its rows then belong together."""
        own = {parse_source(file).path.absolute() for file in self.files}
        if self.ids is None and parse_source(path).path.absolute() not in own:
            warnings.warn(
                f"The views have no sample ids: the rows of {path} were matched by position. If the order of "
                "the samples is not the same in both, add a column of sample ids to the views and to this file.",
                stacklevel=3,
            )
