"""Memory grows with the number of samples, not with its square, in all methods but those that hold all pairs."""

import tracemalloc

import pytest

from manyview import METHODS, make_views

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
