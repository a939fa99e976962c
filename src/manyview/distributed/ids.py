"""Finds sample ids that appear twice, in any partitions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import getitem
from typing import Any

import numpy as np
import pandas as pd
from dask.delayed import delayed
from numpy.typing import NDArray

from manyview.checks import InputError
from manyview.distributed.rows import DaskResults, DaskRows
from manyview.distributed.waiting import fetch

BUCKETS = 16  # ids are compared within this many groups, formed by their hash
PAIRS = 10  # pairs of equal hashes examined per group; a billion ids have less than one by chance

Located = NDArray[np.uint64]
"""Hashes of ids and the positions of their samples, (m, 2)."""


def check_unique_ids(rows: DaskRows, ids: Sequence[Any], where: str) -> None:
    """Raise if an id appears twice; `ids` holds the ids of each partition (delayed).

    Workers exchange 16 bytes per sample, once.
    """
    starts = [part.start for part in rows.parts]
    call = delayed(split_by_hash, pure=False)
    split = rows.track(rows.client.compute([call(one, at) for one, at in zip(ids, starts, strict=True)]))
    rows.wait_for(split, rows.parts)
    buckets = [
        rows.client.submit(find_repeated, [rows.client.submit(getitem, part, b, pure=False) for part in split])
        for b in range(BUCKETS)
    ]
    repeated: list[tuple[int, int]] = DaskResults(rows, rows.track(buckets)).total()
    for pair in sorted(repeated):
        numbers = [int(np.searchsorted(starts, at, side="right")) - 1 for at in pair]
        found = [item(ids[number], at=at - starts[number]) for number, at in zip(numbers, pair, strict=True)]
        one, other = (fetch(rows.client, future) for future in rows.track(rows.client.compute(found)))
        if one == other:  # and not two ids of the same hash
            raise InputError(
                f"The sample id {one!r} of {where} appears twice: in partition {numbers[0]} (sample {pair[0]}) and in "
                f"partition {numbers[1]} (sample {pair[1]}); keep one row per sample."
            )


def split_by_hash(ids: NDArray[Any], start: int) -> list[Located]:
    """Divide the ids of a partition into `BUCKETS` groups."""
    keys = id_keys(ids)
    located = np.column_stack([keys, np.arange(start, start + len(keys), dtype=np.uint64)])
    bucket = keys % np.uint64(BUCKETS)
    return [located[bucket == b] for b in range(BUCKETS)]


def id_keys(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that represent ids, the same in every process."""
    texts = np.asarray(ids, dtype=object).astype(str).astype(object)
    return np.asarray(pd.util.hash_array(texts), dtype=np.uint64)


def find_repeated(parts: Sequence[Located]) -> list[tuple[int, int]]:
    """Return the positions of the first pairs of samples with the same hash."""
    located = np.concatenate(parts)
    located = located[np.lexsort((located[:, 1], located[:, 0]))]
    again = np.flatnonzero(located[1:, 0] == located[:-1, 0])
    pairs = zip(located[again, 1].tolist(), located[again + 1, 1].tolist(), strict=True)
    return sorted(pairs)[:PAIRS]


@delayed(pure=False)
def item(values: NDArray[Any], at: int) -> Any:
    """Return one of the ids of a partition."""
    return values[at]
