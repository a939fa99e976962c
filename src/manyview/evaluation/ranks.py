"""Rank tests of many features at once: each cluster against all other samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from manyview.evaluation.moments import indicator
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices


@dataclass(frozen=True)
class RankTest:
    """Mann-Whitney test of each feature in each cluster (c x d): the cluster's values against all others.

    `auc` is the probability that a value in the cluster is larger than one outside (ties count half), `z` its
    standardised deviation from 0.5, and `p_value` two-sided, from the normal approximation with corrections for ties
    and continuity. NaN if a side has no values, or all values are equal.
    """

    auc: Dense
    z: Dense
    p_value: Dense


def compare_ranks(X: Dense, labels: Indices) -> RankTest:
    """Test every feature (column; NaN is a missing value) in every cluster."""
    observed = ~np.isnan(X)
    R = np.where(observed, rankdata(np.where(observed, X, np.inf), axis=0), 0)  # missing values rank last
    n = observed.sum(axis=0)
    member = indicator(labels)
    inside = member @ observed.astype(float)
    outside = n - inside
    U = member @ R - inside * (inside + 1) / 2
    # with ties, the variance of U follows from that of the ranks, drawn without replacement
    variation = ((R - (n + 1) / 2) ** 2 * observed).sum(axis=0)
    variance = inside * outside * variation / or_one(n * (n - 1))
    known = variance > 0
    excess = U - inside * outside / 2
    deviation = np.sqrt(or_one(variance))
    z = np.sign(excess) * np.maximum(np.abs(excess) - 0.5, 0) / deviation
    return RankTest(
        auc=np.where(known, U / or_one(inside * outside), np.nan),
        z=np.where(known, z, np.nan),
        p_value=np.where(known, 2 * norm.sf(np.abs(z)), np.nan),
    )
