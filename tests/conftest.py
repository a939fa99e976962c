"""Shared settings and data of the tests."""

import os
import signal
from types import SimpleNamespace

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # pytest-xdist keeps the cores busy
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from helpers.tiny_experiment import PLUGINS, SPEC  # noqa: E402
from manyview import make_views  # noqa: E402
from manyview.cli.app import main  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job in the background: tests interrupt what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("manyview", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("manyview")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def blobs():
    """Three clusters that nobody can miss, in two views."""
    return make_views(60, 3, (5, 8), noise=0.3, separation=20, seed=1)


@pytest.fixture
def manyview(capsys):
    """Run the command line with these words; give its exit code and what it printed."""

    def run(*words):
        with pytest.raises(SystemExit) as exit_:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=exit_.value.code or 0, stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def spec_folder(tmp_path, monkeypatch):
    """A folder with a user's methods, data set and spec."""
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path
