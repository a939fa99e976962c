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


def test_splits_or_mergers_alone_and_several_of_them_are_listed():
    assert describe_difference(np.repeat([0, 1], 10), np.repeat([0, 1, 2], [5, 5, 10])) == "It splits cluster 0 in 2."
    assert describe_difference(Z, np.where(Z == 0, 0, 1)) == "It merges clusters 1, 2 and 3."
    other = np.repeat([0, 1, 2, 3, 4, 5], [14, 13, 13, 15, 15, 30])
    assert (
        describe_difference(Z, other) == "It splits cluster 0 in 3, splits cluster 1 in 2 and merges clusters 2 and 3."
    )


def test_a_tenth_of_a_cluster_is_a_piece_and_less_is_not():
    other = Z.copy()
    other[:4] = 4
    assert describe_difference(Z, other) == "It splits cluster 0 in 2."
    other[3] = 0
    assert describe_difference(Z, other) == "It places 3% of the samples in other clusters."
