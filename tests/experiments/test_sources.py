"""Methods and data sets from files, modules and entry points."""

import numpy as np
import pytest

from helpers.tiny_experiment import PLUGINS, do_task
from manyview import InputError, make_views
from manyview.experiments import read_spec, sources
from manyview.experiments.runner import Limits, start_row


def test_an_existing_object_is_copied_and_configured(spec_folder):
    model = sources.make_method("plugins.py:existing", spec_folder, {"shift": 1}, n_clusters=3, seed=0)
    assert (model.n_clusters, model.shift) == (3, 1)
    with pytest.raises(InputError, match="no attribute 'speed'"):
        sources.make_method("plugins.py:existing", spec_folder, {"speed": 1}, n_clusters=3, seed=0)
    with pytest.raises(InputError, match=r"has no parameter 'speed'. Choose from: 'n_clusters', 'shift'"):
        sources.make_method("plugins.py:Halves", spec_folder, {"speed": 1}, n_clusters=3, seed=0)


def test_sources_that_cannot_be_found(spec_folder):
    for kind, source, says in (
        ("method", "nope", "Choose one of: 'mfmsc'"),
        ("method", "nope.py:X", "nope.py not found"),
        ("method", "manyview.nope:X", "cannot be imported"),
        ("data set", "nope", "Choose one of: 'digits'"),
        ("data set", "nope.npz", "nope.npz not found"),
    ):
        with pytest.raises(InputError, match=says):
            sources.check_source(kind, source, spec_folder)


def test_data_sets_may_be_npz_files_and_must_be_complete(spec_folder):
    data = make_views(20, 2, (3, 4))
    np.savez(spec_folder / "mine.npz", **dict(data.views.items()), labels=data.labels)
    loaded = sources.load_dataset("mine", "mine.npz", spec_folder, {})
    assert loaded.views.shape == (20, 7)
    (spec_folder / "odd.py").write_text("def short(): return [[[1.0], [2.0]]], [0]\ndef odd(): return 3\n")
    with pytest.raises(InputError, match="2 samples but 1 labels"):
        sources.load_dataset("odd", "odd.py:short", spec_folder, {})
    with pytest.raises(InputError, match="returned int"):
        sources.load_dataset("odd", "odd.py:odd", spec_folder, {})


def test_entry_points_add_methods_and_data_sets(spec_folder, monkeypatch):
    package = spec_folder / "site"
    info = package / "theirs-1.2.dist-info"
    info.mkdir(parents=True)
    (package / "theirs.py").write_text(PLUGINS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[manyview.methods]\nhalves = theirs:Halves\n[manyview.datasets]\nlines = theirs:two_lines\n"
    )
    monkeypatch.syspath_prepend(package)
    spec = spec_folder / "theirs.toml"
    spec.write_text('[[datasets]]\nname = "lines"\n[[methods]]\nname = "halves"\n')
    run = next(read_spec(spec).runs())
    assert do_task(run, spec_folder)["scores"]["acc"] == 1
    assert start_row(run, Limits())["versions"]["theirs"] == "1.2"
