"""Co-training: round by round, each view's graph is projected onto the structure found in the other views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import add
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from manyview.checks import CALLBACK, TEXT, InputError, Number, OrNone, Rules, Whole, quoted, shown
from manyview.graphs.laplacian import normalized_adjacency
from manyview.methods.from_graphs import GraphClusterer
from manyview.methods.result import Clustering
from manyview.numerics.division import unit_length_rows
from manyview.numerics.eigenvectors import fix_signs
from manyview.numerics.loop import Callback, Outcome, run
from manyview.partition.spectral import kmeans_labels, spectral_embedding
from manyview.preprocessing.scaling import Scaling
from manyview.typing import Dense, Seed
from manyview.views.container import Views


class CoTraining(GraphClusterer):
    r"""Co-trained spectral clustering: the eigenvectors of each view correct the graphs of the others.

    With K_v the normalised affinity of view v, it starts from the top c eigenvectors U_v. A round solves, for every
    view with the others held fixed,

    .. math::
        \max_{U_v'U_v = I} \mathrm{Tr}\, U_v' S_v U_v, \qquad
        S_v = \mathrm{sym}\left(\sum_{w \ne v} U_w U_w' K_v\right), \quad \mathrm{sym}(A) = (A + A')/2,

    that is, takes the top c eigenvectors of S_v. The rows of each U_v are scaled to length 1 and concatenated, and the
    labels are found from them by k-means. Kumar and Daumé III, ICML 2011.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        c, the number of clusters; "auto" chooses it (docs/selection.md).
    n_neighbors : int, default=10
        Neighbours per sample in each graph. With more, clusters blend; with fewer, the graphs fall apart.
    affinity : {"knn", "adaptive", "self_tuning", "precomputed"}, default="knn"
        How neighbours are weighted, see `MFMSC`. With "precomputed" every view is an affinity matrix
        (n_samples, n_samples): symmetric, non-negative, dense or sparse; its diagonal is not used.
    scaling : {"auto", "standard", "unit", "none"}, or one per view, default="auto"
        See `MFMSC`; not used with "precomputed".
    informative_view : str, optional
        Name of the view that labels are read from, if one view is known to be better than the rest; by default all
        views together.
    degree_regularization : float, default=1
        tau in the normalisation of K_v, see `MFMSC`: keeps a loosely linked sample of one view from becoming an
        eigenvector that the other views then have to follow. 0 turns it off.
    max_iter : int, default=25
        Maximum number of rounds. Fewer may stop before the views agree.
    tol : float, default=0.05
        Rounds continue while they raise the agreement of the views (see `history_`) by more than this; a round that
        does not is undone. Smaller values allow more rounds. The paper leaves the number of rounds to the user.
    max_clusters : int, optional
        The largest number of clusters that "auto" tries, and the finest level in `levels_`. By default 30, but "auto"
        tries up to 240 while they are still well separated.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means. With an int, a fit gives the same labels each time; None draws a new seed.
    n_jobs : int, optional
        Largest number of threads of the linear algebra; -1 for all cores. By default one for small problems and all
        cores for large ones, but never more than are idle when the fit begins.
    callback : callable, optional
        Called with the record of each round; return True to stop.

    Attributes
    ----------
    labels_ : array (n_samples,) of int
    embedding_ : array (n_samples, n_views * n_clusters), or (n_samples, n_clusters) with an informative view
        The rows that labels are read from.
    affinity_ : sparse array (n_samples, n_samples)
        Mean of the views' graphs.
    history_ : list of dict
        For each round, the resulting "agreement", which is the mean over pairs of views of :math:`|U_v'U_w|_F^2 / c` (1
        means the same subspace), and the "residual", the rise in agreement.
    scaling_, n_iter_, converged_, n_views_, view_names_, sample_ids_
    neighbor_recall_ : dict
        Share of the true neighbours that an approximate search found, by graph; empty if the search was exact.
    n_clusters_, selection_, n_missing_, imputation_
        As for `MFMSC`; `n_iter_` counts rounds, and `converged_` says whether `tol` ended them.
    levels_ : Levels
        Nested partitions around the clusters, from one cluster to `max_clusters`; `cut` returns their labels.

    Notes
    -----
    Measured with two views of 64 features: 20,000 samples in 5.9 CPU seconds and 101 MB (docs/scaling.md).

    S_v has rank at most 2(V-1)c and is never formed: its eigenvectors are found from a problem of that size.

    Time O(n^2 d) for the neighbours, d the features of all views, O(n (k + c) c) per Lanczos step of the start, and
    O(V n (V c)^2 + V^2 n k c) per round; memory O(n (d + V k + V c)). Nothing dense is n x n.

    Examples
    --------
    >>> from manyview import CoTraining, clustering_accuracy, load_digits
    >>> digits = load_digits()
    >>> model = CoTraining(n_clusters=10).fit(digits.views)
    >>> bool(clustering_accuracy(digits.labels, model.labels_) > 0.8)
    True
    """

    _rules: ClassVar[Rules] = {
        **GraphClusterer._rules,
        "informative_view": OrNone(TEXT),
        "max_iter": Whole(1),
        "tol": Number(0),
        "callback": CALLBACK,
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int = 10,
        affinity: str = "knn",
        scaling: Scaling = "auto",
        informative_view: str | None = None,
        degree_regularization: float = 1.0,
        max_iter: int = 25,
        tol: float = 0.05,
        max_clusters: int | None = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.scaling = scaling
        self.informative_view = informative_view
        self.degree_regularization = degree_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_views(self, views: Views) -> None:
        super()._check_views(views)
        if self.informative_view is not None and self.informative_view not in views.names:
            raise InputError(
                f"informative_view={shown(self.informative_view)} is not one of the views: {quoted(views.names)}."
            )

    def _fit(self, views: Views, n_clusters: int) -> Clustering:
        graphs, scaling = self._view_graphs(views, n_clusters)
        dtype = np.result_type(*graphs)
        tau = self.degree_regularization
        K = [normalized_adjacency(W.astype(np.float64), tau) for W in graphs]
        U, outcome = self._rounds(K, [spectral_embedding(W.astype(np.float64), n_clusters, tau)[1] for W in graphs])
        embedding = np.hstack([unit_length_rows(U[v]) for v in self._read_from(views)]).astype(dtype)
        labels = kmeans_labels(embedding, n_clusters, self.random_state)
        return Clustering(
            labels=labels,
            embedding=embedding,
            affinity=sp.csr_array(reduce(add, graphs) * (1 / len(graphs)), dtype=dtype),
            scaling=scaling,
            placing=self._placing_by_neighbors(views, scaling, labels, n_clusters),
            outcome=outcome,
        )

    def _read_from(self, views: Views) -> list[int]:
        if self.informative_view is None:
            return list(range(views.n_views))
        return [views.names.index(self.informative_view)]

    def _rounds(self, K: list[sp.csr_array], U: list[Dense]) -> tuple[list[Dense], Outcome]:
        kept, reached = U, agreement(U)

        def sweep(_i: int) -> dict[str, float]:
            nonlocal kept, reached
            new = [update(kept[:v] + kept[v + 1 :], K[v], kept[v]) for v in range(len(K))]
            risen = agreement(new)
            gain = risen - reached
            if gain > self.tol:
                kept, reached = new, risen
            return {"agreement": risen, "residual": max(gain, 0.0)}

        outcome = run(sweep, max_iter=self.max_iter, tol=self.tol, name="CoTraining", callback=self.callback)
        return kept, outcome


def update(others: Sequence[Dense], K: sp.csr_array, U: Dense) -> Dense:
    """Top c eigenvectors (n x c) of S = sym(B B' K), B the other views' U_w side by side; U itself if there are none.

    S = (B (KB)' + (KB) B') / 2 maps into the columns of B and KB, so its eigenvectors are sought there.
    """
    if not others:
        return U
    B = np.hstack(others)
    KB = K @ B
    Q, _ = np.linalg.qr(np.hstack([B, KB]))  # n x 2(V-1)c
    half = (Q.T @ B) @ (KB.T @ Q)
    _, vectors = np.linalg.eigh(half + half.T)
    return fix_signs(Q @ vectors[:, ::-1][:, : U.shape[1]])


def objective(U: Dense, others: Sequence[Dense], K: sp.csr_array) -> float:
    r""":math:`\mathrm{Tr}\, U' S U` with :math:`S = \mathrm{sym}(\sum_w U_w U_w' K)`: what a round maximises."""
    B = np.hstack(others)
    return float(np.vdot(B.T @ U, (K @ B).T @ U))


def agreement(U: Sequence[Dense]) -> float:
    """Return the mean over pairs of views of |U_v'U_w|_F^2 / c: from 0 (orthogonal subspaces) to 1 (the same)."""
    if len(U) == 1:
        return 1.0
    c = U[0].shape[1]
    return float(np.mean([np.sum((P.T @ Q) ** 2) / c for P, Q in combinations(U, 2)]))
