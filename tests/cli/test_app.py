"""The command as installed, and its lists."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from manyview import METHODS, __version__
from manyview.cli import main

COMMAND = Path(sys.executable).with_name("manyview")


def test_the_installed_command():
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"manyview {__version__}")


def test_methods_and_datasets_are_listed(manyview):
    listed = manyview("methods").stdout
    assert all(key in listed and cls.__name__ in listed for key, cls in METHODS.items())
    assert "digits" in manyview("datasets").stdout


def test_too_little_memory_is_one_line(manyview, monkeypatch, project):
    def grow(*_, **__):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr("manyview.cli.cluster.read_views", grow)
    done = manyview("cluster", "view_0.csv", "-k", 3)
    assert done.returncode == 2
    assert done.stderr.startswith("error: not enough memory; use fewer samples or features")
    assert len(done.stderr.splitlines()) == 1


def test_blanks_in_an_error_stay_and_control_characters_are_written_out(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = manyview("cluster", "a  b\x1b[2J.csv", "-k", 3)
    assert done.returncode == 2
    assert done.stderr.startswith("error: a  b\\x1b[2J.csv was not found")


def test_control_characters_in_a_warning_are_written_out(manyview, project):
    lines = (project / "view_0.csv").read_text().splitlines()
    (project / "odd.csv").write_text("\n".join([lines[0] + ",\x1b[2Jtext", *(line + ",word" for line in lines[1:])]))
    done = manyview("cluster", "odd.csv", "-k", 3, "-m", "mfmsc", "--drop-text", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[2Jtext" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("cluster", f"{'x' * 999}.csv", "-k", 2), ("cluster", "view_0.csv", "-k", 2, "--out", "x" * 999)],
    ids=["file", "out"],
)
def test_what_the_system_refuses_is_told_without_its_number(words, manyview, project):
    done = manyview(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {'x' * 50}...")
    assert done.stderr.strip().endswith("File name too long")
    assert len(done.stderr) < 200


def test_a_full_disk_is_one_line(manyview, project, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("manyview.cli.cluster.read_views", full)
    done = manyview("cluster", "view_0.csv", "-k", 3)
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_an_interruption_during_the_imports_leaves_no_traceback(monkeypatch):
    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "manyview.cli.app", Interrupted())
    with pytest.raises(SystemExit) as exit_:
        main(["methods"])
    assert exit_.value.code == 130
