"""What the low-rank estimators share: parameters, memory, and the way from representations to clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, InputTypeError, check_choice, check_int, check_real
from manyview.environment import available_memory
from manyview.graphs.affinity import PRECOMPUTED, as_graph
from manyview.graphs.connection import connect
from manyview.graphs.laplacian import symmetrize
from manyview.graphs.neighbors import from_neighbors, nearest_neighbors
from manyview.methods.base import MultiViewClusterer
from manyview.numerics.loop import Callback, Outcome, Sweep, run
from manyview.partition.spectral import affinity_features, normalized_cut, unit_length_rows
from manyview.preprocessing.scaling import Scaling, scale_views
from manyview.typing import Array, Dense, Indices, Seed
from manyview.views.container import Views

AFFINITIES = ("angle", "sum")
RANKS_PER_CLUSTER, LOWEST_RANK = 3, 30  # of the features that stand for given affinities
COPIES = 15  # Z, its copies, multipliers and what the updates need for a moment; measured, rounded up


class RepresentationClusterer(MultiViewClusterer):
    """Base of the estimators that learn how samples represent one another."""

    n_neighbors: int
    nonnegative: bool
    affinity: str
    scaling: Scaling
    degree_regularization: float
    assign_labels: str
    max_iter: int
    tol: float
    max_memory: float | None
    random_state: Seed
    callback: Callback | None

    def _check_params(self) -> None:
        super()._check_params()
        for name in ("n_neighbors", "max_iter"):
            check_int(name, getattr(self, name), minimum=1)
        for name in ("degree_regularization", "tol"):
            check_real(name, getattr(self, name), minimum=0)
        if self.max_memory is not None:
            check_real("max_memory", self.max_memory, minimum=0)
        check_choice("affinity", self.affinity, (*AFFINITIES, PRECOMPUTED))
        if not isinstance(self.nonnegative, bool | np.bool_):
            raise InputTypeError(f"nonnegative={self.nonnegative!r} is neither True nor False.")

    def _run(self, sweep: Sweep) -> Outcome:
        name = type(self).__name__
        return run(sweep, max_iter=self.max_iter, tol=self.tol, name=name, callback=self.callback)

    def _features(self, views: Views) -> list[Array]:
        """Return the scaled views; for affinities, features that reproduce them."""
        if self.affinity != PRECOMPUTED:
            tables, self.scaling_ = scale_views(views, self.scaling)
            return tables
        self.scaling_ = dict.fromkeys(views.names, "none")
        rank = max(RANKS_PER_CLUSTER * self.n_clusters_, LOWEST_RANK)
        return [affinity_features(as_graph(A, name), rank, 1.0) for name, A in views.items()]

    def _code_affinity(self, codes: Sequence[Dense], R: Dense | None) -> sp.csr_array:
        if self.affinity != "sum":
            return angle_affinity(codes, self.n_neighbors)
        return sum_affinity(codes if R is None else [LowRank(R, Z) for Z in codes], self.n_neighbors)

    def _cut(self, W: sp.csr_array, X: Sequence[Dense]) -> None:
        self.affinity_ = tidy_graph(W, X, self.n_clusters_)
        cut = normalized_cut(
            self.affinity_,
            self.n_clusters_,
            regularization=self.degree_regularization,
            assign=self.assign_labels,
            random_state=self.random_state,
        )
        self.labels_, self.embedding_, self.eigenvalues_ = cut.labels, cut.embedding, cut.eigenvalues


# From representations to graphs ------------------------------------------------------------------


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
    """Link each sample to the k whose columns of Z point most nearly the same way, weighed by the cosine.

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
    """Find the weights and columns of the k largest of each of these rows of a matrix; overwrites the diagonal."""
    W[np.arange(len(rows)), rows] = 0
    k = max(1, min(k, W.shape[1] - 1))
    best = np.argpartition(-W, k - 1, axis=1)[:, :k]
    return np.take_along_axis(W, best, axis=1), best


def _magnitudes(Z: Dense | LowRank, rows: Indices) -> Dense:
    if isinstance(Z, LowRank):
        return (np.abs(Z.left[rows] @ Z.right) + np.abs(Z.right[:, rows].T @ Z.left.T)) / 2
    return (np.abs(Z[rows]) + np.abs(Z[:, rows].T)) / 2


def tidy_graph(W: sp.csr_array, tables: Sequence[Dense], n_clusters: int) -> sp.csr_array:
    """Drop the zeros; where more pieces than clusters are left, link them through the samples' features."""
    W.eliminate_zeros()
    if sp.csgraph.connected_components(W, directed=False)[0] > n_clusters:
        return connect(W, np.vstack(tables).T)
    return W


# Memory ------------------------------------------------------------------------------------------


def dense_columns(tables: Sequence[Array]) -> list[Dense]:
    """Turn the tables over: samples in columns, dense."""
    return [np.ascontiguousarray((X.toarray() if sp.issparse(X) else X).T) for X in tables]


def check_memory(needed: float, max_memory: float | None, views: Views, advice: str) -> None:
    """Refuse a problem of `needed` bytes if that is more than `max_memory` GB, or than what is free."""
    limit = 0.8 * available_memory() if max_memory is None else max_memory * 1e9
    if needed > limit:
        source = "80 % of what is free" if max_memory is None else f"max_memory={max_memory:g}"
        raise InputError(
            f"n_samples={views.n_samples} needs about {needed / 1e9:.3g} GB, over the limit of {limit / 1e9:.3g} GB "
            f"({source}). {advice}"
        )


def bytes_needed(views: Views, representations: float, *, nonnegative: bool) -> float:
    """Estimate the peak of a fit: `representations` matrices Z and the data, in `COPIES` copies each."""
    n, d = views.shape
    rows = n if nonnegative else min(n, d)
    itemsize = max(X.dtype.itemsize for X in views.arrays)
    return float(COPIES * itemsize) * n * (representations * rows + d)


def advice(*, nonnegative: bool, feature_level: bool = True) -> str:
    """Say what to do about a problem that is too large."""
    rest = "cluster fewer samples, or take a method on sparse graphs such as MFMSC or OCBR."
    if not nonnegative:
        return rest[0].upper() + rest[1:]
    lean = "nonnegative=False" if feature_level else "level='feature' with nonnegative=False"
    return f"Use {lean}, whose memory grows with n_samples times n_features and not with n_samples squared; or {rest}"
