"""The stages of a fit by landmarks: survey, draw, fit, link, revise.

Each is a function of a block of rows, and its results add up. Rows are read three times: for the survey, for the
candidates, and for the links. After that only links are used, 8 bytes for each of a sample's 10 neighbours in a layer,
and they stay where the rows are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.methods.landmarks.blocks import Block, Results, Rows, stack
from manyview.methods.landmarks.drawing import are_candidates, choose_landmarks
from manyview.methods.placing import LayeredPlacing, Linker
from manyview.numerics.loop import Outcome, run
from manyview.partition.blockmodel import Blocks
from manyview.partition.membership import Assigned, Calibration
from manyview.partition.placement import BlockSums, place, sum_links, without_own
from manyview.records import saved
from manyview.typing import Indices, Labels
from manyview.views import Views

ROUNDS = 30  # at most; a few are usual
SETTLED = 1e-4  # share of the links' weight that still moves between clusters
T = TypeVar("T")


class Stages:
    """Results of the stages of a fit; here each is computed on request.

    A subclass may store them, so that an interrupted fit can resume.
    """

    def once(self, stage: str, compute: Callable[[], T]) -> T:  # noqa: ARG002
        """Return the result of a stage."""
        return compute()

    def keep(self, stage: str, result: object) -> None:
        """Store a result that replaces the earlier one of the same stage."""


# Survey ----------------------------------------------------------------------------------------------


@saved
@dataclass(frozen=True)
class Survey:
    """What is known about all rows before any work: their number, and the values and samples in each view."""

    names: tuple[str, ...]
    n_features: tuple[int, ...]
    n_samples: int
    n_missing: NDArray[np.int64]
    n_present: NDArray[np.int64]

    def __add__(self, other: Survey) -> Survey:
        if (self.names, self.n_features) != (other.names, other.n_features):
            raise InputError(
                f"Some rows have {self.n_features} features in the views {quoted(self.names)}, others have "
                f"{other.n_features} in {quoted(other.names)}; all blocks must have the same columns."
            )
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            n_missing=self.n_missing + other.n_missing,
            n_present=self.n_present + other.n_present,
        )

    def check(self) -> None:
        """Refuse empty views."""
        empty = [name for name, present in zip(self.names, self.n_present, strict=True) if present == 0]
        if empty:
            raise InputError(f"View {quoted(empty)} contains only NaN. Remove this view.")


def survey(block: Block) -> Survey:
    """Count samples and missing values."""
    views = block.views
    n_missing = np.array(list(views.n_missing.values()), dtype=np.int64)
    n_present = views.present.sum(axis=0) if n_missing.any() else np.full(views.n_views, views.n_samples)
    n_features = tuple(int(array.shape[1]) for array in views.arrays)
    return Survey(views.names, n_features, views.n_samples, n_missing, n_present.astype(np.int64))


# Landmarks -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """The drawn samples: their rows and positions."""

    views: Views
    positions: Indices

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(stack([self.views, other.views]), np.concatenate([self.positions, other.positions]))

    def __getitem__(self, rows: Indices) -> Drawn:
        return Drawn(self.views[rows], self.positions[rows])


def draw_candidates(block: Block, n_samples: int, n_landmarks: int, seed: int) -> Drawn:
    """Return the rows of a block that may become landmarks."""
    rows = np.flatnonzero(are_candidates(block.positions, n_samples, n_landmarks, seed))
    return Drawn(block.views[rows], block.positions[rows])


def draw_landmarks(rows: Rows, n_samples: int, n_landmarks: int, seed: int, crowding: float | None = None) -> Drawn:
    """Return the landmarks, in the order of their positions."""
    candidates = rows.each(partial(draw_candidates, n_samples=n_samples, n_landmarks=n_landmarks, seed=seed)).total()
    candidates = candidates[np.argsort(candidates.positions)]
    how = {} if crowding is None else {"crowding": crowding}
    return candidates[choose_landmarks(candidates.views, candidates.positions, n_landmarks, seed, **how)]


# Links and revision ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linked:
    """Samples by their links to landmarks, a matrix per layer, and which landmark each of them is (-1: none)."""

    links: tuple[sp.csr_array, ...]
    own: Indices


def link(block: Block, linker: Linker, landmarks: Indices) -> Linked:
    """Link the samples of a block to the landmarks, given by their positions in ascending order."""
    at = np.minimum(np.searchsorted(landmarks, block.positions), len(landmarks) - 1)
    return link_views(block.views, linker, np.where(landmarks[at] == block.positions, at, -1))


def link_views(views: Views, linker: Linker, own: Indices) -> Linked:
    """Link samples to the landmarks; none is linked to itself."""
    links = linker.links(views.arrays)
    return Linked(tuple(without_own(W.astype(np.float32), own) for W in links), own)


@saved
@dataclass(frozen=True)
class LandmarkModel:
    """Labels of the landmarks and the block model: everything that changes from round to round."""

    labels: Labels
    blocks: Blocks

    @classmethod
    def of(cls, placing: LayeredPlacing) -> LandmarkModel:
        """Take both from a placing that has a block model."""
        assert placing.blocks is not None
        return cls(placing.labels, placing.blocks)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.blocks.prior)

    def reordered(self, order: Indices) -> LandmarkModel:
        """Return the model with other cluster numbers: the first in `order` becomes 0, the next 1, and so on."""
        number = np.argsort(order).astype(self.labels.dtype)
        return LandmarkModel(number[self.labels], self.blocks.reordered(order))


@dataclass(frozen=True)
class Revision:
    """What a block contributes in a round: its links by cluster, and the current labels of its landmarks."""

    sums: BlockSums
    landmarks: Indices
    labels: Labels

    def __add__(self, other: Revision) -> Revision:
        return Revision(
            self.sums + other.sums,
            np.concatenate([self.landmarks, other.landmarks]),
            np.concatenate([self.labels, other.labels]),
        )


def label(linked: Linked, model: LandmarkModel) -> Labels:
    """Return the clusters of the samples of a block."""
    return place(linked.links, model.blocks, model.labels)


def cluster_sizes(linked: Linked, model: LandmarkModel) -> NDArray[np.int64]:
    """Return how many samples of a block are in each cluster."""
    return np.bincount(label(linked, model), minlength=model.n_clusters)


def assign(linked: Linked, model: LandmarkModel, calibration: Calibration) -> Assigned:
    """Return the clusters of the samples of a block, and how likely these are."""
    P = calibration.of_links(model.labels, linked.links).astype(np.float32)
    return Assigned.of(label(linked, model), P)


def revise(linked: Linked, model: LandmarkModel) -> Revision:
    """Assign the samples of a block, and add up what they show about the clusters."""
    z = label(linked, model)
    here = np.flatnonzero(linked.own >= 0)
    return Revision(sum_links(linked.links, z, model.labels, model.n_clusters), linked.own[here], z[here])


def with_own_blocks(placing: LayeredPlacing, landmarks: Drawn, n_clusters: int, n_samples: int) -> LayeredPlacing:
    """Estimate the block model of a placing from the links of the landmarks, found as those of all samples will be."""
    z = placing.labels
    linked = link_views(landmarks.views, Linker(placing, n_samples), np.arange(len(z)))
    sums = sum_links(linked.links, z, z, n_clusters)
    return placing.revised(z, placing.layer_weights.estimate(sums))


def revise_until_settled(
    linked: Results[Linked], model: LandmarkModel, placing: LayeredPlacing, stages: Stages
) -> tuple[LandmarkModel, Outcome]:
    """Assign all samples, estimate the block model from them, revise the landmarks' labels, and repeat.

    A round that would leave a cluster without landmarks is skipped.
    """
    before: BlockSums | None = None

    def sweep(_round: int) -> dict[str, float]:
        nonlocal model, before
        found = linked.total_of(partial(revise, model=model))
        labels = model.labels.copy()
        labels[found.landmarks] = found.labels
        lost = np.bincount(labels, minlength=model.n_clusters).min() == 0 or found.sums.sizes.min() == 0
        changed = float((labels != model.labels).mean())
        moved = 1.0 if before is None else found.sums.moved(before)
        if lost:
            return {"residual": 0.0, "moved": moved, "landmarks_changed": 0.0}
        model, before = LandmarkModel(labels, placing.layer_weights.estimate(found.sums)), found.sums
        stages.keep("round", model)
        return {"residual": max(moved, changed), "moved": moved, "landmarks_changed": changed}

    advice = "Some samples lie between clusters; a larger n_landmarks may settle them."
    outcome = run(sweep, max_iter=ROUNDS, tol=SETTLED, name="The revision of landmarks", advice=advice)
    return model, outcome
