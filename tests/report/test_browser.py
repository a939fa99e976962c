"""The page as a reader has it: in a browser, from a file."""

import io
import json
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("selenium")

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from helpers.browsing import click_and_read, element, elements, needs_browser, start
from manyview import OCBR, Stability, Views, make_views
from manyview.preprocessing.corruption import corrupt_entries
from manyview.report import render_report

pytestmark = needs_browser
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "${alert(4)}",
    "line\u2028break",
    "x" * 3000,
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report with everything in it: hostile names, missing values, metadata, stability, a chosen k."""
    views = corrupt_entries(make_views(66, 3, (6, 8), noise=0.5, separation=12, seed=1).views, 0.05, seed=0)
    ids = HOSTILE + [f"sample-{i}" for i in range(60)]
    tables = [pd.DataFrame(X, index=ids, columns=[*HOSTILE, "f6", "f7"][: X.shape[1]]) for X in views.arrays]
    tables[0].iloc[10:20] = np.nan
    named = Views({HOSTILE[0]: tables[0], "other": tables[1]})
    model = OCBR(3).fit(named)
    model.selection_ = SimpleNamespace(
        candidates=np.arange(2, 6),
        separation=np.array([0.9, 0.8, 0.2, 0.1]),
        stability=np.full(4, np.nan),
        score=np.array([0.1, 0.6, 0.1, 0.1]),
        eigengap=np.array([0.1, 0.5, 0.2, 0.1]),
        chosen=3,
        suggestions=np.array([3, 5]),
    )
    columns = {
        "dose": np.linspace(0, 9.9, 66),
        HOSTILE[2]: HOSTILE * 11,
        "f6": model.labels_ * 1.5 + np.arange(66) / 99,
    }
    columns |= {"=days": np.arange(66) + 1, "died": [0, 1, 1] * 22, "site": ["=1+1", HOSTILE[0]] * 33}
    metadata = pd.DataFrame(columns, index=ids)
    samples, clusters = np.r_[np.nan, np.linspace(0, 1, 65)], np.array([0.9, np.nan, 0.7])
    stability = Stability(samples, clusters, together=0.8, apart=0.9, agreement=np.ones(20), fraction=0.8)
    unmatched = {"other": SimpleNamespace(count=30, first=tuple(HOSTILE[:3]))}
    page = render_report(
        model,
        named,
        metadata=metadata,
        survival=("=days", "died"),
        batch="site",
        stability=stability,
        unmatched=unmatched,
        title=HOSTILE[1],
    )
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def browser(started, address):
    """The page, loaded anew; whatever a test does, nothing may be logged on the console."""
    started.get(address)
    yield started
    assert started.get_log("browser") == []


def data_of(browser):
    return json.loads(element(browser, "#data").get_attribute("textContent"))


def of_dots(browser, expression):
    return browser.execute_script(f"return [...document.querySelectorAll('.dot')].map((dot) => {expression})")


def lonely_dot(browser):
    """Index of the sample farthest from all others on the map, so that pointing at it is unambiguous."""
    texts = of_dots(browser, 'dot.getAttribute("transform")')
    places = np.array([[float(number) for number in re.findall(r"[\d.]+", text)] for text in texts])
    distance = np.linalg.norm(places[:, None] - places[None], axis=-1) + 1e9 * np.eye(len(places))
    return int(distance.min(axis=1).argmax())


def dimmed(browser):
    return np.array(of_dots(browser, 'dot.classList.contains("dim")'))


def test_it_loads_and_asks_the_network_for_nothing(browser, address):
    browser.get_log("performance")
    browser.get(address)
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert address in asked
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len(elements(browser, ".dot")) == 66
    assert len(elements(browser, "#selection .chart")) == 3  # there is no stability to draw
    assert len(elements(browser, "#selection .chosen")) == len(elements(browser, "#selection .other")) == 3
    assert len(elements(browser, "#convergence .chart")) == 2
    assert [section.get_attribute("id") for section in elements(browser, "section")] == [
        *("map", "clusters", "associations", "survival", "batches", "doubtful", "affinity", "views", "features"),
        *("suspects", "selection", "levels", "convergence", "methods", "settings"),
    ]


def test_pointing_at_a_sample_shows_its_id(browser):
    i = lonely_dot(browser)
    tip = element(browser, "#tip")
    assert not tip.is_displayed()
    ActionChains(browser).move_to_element(elements(browser, ".dot")[i]).perform()
    assert element(browser, "#tip b").text.startswith(data_of(browser)["points"]["id"][i][:20])
    assert "dose" in tip.text
    ActionChains(browser).move_to_element(element(browser, "h1")).perform()
    assert not tip.is_displayed()


def test_a_click_keeps_a_sample_and_keys_step_on(browser):
    plane = element(browser, "#plane")
    plane.send_keys(Keys.ARROW_RIGHT)
    assert element(browser, "#sample h3").text == HOSTILE[0]
    plane.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert element(browser, "#sample h3").text == HOSTILE[2]
    plane.send_keys(Keys.ESCAPE)
    assert elements(browser, "#sample h3") == []
    i = lonely_dot(browser)
    ActionChains(browser).move_to_element(elements(browser, ".dot")[i]).click().perform()
    assert element(browser, "#sample h3").text[:20] == data_of(browser)["points"]["id"][i][:20]


def test_colouring_by_a_column_changes_colours_and_legend(browser):
    def fills():
        return set(of_dots(browser, "getComputedStyle(dot).fill"))

    by_cluster = fills()
    assert len(by_cluster) == 3
    select = Select(element(browser, "#colour"))
    assert [option.text for option in select.options[:4]] == ["cluster", "confidence", "stability", "dose"]
    select.select_by_visible_text("dose")
    assert len(fills()) == 8
    assert not by_cluster & fills()
    assert len(elements(browser, "#legend button")) == 8


def test_the_legend_brings_out_a_cluster(browser):
    cluster = np.array(data_of(browser)["points"]["cluster"])
    buttons = elements(browser, "#legend button")
    buttons[1].click()
    assert buttons[1].get_attribute("aria-pressed") == "true"
    np.testing.assert_array_equal(dimmed(browser), cluster != 1)
    buttons[2].click()
    np.testing.assert_array_equal(dimmed(browser), cluster == 0)
    buttons[1].click()
    buttons[2].click()
    assert not dimmed(browser).any()


def test_a_sample_is_found_by_part_of_its_id(browser):
    search = element(browser, "#search")
    search.send_keys("SAMPLE-1")
    ids = data_of(browser)["points"]["id"]
    np.testing.assert_array_equal(~dimmed(browser), ["sample-1" in name for name in ids])
    assert element(browser, "#found").text == "11 of 66 drawn"
    search.send_keys(Keys.ENTER)
    assert element(browser, "#sample h3").text == "sample-1"


def test_an_id_in_a_table_leads_to_the_map(browser):
    name = element(browser, "#doubtful-table button.id")
    text = name.text
    browser.execute_script("arguments[0].click()", name)
    assert element(browser, "#sample h3").text == text


def test_dark_and_light(browser):
    def colours():
        page = element(browser, "body").value_of_css_property("background-color")
        return page, of_dots(browser, "getComputedStyle(dot).fill")[0]

    light = colours()
    element(browser, "#theme").click()
    dark = colours()
    assert element(browser, "#theme").get_attribute("aria-pressed") == "true"
    assert light[0] == "rgba(255, 255, 255, 1)"
    assert dark[0] == "rgba(22, 25, 29, 1)"
    assert light[1] != dark[1]
    element(browser, "#theme").click()
    assert colours() == light


def test_a_reader_who_prefers_dark_gets_it(browser, address):
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    browser.get(address)
    assert element(browser, "html").get_attribute("data-theme") == "dark"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_hostile_names_are_shown_as_text(browser):
    shown = browser.execute_script("return document.body.innerText")
    for name in HOSTILE[:4]:
        assert name in shown
    assert element(browser, "h1").text == browser.title == HOSTILE[1]
    assert elements(browser, "main img, main script, main iframe") == []
    assert len(elements(browser, "script")) == 2
    Select(element(browser, "#colour")).select_by_visible_text(HOSTILE[2])
    assert {button.get_attribute("title") for button in elements(browser, "#legend button")} >= set(HOSTILE[:4])
    # an alert would have made these commands fail with UnexpectedAlertPresentException


def test_it_prints_in_light_colours_without_the_controls(browser):
    element(browser, "#theme").click()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert element(browser, "body").value_of_css_property("background-color") == "rgba(255, 255, 255, 1)"
    for hidden in ("nav", ".tools", "#copy"):
        assert not element(browser, hidden).is_displayed()
    assert element(browser, "#plane").is_displayed()
    for kept in ("h2", ".how"):  # with what they introduce
        assert element(browser, f"#map {kept}").value_of_css_property("break-after") == "avoid"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", [360, 800])
def test_nothing_sticks_out_of_a_narrow_page(browser, width):
    metrics = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    needed, there = browser.execute_script(
        "const html = document.documentElement; return [html.scrollWidth, html.clientWidth]"
    )
    assert needed <= there <= width
    assert element(browser, "#plane").size["width"] <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_every_control_and_picture_has_a_name(browser):
    nameless = browser.execute_script("""
        return [...document.querySelectorAll("button, select, input, [role=img], [role=region]")]
          .filter((node) => !(node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.length))
          .map((node) => node.outerHTML)""")
    assert nameless == []


def column(browser, section, number):
    return [cell.text for cell in elements(browser, f"{section} tbody tr > :nth-child({number})")]


def test_tables_are_sorted_by_a_click_on_a_heading(browser):
    table = "#doubtful-table"
    heading = element(browser, f"{table} th:nth-child(3) .sort")
    before = column(browser, table, 1)
    heading.send_keys(Keys.ENTER)  # by keyboard
    shares = [float(text.rstrip("%")) for text in column(browser, table, 3)]
    assert shares == sorted(shares, reverse=True)
    assert element(browser, f"{table} th:nth-child(3)").get_attribute("aria-sort") == "descending"
    heading.send_keys(Keys.ENTER)
    shares = [float(text.rstrip("%")) for text in column(browser, table, 3)]
    assert shares == sorted(shares)
    assert set(column(browser, table, 1)) == set(before)
    assert len(elements(browser, f"{table} [aria-sort]")) == 1


@pytest.fixture
def saved(browser, tmp_path):
    """Click a button of the page, and return the content of the file that it saves."""
    return lambda selector, name: click_and_read(browser, selector, tmp_path / name)


def test_a_table_is_saved_as_csv_with_its_numbers_and_no_formulas(saved):
    frame = pd.read_csv(io.StringIO(saved("#associations-table .save", "associations.csv")))
    assert frame["column"].tolist()[0] == "f6"
    assert set(frame["column"]) == {"f6", "dose", HOSTILE[2], "site"}
    assert frame["p corrected"].is_monotonic_increasing
    assert (frame["effect"] <= 1).all()
    assert "=1+1" not in set(frame["by"])
    left = pd.read_csv(io.StringIO(saved("#associations-left .save", "columns-not-tested.csv")))
    assert left["column"].tolist() == ["'=days", "died"]


@pytest.mark.parametrize(
    ("section", "name", "least"),
    [
        ("#survival-plot", "survival-by-cluster", 10),
        ("#batches-plot", "batches-in-the-clusters", 8),
        ("#features-plot", "features-that-mark-the-clusters", 50),
        ("#affinity .picture", "links", 5),
        ("#map >", "map-of-the-samples", 66),
        ("#convergence", "objective", 5),
    ],
)
def test_a_picture_is_saved_as_svg_with_its_colours(saved, section, name, least):
    root = ElementTree.fromstring(saved(f"{section} .save", f"{name}.svg"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter())) > least
    written = ElementTree.tostring(root, encoding="unicode")
    assert "var(" not in written.replace('style="', "")
    assert "rgb(" in written
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_associations_name_what_stands_out_and_warn_of_clustered_features(browser):
    text = element(browser, "#associations-table tbody tr").text
    assert text.startswith("f6")
    assert "also a feature of other" in text
    assert element(browser, "#associations-warning").is_displayed()
    assert column(browser, "#associations-left", 2) == ["compared as survival"] * 2
    assert "f6" not in element(browser, "#highlights").text  # it was clustered itself, so this is no finding


def test_survival_and_batches_are_drawn(browser):
    assert len(elements(browser, "#survival .band")) == 3
    assert "p = " in element(browser, "#survival-note").text
    assert column(browser, "#survival-table", 2) == [str(len(part)) for part in cluster_members(browser)]
    assert len(elements(browser, "#batches-plot rect")) == 2 + 2 * 4
    assert HOSTILE[0] in element(browser, "#batches-table thead").text


def cluster_members(browser):
    cluster = np.array(data_of(browser)["points"]["cluster"])
    return [np.flatnonzero(cluster == k) for k in range(3)]


def test_markers_are_dots_and_rows(browser):
    dots = data_of(browser)["features"]["dots"]
    assert len(elements(browser, "#features-plot circle")) == 3 * len(dots) + 4
    assert len(column(browser, "#features-table", 1)) == 18


def test_the_methods_paragraph_can_be_copied(browser):
    element(browser, "#copy").click()
    assert element(browser, "#paragraph").text.startswith("66 samples, described by 2 views")
    assert re.match(
        r"Copied|Selected",
        browser.execute_async_script("""
        const done = arguments[0], output = document.getElementById("copied");
        const wait = () => output.textContent ? done(output.textContent) : setTimeout(wait, 20);
        wait();"""),
    )
