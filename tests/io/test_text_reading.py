"""Text files are read whole only once, however large they are."""

import gzip

import numpy as np
import pytest

from manyview.io import read_views, text


@pytest.fixture
def reads(monkeypatch):
    """Count the times a text file is opened, and the bytes that are read from it."""
    seen = {"opened": 0, "bytes": 0}
    plain = text._open_binary

    def counting(path):
        seen["opened"] += 1
        file = plain(path)
        read = file.read

        class Counted:
            def __getattr__(self, name):
                return getattr(file, name)

            def read(self, size=-1):
                chunk = read(size)
                seen["bytes"] += len(chunk)
                return chunk

        return Counted()

    monkeypatch.setattr(text, "_open_binary", counting)
    return seen


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_file_is_opened_once_and_read_once(tmp_path, reads, ending):
    X = np.random.default_rng(0).normal(size=(20_000, 10)).round(6)
    content = "".join(",".join(map(str, row)) + "\n" for row in X.tolist()).encode()
    path = tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    np.testing.assert_allclose(read_views([path]).views.arrays[0], X)
    assert reads["opened"] == 1
    assert len(content) <= reads["bytes"] < 1.1 * len(content)  # the head is looked at first


@pytest.mark.parametrize("place", [0, 5_000, 20_000])
def test_an_id_that_is_a_huge_number_may_be_anywhere(tmp_path, place):
    names = [f"s{i}" for i in range(20_001)]
    names[place] = "4e4924939249"
    path = tmp_path / "a.csv"
    path.write_text("hash,x,y\n" + "".join(f"{name},{i},0.1\n" for i, name in enumerate(names)))
    views = read_views([path]).views
    assert views.sample_ids.tolist() == names
    np.testing.assert_array_equal(views.arrays[0][:, 0], np.arange(20_001))


def test_bytes_that_are_not_utf8_are_found_far_down(tmp_path):
    path = tmp_path / "a.csv"
    for bad, says in ((b"\xff", "is not UTF-8"), (b"\0", "contains NUL bytes")):
        path.write_bytes(b"x,y\n" + b"1,2\n" * 300_000 + b"3," + bad + b"\n")
        with pytest.raises(ValueError, match=f"line 300002, {says}"):
            read_views([path])
