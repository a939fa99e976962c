"""Round groups of samples, and the neighbour graphs of tables of them."""

import numpy as np

from manyview.graphs.affinity import adaptive_graph
from manyview.partition.agreement import ViewGraphs
from manyview.partition.redundancy import Redundancy


def blobs(sizes, seed=0, separation=12.0):
    """Return the group of each sample, and a table of six features."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    centres = separation * rng.standard_normal((len(sizes), 6))
    return truth, centres[truth] + rng.standard_normal((len(truth), 6))


def graphs_of(*tables):
    """Return the graph of each table, and that of all tables side by side."""
    views = tuple(adaptive_graph(table, 10) for table in tables)
    return ViewGraphs(views, adaptive_graph(np.hstack(tables), 10), Redundancy.of(views))
