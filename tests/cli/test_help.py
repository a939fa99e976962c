"""Help where people are: groups of options, examples, completion, and errors that name a page."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from helpers.markdown import anchors
from manyview import OCBR, InputError
from manyview.checks import DOCUMENTATION, helped_by
from manyview.cli.app import app
from manyview.cli.explain import ENTRIES, complete_entry
from manyview.cli.options import PANELS, complete_method
from manyview.methods import METHODS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["cluster", "predict"])
def test_every_option_is_in_a_group(command):
    options = [option for option in get_command(app).commands[command].params if option.param_type_name == "option"]
    assert {option.name: option.rich_help_panel for option in options if option.rich_help_panel not in PANELS} == {}


def test_the_help_of_cluster_shows_the_groups_in_order_and_an_example_of_each(manyview):
    shown = manyview("cluster", "--help").stdout
    titles = re.findall(r"^╭─ (\w+) ─", shown, re.MULTILINE)
    assert [title for title in titles if title in PANELS] == list(PANELS)
    assert re.findall(r"^ *(\w+): manyview cluster", shown, re.MULTILINE) == list(PANELS)


def test_methods_are_completed_with_what_they_do():
    assert [key for key, _ in complete_method("c")] == ["ccamsc", "cotraining"]
    assert complete_method("ocbr")[0][1].startswith("Orthogonal clustering basis reconstruction")


def test_entries_are_completed_with_what_they_mean():
    assert complete_entry("stability.v") == [("stability.verdict", ENTRIES["stability.verdict"])]


def test_wrong_usage_names_the_help_of_the_command(manyview):
    assert manyview("predict").stderr.endswith("See 'manyview predict --help'.\n")
    assert manyview("clutser").stderr.endswith("See 'manyview --help'.\n")


@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("manyview expl", "manyview explain "),
        ("manyview explain stability.v", "manyview explain stability.verdict "),
        ("manyview cluster a.csv --meth", "manyview cluster a.csv --method "),
        ("manyview cluster a.csv --method cot", "manyview cluster a.csv --method cotraining "),
        ("manyview cluster a.csv --scaling rob", "manyview cluster a.csv --scaling robust "),
        ("manyview cluster name=tum", "manyview cluster name=tumours.csv "),
        ("manyview datasets --name tu", "manyview datasets --name tumours "),
        ("manyview reproduce table-cl", "manyview reproduce table-classes "),
    ],
)
def test_tab_completes_in_bash(begun, completed, bash):
    bash.type(begun + "\t")
    assert bash.shows(completed)


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_shells_that_show_help_get_each_candidate_on_one_line(shell, monkeypatch):
    """A long help text that is wrapped would offer its second line as a candidate."""
    asked = {"_TYPER_COMPLETE_ARGS": "manyview cluster --met", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    for name, value in {"_MANYVIEW_COMPLETE": f"complete_{shell}", "COLUMNS": "40", **asked}.items():
        monkeypatch.setenv(name, value)
    command = shutil.which("manyview", path=Path(sys.executable).parent)
    lines = subprocess.run([command], capture_output=True, text=True, check=False).stdout.splitlines()
    assert [re.search(r"--\w+", line)[0] for line in lines] == ["--method", "--metadata"]


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """An interactive bash, in whose home folder completion has been installed."""
    terminals = pytest.importorskip("helpers.terminal", reason="needs a terminal of POSIX")
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    with terminals.Terminal.of_bash(tmp_path_factory.mktemp("home")) as terminal:
        yield terminal


# Errors --------------------------------------------------------------------------------------------


def test_an_error_of_the_command_line_names_the_page_that_helps(manyview, tmp_path):
    (tmp_path / "notes.doc").write_text("a")
    done = manyview("cluster", tmp_path / "notes.doc", "-k", "2")
    assert done.stderr.rstrip().endswith(f"Help: {DOCUMENTATION}/files.html")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["-k", "0"], "choosing-k.html"),
        (["-k", "many"], "choosing-k.html"),
        (["-k", "100"], "choosing-k.html"),
        (["-k", "3", "--method", "kmeans"], "methods.html"),
        (["-k", "3", "--param", "n_neighbors=0"], "api/generated/manyview.OCBR.html"),
        (["-k", "3", "--param", "neighbors=5"], "api/generated/manyview.OCBR.html"),
        (["-k", "3", "--kind", "features"], "use.html#what-a-view-is"),
        (["-k", "3", "--batch", "centre"], "findings.html"),
        (["-k", "3", "--resume"], "distributed.html"),
    ],
)
def test_an_error_links_to_the_page_on_its_subject(words, page, manyview, project):
    assert manyview("cluster", "view_0.csv", *words).stderr.rstrip().endswith(f". Help: {DOCUMENTATION}/{page}")


def test_an_error_that_ends_in_the_words_of_a_library_is_still_a_sentence(manyview, project):
    assert "not a zip file. Help: " in manyview("predict", "view_0.csv", "view_1.csv").stderr


def test_all_choices_are_listed(manyview, project):
    said = manyview("cluster", "view_0.csv", "-k", "3", "--method", "kmeans").stderr
    assert [key for key in METHODS if f"'{key}'" not in said] == []


def test_an_error_of_python_has_the_page_as_a_note():
    with pytest.raises(InputError) as caught:
        OCBR(n_clusters=0).fit([[[1.0], [2.0]]])
    assert caught.value.__notes__ == [f"Help: {DOCUMENTATION}/api/generated/manyview.OCBR.html"]


def test_the_nearest_page_counts():
    with pytest.raises(InputError) as caught, helped_by("use"), helped_by("files#what-is-refused"):
        raise InputError("no")
    assert caught.value.__notes__ == [f"Help: {DOCUMENTATION}/files.html#what-is-refused"]


def test_pages_that_errors_name_exist():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    pages = set(re.findall(r"help(?:ed_by|_line)\(['\"]([\w#-]+)['\"]\)", sources))
    assert len(pages) >= 5
    for page in pages:
        name, _, anchor = page.partition("#")
        path = ROOT / "docs" / f"{name}.md"
        assert path.exists(), page
        assert not anchor or anchor in anchors(path), page


def test_the_documentation_is_where_the_package_says():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert DOCUMENTATION.startswith(urls["Documentation"])
