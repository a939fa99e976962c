"""The store of rows."""

import pytest

from manyview import InputError
from manyview.experiments import Store


def test_an_incomplete_last_line_is_dropped_and_the_rest_kept(tmp_path):
    store = Store(tmp_path)
    with store.writing():
        for i in range(3):
            store.append({"run": str(i), "status": "converged"})
    whole = store.path.read_bytes()
    for cut in range(len(whole)):  # killed at any moment
        store.path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        assert len(store.rows()) == kept
        with store.writing():
            store.append({"run": "new", "status": "failed"})
        assert list(store.rows()) == [*map(str, range(kept)), "new"]


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path):
    store = Store(tmp_path)
    store.path.write_text('{"run": "a", "status": "converged"}\n{"run"\n{"run": "b", "status": "failed"}\n')
    with pytest.raises(InputError, match="line 2 is not a row"):
        store.rows()


def test_two_writers_are_kept_apart(tmp_path):
    with Store(tmp_path).writing(), pytest.raises(InputError, match="in use by another"), Store(tmp_path).writing():
        pass
