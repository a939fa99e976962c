"""Results are written completely, and never over earlier ones unless asked."""

import json
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from manyview import InputError
from manyview.io import check_output, write_files
from manyview.io.writing import _staging


def test_results_are_never_overwritten_unasked(tmp_path):
    write_files(tmp_path / "out", {"a.txt": "1", "b.txt": "2"})
    with pytest.raises(InputError, match=r"already contains 'a\.txt'"):
        write_files(tmp_path / "out", {"a.txt": "3", "c.txt": "4"})
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.txt", "b.txt"]
    write_files(tmp_path / "out", {"a.txt": "3"}, force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "3"


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    with pytest.raises(TypeError):
        write_files(tmp_path / "out", {"a.txt": "1", "b.txt": 3})
    assert list((tmp_path / "out").iterdir()) == []


def test_a_set_is_replaced_as_a_whole(tmp_path):
    names = ("a", "b", "c")
    write_files(tmp_path, {"a": "1", "b": "1"}, replaces=names)
    (tmp_path / "own").write_text("mine")
    write_files(tmp_path, {"a": "2", "c": "2"}, replaces=names, force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "2", "c": "2", "own": "mine"}
    with pytest.raises(InputError, match="already contains 'a', 'c'"):
        write_files(tmp_path, {"b": "3"}, replaces=names)


KILLED_AFTER = """
import os, signal, sys
from pathlib import Path
from manyview.io.writing import write_files

left, folder = int(sys.argv[1]), Path(sys.argv[2])

def count(event, args):
    global left
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and str(folder) in str(args[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
write_files(folder, {"a": "2", "c": "2", "d": "2"}, replaces=("a", "b", "c", "d"), force=True)
"""


def test_a_kill_at_any_step_leaves_no_mixture_and_the_next_run_nothing_else(tmp_path):
    names, code, seen = ("a", "b", "c", "d"), -signal.SIGKILL, set()
    for steps in count():
        folder = tmp_path / str(steps)
        write_files(folder, dict.fromkeys("abc", "1"), replaces=names)
        words = [sys.executable, "-c", KILLED_AFTER, str(steps), str(folder)]
        code = subprocess.run(words, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}).returncode
        runs = {(folder / name).read_text() for name in names if (folder / name).exists()}
        assert len(runs) <= 1
        seen |= runs
        write_files(folder, {"e": "3"})
        left = {path.name: path.read_text() for path in folder.iterdir()}
        assert left in (dict.fromkeys("abc", "1") | {"e": "3"}, dict.fromkeys("acd", "2") | {"e": "3"})
        if code == 0:
            break
    assert steps > 10
    assert seen == {"1", "2"}


def test_what_another_process_is_staging_is_left_alone(tmp_path):
    with _staging(tmp_path) as other:
        (other / "x").write_text("in work")
        write_files(tmp_path, {"a": "1"})
        assert (other / "x").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_cannot_be_written_is_noticed_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "sub", Path("/proc/none/at/all")):
        with pytest.raises(InputError, match=r"choose (another --out|a folder for the results)"):
            check_output(folder, ["a"], force=False)


def test_a_leftover_can_name_no_file_outside_the_folder(tmp_path):
    (tmp_path / "own").write_text("mine")
    leftover = tmp_path / "out" / ".manyview-x"
    leftover.mkdir(parents=True)
    (leftover / "staged.json").write_text(json.dumps({"old": ["../own", str(tmp_path / "own")], "new": ["../own"]}))
    write_files(tmp_path / "out", {"a": "1"})
    assert (tmp_path / "own").read_text() == "mine"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"old": 3}', '{"old": [3]}'])
def test_a_damaged_leftover_is_named(tmp_path, text):
    (tmp_path / ".manyview-x").mkdir()
    (tmp_path / ".manyview-x" / "staged.json").write_text(text)
    with pytest.raises(InputError, match=r"staged\.json is damaged; delete the folder .*\.manyview-x"):
        write_files(tmp_path, {"a": "1"})
