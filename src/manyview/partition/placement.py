r"""Assigning samples by their links to landmarks, and the resulting block matrices, as sums over blocks of samples.

Landmarks have labels h. With l_i(h) the link weight from sample i to the landmarks of cluster h in a layer (it adds up
to 1), and z_i the cluster with the most evidence,

.. math:: M(k, h) = \sum_{i : z_i = k} l_i(h), \qquad
          R(h, k) = \log\Big((1-\eta)\,\frac{M(k,h)\, M_{++}}{M_{k+}\, M_{+h}} + \eta\Big),

and the evidence for cluster k is :math:`\sum_h l_i(h) R(h, k)` over all layers, plus pi times the logarithm of its
size. Samples and landmarks may be drawn differently, so M is not symmetric.

Links are rounded to whole units before they are added. So the sums depend neither on how samples are divided into
blocks nor on the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.partition.blockmodel import BlockModel, Blocks, SearchSettings, links_to_clusters
from manyview.partition.information import TINY
from manyview.records import saved
from manyview.typing import Dense, Indices, Labels

UNITS = 2**30  # in a link of weight 1; 2**33 samples can be added


@dataclass(frozen=True)
class BlockSums:
    """What a block of samples adds: M of each layer (layers x c x c) in whole units, and the clusters' sizes."""

    links: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __add__(self, other: BlockSums) -> BlockSums:
        return BlockSums(self.links + other.links, self.sizes + other.sizes)

    def moved(self, before: BlockSums) -> float:
        """Return the share of the weight that has moved, compared with earlier sums of the same samples."""
        return float(np.abs(self.links - before.links).sum()) / max(2 * float(self.links.sum()), 1.0)


@saved
@dataclass(frozen=True)
class LayerWeights:
    """The weight of each layer, the share of links that are noise (eta), and the price of labels (pi)."""

    weights: tuple[float, ...]
    background: float = SearchSettings.background
    label_cost: float = SearchSettings.label_cost

    @classmethod
    def of(cls, model: BlockModel) -> LayerWeights:
        """Copy them from a block model of the landmarks."""
        return cls(tuple(map(float, model.weights)), model.settings.background, model.settings.label_cost)

    def estimate(self, sums: BlockSums) -> Blocks:
        """Return the block model that follows from the sums."""
        ratios = tuple(w * self._log_ratios(M / UNITS) for w, M in zip(self.weights, sums.links, strict=True))
        n = max(int(sums.sizes.sum()), 1)
        return Blocks(ratios, self.label_cost * np.log(np.maximum(sums.sizes / n, 0.5 / n)))

    def _log_ratios(self, M: Dense) -> Dense:
        expected = np.outer(M.sum(axis=1), M.sum(axis=0)) / max(M.sum(), TINY)
        ratio = (1 - self.background) * M / np.maximum(expected, TINY)
        return np.log(np.maximum(ratio + self.background, TINY)).T


def place(links: Sequence[sp.csr_array], blocks: Blocks, landmark_labels: Labels) -> Labels:
    """Return the cluster with the most evidence for each sample."""
    return blocks.evidence(landmark_labels, links).argmax(axis=1).astype(np.int32)


def sum_links(links: Sequence[sp.csr_array], z: Labels, landmark_labels: Labels, n_clusters: int) -> BlockSums:
    """Add up the links of samples in clusters z."""
    c = n_clusters
    members = sp.csr_array((np.ones(len(z), np.int64), z, np.arange(len(z) + 1)), shape=(len(z), c))
    sums = [members.T @ np.rint(links_to_clusters(W, landmark_labels, c) * UNITS).astype(np.int64) for W in links]
    return BlockSums(np.stack(sums), np.bincount(z, minlength=c).astype(np.int64))


def without_own(links: sp.csr_array, own: Indices) -> sp.csr_array:
    """Return links without landmark ``own[i]``, which is sample i itself; -1 for samples that are not landmarks.

    The rest of each row is rescaled to its former sum, unless nothing is left.
    """
    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    itself = links.indices == own[rows]
    if not itself.any():
        return links
    data = np.where(itself, 0, links.data)
    before = np.bincount(rows, links.data, links.shape[0])
    after = np.bincount(rows, data, links.shape[0])
    factor = np.divide(before, after, out=np.ones_like(before), where=after > 0)
    return sp.csr_array(((data * factor[rows]).astype(links.dtype), links.indices, links.indptr), shape=links.shape)
