"""`Views`: feature tables of the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.typing import Array, Indices, Mask
from manyview.views.batches import batch_codes
from manyview.views.conversion import (
    as_array,
    check_names,
    check_same_samples,
    feature_names_of,
    sample_ids_of,
    split_tables,
)
from manyview.views.presence import count_missing, present_rows


class Views:
    """Feature tables of the same samples.

    Parameters
    ----------
    data : mapping of name to table, sequence of tables, one table, or Views
        A table is a 2-D array, a DataFrame or a scipy sparse matrix, samples by features. A single table counts as one
        view. float32 stays float32; everything else becomes float64. Nothing is copied unless the type has to change,
        and the input is never modified. NaN is a missing value; a row of NaN is a sample that is absent from the view.
    names : sequence of str, optional
        Names of the views; by default the mapping's keys, otherwise "view_0", "view_1", ...
    sample_ids : sequence, optional
        Names of the samples; by default the index of the DataFrames, unless it only counts rows.

    Attributes
    ----------
    arrays : tuple of float arrays or CSR arrays, each (n_samples, n_features of that view)
    names : tuple of str
    sample_ids : array or None
    feature_names : tuple, one entry per view: array of column names or None
    batch : array (n_samples,) of int, or None
        The batch of each sample, see `with_batch`.

    Notes
    -----
    ``views[rows]`` selects samples by slice, mask or index, and ``len(views)`` is the number of
    samples, so that `sklearn.model_selection` can split a `Views`. Iterate over ``views.arrays``
    or ``views.items()`` for the tables; ``views.select(names)`` takes some of the views.
    """

    arrays: tuple[Array, ...]
    names: tuple[str, ...]
    sample_ids: NDArray[Any] | None
    feature_names: tuple[NDArray[Any] | None, ...]
    batch: Indices | None

    def __init__(
        self,
        data: object,
        names: Sequence[str] | None = None,
        sample_ids: Sequence[object] | NDArray[Any] | None = None,
    ) -> None:
        tables, own_names = (data.arrays, data.names) if isinstance(data, Views) else split_tables(data)
        chosen = own_names if names is None else [str(name) for name in names]
        check_names(chosen, len(tables))
        arrays = tuple(as_array(table, name) for table, name in zip(tables, chosen, strict=True))
        check_same_samples(arrays, chosen)
        self.arrays, self.names = arrays, tuple(chosen)
        known = data if isinstance(data, Views) else None
        given = known.sample_ids if known is not None and sample_ids is None else sample_ids
        self.sample_ids = sample_ids_of(tables, chosen, given, arrays[0].shape[0])
        self.batch = known.batch if known else None
        self.feature_names = known.feature_names if known else tuple(feature_names_of(table) for table in tables)

    @classmethod
    def _of(
        cls,
        arrays: Iterable[Array],
        names: Iterable[str],
        sample_ids: NDArray[Any] | None,
        feature_names: Iterable[NDArray[Any] | None],
        batch: Indices | None,
    ) -> Views:
        """Assemble from parts that have already been checked."""
        new = cls.__new__(cls)
        new.arrays, new.names = tuple(arrays), tuple(names)
        new.sample_ids, new.feature_names, new.batch = sample_ids, tuple(feature_names), batch
        return new

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.arrays[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.arrays)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of features over all views."""
        return self.n_samples, sum(int(array.shape[1]) for array in self.arrays)

    @cached_property
    def present(self) -> Mask:
        """Whether each sample (row) has any value in each view (column)."""
        return np.column_stack([present_rows(array) for array in self.arrays])

    @cached_property
    def n_missing(self) -> dict[str, int]:
        """Number of values missing from each view, including those of absent samples."""
        return {name: count_missing(array) for name, array in self.items()}

    def items(self) -> Iterable[tuple[str, Array]]:
        """Pairs of name and table."""
        return zip(self.names, self.arrays, strict=True)

    def select(self, names: Iterable[str]) -> Views:
        """Return the views with these names, in this order."""
        names = [names] if isinstance(names, str) else list(names)
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise InputError(f"No view is called {quoted(unknown)}. Choose from: {quoted(self.names)}.")
        check_names(names, len(names))
        where = [self.names.index(name) for name in names]
        return Views._of(
            (self.arrays[i] for i in where),
            names,
            self.sample_ids,
            (self.feature_names[i] for i in where),
            self.batch,
        )

    def replace(self, arrays: Iterable[Array]) -> Views:
        """Return the same samples, views and features with other values in the tables."""
        return Views._of(arrays, self.names, self.sample_ids, self.feature_names, self.batch)

    def with_batch(self, batch: object) -> Views:
        """Return the same views with a batch for each sample; None removes the batches.

        Parameters
        ----------
        batch : array-like (n_samples,) of any hashable values, or None
            At least two batches with at least two samples each; missing values are refused.
        """
        codes = None if batch is None else batch_codes(batch, self.n_samples)
        return Views._of(self.arrays, self.names, self.sample_ids, self.feature_names, codes)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Views:
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # scikit-learn indexes samples as X[rows, ...]
        if isinstance(rows, str):
            raise InputError(f"views[...] selects samples; use views.select({rows!r}) for a view.")
        if isinstance(rows, tuple):
            raise InputError(f"views[{rows!r}] has {len(rows)} indices; views[...] selects samples only.")
        if not isinstance(rows, slice):
            rows = np.atleast_1d(np.asarray(rows))  # one sample is still a table
            rows = rows if rows.size else rows.astype(int)
        ids = None if self.sample_ids is None else self.sample_ids[rows]
        batch = None if self.batch is None else self.batch[rows]
        return self._of((array[rows] for array in self.arrays), self.names, ids, self.feature_names, batch)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {array.shape[1]}" for name, array in self.items())
        return f"Views({self.n_samples} samples; features {sizes})"
