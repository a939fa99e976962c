"""How well the batches of an experiment are mixed within clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import random_table

from manyview.checks import InputError
from manyview.evaluation.associations import independence_test
from manyview.evaluation.columns import texts_of
from manyview.evaluation.stability import fit_again
from manyview.methods import MultiViewClusterer
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices, Labels
from manyview.views.batches import batch_codes
from manyview.views.container import Views

DRAWS = 1000


@dataclass(frozen=True)
class BatchMixing:
    """The batches in each cluster.

    Attributes
    ----------
    clusters, batches : list
        Their names, in the order of the arrays.
    counts : array (n_clusters, n_batches) of int
        Samples by cluster and batch.
    misplaced : array (n_clusters,)
        Share of a cluster's samples that would have to come from another batch to match the shares over all samples; 0
        means perfectly mixed.
    by_chance : array (n_clusters,)
        The average of `misplaced` in random clusters of the same sizes.
    p_value : float
        P-value of the test that clusters do not depend on batches.
    missing : int
        Samples without a batch; they are left out.
    """

    clusters: list[Any]
    batches: list[str]
    counts: Indices
    misplaced: Dense
    by_chance: Dense
    p_value: float
    missing: int

    @property
    def overall(self) -> float:
        """Share of all samples that would have to come from another batch: `misplaced`, averaged by size."""
        return float(self.misplaced @ self.counts.sum(axis=1) / self.counts.sum())


def check_batches(values: Any, name: str = "batch") -> Any:
    """Return batches as text, NaN if unknown; raise if there is only one, or one with a single sample."""
    import pandas as pd

    texts = texts_of(pd.Series(values))
    known = texts.dropna()
    batch_codes(known.tolist(), len(known), repr(name))
    return texts


def labels_without_batches(model: MultiViewClusterer, views: Views) -> Labels:
    """Fit the model again without its batches and with the same number of clusters, to see what they changed."""
    return fit_again(model, views.with_batch(None)).labels_


def mix_batches(labels: ArrayLike, batch: ArrayLike, *, seed: int = 0) -> BatchMixing:
    """Count the batches in each cluster, and compare them with random clusters.

    Parameters
    ----------
    labels : array (n_samples,)
        The clusters.
    batch : array (n_samples,)
        The batch of each sample; missing ones are left out.
    seed : int, default=0
        Seed of the random clusters.

    Examples
    --------
    >>> mix_batches([0, 0, 1, 1], ["a", "a", "b", "b"]).misplaced.tolist()
    [0.5, 0.5]
    """
    texts = check_batches(batch)
    L = np.asarray(labels)
    if L.shape != texts.shape:
        raise InputError(f"Got {L.size} labels for {len(texts)} batches; give one of each per sample.")
    known = texts.notna().to_numpy()
    clusters, codes = np.unique(L[known], return_inverse=True)
    batches, of = np.unique(texts[known].to_numpy(dtype=str), return_inverse=True)
    counts = np.zeros((len(clusters), len(batches)), dtype=int)
    np.add.at(counts, (codes, of), 1)
    drawn = random_table(counts.sum(axis=1), counts.sum(axis=0), seed=np.random.RandomState(seed)).rvs(DRAWS)
    return BatchMixing(
        clusters=clusters.tolist(),
        batches=batches.tolist(),
        counts=counts,
        misplaced=_misplaced(counts),
        by_chance=np.mean([_misplaced(table) for table in drawn], axis=0),
        p_value=independence_test(counts, seed)[2] if len(clusters) > 1 else 1.0,
        missing=int((~known).sum()),
    )


def _misplaced(counts: Any) -> Dense:
    """Half the sum of the differences between the shares in a cluster and those in all samples."""
    inside = counts / or_one(counts.sum(axis=1, keepdims=True).astype(float))
    return np.abs(inside - counts.sum(axis=0) / counts.sum()).sum(axis=1) / 2
