"""What is moved between processes in a round does not grow with the number of samples."""

import pickle
from functools import partial

import dask.array as da
import pytest

from manyview import MFMSC, make_views
from manyview.distributed import as_rows
from manyview.methods.landmarks.fitting import LandmarkModel, draw_landmarks, link, revise, with_own_blocks
from manyview.methods.placing import Linker


def sent_by_workers(client):
    """Bytes that workers have sent to one another and to the client."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


@pytest.fixture(scope="module")
def rounds(client):
    """Bytes of one round at three sizes, in partitions of one size: sent by workers, and in what is sent to them."""
    found = {}
    for n in (1000, 2000, 4000):
        views = make_views(n, 3, (6, 5), noise=0.5, separation=10, seed=0).views
        rows = as_rows([da.from_array(X, chunks=(250, -1)) for X in views.arrays])
        landmarks = draw_landmarks(rows, n, 200, seed=0)
        fitted = MFMSC(3).fit(landmarks.views)
        placing = with_own_blocks(fitted._placing, landmarks, 3, n)
        linked = rows.each(partial(link, linker=Linker(placing, n), landmarks=landmarks.positions))
        rows.wait_for(linked.futures)
        model = LandmarkModel.of(placing)
        before = sent_by_workers(client)
        linked.total_of(partial(revise, model=model))
        found[n] = sent_by_workers(client) - before + len(pickle.dumps(model))
    return found


def test_a_round_moves_as_much_whatever_the_number_of_samples(rounds):
    smallest, largest = min(rounds.values()), max(rounds.values())
    assert smallest > 0
    assert largest < 30_000  # of 200 landmarks and 3 clusters; links of 4,000 samples alone take 320,000
    assert largest - smallest < 15_000
