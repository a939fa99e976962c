"""`manyview explain` knows every entry that the commands write."""

import json

import numpy as np
import pytest

from helpers.summaries import unexplained
from manyview import make_views
from manyview.cli.explain import ENTRIES
from manyview.cli.results import ALTERNATIVE_FIELDS


def test_every_entry_of_a_summary_is_explained(manyview, tmp_path, monkeypatch):
    pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")
    monkeypatch.chdir(tmp_path)
    manyview("datasets", "--export", "t", "--name", "tumours")
    views = ("t/expression.csv", "t/methylation.csv", "t/mirna.csv")
    truth = ("--truth", "t/labels.csv")
    asked = ("--metadata", "t/metadata.csv", "--survival", "time", "event", "--batch", "centre", "--repeats", "2")
    landmarks = ("-p", "strategy=landmarks", "-p", "n_landmarks=150")
    runs = {
        "found": ("cluster", *views, "-k", "auto", "--save", *truth, *asked),
        "placed": ("predict", "found/model.manyview", views[0], *truth),
        "landmarks": ("cluster", *views, "-k", "4", *landmarks),
        "by-rows": (
            "cluster",
            "a.npy",
            "b.npy",
            "-k",
            "3",
            "-p",
            "strategy=landmarks",
            "-p",
            "n_landmarks=100",
            *truth,
        ),
        "compared": ("cluster", *views, "-k", "4", "--method", "mfmsc"),
    }
    for name, X in zip("ab", make_views(300, 3, (5, 8), seed=0).views.arrays, strict=True):
        np.save(f"{name}.npy", X)
    for folder, words in runs.items():
        assert manyview(*words, "--out", folder).returncode == 0
        assert unexplained(folder) == []


def test_the_alternatives_are_explained(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"alternatives": [dict.fromkeys(ALTERNATIVE_FIELDS)]}))
    assert unexplained(tmp_path) == []


def test_an_entry_that_is_not_explained_is_noticed(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps({"seed": 0, "views": {"rna": {"colour": 1}}, "moon": [{"a": 1}]}))
    assert unexplained(tmp_path) == ["views.colour", "moon", "moon.a"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("stability.verdict", "stability.verdict: stable (at least 0.8)"),
        ("verdict", "stability.verdict: stable (at least 0.8)"),
        ("Seed", "seed: Random seed."),
        ("views.rna.why", "views.why: The evidence"),
        ("view_weights.rna", "view_weights: Share of each view"),
        ("parameters.n_neighbors", "parameters: All parameters"),
        ("alternatives[0].price", "alternatives.price: The price"),
        ("survival.clusters[2].mean_lower", "survival.clusters.mean_lower: Lower limit"),
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
