"""A small project for the tests of the build, and a browser."""

import shutil

import pytest
from playwright.sync_api import sync_playwright
from project.builds import Build, small_project

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "project")


@pytest.fixture
def build(tmp_path):
    return Build(small_project(tmp_path / "build", package="*.py"))


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on the PATH: none of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=found,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
            ],
        )
        yield running
        running.close()
