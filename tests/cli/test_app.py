"""The command as installed, and its lists."""

import subprocess
import sys
from pathlib import Path

from manyview import METHODS, __version__

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
    assert done.stderr.startswith("error: not enough memory; give fewer samples or features")
    assert len(done.stderr.splitlines()) == 1
