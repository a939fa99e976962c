"""Placing new samples: represented as the others were, linked to them in every layer, read by the block model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.methods.ocbr.consensus import Partition
from manyview.methods.ocbr.counts import CountCleaner
from manyview.methods.ocbr.layers import Layers
from manyview.methods.ocbr.recovered import RecoveredViews
from manyview.methods.ocbr.recovery import Loadings
from manyview.numerics.division import shares
from manyview.partition.blockmodel import Blocks
from manyview.preprocessing.scaling import Scaler, unit_distance_factor, without_missing
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Labels
from manyview.views.presence import present_rows


@saved
@dataclass(frozen=True)
class LayerPlacing:
    """What a fit keeps for new samples: O(n (r + s)) numbers, and the rows of sparse views."""

    scalers: tuple[Scaler, ...]
    models: tuple[Loadings | CountCleaner, ...]
    scales: tuple[float, ...]
    layers: Layers
    layer_weights: Dense
    labels: Labels
    blocks: Blocks

    @classmethod
    def of(cls, scalers: Sequence[Scaler], recovered: RecoveredViews, layers: Layers, found: Partition) -> LayerPlacing:
        """Keep what it takes to place new samples."""
        return cls(
            scalers=tuple(scalers),
            models=tuple(view.model for view in recovered.views),
            scales=tuple(unit_distance_factor(view.rows) for view in recovered.views),
            layers=layers,
            layer_weights=shares(found.model.information(found.labels)),
            labels=found.labels,
            blocks=found.model.blocks(found.labels),
        )

    def place(self, tables: Sequence[Array]) -> tuple[Dense, Graph]:
        """Return the evidence (m x c) for new samples in each cluster, and their links (m x n) to the samples fitted.

        Time O(m (n r + d r)), memory O(m (d + s)) and a block.
        """
        present = np.column_stack([present_rows(X) for X in tables])
        rows = [self._represent(v, X) for v, X in enumerate(tables)]
        links = self.layers.links(rows, present)
        mixed = sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(links, self.layer_weights, strict=True)))
        return self.blocks.evidence(self.labels, links), mixed

    def _represent(self, v: int, X: Array) -> Array:
        """Return the rows of a view; those of samples that are absent are ignored later."""
        model, columns = self.models[v], self.scalers[v].columns
        scaled = X if columns is None else columns.apply(X)
        rows = model.represent(without_missing(scaled) if isinstance(model, CountCleaner) else scaled)
        return rows * X.dtype.type(self.scales[v])
