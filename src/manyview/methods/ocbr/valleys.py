r"""How much of what sets groups of samples apart along a direction lies across a valley of their density.

Variance alone does not say whether a direction tells clusters apart: along a technical one (the depth of a cell) the
samples lie as far apart, but without a gap. Half of the samples are sorted into small pieces. Of the other half, the
pieces k and l of two neighbouring centres are projected on the line through these centres, and

.. math:: v_{kl} = \max(0, 1 - \text{density half-way} / \text{the lower density at a centre}).

With the means m_k of those samples, direction j then counts by

.. math:: g_j = \sum_{kl} v_{kl} (m_{kj} - m_{lj})^2 / \sum_{kl} (m_{kj} - m_{lj})^2 .

The pieces must be of other samples: among those that they were made of, a piece always ends where a few happen to be
missing, and structureless samples would have valleys, too. Nor may a third piece lie between the two, for its samples
would be missing half-way. Halves are samples of even and of odd rank along a leading direction, so nothing is random,
and the order of the samples does not matter.

The two halves tell g independently. With few samples they do not agree, and then all directions count the same: the
variance of g over the directions (weighted by the denominator above) must be at least twice that of its error, which is
a quarter of the mean squared difference of the halves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview.graphs.cells import k_means, nearest_centres
from manyview.numerics.division import or_one, shares
from manyview.numerics.rows import ascending, row_products
from manyview.typing import Dense, Indices, Mask

PIECES = 20  # at most
SAMPLES_PER_PIECE = 20  # at least, on average
NEAREST = 4  # pieces that each is compared with
SPLITS = 4  # leading directions along which the samples are halved
FEWEST = 5  # samples of a piece, to tell its density
MOST_SAMPLES = 10_000  # that are looked at
RELIABLE = 0.5  # share of the variance of g that must not be error
REACH = 0.15  # of the distance of two centres: samples within it on either side are at a place


def valley_shares(R: Dense) -> Dense:
    """Return g of every column of R (rows of samples); ones if there is nothing reliable to tell by."""
    if len(R) < 4 * FEWEST:
        return np.ones(R.shape[1])
    told = np.array([scatter(R[train], R[test]) for train, test in halves(R)])  # (2 per split, 2, columns)
    with_valley, whole = told.sum(axis=0)
    reliable = with_valley.any() and reliability(told) >= RELIABLE
    return with_valley / or_one(whole) if reliable else np.ones(R.shape[1])


def scatter(train: Dense, X: Dense) -> tuple[Dense, Dense]:
    """Return the numerator and the denominator of g by the rows of X, sorted into the pieces of other rows."""
    with_valley, whole = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    centres = centres_of_pieces(train)
    own = nearest_centres(X, centres)
    along = X @ centres.T
    members = [np.flatnonzero(own == k) for k in range(len(centres))]
    for a, b in neighboring(centres):
        if min(len(members[a]), len(members[b])) < FEWEST:
            continue
        step = centres[b] - centres[a]
        both = members[a], members[b]
        first, second = ((along[here, b] - along[here, a] - step @ centres[a]) / (step @ step) for here in both)
        mean, other = (X[here].mean(axis=0, dtype=np.float64) for here in both)
        whole += (mean - other) ** 2
        with_valley += valley(first, second) * (mean - other) ** 2
    return with_valley, whole


def reliability(told: Dense) -> float:
    """Return the share of the variance of g over the columns that is not error, given what each half tells."""
    with_valley, whole = told.sum(axis=0)
    weights = shares(whole)
    g = with_valley / or_one(whole)
    by_half = told[:, 0] / or_one(told[:, 1])
    error = np.mean((by_half[::2] - by_half[1::2]) ** 2, axis=0) / 4
    variance = float(weights @ (g - weights @ g) ** 2)
    return 1 - float(weights @ error) / variance if variance > 0 else 0.0


def valley(first: Dense, second: Dense) -> float:
    """Return how much lower the density is half-way between two pieces than at their centres, 0 and 1 on a line.

    Both pieces count the same, whatever their sizes.
    """

    def density(place: float) -> float:
        return sum(float(np.mean(np.abs(t - place) < REACH)) for t in (first, second))

    at_centres = min(density(0.0), density(1.0))
    return max(0.0, 1 - density(0.5) / at_centres) if at_centres > 0 else 0.0


def halves(R: Dense) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs of halves of the samples, each of them once as the first."""
    step = 2 * max(1, -(-len(R) // MOST_SAMPLES))
    for j in range(min(SPLITS, R.shape[1])):
        order = ascending(R[:, j])
        even, odd = order[::step], order[step // 2 :: step]
        yield even, odd
        yield odd, even


def centres_of_pieces(X: Dense) -> Dense:
    """Return centres of pieces of X: the most spread piece is cut along its longest column; then k-means."""
    n_pieces = max(2, min(PIECES, 2 * len(X) // SAMPLES_PER_PIECE))
    pieces = [np.arange(len(X))]
    spread = [X.var(axis=0)]
    while len(pieces) < n_pieces:
        widest = int(np.argmax([own.sum() * len(piece) for own, piece in zip(spread, pieces, strict=True)]))
        piece = pieces.pop(widest)
        column = X[piece, int(np.argmax(spread.pop(widest)))]
        upper: Mask = column > column.mean()
        if not upper.any():  # all samples are equal
            pieces.append(piece)
            break
        for part in (piece[upper], piece[~upper]):
            pieces.append(part)
            spread.append(X[part].var(axis=0))
    return k_means(X, np.array([X[piece].mean(axis=0) for piece in pieces]))


def neighboring(centres: Dense) -> list[tuple[int, int]]:
    """Return pairs of centres of which one is among the nearest of the other, with no third centre between them.

    A third centre is between two if it sees them at an obtuse angle (neighbours in the Gabriel graph have none).
    """
    squares = row_products(centres, centres)
    distances = squares[:, None] + squares - 2 * centres @ centres.T
    np.fill_diagonal(distances, np.inf)
    nearest = ascending(distances)[:, : min(NEAREST, len(centres) - 1)]
    pairs = {(min(a, b), max(a, b)) for a, row in enumerate(nearest.tolist()) for b in row}
    return sorted((a, b) for a, b in pairs if (distances[a] + distances[b] >= distances[a, b]).all())
