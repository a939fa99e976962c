"""What is there on POSIX only has another way on Windows, which is simulated here."""

import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from manyview import InputError
from manyview.cli.app import main
from manyview.environment import available_memory
from manyview.experiments import Store
from manyview.experiments.runner import Limits, _kill
from manyview.io import isolated, locks, write_files, writing
from manyview.io.writing import csv_text


class Msvcrt:
    """The locks of Windows: of a byte of a file, through one handle, until it is closed."""

    LK_NBLCK = 2

    def __init__(self):
        self.locked = {}

    def locking(self, handle, mode, n_bytes):
        assert (mode, n_bytes) == (self.LK_NBLCK, 1)
        assert os.lseek(handle, 0, os.SEEK_CUR) == locks.BEYOND  # what can be read stays readable
        file = os.fstat(handle).st_ino
        if file in self.locked:
            raise PermissionError(13, "Permission denied")
        self.locked[file] = handle

    def close(self, handle):
        self.locked = {file: owner for file, owner in self.locked.items() if owner != handle}
        self.really_close(handle)


@pytest.fixture
def windows(monkeypatch):
    """Locks as on Windows."""
    system = Msvcrt()
    system.really_close = os.close
    monkeypatch.setattr(os, "close", system.close)
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", system)
    return system


def test_a_folder_that_somebody_writes_to_is_left_alone(tmp_path, windows):
    with writing._staging(tmp_path) as staging:
        write_files(tmp_path, {"a": "1"})
        assert staging.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_a_kill_left_is_cleared_away(tmp_path, windows):
    left = tmp_path / f"{writing.STAGING}left"
    left.mkdir()
    (left / "a").write_text("half")
    write_files(tmp_path, {"b": "2"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_no_folder_is_removed_while_a_file_in_it_is_open(tmp_path, windows, monkeypatch):
    removed = []

    def rmtree(folder, **options):
        assert not windows.locked, "Windows does not remove open files"
        removed.append(folder)
        really_remove(folder, **options)

    really_remove = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", rmtree)
    write_files(tmp_path, {"a": "1"})
    assert len(removed) == 1


@pytest.fixture
def opened(monkeypatch):
    """Names of files that another program has open: Windows neither removes nor replaces them."""
    names = set()

    def refusing(really):
        def call(source, target=None, **options):
            if Path(source if target is None else target).name in names:
                raise PermissionError(13, "The process cannot access the file", str(source))
            return really(source, **options) if target is None else really(source, target)

        return call

    monkeypatch.setattr(Path, "unlink", refusing(Path.unlink))
    monkeypatch.setattr(os, "replace", refusing(os.replace))
    return names


@pytest.mark.parametrize("files", [("a",), ("a", "b", "c")], ids=len)
def test_a_file_that_another_program_has_open(files, tmp_path, opened):
    write_files(tmp_path, dict.fromkeys(files, "old"))
    opened.add("a")
    for _ in range(2):  # also if it is still open the next time
        with pytest.raises(InputError, match=r"a cannot be replaced \(The process .* close it"):
            write_files(tmp_path, dict.fromkeys(files, "new"), force=True)
    assert (tmp_path / "a").read_text() == "old"
    opened.clear()
    write_files(tmp_path, {"d": "1"})  # whatever is written next finishes the set
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(files, "new") | {"d": "1"}


def test_how_a_child_ended_without_signals_of_posix(monkeypatch, tmp_path):
    monkeypatch.delattr(signal, "SIGXCPU", raising=False)
    (tmp_path / isolated.ERRORS).write_text("Traceback\nValueError: odd\n")
    assert (
        isolated._ending(0, tmp_path, isolated.Limits(1, 1)) == "the reader failed with exit code 0 (ValueError: odd)"
    )


def test_two_processes_do_not_write_to_one_store(tmp_path, windows):
    with Store(tmp_path).writing() as store:
        store.append({"run": "a", "status": "converged"})
        with pytest.raises(InputError, match="in use by another"), Store(tmp_path).writing():
            pass
        assert list(Store(tmp_path).rows()) == ["a"]  # reading is possible meanwhile
    with Store(tmp_path).writing():
        pass


def test_lines_end_alike_everywhere(monkeypatch):
    monkeypatch.setattr(os, "linesep", "\r\n")
    assert csv_text(pd.DataFrame({"a": [1, 2]}), index=False) == "a\n1\n2\n"


def test_letters_that_a_code_page_lacks_do_not_end_the_program(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit):
        main(["--version"])
    stream.write("epsilon: ε")
    stream.flush()
    assert stream.buffer.getvalue().endswith(b"epsilon: ?")


def test_a_child_is_killed_without_process_groups(monkeypatch):
    monkeypatch.delattr(os, "killpg", raising=False)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True)
    _kill(child)
    assert child.returncode is not None


def test_limits_that_the_system_cannot_keep_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    isolated._limit_process(isolated.Limits(1, 1))  # the patience of the parent is left
    monkeypatch.setattr("manyview.experiments.runner.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"--memory 100 cannot be enforced"):
        Limits(memory_mb=100)


def test_free_memory_is_unlimited_where_it_is_unknown(monkeypatch):
    monkeypatch.setattr("manyview.environment.Path.read_text", lambda self: (_ for _ in ()).throw(FileNotFoundError()))
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert available_memory() == float("inf")
