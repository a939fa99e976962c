"""The constants of OCBR, in one place: what an ablation changes, and why each has its value."""

from __future__ import annotations

from dataclasses import dataclass, field

from manyview.partition.blockmodel import SearchSettings


@dataclass(frozen=True)
class Settings:
    """Constants, measured in docs/method.md; `OCBR` uses the defaults.

    Attributes
    ----------
    rank : columns of each basis, enough for the signal of every view tried
    exponent : of the singular values in the rows; between the distances of the table (1) and of the bare basis (0)
    weigh_noise : whether each direction counts by the share of it that is signal
    soft_rows : whether distant samples are pulled in
    weigh_valleys : whether directions of coordinates count by the valleys of density between groups of samples; not
        those of features, where neighbours become purer, but the clusters no better
    tolerated : share of entries far out at random, as a lower bound, that a view may have before it is cleaned
    narrowest : largest factor by which the noise level is raised in views of few features
    neighbors, sparse_neighbors : of a sample; in sparse views neighbours share few features, so more of them are needed
    rarity : whether rare features of sparse views are weighted up
    clean_counts : whether entries of sparse views are weighted by how likely they are signal
    joint_weight : of the joint graph in the block model that places new samples; a view's graph has 1
    silent : a view with less than this fraction of an equal share of the information counts as noise
    search : how the partition is searched
    """

    rank: int = 60
    exponent: float = 0.5
    weigh_noise: bool = True
    soft_rows: bool = True
    weigh_valleys: bool = True
    tolerated: float = 0.0125
    narrowest: float = 3.0
    neighbors: int = 10
    sparse_neighbors: int = 20
    rarity: bool = True
    clean_counts: bool = True
    joint_weight: float = 1.5
    silent: float = 0.2
    search: SearchSettings = field(default_factory=SearchSettings)
