"""A small project for the tests of the build."""

import pytest
from project.builds import Build, small_project


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "project")


@pytest.fixture
def build(tmp_path):
    return Build(small_project(tmp_path / "build", package="*.py"))
