"""Specs, seeds and the ids of runs."""

import pytest

from helpers.tiny_experiment import SPEC, write_spec
from manyview import InputError
from manyview.experiments import read_spec


def test_runs_are_the_product_of_the_axes_and_seeds_leave_the_method_out(spec_folder):
    experiment = read_spec(spec_folder / "spec.toml")
    runs = list(experiment.runs())
    assert len(runs) == 1 * 2 * 2 * 2
    assert len({run.id for run in runs}) == 8
    seeds = {}
    for run in runs:
        seeds.setdefault((run.corruption.name, run.repeat), set()).add(run.seed)
    assert all(len(found) == 1 for found in seeds.values())  # the same for all methods
    assert len(set.union(*seeds.values())) == 4  # another for every draw


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("repeats = 2", "repeats = 0"), "repeats=0 is too small"),
        (("repeats = 2", f"repeats = {10**20}"), "is too large; give a whole number from 1 to 100000"),
        (("repeats = 2", "repeat = 2"), "unknown key 'repeat'"),
        (('kind = "entries"', 'kind = "salt"'), "Choose one of: 'none', 'entries'"),
        (('name = "mfmsc"', 'name = "halves"'), "'halves' is used twice"),
        (('name = "lines"', "name = 3"), "name is 3; give a string"),
        (("params = { n = 20 }", "params = 20"), "params is 20; give a table"),
        (("params = { n = 20 }", "subset = { rows = 3 }"), "unknown key 'rows'"),
        (("[[methods]]", "[[method]]"), "unknown key 'method'"),
        (("acc.lines = { halves = 99.0, mfmsc = 50 }", "acc = 3"), "printed must map metric -> data set"),
        (("mfmsc = 50", "mfmcs = 50"), "the method 'mfmcs', not defined in the spec"),
        (("acc.lines", "acc.circles"), "the data set 'circles', not defined in the spec"),
        (('mfmsc = "noisy"', 'mfmsc = "dirty"'), "the corruption 'dirty', not defined in the spec"),
        (("repeats = 2", 'repeats = 2\nmetrics = ["accuracy"]'), "Choose one of: 'acc'"),
        (('title = "Tiny"', "title = "), "is not valid TOML"),
        (('name = "mfmsc"', 'name = "mfmsc"\nsweep = { n_neighbors = 3 }'), "give a list of values"),
        (('name = "mfmsc"', 'name = "mfmsc"\nkeep = ["graph"]'), "Choose one of: 'affinity'"),
    ],
)
def test_mistakes_in_a_spec_are_reported(spec_folder, change, says):
    (spec_folder / "spec.toml").write_text(SPEC.replace(*change))
    with pytest.raises(InputError) as error:
        read_spec(spec_folder / "spec.toml")
    assert says in str(error.value)
    assert "spec.toml" in str(error.value)


def test_a_sweep_varies_one_parameter_at_a_time(spec_folder):
    sweep = '[[methods]]\nname = "a"\nsource = "ocbr"\nparams = {x = 0, y = 0}\nsweep = {x = [1, 2], y = [3]}\n'
    experiment = read_spec(write_spec(spec_folder, ["Halves"], extra=sweep))
    assert [dict(m.params) for m in experiment.methods[1:]] == [{"x": 1, "y": 0}, {"x": 2, "y": 0}, {"x": 0, "y": 3}]
    assert len(experiment.select(methods=["a"]).methods) == 3
    with pytest.raises(InputError, match=r"Unknown method 'b'. Choose from: 'halves', 'a'"):
        experiment.select(methods=["b"])
