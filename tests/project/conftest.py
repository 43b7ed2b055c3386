"""The browser of the machine."""

import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")  # while it runs, no other loop of events can in its process
def browser():
    from playwright.sync_api import sync_playwright  # few tests need it

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on the PATH: none of {', '.join(BROWSERS)}")
    off = ("--disable-gpu", "--disable-background-networking")
    options = ["--no-sandbox", "--no-first-run", *off]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=options)
        yield running
        running.close()
