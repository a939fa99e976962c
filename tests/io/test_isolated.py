"""Readers in a process of their own: what they return arrives, and whatever becomes of them is one line."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from helpers import bad_readers
from manyview import InputError
from manyview.io import FORMATS, TableOptions, isolated
from manyview.io.isolated import Limits

ISOLATED = (".mat", ".xlsx", ".h5ad", ".h5mu")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b"x")
    return path


@pytest.fixture
def limited(monkeypatch):
    """Set the limits of every reader."""

    def limit(seconds=20.0, memory=2.0**31, patience=100.0):
        monkeypatch.setattr(Limits, "for_file", lambda path: Limits(seconds, memory))
        monkeypatch.setattr(Limits, "patience", patience)

    return limit


def read(name, path):
    return isolated.isolated(getattr(bad_readers, name))(path, ("key",), TableOptions(header="yes"))


def refused(name, path):
    with pytest.raises(InputError) as error:
        read(name, path)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_which_formats_are_read_so():
    assert tuple(ending for ending, form in FORMATS.items() if hasattr(form.read, "__wrapped__")) == ISOLATED


def with_none(column):
    """Return the values of a column of text; a missing one is None in some versions of pandas, and NaN in others."""
    return column.astype(object).where(column.notna(), None).tolist()


def test_tables_arrive_as_they_are(file):
    (table,) = read("mixed", file)
    (direct,) = bad_readers.mixed(file, ("key",), TableOptions(header="yes"))
    frame, wanted = table.values, direct.values
    kept = ["whole", "float", "small", "flag"]
    assert frame[kept].equals(wanted[kept])
    assert with_none(frame["text"]) == ["a", None, "ü"]
    assert frame["mixed"].tolist() == ["a", 1, 2.5]
    assert with_none(frame["class"]) == ["p", None, "q"]
    assert frame["nullable"].fillna(0).tolist() == [1, 0, 3]
    assert with_none(frame["date"]) == ["2026-01-05 00:00:00", None, "2026-01-07 00:00:00"]
    assert with_none(frame["asked"]) == ["key", "yes", None]
    assert frame.columns.tolist() == wanted.columns.tolist()
    assert (table.name, table.where, table.locate(2)) == ("x", str(file), "row 7")
    assert (table.ids.tolist(), table.features.tolist()) == (["i", "j", "k"], ["f", 2])


def test_a_crash_is_one_line(file):
    message = refused("crash", file)
    assert message.startswith(f"{file} cannot be read: the reader crashed on it (SIGSEGV)")


def test_a_process_that_leaves_without_a_result(file):
    assert "failed with exit code 3" in refused("leave", file)


def test_an_error_and_warnings_are_passed_on(file):
    with pytest.warns(UserWarning, match="it looks odd"):
        assert refused("refuse", file) == f"{file} is odd; give another."


def test_time_is_limited(file, limited):
    limited(seconds=0.2)
    assert "it took more than 0 s of CPU time" in refused("hang", file)
    limited(patience=1.0)
    assert "was not read within 1 s" in refused("sleep", file)


def test_memory_is_limited(file, limited):
    limited(memory=2.0**28)
    assert "does not fit into memory" in refused("swell", file)


def test_small_files_get_a_little_and_large_ones_no_more_than_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr("manyview.io.guards.available_memory", lambda: 2.0**33)
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    with large.open("wb") as file:
        file.truncate(2**30)
    assert Limits.for_file(small).memory == pytest.approx(2**31, rel=1e-3)
    assert Limits.for_file(large).memory == 2**33
    assert Limits.for_file(large).seconds > 3600


def test_an_interruption_ends_the_child_too(file):
    """Ctrl-C arrives while the child hangs: the parent is interrupted at once, and no process is left."""
    before = time.perf_counter()
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        read("sleep", file)
    assert time.perf_counter() - before < 20
    left = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True).stdout
    assert str(file) not in left
    assert "manyview.io.isolated" not in left


def test_the_working_folder_is_not_searched_for_modules(file, tmp_path, monkeypatch):
    """A stranger's folder with a numpy.py in it must not run that."""
    (tmp_path / "numpy.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert read("mixed", file)[0].name == "x"


def test_without_a_python_to_start_it_is_read_here(file, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(isolated, "_run", None)
    np.testing.assert_array_equal(read("mixed", file)[0].values["whole"], [1, 2**60, 3])
