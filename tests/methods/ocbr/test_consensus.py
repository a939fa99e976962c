"""The partition that the graphs of the views agree on, and the alternatives to it."""

import numpy as np
import scipy.sparse as sp

from manyview import OCBR
from manyview.methods.ocbr.consensus import described
from manyview.partition.search import Candidate


def test_alternatives_are_numbered_by_size_and_say_how_they_differ():
    z = np.repeat([0, 1, 2], [5, 4, 3])
    found = described(Candidate(np.repeat([0, 1, 1], [5, 4, 3]), separation=0.5, objective=1.0, price=2.0), z)
    np.testing.assert_array_equal(found.labels, np.repeat([1, 0, 0], [5, 4, 3]))
    assert found.difference == "It merges clusters 1 and 2."
    assert (found.separation, found.objective, found.price) == (0.5, 1.0, 2.0)


def test_a_view_that_is_a_graph_is_a_layer_itself(rng):
    groups = np.repeat([0, 1], 20)
    A = (rng.random((40, 40)) < np.where(groups[:, None] == groups, 0.5, 0.05)) * rng.random((40, 40))
    table = groups[:, None] * 5.0 + rng.standard_normal((40, 4))
    model = OCBR(2, kinds={"links": "graph"}).fit({"links": sp.csr_array(A), "table": table})
    np.testing.assert_allclose(model.graphs_[0].toarray(), (A + A.T) / 2 * (1 - np.eye(40)))
