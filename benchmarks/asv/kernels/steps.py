"""The steps of a fit, one by one: time against the number of samples, and peak memory of the whole fit.

asv calls `setup` before each, and times what begins with `time_`; `peakmem_` is memory.
"""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from manyview import MFMSC, OCBR, make_views
from manyview.graphs import neighbors
from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.approximate import CellIndex
from manyview.methods.ocbr.recovery import Recovery
from manyview.methods.ocbr.settings import Settings
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.spectral import pivoted_kmeans, spectral_embedding

CLUSTERS, NEIGHBORS = 20, 10


class Kernels:
    """Two views of 64 features, in one thread."""

    params = (2000, 20_000)
    param_names = ("n",)
    timeout = 300

    def setup(self, n: int) -> None:
        threadpool_limits(1)
        self.data = make_views(n, CLUSTERS, (64, 64), noise=1.0, separation=6.0, seed=0)
        self.X, self.Y = self.data.views.arrays


class Neighbors(Kernels):
    """The neighbour search, the only step that is more than linear in n."""

    def time_exact(self, n: int) -> None:  # noqa: ARG002
        neighbors.NeighborIndex(self.X)._exact.kneighbors(None, n_neighbors=NEIGHBORS)

    def time_approximate(self, n: int) -> None:  # noqa: ARG002
        CellIndex(self.X).search(None, NEIGHBORS)


class Sweeps(Kernels):
    """The recovery of a view."""

    def setup(self, n: int) -> None:
        super().setup(n)
        self.state = Recovery.start(self.X, 60, 0.2, 1.0, Settings().narrowest)

    def time_sweep(self, n: int) -> None:  # noqa: ARG002
        self.state.sweep()
        self.state.objective()


class Graphs(Kernels):
    """What is done with the graphs."""

    def setup(self, n: int) -> None:
        super().setup(n)
        self.graphs = [adaptive_graph(X, NEIGHBORS) for X in (self.X, self.Y)]
        self.model = Agreement.of_views(ViewGraphs.of(self.graphs, self.graphs[0]), CLUSTERS, Settings().search)
        self.embedding = spectral_embedding(self.graphs[0], CLUSTERS, 1.0)[1]

    def time_eigenvectors(self, n: int) -> None:  # noqa: ARG002
        spectral_embedding(self.graphs[0], CLUSTERS, 1.0)

    def time_kmeans(self, n: int) -> None:  # noqa: ARG002
        pivoted_kmeans(self.embedding, CLUSTERS)

    def time_evaluation(self, n: int) -> None:  # noqa: ARG002
        self.model.evaluate(self.data.labels)

    def time_ascent(self, n: int) -> None:  # noqa: ARG002
        self.model.ascend(pivoted_kmeans(self.embedding, CLUSTERS))


class Fits(Kernels):
    """Whole fits."""

    def time_ocbr(self, n: int) -> None:  # noqa: ARG002
        OCBR(CLUSTERS).fit(self.data.views)

    def time_mfmsc(self, n: int) -> None:  # noqa: ARG002
        MFMSC(CLUSTERS).fit(self.data.views)

    def peakmem_ocbr(self, n: int) -> None:  # noqa: ARG002
        OCBR(CLUSTERS).fit(self.data.views)
