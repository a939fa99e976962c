"""`manyview explain` knows every entry that the commands write."""

import json

import pytest

from manyview.cli.explain import ENTRIES


def entries_of(summary):
    """Yield the entries of a summary, those of views without the view's name."""
    for key, value in summary.items():
        yield key
        if key == "views" and isinstance(value, dict):
            yield from {f"views.{name}" for view in value.values() for name in view}
        elif key in ("partition", "selection", "stability", "survival", "metrics"):
            yield from (f"{key}.{name}" for name in value)


def test_every_entry_of_a_summary_is_explained(manyview, tmp_path, monkeypatch):
    pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")
    monkeypatch.chdir(tmp_path)
    manyview("datasets", "--export", "t", "--name", "tumours")
    views = ("t/expression.csv", "t/methylation.csv", "t/mirna.csv")
    asked = ("--truth", "t/labels.csv", "--metadata", "t/metadata.csv", "--survival", "time", "event", "--repeats", "2")
    assert manyview("cluster", *views, "-k", "auto", "--out", "found", "--save", *asked).returncode == 0
    assert manyview("predict", "found/model.manyview", views[0], "--out", "placed").returncode == 0
    written = [json.loads((tmp_path / folder / "summary.json").read_text()) for folder in ("found", "placed")]
    assert {name for summary in written for name in entries_of(summary)} - set(ENTRIES) == set()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("stability.verdict", "stability.verdict: stable (at least 0.8)"),
        ("verdict", "stability.verdict: stable (at least 0.8)"),
        ("Seed", "seed: Random seed."),
    ],
)
def test_one_entry(manyview, key, expected):
    assert manyview("explain", key).stdout.startswith(expected)


def test_an_entry_with_entries_below_it_lists_them(manyview):
    lines = manyview("explain", "selection").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["selection", "selection.candidates", "selection.separation"]


def test_without_a_key_all_are_listed(manyview):
    assert len(manyview("explain").stdout.splitlines()) == len(ENTRIES) + 1


def test_an_unknown_key_is_refused_with_similar_ones(manyview):
    done = manyview("explain", "stabilty")
    assert done.returncode == 2
    assert done.stderr == "error: 'stabilty' is not an entry of summary.json; did you mean 'stability'?\n"
