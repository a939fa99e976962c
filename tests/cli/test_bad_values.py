"""Every option and parameter against bad values, from the signatures: exit 2 and one line, before any work is done."""

import inspect

import pytest
import typer

from manyview import METHODS, MFMSC, save
from manyview.cli.app import app
from manyview.io import read_views

LONG = "1" * 5000  # digits, which Python refuses to read as a number
BAD_PARAMETERS = ('{"a": 1}', "-1", "NaN", "Infinity", "1e400", "1e300", '"no such word"', "[[1]]", LONG, "[" * 9999)
MEANINGFUL = ("n_jobs=-1", 'informative_view="no such word"', f"informative_view={LONG}")  # all cores; names of views
MEANINGFUL += (f"informative_view={'[' * 9999}",)
PARAMETERS = [
    (key, f"{name}={value}")
    for key, method in METHODS.items()
    for name in inspect.signature(method).parameters
    if name != "n_clusters"  # the option -k
    for value in BAD_PARAMETERS
    if f"{name}={value}" not in MEANINGFUL
]

COUNTS = ("0", "-1", "1.5", "1e5", "two", "", "[]", "-", LONG)
FOLDERS = ("view_0.csv", "view_0.csv/below", "x" * 5000)  # no system passes on a NUL character
FILES = ("none.csv", ".", "view_0.csv/below", "odd.kind", "empty.csv", "/dev/zero")
BAD_WORDS = {
    "batch": ("group",),  # without --metadata
    "dask": ("", "nowhere", "http://a", "tcp://"),
    "data": ("view_0.csv", "none"),
    "datasets": ("digit", "[]", "digits,none"),
    "delimiter": ("", "::", "\n", "tabs", "\u20ac"),
    "explain.key": ("", "nothing", "a.b.c", "[]"),
    "export": FOLDERS,
    "files": (*FILES, "view_0.csv::none", "none=none.csv", ""),
    "header": ("", "maybe", "YES", "1"),
    "id_column": ("", "nobody", "0", "-1", "99", "1.5", LONG),
    "jobs": COUNTS,
    "kinds": ("", "x", "=", "view_0=nothing", "view_0="),
    "memory": COUNTS,
    "metadata": FILES,
    "method": ("", "ocbrr", "OCBR", "[]"),
    "methods": ("mfms", "OCBR", "[]"),
    "missing": ("",),
    "model_file": (*FILES, "view_0.csv", ""),
    "n_clusters": ("0", "-1", "2.5", "two", "", "1e3", "inf", "[2]", "\u0663x", LONG),
    "name": ("", "digit", "[]"),
    "out_dir": FOLDERS,
    "params": ("", "x", "=", "=1", "nope=1", "n_neighbors"),
    "repeats": ("-1", "1.5", "1e5", "two", "", "[]", LONG),
    "results": (*FILES, ""),
    "samples": ("", "some", "ALL"),
    "scaling": ("", "5", "standardd", "a=b=c", "=none", "null"),
    "seed": ("-1", str(2**32), "1.5", "x", "", LONG),
    "spec": (*FILES, "view_0.csv", ""),
    "survival": ("time",),  # without --metadata
    "threads": COUNTS,
    "timeout": ("0", "-1", "nan", "inf", "1e300", "-inf", "two", "", "[]"),
    "tls": ("none.pem",),  # without --dask
    "truth": FILES,
    "what": ("", ",", "table", "[]"),
    "workers": (*COUNTS, "2"),  # without --dask
}

COMMANDS = typer.main.get_command(app).commands
GOOD = {
    "cluster": {"files": ["view_0.csv"], "n_clusters": ["3"], "out_dir": ["out"]},
    "predict": {"model_file": ["model.manyview"], "files": ["view_0.csv"], "out_dir": ["out"]},
    "bench": {"spec": ["spec.toml"], "out_dir": ["out"]},
    "reproduce": {"what": ["table-small"], "datasets": ["digits"], "out_dir": ["out"]},
    "compare": {"results": ["truth.csv"], "out_dir": ["out"]},
    "datasets": {"export": ["out"]},
    "demo": {"out_dir": ["out"]},
}
WORK = {
    "cluster": "manyview.cli.cluster.read_views",
    "predict": "manyview.cli.predict.read_views",
    "bench": "manyview.cli.running.run_all",
    "reproduce": "manyview.cli.running.run_all",
    "compare": "manyview.cli.compare.compare_results",
    "datasets": "manyview.cli.datasets.csv_text",
    "demo": "manyview.cli.demo.run_demo",
}
READ = {"files", "id_column"}  # whose faults show when files are read, before anything is computed
FITTED = {"cluster": "manyview.cli.cluster.fit", "predict": "manyview.cli.predict.label_table"}
SPEC = 'metrics = ["acc"]\nrepeats = 1\ndatasets = [{name = "digits"}]\nmethods = [{name = "mfmsc"}]\n'


def cases():
    """Return every option and argument of every command with words that it does not take."""
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if getattr(parameter, "is_flag", False):
                yield name, parameter.name, "a value"
                continue
            known = BAD_WORDS.get(f"{name}.{parameter.name}", BAD_WORDS.get(parameter.name))
            assert known, f"{parameter.name} of {name} has no bad words; add some to BAD_WORDS"
            yield from ((name, parameter.name, word) for word in dict.fromkeys(("", *known)))


def words_for(command, name, word):
    """Return the words of a command that is right, except for this word."""
    words = []
    given = GOOD.get(command, {}) | {name: [word]}
    for parameter in COMMANDS[command].params:
        values = [*given.get(parameter.name, ()), *["more"] * (parameter.nargs - 1)][: max(parameter.nargs, 9)]
        if parameter.name not in given:
            continue
        if getattr(parameter, "is_flag", False):
            words.append(f"{parameter.opts[0]}={word}")
        elif parameter.param_type_name == "argument":
            words += values
        else:
            words += [parameter.opts[0], *values]
    return words


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    (folder / "a.csv").write_text("id,x\n" + "".join(f"s{i},{i % 2 * 9 + i / 50}\n" for i in range(20)))
    save(MFMSC(2).fit(read_views([folder / "a.csv"]).views), folder / "m")
    return (folder / "m").read_bytes()


@pytest.mark.parametrize(("key", "word"), PARAMETERS, ids=lambda word: f"{word:.40}")
def test_bad_parameters_of_the_methods(manyview, project, monkeypatch, key, word):
    monkeypatch.setattr("manyview.cli.cluster.read_views", None)  # before any work
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", 3, "-m", key, "-p", word, "--out", "out")
    refused(done, project)


@pytest.mark.parametrize(("command", "name", "word"), list(cases()), ids=lambda word: f"{word!r:.20}")
def test_bad_words_of_every_option_and_argument(manyview, project, monkeypatch, model_bytes, command, name, word):
    (project / "model.manyview").write_bytes(model_bytes)
    (project / "spec.toml").write_text(SPEC)
    (project / "odd.kind").write_text("x")
    (project / "empty.csv").touch()
    before = sorted(path.name for path in project.iterdir())
    work = FITTED if name in READ else WORK
    if command in work:
        monkeypatch.setattr(work[command], None)  # before any work
    refused(manyview(command, *words_for(command, name, word)), project)
    assert sorted(path.name for path in project.iterdir()) == before


@pytest.mark.parametrize(("command", "name"), list(dict.fromkeys((command, name) for command, name, _ in cases())))
def test_an_empty_word_is_called_empty(manyview, project, command, name):
    parameter = next(one for one in COMMANDS[command].params if one.name == name)
    if getattr(parameter, "is_flag", False):
        return
    told = manyview(command, *words_for(command, name, "")).stderr
    shown = parameter.opts[0] if parameter.param_type_name == "option" else (parameter.metavar or name.upper())
    assert told.startswith(f"error: {shown.rstrip('.')} is empty ('')")


def refused(done, project):
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert len(done.stderr) < 1000
    assert not (project / "out").exists()
