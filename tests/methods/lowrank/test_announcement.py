"""A fit that may take long says so before it starts."""

import numpy as np
import pytest

from manyview import LRRGL, RLRR
from manyview.methods.lowrank import representation

both = pytest.mark.parametrize("method", [RLRR, LRRGL])


@both
def test_the_expected_time_comes_before_the_first_sweep(method, blobs, caplog, monkeypatch):
    monkeypatch.setattr(representation, "LONG", 0)
    said = []
    method(3, callback=lambda _: said.append(caplog.messages[:])).fit(blobs.views)
    (message,) = said[0]
    assert message.startswith(f"{method.__name__} may take about 0 seconds for 60 samples and 13 features")


@both
def test_short_fits_say_nothing(method, blobs, caplog):
    method(3).fit(blobs.views)
    assert not caplog.messages


@both
@pytest.mark.parametrize(
    ("shapes", "long"),
    [
        ([(784, 2000), (256, 2000)], True),
        ([(4600, 2000)], True),
        ([(1_000_000, 50)], True),
        ([(76, 400), (216, 400)], False),
    ],
)
def test_what_is_long(method, shapes, long, caplog):
    method(3)._announce([np.broadcast_to(0.0, shape) for shape in shapes], len(shapes))
    assert bool(caplog.messages) == long


def test_the_time_grows_with_every_size_and_stops_at_max_iter():
    seconds = RLRR()._expected_seconds(1000, 500, 1)
    assert seconds < min(RLRR()._expected_seconds(*sizes) for sizes in [(1100, 500, 1), (1000, 600, 1), (1000, 500, 2)])
    assert RLRR(nonnegative=False)._expected_seconds(1000, 500, 1) < seconds
    assert RLRR(max_iter=10)._expected_seconds(1000, 500, 1) == pytest.approx(seconds / 4)
