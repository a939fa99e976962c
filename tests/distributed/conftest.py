"""A cluster of two worker processes for all tests of this folder; skipped without the extra manyview[dask]."""

import warnings

import pytest

pytest.importorskip("distributed", reason="needs the extra manyview[dask]")

from manyview import make_views
from manyview.distributed import connect


@pytest.fixture(scope="session")
def client():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with connect("local", n_workers=2) as client:
            yield client


@pytest.fixture(scope="session")
def data():
    return make_views(1200, 4, (12, 8), noise=1.0, separation=8, seed=2)
