"""`Dataset`: what a loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Dataset:
    """Views of samples with their true classes, for examples and benchmarks.

    Attributes
    ----------
    name : str
        The name used in tables.
    views : Views
        The views.
    labels : array (n_samples,)
        The true classes.
    description : str
        Where it comes from.
    metadata : DataFrame or None
        What else is known about the samples, one row each.
    """

    name: str
    views: Views
    labels: NDArray[Any]
    description: str = ""
    metadata: pd.DataFrame | None = None

    @property
    def n_classes(self) -> int:
        """Number of distinct labels."""
        return len(np.unique(self.labels))
