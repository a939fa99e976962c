"""Choosing the number of clusters by the largest gap between the eigenvalues of the summed graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.spectral import spectral_embedding

MOST_CLUSTERS = 30


@dataclass(frozen=True)
class Selection:
    """The numbers of clusters tried, how well each does, and the one that was chosen."""

    candidates: NDArray[Any]
    eigengap: NDArray[Any]
    stability: NDArray[Any]
    chosen: int


def select_n_clusters(graphs: Sequence[sp.csr_array]) -> Selection:
    """Return the number of clusters after which the eigenvalues drop most."""
    W = sp.csr_array(sum(graphs[1:], graphs[0]))
    largest = max(2, min(MOST_CLUSTERS, W.shape[0] // 10))
    values, _ = spectral_embedding(W, largest + 1, 1.0)
    candidates = np.arange(2, len(values))
    gaps = values[1:-1] - values[2:]
    chosen = int(candidates[gaps.argmax()]) if len(gaps) else 1
    return Selection(candidates, gaps, np.full(len(gaps), np.nan), chosen)
