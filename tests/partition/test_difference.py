"""Sentences that say what distinguishes two partitions."""

import numpy as np

from manyview.partition.difference import describe_difference

Z = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])


def test_a_split_and_a_merger_are_named():
    other = Z.copy()
    other[:20] = 4
    other[Z == 3] = 2
    assert describe_difference(Z, np.unique(other, return_inverse=True)[1]) == (
        "It splits cluster 0 in 2 and merges clusters 2 and 3."
    )


def test_samples_that_move_are_counted():
    other = Z.copy()
    other[:3] = 1
    assert describe_difference(Z, other) == "It places 3% of the samples in other clusters."
