"""Columns to colour the map by: categories, and numbers divided into steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.evaluation.columns import numbers_of, texts_of
from manyview.report.palette import STEPS
from manyview.typing import Dense, Indices

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 40
MOST_CATEGORIES = 20  # the most frequent; all others are combined into one
N_STEPS = len(STEPS["light"])
TAILS = (0.02, 0.98)  # quantiles that bound the steps, so that outliers do not flatten everything else


@dataclass(frozen=True)
class Column:
    """Values to colour the samples by.

    `codes` (n,) are indices into `labels`, -1 for missing values; if `ordered`, labels are steps on a scale. `values`
    holds the original values if the labels do not show them.
    """

    name: str
    ordered: bool
    labels: list[str]
    codes: Indices
    values: NDArray[Any] | None = None


def match_metadata(metadata: pd.DataFrame, ids: NDArray[Any] | None, n_samples: int) -> pd.DataFrame:
    """Return one row per sample, in their order, matched by sample id, or by position if the samples have no ids."""
    if ids is None:
        if len(metadata) != n_samples:
            raise InputError(
                f"metadata has {len(metadata)} rows for {n_samples} samples without ids; give one row per sample, "
                "or views with sample ids."
            )
        return metadata
    known = metadata.set_axis(metadata.index.astype(str), axis=0)
    repeated = known.index[known.index.duplicated()].unique()
    if len(repeated):
        raise InputError(f"metadata has several rows for {quoted(repeated)}; give one row per sample.")
    matched = known.reindex([str(name) for name in ids])
    if not known.index.isin(matched.index).any():
        raise InputError(
            f"No row of the metadata matches a sample id: its rows are {quoted(known.index, 3)}, the samples "
            f"{quoted(ids, 3)}. Make the sample ids its index, e.g. with metadata.set_index('sample')."
        )
    return matched


def colour_column(name: str, values: pd.Series) -> Column:
    """Turn a column into categories, or into steps if it holds many different numbers."""
    numbers = numbers_of(values)
    if numbers is not None:
        return number_column(name, numbers)
    return _category_column(name, texts_of(values), in_order=values.dtype.kind in "iuf")


def number_column(name: str, numbers: Dense) -> Column:
    """Divide numbers into steps of equal width; values beyond the tails fall into the first or last step."""
    observed = numbers[~np.isnan(numbers)]
    low, high = np.quantile(observed, TAILS) if len(observed) else (0.0, 0.0)
    edges = np.linspace(low, high, N_STEPS + 1) if high > low else np.array([low, high])
    inner = edges[1:-1]
    codes = np.where(np.isnan(numbers), -1, np.searchsorted(inner, np.nan_to_num(numbers), side="right"))
    ends = [f"{edge:.3g}" for edge in edges]
    labels = [f"{a} to {b}" for a, b in pairwise(ends)]
    if len(labels) > 1:
        labels[0], labels[-1] = f"below {ends[1]}", f"{ends[-2]} and more"
    return Column(name, True, labels, codes.astype(np.intp), numbers)


def _category_column(name: str, values: pd.Series, *, in_order: bool) -> Column:
    import pandas as pd

    missing = values.isna().to_numpy()
    texts = values.to_numpy(dtype=object)
    counts = pd.Series(texts[~missing]).value_counts()
    names = sorted(counts.index, key=float if in_order else lambda text: (-counts[text], text))
    kept, rare = names[:MOST_CATEGORIES], names[MOST_CATEGORIES:]
    code_of = {text: i for i, text in enumerate(kept)} | dict.fromkeys(rare, len(kept))
    codes = np.array([-1 if lost else code_of[text] for text, lost in zip(texts, missing, strict=True)], dtype=np.intp)
    labels = [*kept, *([f"other ({len(rare)} values)"] if rare else [])]
    return Column(name, False, labels, codes, texts if rare else None)
