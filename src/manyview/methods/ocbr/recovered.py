"""The views taken apart: rows that represent the samples, bases, loadings, gross errors.

Each dense view is recovered (`recovery.py`): X = L + E + noise. Its samples are represented by the rows of U S^p, the
basis scaled by a power of the singular values of X - E. Sparse views are cleaned entry by entry (`counts.py`), rare
features weighted up, and their rows scaled to the same length. Samples that are absent from a view have no row in it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.methods.ocbr.counts import CountCleaner
from manyview.methods.ocbr.recovery import Loadings, Recovery, orthogonal_iteration, singular_triplets
from manyview.methods.ocbr.settings import Settings
from manyview.numerics.division import or_one
from manyview.numerics.loop import Callback, Outcome, run
from manyview.numerics.starts import fixed_directions
from manyview.preprocessing.scaling import without_missing
from manyview.typing import Array, Dense, Graph, Indices
from manyview.views.presence import present_rows

COUNT_BASIS_STEPS = 8  # of orthogonal iteration for the basis of a sparse view, which is only reported


@dataclass(frozen=True)
class RecoveryOptions:
    """The user's parameters of the recovery, and the constants."""

    n_components: int | None
    sparsity: float
    noise_level: float
    max_iter: int
    tol: float
    callback: Callback | None
    settings: Settings

    def rank(self, n: int, n_clusters: int = 1) -> int:
        """Return the columns of a basis: as asked for, otherwise 60 or the clusters, at most a third of the samples."""
        return self.n_components or max(2, min(max(self.settings.rank, n_clusters), n // 3))


@dataclass(frozen=True)
class RecoveredView:
    """A view taken apart, for the samples that are in it; `model` represents other samples in the same way.

    Attributes
    ----------
    samples : (m,), the sample index of each row
    rows : (m, r), what represents the samples
    U, D : basis (m, r) and loadings (d, r)
    E : (m, d), gross errors
    """

    samples: Indices
    rows: Array
    U: Dense
    D: Dense
    E: Graph
    model: Loadings | CountCleaner


@dataclass(frozen=True)
class RecoveredViews:
    """All views of `n_samples` samples, and the outcome of the loop.

    `completed` is there if samples are absent from dense views, otherwise None: the dense views side by side, recovered
    as one, so that low rank in all of them completes what is missing.
    """

    views: list[RecoveredView]
    completed: RecoveredView | None
    counts: list[bool]
    n_samples: int
    outcome: Outcome


def recover(
    tables: Sequence[Array], counts: Sequence[bool], n_clusters: int, options: RecoveryOptions
) -> RecoveredViews:
    """Recover all views in one loop: each dense one until its own residual is small; sparse ones need no loop."""
    n = tables[0].shape[0]
    r = options.rank(n, n_clusters)
    samples = [np.flatnonzero(present_rows(X)) for X in tables]
    own = [X if len(here) == n else X[here] for X, here in zip(tables, samples, strict=True)]
    dense = [v for v, counted in enumerate(counts) if not counted]
    states = {v: start(own[v], r, options) for v in dense}
    everyone = functools.reduce(np.union1d, (samples[v] for v in dense), np.empty(0, dtype=np.intp))
    whole = None
    if len(dense) > 1 and any(len(samples[v]) < len(everyone) for v in dense):
        whole = start(np.hstack([tables[v][everyone] for v in dense]), r, options)
    outcome = run_recovery([*states.values(), *([] if whole is None else [whole])], options)
    views = [
        from_recovery(states[v], samples[v], options.settings)
        if v in states
        else from_counts(own[v], samples[v], r, options.settings)
        for v in range(len(tables))
    ]
    completed = None if whole is None else from_recovery(whole, everyone, options.settings)
    return RecoveredViews(views, completed, list(counts), n, outcome)


def start(X: Dense, r: int, options: RecoveryOptions) -> Recovery:
    """Begin the recovery of one dense table."""
    return Recovery.start(X, r, options.noise_level, options.sparsity, options.settings.narrowest)


def run_recovery(states: Sequence[Recovery], options: RecoveryOptions) -> Outcome:
    """Sweep over all tables until each has settled."""

    def sweep(_iteration: int) -> dict[str, float]:
        for state in states:
            if state.residual > options.tol:
                state.sweep()
        return {
            "residual": max((state.residual for state in states), default=0.0),
            "objective": sum(state.objective() for state in states),
            "mu": float(np.mean([1 / state.tau for state in states])) if states else 0.0,
        }

    return run(sweep, max_iter=options.max_iter, tol=options.tol, name="OCBR", callback=options.callback)


def from_recovery(state: Recovery, samples: Indices, settings: Settings) -> RecoveredView:
    """Represent samples by the singular vectors of X - E.

    The loadings are of those that survive the shrinkage, which tells signal from noise but makes it too small: they are
    as large as in X - E.
    """
    leniency = state.leniency(settings.most_lenient)
    A = state.cleaned(leniency)
    U, s, P = singular_triplets(A, orthogonal_iteration(A, state.U))
    survives = s > state.tau * state.unit
    p = s.dtype.type(settings.exponent)
    model = Loadings.of(state, leniency, P * or_one(s) ** (p - 1))  # A P = U s
    return RecoveredView(samples, U * s**p, U, P * (s * survives), sp.csr_array(state.gross_errors()), model)


def from_counts(X: Array, samples: Indices, r: int, settings: Settings) -> RecoveredView:
    """Represent samples by the cleaned rows of a sparse view; its leading basis is only reported.

    A value that is missing is taken for 0: nothing was counted.
    """
    X = without_missing(X)
    counts = sp.csr_array(X)
    model = CountCleaner.fit(counts, clean=settings.clean_counts, weigh=settings.rarity)
    A = model.clean(counts)
    U = fixed_directions(X.shape[0], min(r, *X.shape)).astype(X.dtype)
    for _ in range(COUNT_BASIS_STEPS):
        U = orthogonal_iteration(A, U)
    return RecoveredView(samples, model.represent(X), U, A.T @ U, sp.csr_array(counts - A), model)
