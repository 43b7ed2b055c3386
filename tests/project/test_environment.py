"""environment.yml, requirements.lock and pyproject.toml speak of the same environment."""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler import MatchSpec

ROOT = Path(__file__).parents[2]
# packages that conda-forge names otherwise
PYPI_NAMES = {"matplotlib-base": "matplotlib"}
NOT_IN_THE_LOCK = {"python", "pip"}


def lock_lines():
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def locked():
    """Return the pinned version of each package, by canonical name."""
    pins = dict(line.split(maxsplit=1)[0].split("==") for line in lock_lines())
    return {canonicalize_name(name): pin for name, pin in pins.items()}


def conda_dependencies():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    specs = [item for item in environment["dependencies"] if isinstance(item, str)]
    pip = next(item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    return specs, pip


def required():
    """Return the requirements of the package and of all its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    found = [Requirement(text) for text in texts]
    return [requirement for requirement in found if requirement.name != project["name"]]


def test_conda_gets_the_locked_versions():
    specs, pip = conda_dependencies()
    pins, other = locked(), []
    for match in (MatchSpec(spec) for spec in specs):
        name = match.name.normalized
        pin = pins.get(canonicalize_name(PYPI_NAMES.get(name, name)), "")
        if name not in NOT_IN_THE_LOCK and str(match.version) != f"=={pin}":
            other.append(str(match))
    for requirement in map(Requirement, pip):
        if str(requirement.specifier) != f"=={pins[canonicalize_name(requirement.name)]}":
            other.append(str(requirement))
    assert other == []


def test_this_environment_is_the_locked_one():
    """Results are claimed for the pinned versions: the tests run with them.

    conda resolves what these need in turn by itself: there, the named packages are compared.
    """
    by_conda = (Path(sys.prefix) / "conda-meta").is_dir()
    named = {canonicalize_name(requirement.name) for requirement in required()}
    different = {}
    for name, pin in locked().items():
        if by_conda and name not in named:
            continue
        try:
            installed = version(name).partition("+")[0]
        except PackageNotFoundError:
            installed = "missing"
        if installed != pin:
            different[name] = (pin, installed)
    assert different == {}


def test_one_version_is_said_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert project["tool"]["setuptools_scm"]["fallback_version"] == cited
