"""The tree of levels, as it is drawn."""

import numpy as np
import pytest

from manyview import MFMSC, InputError, make_views, report
from manyview.partition.levels import Levels
from manyview.report.levels import lay_out_tree, leaf_order

LEVELS = Levels(
    labels=np.array([0, 0, 0, 1, 1, 2, 3]),
    merges=np.array([[0, 3], [1, 2], [0, 1]]),
    separation=np.array([0.1, 0.5, 0.9]),
)


def test_clusters_are_in_one_run():
    assert leaf_order(LEVELS).tolist() == [0, 3, 1, 2]


def test_the_tree_tells_the_fitted_clusters_apart():
    tree = lay_out_tree(LEVELS, np.array([0, 0, 0, 1, 1, 2, 0]))
    assert (tree.fitted, tree.sizes.tolist(), tree.clusters.tolist()) == (3, [3, 1, 2, 1], [0, 0, 1, 2])
    assert [(fork.level, fork.separation) for fork in tree.forks] == [(3, 0.1), (2, 0.5), (1, 0.9)]
    heights = [[branch.height for branch in fork.branches] for fork in tree.forks]
    assert heights == [[0, 1], [2, 3], [0.5, 2.5]]
    owners = [[branch.cluster for branch in fork.branches] for fork in tree.forks]
    assert owners == [[0, 0], [1, 2], [0, None]]
    ends = [branch.end for branch in tree.forks[-1].branches]
    assert 3 < ends[0] < 4  # joined between four clusters and three
    assert 2 < ends[1] < 3


def test_a_cluster_that_cannot_be_split_has_no_tree():
    few = make_views(8, 2, (3,), seed=0).views
    model = MFMSC(1).fit(few)
    with pytest.raises(InputError, match="one cluster, and it cannot be split"):
        report.plot_levels(model)
    assert '"levels":null' in report.render_report(model, few)
