"""Layers without the shifts and scales of the batches (`manyview.graphs.alignment`).

Both are taken off before columns are weighted and directions found: a feature counts by how much it varies within
batches, so the clusters do not depend on how large the shifts are. All views together tell which group a sample belongs
to, and each view has its own shifts and scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from manyview.graphs.alignment import find_groups, stands_apart, take_off
from manyview.methods.ocbr.layers import Layers, spread
from manyview.methods.ocbr.treated import TreatedViews
from manyview.methods.ocbr.treatment import TreatedView
from manyview.preprocessing.scaling import side_by_side
from manyview.typing import Array, Dense, Indices, is_sparse


def without_shifts(layers: Layers, treated: TreatedViews, n_groups: int) -> Layers:
    """Return the layers with shifts and scales taken off the views in which batches stand apart."""
    batch = layers.batch
    if batch is None:
        return layers
    apart = [view.source is not None and stands_apart(view.rows, batch[view.samples]) for view in treated.views]
    if not any(apart):
        return layers

    def moved(groups: Indices) -> list[Array]:
        return [
            _rows_without_shifts(view, groups, batch) if moves else view.rows
            for view, moves in zip(treated.views, apart, strict=True)
        ]

    centred = moved(np.zeros(layers.n_samples, dtype=np.intp))  # as if there were only one group
    together = _all_samples(centred, layers.samples, layers.n_samples)
    shifted = [view for view, moves in zip(treated.views, apart, strict=True) if moves]
    before = _all_samples([view.rows for view in shifted], [view.samples for view in shifted], layers.n_samples)
    return replace(layers, rows=tuple(moved(find_groups(together, batch, n_groups, before))))


def _all_samples(rows: Sequence[Array], samples: Sequence[Indices], n_samples: int) -> Dense:
    """Return the rows of the dense views side by side; 0 for samples that a view lacks."""
    dense = [spread(R, at, n_samples) for R, at in zip(rows, samples, strict=True) if not is_sparse(R)]
    table: Dense = side_by_side(dense)
    return table


def _rows_without_shifts(view: TreatedView, groups: Indices, batch: Indices) -> Array:
    assert view.source is not None
    here = view.samples
    return view.source.to_rows(take_off(view.source.table, groups[here], batch[here]))
