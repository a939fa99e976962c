"""Assigning new samples: represented like the fitted ones, linked to them in every layer, read by the block model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from manyview.graphs.incomplete import SharedIndex
from manyview.methods.ocbr.consensus import Partition
from manyview.methods.ocbr.layers import Layers
from manyview.methods.ocbr.treated import TreatedViews
from manyview.methods.ocbr.treatment import DenseModel, SparseModel
from manyview.numerics.division import shares
from manyview.partition.blockmodel import Blocks
from manyview.partition.placement import LayerWeights
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Labels, is_sparse
from manyview.views.presence import present_rows


@saved
@dataclass(frozen=True)
class LayerPlacing:
    """What a fit keeps for new samples: O(n (r + s)) numbers, and the rows of sparse views."""

    models: tuple[DenseModel | SparseModel, ...]
    scales: tuple[float, ...]
    layers: Layers
    layer_weights: LayerWeights
    layer_shares: Dense
    labels: Labels
    blocks: Blocks

    @classmethod
    def of(cls, treated: TreatedViews, layers: Layers, found: Partition) -> LayerPlacing:
        """Keep what is needed to assign new samples."""
        return cls(
            models=tuple(view.model for view in treated.views),
            scales=tuple(view.scale * w**0.5 for view, w in zip(treated.views, layers.weights, strict=True)),
            layers=layers,
            layer_weights=LayerWeights.of(found.model),
            layer_shares=shares(found.model.information(found.labels)),
            labels=found.labels,
            blocks=found.model.blocks(found.labels),
        )

    def read(self, links: Sequence[Graph]) -> tuple[Dense, Graph]:
        """Return the evidence (m x c) for new samples in each cluster, and the links of all layers as one matrix."""
        mixed = sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(links, self.layer_shares, strict=True)))
        return self.blocks.evidence(self.labels, links), mixed

    def indexes(self, n_new: int) -> list[SharedIndex]:
        """Return what finds the neighbours of new samples among those fitted, in every layer."""
        return self.layers.indexes(n_new)

    def links(self, tables: Sequence[Array], indexes: Sequence[SharedIndex]) -> list[Graph]:
        """Return the links of new samples to those fitted, in every layer.

        Time O(m (n r + d r)), memory O(m (d + s)) plus a block.
        """
        present = np.column_stack([present_rows(X) for X in tables])
        models = zip(self.models, tables, self.scales, strict=True)
        rows = [model.represent(as_fitted(model, X)) * X.dtype.type(scale) for model, X, scale in models]
        return self.layers.links(rows, present, indexes)

    def revised(self, labels: Labels, blocks: Blocks) -> LayerPlacing:
        """Return a copy with other labels of the fitted samples, and another block model."""
        return replace(self, labels=labels, blocks=blocks)


def as_fitted(model: DenseModel | SparseModel, X: Array) -> Array:
    """Return a dense table if the model is of a dense view; sparse views accept either."""
    return X.toarray() if isinstance(model, DenseModel) and is_sparse(X) else X
