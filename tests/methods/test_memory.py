"""Memory grows with the number of samples, not with its square, in all methods but those that hold all pairs."""

import tracemalloc

import numpy as np
import pytest

from manyview import METHODS, OCBR, Views, make_views
from manyview.methods.ocbr import directions, errors, recovery, standardized, treatment
from manyview.numerics import blocks

N = 20_000
OF_ALL_PAIRS = ("rlrr", "rmsc", "lrrgl")  # these refuse what does not fit; see their own tests
QUICK = {"paper-ocbr": {"max_iter": 3}}


@pytest.fixture(scope="module")
def many():
    return make_views(N, 3, (3, 2), noise=1.0, separation=8, seed=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("key", [key for key in METHODS if key not in OF_ALL_PAIRS])
def test_nothing_is_made_of_all_pairs_of_samples(key, many):
    model = METHODS[key](3, **QUICK.get(key, {}))
    tracemalloc.start()
    try:
        model.fit(many.views)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < N * N / 2  # bytes; a table of all pairs takes at least one for each


@pytest.mark.parametrize("corrupted", [False, True])
def test_the_recovery_takes_little_more_than_its_two_tables(corrupted, rng, monkeypatch):
    for module in (recovery, treatment, errors, directions, standardized):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 2**13)
    monkeypatch.setattr(blocks, "COLUMN_ENTRIES", 2**15)
    monkeypatch.setattr(blocks, "ROW_ENTRIES", 2**13)
    X = rng.standard_normal((30_000, 5)) @ rng.standard_normal((5, 64)) + rng.standard_normal((30_000, 64))
    X = np.where(rng.random(X.shape) < 0.2 * corrupted, 20 * rng.standard_normal(X.shape), X).astype(np.float32)
    views, model = Views([X]), OCBR(5)
    tracemalloc.start()
    try:
        _, treated = model._prepare(views)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    view = treated.views[0]
    assert view.model.cleaned == corrupted
    results = view.U.nbytes + view.rows.nbytes + view.E.data.nbytes + view.E.indices.nbytes
    assert peak < max(2.2 * X.nbytes, 0.2 * X.nbytes + results)


def test_errors_are_sought_in_many_columns_with_little_more_than_the_table(rng, monkeypatch):
    monkeypatch.setattr(errors, "BLOCK_ENTRIES", 2**13)
    R = rng.standard_normal((50, 20_000))
    tracemalloc.start()
    try:
        errors.gross_error(R, None, tolerated=0.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.2 * R.nbytes
