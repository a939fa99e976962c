"""What distinguishes two partitions of the same samples, in words."""

from __future__ import annotations

import numpy as np

from manyview.typing import Dense, Labels

PART = 0.1  # of a cluster; a smaller part counts as samples that moved, not as a piece


def describe_difference(z: Labels, other: Labels) -> str:
    """Describe in a sentence what another partition does with the clusters of z: which it merges and splits.

    A cluster is split if several clusters of the other partition each contain a tenth of it or more, and consist mostly
    of it. Clusters are merged if most of each lies in the same cluster of the other partition.

    Examples
    --------
    >>> import numpy as np
    >>> describe_difference(np.array([0, 0, 0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 2, 2, 2]))
    'It splits cluster 0 in 2 and merges clusters 1 and 2.'
    """
    counts = np.zeros((z.max() + 1, other.max() + 1))
    np.add.at(counts, (z, other), 1)
    pieces = (2 * counts > counts.sum(axis=0)) & (counts >= PART * counts.sum(axis=1, keepdims=True))
    home = np.where(2 * counts.max(axis=1) > counts.sum(axis=1), counts.argmax(axis=1), -1)
    split = [f"splits cluster {k} in {m}" for k, m in enumerate(pieces.sum(axis=1)) if m > 1]
    together = (np.flatnonzero(home == h) for h in range(other.max() + 1))
    merged = [f"merges clusters {listed(ks.tolist())}" for ks in together if len(ks) > 1]
    if split or merged:
        return f"It {listed(split + merged)}."
    return f"It places {moved_share(counts):.0%} of the samples in other clusters."


def moved_share(counts: Dense) -> float:
    """Return the share of samples outside the largest part of their cluster."""
    return 1 - float(counts.max(axis=1).sum() / counts.sum())


def listed(items: list[object] | list[str] | list[int]) -> str:
    """Return items as words: "1, 2 and 3"."""
    words = [str(item) for item in items]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
