"""The page that compares results: its numbers, and in a browser."""

import json
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

pytest.importorskip("selenium")

from helpers.browsing import click_and_read, element, elements, needs_browser, start
from manyview.evaluation import compare_results
from manyview.report import render_comparison
from manyview.report.comparison import comparison_sentences, comparison_table, differences

HOSTILE = "</script><script>alert(2)</script>"
IDS = [HOSTILE, *(f"s{i}" for i in range(1, 12))]


@pytest.fixture(scope="module")
def comparison():
    before = pd.Series([0] * 4 + [1] * 4 + [2] * 4, index=IDS)
    after = pd.Series(["a"] * 3 + ["b"] * 5 + ["c"] * 3 + [HOSTILE], index=IDS)
    return compare_results({"before": before, HOSTILE: after, "last": before})


@pytest.fixture(scope="module")
def page(comparison):
    settings = {"before": {"method": "ocbr", "seed": "0"}, HOSTILE: {"method": HOSTILE, "seed": "0"}, "last": {}}
    return render_comparison(comparison, settings)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_table_says_who_moved(comparison):
    table = comparison_table(comparison)
    assert table.columns.tolist() == ["before", HOSTILE, "last", "moved"]
    assert table.index[table["moved"] == "yes"].tolist() == ["s3", "s11"]


def test_the_sentences(comparison):
    first, second, *_ = comparison_sentences(comparison)
    assert first == f"From before (3 clusters) to {HOSTILE} (4 clusters), 2 samples of 12 moved (16.7%; ARI 0.604)."
    assert second == f"Largest move: 1 sample from cluster 0 of before to cluster b of {HOSTILE}."
    same = compare_results({"a": comparison.labels["before"], "b": comparison.labels["last"]})
    assert comparison_sentences(same) == ["From a (3 clusters) to b (3 clusters), no sample moved."]


def test_only_settings_that_differ_are_shown():
    settings = {"a": {"x": "1", "y": "2"}, "b": {"x": "1", "y": "3", "z": "4"}, "labels.csv": {}}
    assert differences(settings) == [
        {"name": "y", "values": ["2", "3", None]},
        {"name": "z", "values": [None, "4", None]},
    ]


def test_the_page_holds_the_flows(page):
    data = data_of(page)
    assert sum(flow["count"] for flow in data["steps"][0]) == 12
    assert data["movedTotal"] == 2
    assert len(data["agreement"]) == 3
    assert page.count("<script") == 2


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    (folder / "page.html").write_text(page, encoding="utf-8")
    driver = start(folder / "chromium")
    driver.get((folder / "page.html").as_uri())
    yield driver
    assert driver.get_log("browser") == []
    driver.quit()


@needs_browser
def test_the_page_in_a_browser(browser, tmp_path):
    assert [section.get_attribute("id") for section in elements(browser, "section")] == [
        *("agreement", "flow", "moved", "settings")
    ]
    assert len(elements(browser, "#flow-plot .flow")) == 10
    assert len(elements(browser, "#flow-plot .moves")) == 4
    assert element(browser, "#moved-table tbody th").text == "s3"
    assert HOSTILE in element(browser, "#settings-table").text
    assert elements(browser, "main script") == []
    root = ElementTree.fromstring(click_and_read(browser, "#flow-plot .save", tmp_path / "who-moved-where.svg"))
    assert HOSTILE in "".join(root.itertext())
    table = click_and_read(browser, "#agreement-table .save", tmp_path / "agreement.csv")
    assert table.startswith("result,compared with,ARI,NMI,ACC,moved")


@needs_browser
@pytest.mark.parametrize("width", [360, 800])
def test_nothing_sticks_out_of_a_narrow_page(browser, width):
    metrics = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    needed, there = browser.execute_script(
        "const html = document.documentElement; return [html.scrollWidth, html.clientWidth]"
    )
    assert needed <= there <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
