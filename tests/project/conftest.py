"""The browser of the machine."""

import shutil

import pytest
from project.browsers import BROWSERS


@pytest.fixture(scope="session")
def launched():
    """How a browser is started."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on the PATH: none of {', '.join(BROWSERS)}")
    off = ("--disable-gpu", "--disable-background-networking")
    return {"executable_path": found, "args": ["--no-sandbox", "--no-first-run", *off]}


@pytest.fixture(scope="module")  # while it runs, no other loop of events can in its process
def browser(launched):
    from playwright.sync_api import sync_playwright  # few tests need it

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(**launched)
        yield running
        running.close()
