"""A small project for the tests that run make."""

import pytest
from project.builds import small_project


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "project")
