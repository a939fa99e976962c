"""A cluster of two worker processes for all tests of this folder; skipped without the extra manyview[dask]."""

import signal
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


PATIENCE = 150  # seconds for a test; the slowest takes a tenth
NOT_REPLACED = "Dask did not replace workers that were killed: its nannies give up on some that die early"


@pytest.fixture(autouse=True)
def patience(request):
    """Skip a test if killed workers stay away, and those after it: they would wait for ever."""
    if "client" not in request.fixturenames or not hasattr(signal, "SIGALRM"):
        yield
        return
    try:
        request.getfixturevalue("client").wait_for_workers(1, timeout=20)
    except TimeoutError:
        pytest.skip(NOT_REPLACED)
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.skip(NOT_REPLACED))
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def data():
    return make_views(1200, 4, (12, 8), noise=1.0, separation=8, seed=2)
