"""What every test can rely on: no results in the project, no window, no warning left open."""

import contextlib
import os

import pytest
from hypothesis import HealthCheck, settings

# tools/wheel_test.sh tests the library without what its extras bring
with contextlib.suppress(ModuleNotFoundError):
    import matplotlib as mpl

    mpl.use("agg")

import anonpaper.compendium  # noqa: F401  (puts modules beside notebooks on the path)
from anonpaper.errors import DatasetUnavailableError

# a busy machine fails no test: times are measured by benchmarks
# and draws no new tables: only with ANONPAPER_FUZZ (make fuzz) is each run another one
settings.register_profile(
    "untimed",
    deadline=None,
    derandomize="ANONPAPER_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def results_elsewhere(tmp_path_factory, monkeypatch):
    """Keep what a test writes out of the project's figures and its cache of grids."""
    monkeypatch.setenv("ANONPAPER_FIGURES", str(tmp_path_factory.mktemp("figures")))


if "ANONPAPER_EXTRAS" in os.environ:

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item):
        """Skip a test that needs an extra or a checkout, with the words of the error."""
        try:
            return (yield)
        except (ImportError, DatasetUnavailableError) as error:
            if "checkout" not in str(error) and not isinstance(error, ImportError):
                raise
            pytest.skip(str(error))
