"""The page: whole, safe and the same every time."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from manyview import METHODS, MFMSC, OCBR, InputError, Stability, Views, make_views
from manyview.report import render_report
from manyview.report.html import plain, to_json
from manyview.report.words import join_words, methods_paragraph, percent

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "${x}",
    "a\u2028b",
    "<!--",
    "\ud800",
    "x" * 5000,
]


def hostile_views():
    data = make_views(60, 3, (8, 8), noise=0.3, separation=20, seed=1)
    ids = HOSTILE + [f"s{i}" for i in range(52)]
    tables = [pd.DataFrame(X, index=ids, columns=HOSTILE) for X in data.views.arrays]
    return Views(dict(zip(HOSTILE, tables, strict=False)))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found, self.attributes = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs


@pytest.fixture(scope="module")
def page():
    views = hostile_views()
    metadata = pd.DataFrame(dict.fromkeys(HOSTILE, HOSTILE * 7 + HOSTILE[:4]), index=views.sample_ids)
    unmatched = {HOSTILE[0]: SimpleNamespace(count=9, first=(HOSTILE[1],))}
    model = OCBR(3).fit(views)
    return render_report(model, views, metadata=metadata, title="".join(HOSTILE[:7]), unmatched=unmatched)


def test_hostile_text_stays_text(page):
    plain_views = make_views(60, 3, (8, 8), noise=0.3, separation=20, seed=1).views
    harmless = render_report(OCBR(3).fit(plain_views), plain_views)
    assert Tags(page).found == Tags(harmless).found
    assert Tags(page).found.count("script") == 2
    assert not [name for name, _ in Tags(page).attributes if name.startswith("on")]


def test_hostile_text_arrives_whole(page):
    data = data_of(page)
    assert data["points"]["id"][:7] == HOSTILE[:7]
    assert [column["name"] for column in data["columns"][2:9]] == HOSTILE[:7]
    assert data["points"]["id"][7] == "x" * 199 + "…"
    assert data["unmatched"] == [{"name": HOSTILE[0], "count": 9, "ids": [HOSTILE[1]]}]
    page.encode("utf-8")


def test_nothing_is_fetched(page):
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a namespace
    assert "@import" not in page
    assert "url(" not in page


def test_the_policy_allows_this_style_and_script_only(page):
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    for kind, text in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_same_input_gives_the_same_page(blobs):
    model = MFMSC(3).fit(blobs.views)
    assert render_report(model, blobs.views) == render_report(model, blobs.views)


@pytest.mark.parametrize("key", METHODS)
def test_every_method_has_a_report(key, blobs):
    tables = [X.copy() for X in blobs.views.arrays]
    tables[0][:6] = np.nan
    views = Views(tables)
    data = data_of(render_report(METHODS[key](3).fit(views), views, max_points=30))
    assert ("method", METHODS[key].__name__) in map(tuple, data["facts"])
    assert sum(cluster["size"] for cluster in data["clusters"]) == 60
    assert data["agreement"]["views"][0]["present"] == 0.9
    assert (data["suspects"] is not None) == (key == "ocbr")
    assert METHODS[key].__name__ in data["paragraph"]
    assert len(data["references"]) == 2


def test_stability_and_the_choice_of_k_are_shown_when_known(blobs):
    model = MFMSC(3).fit(blobs.views)
    model.selection_ = SimpleNamespace(
        candidates=np.array([2, 3, 4]),
        separation=np.array([0.9, 0.8, 0.1]),
        stability=np.array([0.8, 1.0, np.nan]),
        score=np.array([0.08, 0.7, np.nan]),
        eigengap=np.array([0.1, 0.5, 0.2]),
        chosen=3,
        suggestions=np.array([3, 2]),
    )
    samples, clusters = np.linspace(0, 1, 60), np.array([0.9, 0.8, 0.7])
    stability = Stability(samples, clusters, 0.8, 0.9, np.full(20, 0.6), 0.8, noise=np.array([0.1, 0.3]))
    data = data_of(render_report(model, blobs.views, stability=stability))
    assert data["selection"] == {
        "candidates": [2, 3, 4],
        "separation": [0.9, 0.8, 0.1],
        "stability": [0.8, 1.0, None],
        "score": [0.08, 0.7, None],
        "eigengap": [0.1, 0.5, 0.2],
        "chosen": 3,
        "suggestions": [3, 2],
    }
    assert [cluster["stability"] for cluster in data["clusters"]] == [0.9, 0.8, 0.7]
    assert "The number of clusters was chosen; 2 may fit too." in data["highlights"]
    assert any("The clusters are doubtful: over 20 repetitions" in said for said in data["highlights"])
    assert "adjusted Rand index was 0.60 on average, and 0.20 on data with shuffled" in data["paragraph"]
    least = data["doubtful"][0]
    assert least["stability"] == pytest.approx(samples[int(least["id"])], abs=1e-3)
    assert "20 repetitions" in data["paragraph"]
    assert data["columns"][2]["name"] == "stability"


def test_one_cluster_and_few_samples_can_be_reported():
    tiny = make_views(4, 2, (3, 2), seed=0).views
    for k in (1, 2, 4):
        assert data_of(render_report(MFMSC(k).fit(tiny), tiny))["points"]["total"] == 4


def test_a_bad_number_of_points_is_refused(blobs):
    with pytest.raises(InputError, match="max_points=0"):
        render_report(MFMSC(3).fit(blobs.views), blobs.views, max_points=0)


def test_json_is_plain_and_cannot_end_its_element():
    assert plain({"a": np.array([1.23456789, np.nan]), "b": [np.int64(3), None, True]}) == {
        "a": [1.23457, None],
        "b": [3, None, True],
    }
    assert to_json("</script>&\u2028") == '"\\u003c/script\\u003e\\u0026\\u2028"'


def test_the_paragraph_tells_what_was_done(blobs):
    tables = {"rna": blobs.views.arrays[0].copy(), "protein": blobs.views.arrays[1]}
    tables["rna"][:6] = np.nan
    views = Views(tables)
    text = methods_paragraph(OCBR(3, n_neighbors=7, random_state=5).fit(views), views)
    assert text.startswith(
        "60 samples, described by 2 views, were clustered: rna (5 features) and protein (8 features)."
    )
    for part in (
        "(OCBR) (Wang and Wu, 2017)",
        "3 clusters",
        "Non-default parameters: n_neighbors = 7. Other parameters had their default values",
        "seed was 5",
        "Missing values (3.8%",
    ):
        assert part in text
    assert "uses observed values only" in text
    assert "nearest samples" in methods_paragraph(MFMSC(3).fit(views), views)


def test_the_paragraph_says_how_the_number_of_clusters_was_chosen(blobs):
    text = methods_paragraph(MFMSC("auto").fit(blobs.views), blobs.views)
    assert "a number chosen by the separation of the clusters and by their stability under resampling" in text
    assert "eigengap" not in text


def test_words():
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert [percent(share) for share in (0, 0.0001, 0.123, 1)] == ["0.0%", "<0.1%", "12.3%", "100.0%"]


def test_the_page_needs_no_matplotlib():
    code = """
import sys
sys.modules["matplotlib"] = None
from manyview import MFMSC, make_views
import manyview.report
views = make_views(20, 2, (3, 3), separation=9).views
assert "</html>" in manyview.report.render_report(MFMSC(2).fit(views), views)
try:
    manyview.report.plot_embedding
except ModuleNotFoundError as error:
    assert "manyview[plot]" in str(error), error
else:
    raise SystemExit("matplotlib was found")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_examples_in_the_docs_run(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    exec(compile(code, "docs/report.md", "exec"), {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert data_of(page)["points"]["total"] == 2000
    assert len(page) < 1e6
