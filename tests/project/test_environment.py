"""environment.yml, requirements.lock and this environment have the same versions."""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"([\w-]+)(?:\[[\w,]+\])? *==([\w.]+)")  # of pip and of conda


def pins(text):
    """Return the version of each package that a text pins, by canonical name."""
    found = PINNED.findall(text.replace("matplotlib-base", "matplotlib"))
    return {canonicalize_name(name): pin for name, pin in found}


LOCKED = pins((ROOT / "requirements.lock").read_text())
NAMED = pins((ROOT / "environment.yml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_conda_gets_the_locked_versions_of_all_that_is_required():
    project = PROJECT["project"]
    texts = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    required = {canonicalize_name(Requirement(text).name) for text in texts}
    assert {name: pin for name, pin in NAMED.items() if LOCKED[name] != pin} == {}
    assert required - NAMED.keys() == {project["name"]}


def test_this_environment_is_the_locked_one():
    """Results are claimed for the pinned versions: the tests run with them.

    conda resolves what these need in turn by itself: there, the named packages are compared.
    """
    by_conda, different = (Path(sys.prefix) / "conda-meta").is_dir(), {}
    for name, pin in (NAMED if by_conda else LOCKED).items():
        try:
            installed = version(name).partition("+")[0]
        except PackageNotFoundError:
            installed = "missing"
        if installed != pin:
            different[name] = (pin, installed)
    assert different == {}


def test_one_version_is_said_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert PROJECT["tool"]["setuptools_scm"]["fallback_version"] == cited
