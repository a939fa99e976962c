"""What the low-rank estimators share: parameters, memory limits, and the steps from representations to clusters."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from manyview.checks import CALLBACK, FLAG, InputError, Number, OneOf, OrNone, Rules, Whole
from manyview.environment import available_memory
from manyview.graphs.affinity import as_graph
from manyview.graphs.connection import connect
from manyview.graphs.laplacian import symmetrize
from manyview.graphs.neighbors import from_neighbors, nearest_neighbors
from manyview.methods.base import MultiViewClusterer
from manyview.methods.result import CutClustering
from manyview.numerics.division import unit_length_rows
from manyview.numerics.loop import Callback, Outcome, Sweep, run
from manyview.partition.spectral import affinity_features
from manyview.preprocessing.scaling import Scaler, scale_views
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Indices, is_sparse
from manyview.views.container import Views

log = logging.getLogger(__name__)

REPRESENTATION_GRAPHS = ("angle", "sum")
RANKS_PER_CLUSTER, LOWEST_RANK = 3, 30  # rank of the features that replace given affinities
FREE_SHARE = 0.8  # share of the free memory that a fit may take
OTHERWISE = "cluster fewer samples, or use a method based on sparse graphs, such as MFMSC or OCBR."
COPIES = 15  # Z, its copies, multipliers and temporary arrays of the updates; measured, rounded up
LONG = 10.0  # seconds; a fit that may take longer announces it before it starts
USUAL_SWEEPS = 40
# seconds per sweep, measured on one core: see `_expected_seconds`
PRODUCT, VECTOR, ENTRY, FEATURE = 1.2e-10, 1.5e-11, 3e-8, 3.4e-9


@dataclass(frozen=True, kw_only=True)
class RepresentationClustering(CutClustering):
    """Adds how samples represent each other, the errors of each view, and lambda."""

    representation: Any
    corruption: list[Dense]
    sparsity: Any


class RepresentationClusterer(MultiViewClusterer):
    """Base of the estimators that learn how samples represent each other."""

    _rules: ClassVar[Rules] = {
        **MultiViewClusterer._rules,
        "sparsity": Number(1e-6),  # at 0, every entry would be an error
        "n_neighbors": Whole(1),
        "degree_regularization": Number(0),
        "max_iter": Whole(1),
        "tol": Number(0),
        "max_memory": OrNone(Number(0)),
        "callback": CALLBACK,
    }

    sparsity: float
    n_neighbors: int
    affinity: str
    degree_regularization: float
    max_iter: int
    tol: float
    max_memory: float | None
    callback: Callback | None

    def _run(self, sweep: Sweep) -> Outcome:
        name = type(self).__name__
        return run(sweep, max_iter=self.max_iter, tol=self.tol, name=name, callback=self.callback)

    def _check_memory(self, views: Views, bytes_needed: float, advice: str) -> None:
        """Refuse a problem that needs more than `max_memory` GB, or more than most of the free memory."""
        limit = FREE_SHARE * available_memory() if self.max_memory is None else self.max_memory * 1e9
        if bytes_needed > limit:
            given = self.max_memory is not None
            source = f"max_memory={self.max_memory:g}" if given else f"{FREE_SHARE:.0%} of the free memory"
            raise InputError(
                f"n_samples={views.n_samples} needs about {bytes_needed / 1e9:.3g} GB, over the limit of "
                f"{limit / 1e9:.3g} GB ({source}). {advice}"
            )


class SelfExpressionClusterer(RepresentationClusterer):
    """Base of the estimators that write each sample as a combination of the others, X = X Z + E."""

    _rules: ClassVar[Rules] = {
        **RepresentationClusterer._rules,
        "nonnegative": FLAG,
        "representation_graph": OneOf(REPRESENTATION_GRAPHS),
    }

    nonnegative: bool
    representation_graph: str

    def _features(self, views: Views, n_clusters: int) -> tuple[list[Array], dict[str, str]]:
        """Return the scaled views and their scaling; for affinities, features that reproduce them."""
        if not self._is_precomputed():
            return scale_views(views, self.scaling)
        rank = max(RANKS_PER_CLUSTER * n_clusters, LOWEST_RANK)
        features = [affinity_features(as_graph(A, name), rank, 1.0) for name, A in views.items()]
        return features, dict.fromkeys(views.names, "none")

    def _representation_affinity(self, codes: Sequence[Dense], R: Dense | None) -> Graph:
        if self.representation_graph == "angle":
            return angle_affinity(codes, self.n_neighbors)
        return sum_affinity(codes if R is None else [LowRank(R, Z) for Z in codes], self.n_neighbors)

    def _errors(self, E: Sequence[Dense], views: Views, scaling: dict[str, str]) -> list[Dense]:
        """Return the errors with samples in rows, in the units of the views."""
        if self._is_precomputed():
            return [Ev.T for Ev in E]
        scaled = zip(E, views.items(), strict=True)
        return [Scaler.fit(X, scaling[name]).to_own_units(Ev.T, X) for Ev, (name, X) in scaled]

    def _bytes_needed(self, views: Views, representations: int) -> float:
        """Estimate the peak memory of a fit: `representations` matrices Z and the data, in `COPIES` copies each."""
        n, d = views.shape
        rows = n if self.nonnegative else min(n, d)
        return float(COPIES * itemsize(views)) * n * (representations * rows + d)

    def _announce(self, X: Sequence[Dense], representations: int) -> None:
        """Announce a long fit before it starts, with the expected time; `X` are the views, with samples in columns."""
        n, d = X[0].shape[1], sum(len(Xv) for Xv in X)
        seconds = self._expected_seconds(n, d, representations)
        if seconds > LONG:
            log.warning(
                "%s may take about %.0f seconds for %d samples and %d features; OCBR and MFMSC are much quicker.",
                type(self).__name__,
                seconds,
                n,
                d,
            )

    def _expected_seconds(self, n: int, d: int, representations: int) -> float:
        """Estimate the time of a typical fit: products with the views, singular vectors, entries of Z and the views."""
        rows = n if self.nonnegative else min(n, d)
        products = PRODUCT * (d + min(d, rows)) * rows
        sweep = products + representations * rows * (VECTOR * rows + ENTRY) + FEATURE * d
        return min(self.max_iter, USUAL_SWEEPS) * n * sweep

    def _advice(self) -> str:
        """Say what to do about a problem that is too large."""
        if not self.nonnegative:
            return f"{OTHERWISE[0].upper()}{OTHERWISE[1:]}"
        return (
            "Use nonnegative=False, whose memory grows with n_samples times n_features and not with n_samples squared; "
            f"or {OTHERWISE}"
        )


def itemsize(views: Views) -> int:
    """Return the number of bytes of each value in the views."""
    return max(int(X.dtype.itemsize) for X in views.arrays)


# From representations to graphs ------------------------------------------------------------------


@saved
@dataclass(frozen=True)
class LowRank:
    """A matrix as the product of its factors left (n x r) and right (r x n)."""

    left: Dense
    right: Dense

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the product."""
        return self.left.shape[0], self.right.shape[1]

    def toarray(self) -> Dense:
        """Multiply out."""
        return self.left @ self.right


def angle_affinity(codes: Sequence[Dense], k: int) -> sp.csr_array:
    """Link each sample to the k whose columns of Z point most nearly in the same direction, weighted by the cosine.

    `codes` are the Z of the views, or their right factors (an orthonormal left factor keeps angles); the cosine is the
    mean over the views. Other entries and negative cosines are dropped.
    """
    n = codes[0].shape[1]
    directions = np.hstack([unit_length_rows(Z.T) for Z in codes]) / np.sqrt(len(codes), dtype=codes[0].dtype)
    if n == 1:
        return sp.csr_array((1, 1), dtype=directions.dtype)
    distances, neighbors = nearest_neighbors(directions, k)
    return symmetrize(from_neighbors(np.maximum(1 - distances**2 / 2, 0).astype(directions.dtype), neighbors))


def sum_affinity(representations: Sequence[Dense | LowRank], k: int, block: int = 1024) -> sp.csr_array:
    """Sum (|Z| + |Z'|) / 2 over the views and keep the k largest entries of each row off the diagonal."""
    n = representations[0].shape[0]
    blocks = [np.arange(start, min(start + block, n)) for start in range(0, n, block)]
    parts = [_largest(sum(_magnitudes(Z, rows) for Z in representations), rows, k) for rows in blocks]
    weights, neighbors = zip(*parts, strict=True)
    return symmetrize(from_neighbors(np.vstack(weights), np.vstack(neighbors)))


def keep_largest(W: Dense, k: int) -> sp.csr_array:
    """Keep the k largest entries of each row off the diagonal, and make the result symmetric by the mean."""
    return symmetrize(from_neighbors(*_largest(W.copy(), np.arange(len(W)), k)))


def _largest(W: Any, rows: Indices, k: int) -> tuple[Dense, Indices]:
    """Find the weights and columns of the k largest entries in each of these rows; overwrites the diagonal."""
    W[np.arange(len(rows)), rows] = 0
    k = max(1, min(k, W.shape[1] - 1))
    best = np.argpartition(-W, k - 1, axis=1)[:, :k]
    return np.take_along_axis(W, best, axis=1), best


def _magnitudes(Z: Dense | LowRank, rows: Indices) -> Dense:
    if isinstance(Z, LowRank):
        return (np.abs(Z.left[rows] @ Z.right) + np.abs(Z.right[:, rows].T @ Z.left.T)) / 2
    return (np.abs(Z[rows]) + np.abs(Z[:, rows].T)) / 2


def tidy_graph(W: sp.csr_array, tables: Sequence[Dense], n_clusters: int) -> sp.csr_array:
    """Drop the zeros; if more components than clusters are left, link them through the samples' features."""
    W.eliminate_zeros()
    if sp.csgraph.connected_components(W, directed=False)[0] > n_clusters:
        return connect(W, np.vstack(tables).T)
    return W


def dense_columns(tables: Sequence[Array]) -> list[Dense]:
    """Transpose the tables: samples in columns, dense."""
    return [np.ascontiguousarray((X.toarray() if is_sparse(X) else X).T) for X in tables]
