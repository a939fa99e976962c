"""Every option and parameter against bad values, from the signatures: exit 2 and one line, before any work is done."""

import inspect
import typing

import pytest

from manyview import METHODS
from manyview.cli.app import COMMANDS

NO_NUMBER = ("two", "", "[]", "{}", "-", "1e5", "1.5", "-1")
BAD_NUMBERS = {int: NO_NUMBER, float: ("two", "", "-1", "[]")}
BAD_PARAMETERS = ('{"a": 1}', "-1", "NaN", "Infinity", "1e400", "1e300", '"no such word"', "[[1]]")
BAD_WORDS = {
    "n_clusters": ("0", "-1", "2.5", "two", "", "1e3", "inf", "[2]", "\u0663x"),
    "method": ("", "ocbrr", "OCBR", "[]"),
    "params": ("", "x", "=", "=1", "nope=1", "n_neighbors"),
    "scaling": ("", "5", "standardd", "a=b=c", "=none", "null"),
    "samples": ("", "some", "ALL"),
    "delimiter": ("", "::", "\n", "tabs", "\u20ac"),
    "header": ("", "maybe", "YES", "1"),
    "seed": ("-1", str(2**32), "1.5", "x", ""),
    "repeats": ("-1", "x", "1.5"),
}


MEANINGFUL = ("n_jobs=-1", 'informative_view="no such word"')  # all cores; the name of a view
PARAMETERS = [
    (key, f"{name}={value}")
    for key, method in METHODS.items()
    for name in inspect.signature(method).parameters
    if name != "n_clusters"  # the option -k
    for value in BAD_PARAMETERS
    if f"{name}={value}" not in MEANINGFUL
]
OPTIONS = [(name, word) for name, words in BAD_WORDS.items() for word in words]


def number_options():
    """Return every option of every command that is a number, with words that are not."""
    return [
        (command.__name__, f"--{name.replace('_', '-')}", word)
        for command in COMMANDS
        for name, hint in typing.get_type_hints(command).items()
        for word in next((words for kind, words in BAD_NUMBERS.items() if hint in (kind, kind | None)), ())
    ]


@pytest.mark.parametrize(("key", "word"), PARAMETERS, ids=str)
def test_bad_parameters_of_the_methods(manyview, project, monkeypatch, key, word):
    monkeypatch.setattr("manyview.cli.cluster.read_views", None)  # before any work
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", 3, "-m", key, "-p", word, "--out", "out")
    refused(done, project)


@pytest.mark.parametrize(("name", "word"), OPTIONS, ids=repr)
def test_bad_options_of_cluster(manyview, project, monkeypatch, name, word):
    monkeypatch.setattr("manyview.cli.cluster.read_views", None)  # before any work
    flags = {"n_clusters": "-k", "params": "-p", "out_dir": "--out"}
    words = {"-k": "3", "--out": "out"} | {flags.get(name, f"--{name}"): word}
    done = manyview("cluster", "view_0.csv", *(part for pair in words.items() for part in pair))
    refused(done, project)


@pytest.mark.parametrize(("command", "flag", "word"), number_options(), ids=repr)
def test_options_that_are_numbers(manyview, project, command, flag, word):
    arguments = {"cluster": ["view_0.csv", "-k", 3], "predict": ["m", "view_0.csv"], "bench": ["spec.toml"]}
    done = manyview(command, *arguments.get(command, []), "--out", "out", flag, word)
    refused(done, project)


def refused(done, project):
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (project / "out").exists()
