"""How splitting and merging clusters changes the information in their block matrices.

A block matrix M (c x c) holds the shares of a graph's edge weight between each pair of clusters; it is symmetric, and
its entries add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from manyview.typing import Dense, Labels

TINY = np.finfo(np.float64).tiny


def xlogx(x: Any) -> Any:
    """Return x log x, 0 at 0."""
    return x * np.log(x + TINY)


def label_entropy(z: Labels) -> float:
    """Return the entropy of the shares of the samples in each cluster."""
    return -float(xlogx(np.bincount(z) / len(z)).sum())


def split_gain(H: Dense) -> Dense:
    """Information gained by splitting each cluster k into the halves 2k and 2k + 1 of the block matrix H."""
    c = len(H) // 2
    k = np.arange(c)
    A = H[:, 0::2] + H[:, 1::2]  # halves x clusters
    M = A[0::2] + A[1::2]
    with_others = xlogx(A[0::2]) + xlogx(A[1::2]) - xlogx(M)
    with_others[k, k] = 0
    inside = xlogx(H[0::2, 0::2][k, k]) + xlogx(H[1::2, 1::2][k, k]) + 2 * xlogx(H[0::2, 1::2][k, k])
    degree = xlogx(A[0::2].sum(axis=1)) + xlogx(A[1::2].sum(axis=1)) - xlogx(M.sum(axis=1))
    return 2 * with_others.sum(axis=1) + inside - xlogx(np.diag(M)) - 2 * degree


def merge_loss(H: Dense) -> Dense:
    """Information lost by merging each pair of clusters (c x c) of the block matrix H of halves."""
    A = H[:, 0::2] + H[:, 1::2]
    M = A[0::2] + A[1::2]
    c = len(M)
    a, d, f = M.sum(axis=1), np.diag(M), xlogx(M)
    f_a, f_d = xlogx(a), np.diag(f)
    loss = np.zeros((c, c))
    for j in range(c - 1):
        k = slice(j + 1, c)  # the loss is symmetric
        with_others = f[j] + f[k]
        with_others -= xlogx(M[j] + M[k])
        with_others[:, j] = 0
        np.fill_diagonal(with_others[:, k], 0)
        inside = f_d[j] + f_d[k] + 2 * f[j, k] - xlogx(d[j] + d[k] + 2 * M[j, k])
        degree = f_a[j] + f_a[k] - xlogx(a[j] + a[k])
        loss[j, k] = loss[k, j] = 2 * with_others.sum(axis=1) + inside - 2 * degree
    return loss


def separations(blocks: Iterable[tuple[float, Dense]]) -> tuple[Dense, Dense]:
    """Return the separation of each pair of clusters (c x c), and the information lost by merging it.

    `blocks` holds weighted block matrices. The separation is the information lost relative to the label entropy lost: 1
    if the two clusters are unrelated, 0 if they are really one, whatever their sizes. It can exceed 1 where links join
    clusters rather than their own samples.
    """
    losses, entropies = [], []
    for w, M in blocks:
        a = M.sum(axis=1)
        losses.append(w * merge_loss(np.kron(M, [[1, 0], [0, 0]])))  # the second halves are empty
        entropies.append(w * merge_entropy(a))
    loss = np.sum(losses, axis=0)
    return np.maximum(loss / np.maximum(np.sum(entropies, axis=0), TINY), 0), loss


def split_entropy(a: Dense) -> Dense:
    """Return the entropy that splitting each cluster k into halves of shares a[2k] and a[2k + 1] adds to the labels."""
    return xlogx(a[0::2] + a[1::2]) - xlogx(a[0::2]) - xlogx(a[1::2])


def merge_entropy(a: Dense) -> Dense:
    """Return the entropy that merging each pair of clusters (c x c), of shares a, takes from the labels."""
    return xlogx(a[:, None] + a) - xlogx(a)[:, None] - xlogx(a)
