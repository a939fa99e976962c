"""`Dataset`: what a loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.views.container import Views


@dataclass(frozen=True)
class Dataset:
    """Views of samples with their true classes, for examples and benchmarks."""

    name: str
    views: Views
    labels: NDArray[Any]
    description: str = ""

    @property
    def n_classes(self) -> int:
        """Number of distinct labels."""
        return len(np.unique(self.labels))
