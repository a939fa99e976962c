"""Results are written completely, and never over earlier ones unless asked."""

import pytest

from manyview import InputError
from manyview.io import write_files


def test_results_are_never_overwritten_unasked(tmp_path):
    write_files(tmp_path / "out", {"a.txt": "1", "b.txt": "2"})
    with pytest.raises(InputError, match=r"already holds 'a\.txt'"):
        write_files(tmp_path / "out", {"a.txt": "3", "c.txt": "4"})
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.txt", "b.txt"]
    write_files(tmp_path / "out", {"a.txt": "3"}, force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "3"


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    with pytest.raises(TypeError):
        write_files(tmp_path / "out", {"a.txt": "1", "b.txt": 3})
    assert list((tmp_path / "out").iterdir()) == []
