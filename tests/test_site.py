"""The site: every public name has a page and a complete docstring, and links between pages lead somewhere."""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import manyview
from helpers.markdown import anchors
from manyview.methods import MultiViewClusterer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PUBLIC = [
    "manyview",
    *(
        f"manyview.{folder}"
        for folder in (
            "datasets",
            "distributed",
            "evaluation",
            "experiments",
            "io",
            "methods",
            "preprocessing",
            "report",
            "views",
        )
    ),
]
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def documented_names():
    """Yield the names that the reference lists, with their modules."""
    module = None
    for page in sorted(DOCS.glob("api/*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)$", line):
                module = found[1]
            elif found := re.match(r"   (\w+)$", line):
                yield f"{module}.{found[1]}"


def resolve(name):
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


NAMES = list(documented_names())
DESCRIBED = [name for name in NAMES if inspect.isclass(resolve(name)) or inspect.isfunction(resolve(name))]
ERRORS = [resolve(name) for name in DESCRIBED if name.endswith("Error")]
CALLED = [
    name for name in DESCRIBED if inspect.isfunction(resolve(name)) or issubclass(resolve(name), MultiViewClusterer)
]


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_page(module):
    pages = [resolve(name) for name in NAMES]
    exported = [name for name in import_module(module).__all__ if name not in ("__version__", "tl")]
    missing = [name for name in exported if not any(getattr(import_module(module), name) is page for page in pages)]
    assert not missing, f"add them to a page in docs/api: {missing}"


@pytest.mark.parametrize("name", DESCRIBED)
def test_docstrings_are_complete(name):
    codes = {"GL08", "PR02", "PR03", "PR04", "PR07", "SS03"}
    if not (is_dataclass(resolve(name)) or resolve(name) in ERRORS):  # errors are caught, not called
        codes.add("PR01")
    assert [error for error in validate(name)["errors"] if error[0] in codes] == []


@pytest.mark.parametrize("name", [name for name in DESCRIBED if is_dataclass(resolve(name))])
def test_records_say_what_their_fields_are(name):
    doc = get_doc_object(resolve(name), config={"show_class_members": False})
    described = {each.strip() for part in doc["Attributes"] + doc["Parameters"] for each in part.name.split(",")}
    assert {field.name for field in fields(resolve(name)) if not field.name.startswith("_")} <= described


@pytest.mark.parametrize("name", CALLED)
def test_parameters_state_their_default(name):
    """As `default=VALUE`; what is left out, or has no short form, is *optional*."""
    signature = inspect.signature(resolve(name)).parameters
    for parameter in get_doc_object(resolve(name), config={"show_class_members": False})["Parameters"]:
        if parameter.name not in signature or (default := signature[parameter.name].default) is inspect.Parameter.empty:
            continue
        if isinstance(default, bool | int | float | str) or (isinstance(default, tuple) and default):
            stated = parameter.type.rpartition("default=")[2]
            assert stated, f"{name}: {parameter.name} does not state its default, {default!r}"
            assert ast.literal_eval(stated) == default, f"{name}: {parameter.name} is {default!r} by default"
        else:
            assert parameter.type.endswith("optional"), f"{name}: {parameter.name} does not say that it is optional"


# Links ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        generated = path.is_relative_to(DOCS / "gallery") or path.is_relative_to(DOCS / "api" / "generated")
        assert generated or path.exists(), f"{page.name} links to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_of_directives_are_on_lines_of_their_own(page):
    """Otherwise they are read as part of the first one, and a card has neither a link nor a text."""
    joined = re.findall(r"^:[\w-]+: \S+ :[\w-]+:.*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert joined == []


def test_pages_that_the_code_names_exist():
    """The site makes links of them."""
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    named = {(path.name, page) for path, text in sources.items() for page in re.findall(r"\bdocs/[\w-]+\.md", text)}
    assert len(named) > 5
    assert [(file, page) for file, page in named if not (ROOT / page).exists()] == []


# The release ---------------------------------------------------------------------------------------

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_version_is_that_of_the_changelog():
    assert re.search(r"^## (\S+)", CHANGELOG, re.MULTILINE)[1] == manyview.__version__


def test_the_citation_names_the_last_release():
    version, date = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", CHANGELOG, re.MULTILINE).groups()
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == version
    assert re.search(r'^date-released: "(.+)"$', citation, re.MULTILINE)[1] == date
