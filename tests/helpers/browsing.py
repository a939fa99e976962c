"""A headless browser for the tests of the pages."""

import shutil
import time

import pytest

pytest.importorskip("selenium")

from selenium import webdriver
from selenium.webdriver.common.by import By

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CHROMEDRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER), reason="needs a Chromium and its chromedriver on the PATH"
)
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,1000 --force-prefers-reduced-motion"
)


def start(profile):
    """Start the browser, with logs of its console and of its requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in (*OPTIONS.split(), f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=CHROMEDRIVER))


def element(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def elements(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def click_and_read(browser, selector, path):
    """Click a button that saves a file, and return its content."""
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(path.parent)})
    browser.execute_script("arguments[0].click()", element(browser, selector))
    deadline = time.monotonic() + 10
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:  # it is there before its content
        time.sleep(0.05)
    return path.read_text(encoding="utf-8")
