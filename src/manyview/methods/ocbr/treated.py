"""Treats all views in one loop: dense views are recovered until each has converged; sparse ones need no loop.

Samples that are absent from a view have no row in it. If samples are absent from dense views, these views are also
recovered together, as one table: its low rank completes what is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyview.methods.ocbr.directions import find_directions
from manyview.methods.ocbr.recovery import Recovery
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.treatment import DenseView, TreatedView, treat_sparse
from manyview.numerics.loop import Callback, Outcome, run
from manyview.preprocessing.kinds import Kind, recognize_kind
from manyview.preprocessing.scaling import Standardizer, to_unit_distance
from manyview.typing import Array, Dense, Indices
from manyview.views import Views, present_rows


@dataclass(frozen=True)
class TreatmentOptions:
    """The user's parameters for the treatment, and the constants."""

    scaling: dict[str, str]
    kinds: dict[str, str]
    n_components: int | None
    sparsity: float
    noise_level: float
    max_iter: int
    tol: float
    callback: Callback | None
    settings: Settings

    def rank(self, n: int, n_clusters: int) -> int:
        """Return the columns of a basis: as requested, otherwise 60 or the clusters, at most a third of the samples."""
        return self.n_components or max(2, min(max(self.settings.rank, n_clusters), n // 3))


@dataclass(frozen=True)
class TreatedViews:
    """All views of `n_samples` samples, and the outcome of the loop.

    `completed` holds the rows of the dense views as one table, and the sample index of each row, if samples are absent
    from dense views; otherwise it is None.
    """

    views: list[TreatedView]
    completed: tuple[Dense, Indices] | None
    n_samples: int
    outcome: Outcome


def treat_views(views: Views, n_clusters: int, options: TreatmentOptions) -> TreatedViews:
    """Recognise, clean and represent every view."""
    n, settings = views.n_samples, options.settings
    r = options.rank(n, n_clusters)
    keep = views.batch is not None  # shifts between batches are taken off later
    samples = [np.flatnonzero(present_rows(X)) for X in views.arrays]
    tables = [X if len(here) == n else X[here] for X, here in zip(views.arrays, samples, strict=True)]
    kinds = [_kind(name, X, options) for name, X in zip(views.names, tables, strict=True)]
    dense = {
        v: DenseView.start(
            tables[v], samples[v], kinds[v], options.scaling[name], r, options.noise_level, options.sparsity, settings
        )
        for v, name in enumerate(views.names)
        if not kinds[v].is_sparse
    }
    whole, everyone = _side_by_side(views.arrays, list(dense), samples, r, options)
    outcome = run_recovery([view.recovery for view in dense.values()] + ([] if whole is None else [whole]), options)
    treated = [
        dense.pop(v).finish(r, settings, recognize=name not in options.kinds, keep=keep)  # frees the memory of each
        if v in dense
        else treat_sparse(tables[v], samples[v], kinds[v], r, settings, keep=keep)
        for v, name in enumerate(views.names)
    ]
    completed = None if whole is None else (_complete_rows(whole, r, settings), everyone)
    return TreatedViews(treated, completed, n, outcome)


def _kind(name: str, X: Array, options: TreatmentOptions) -> Kind:
    if name in options.kinds:
        return Kind(options.kinds[name], f"{options.kinds[name]}: as given")
    if options.scaling[name] == "unit":
        return Kind("sparse", "sparse: scaled by rows, as asked for")
    return recognize_kind(X)


def _side_by_side(
    tables: Sequence[Array], dense: Sequence[int], samples: Sequence[Indices], r: int, options: TreatmentOptions
) -> tuple[Recovery | None, Indices]:
    """Begin the recovery of the dense views as one table of all their samples, if some samples are absent."""
    everyone = functools.reduce(np.union1d, (samples[v] for v in dense), np.empty(0, dtype=np.intp))
    if len(dense) < 2 or all(len(samples[v]) == len(everyone) for v in dense):
        return None, everyone
    rows = [tables[v][everyone] for v in dense]
    table = np.hstack([Standardizer.fit(X, robust=True).apply(X) for X in rows])
    settings = options.settings
    return Recovery.start(table, r, options.noise_level, options.sparsity, settings.narrowest), everyone


def _complete_rows(whole: Recovery, r: int, settings: Settings) -> Dense:
    A = whole.cleaned(1.0)
    return to_unit_distance(find_directions(A - A.mean(axis=0), r, settings)[2])


def run_recovery(states: Sequence[Recovery], options: TreatmentOptions) -> Outcome:
    """Sweep over all tables until each has converged."""

    def sweep(_iteration: int) -> dict[str, float]:
        for state in states:
            if state.residual > options.tol:
                state.sweep()
        return {
            "residual": max((state.residual for state in states), default=0.0),
            "objective": sum(state.objective() / state.unit**2 for state in states),
            "mu": float(np.mean([state.unit / state.tau for state in states])) if states else 0.0,
        }

    outcome = run(sweep, max_iter=options.max_iter, tol=options.tol, name="OCBR", callback=options.callback)
    for state in states:
        state.free()
    return outcome
