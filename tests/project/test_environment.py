"""environment.yml, requirements.lock and pyproject.toml speak of the same environment."""

import re
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from project.tools import files_of_the_project
from rattler import MatchSpec, Version, VersionSpec

import anonpaper as ap

ROOT = Path(__file__).parents[2]
# packages that conda-forge names otherwise
PYPI_NAMES = {"matplotlib-base": "matplotlib"}
NOT_IN_THE_LOCK = {"python", "pip"}
# installed with --no-deps after everything else, which environment.yml cannot say
UNTIED = {"pycanon", "beartype"}


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


def test_the_lock_pins_each_package_once_and_names_no_address():
    pinned = re.compile(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*( +--hash=sha256:[0-9a-f]{64})+")
    assert [line for line in lock_lines() if not pinned.fullmatch(line)] == []
    assert len(locked()) == len(lock_lines()) > 100


@pytest.mark.parametrize("requirement", required(), ids=lambda requirement: requirement.name)
def test_the_lock_meets_the_package_s_requirements(requirement):
    pin = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pin)


@pytest.mark.parametrize(
    "spec", [spec for spec in conda_dependencies()[0] if spec.split()[0] not in NOT_IN_THE_LOCK]
)
def test_conda_gets_the_locked_version(spec):
    match = MatchSpec(spec)
    name = match.name.normalized
    pin = locked()[canonicalize_name(PYPI_NAMES.get(name, name))]
    assert VersionSpec(str(match.version)).matches(Version(pin))
    assert str(match.version) == f"=={pin}"


@pytest.mark.parametrize("text", conda_dependencies()[1])
def test_pip_in_conda_gets_the_locked_version(text):
    requirement = Requirement(text)
    assert str(requirement.specifier) == f"=={locked()[canonicalize_name(requirement.name)]}"


def test_conda_gets_everything_the_package_requires():
    specs, pip = conda_dependencies()
    names = {MatchSpec(spec).name.normalized for spec in specs}
    names = {PYPI_NAMES.get(name, name) for name in names} | {Requirement(t).name for t in pip}
    assert {requirement.name for requirement in required()} <= names
    assert not names & UNTIED
    assert set(locked()) >= UNTIED


def test_binder_installs_locked_versions_for_the_same_python():
    pins = dict(
        line.split("==") for line in (ROOT / "binder/requirements.txt").read_text().split()
    )
    assert {canonicalize_name(name): pin for name, pin in pins.items()}.items() <= locked().items()
    assert {"jupyterlab", "numba", "pandas"} <= {*pins} and not {"sdv", "torch"} & {*pins}
    python = re.search(r"python (\d\.\d+)\.\*", (ROOT / "environment.yml").read_text())[1]
    assert (ROOT / "binder/runtime.txt").read_text() == f"python-{python}\n"


def test_one_version_is_said_everywhere():
    """With git the version follows from the tags; without, it is the last one released."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert project["tool"]["setuptools_scm"]["fallback_version"] == cited
    command = [sys.executable, "-m", "anonpaper", "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["anonpaper", ap.__version__]
    assert ap.__version__ == version("anonpaper")


def test_both_ask_for_one_python():
    specs, _ = conda_dependencies()
    spec = next(MatchSpec(text) for text in specs if text.startswith("python "))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert VersionSpec(str(spec.version)).matches(Version("3.11.9"))
    assert Requirement(f"python{project['requires-python']}").specifier.contains("3.11.9")


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


def test_what_a_part_of_the_library_needs_is_in_the_extra_that_it_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    code = "".join(path.read_text() for path in (ROOT / "anonpaper").rglob("*.py"))
    named = {*re.findall(r"""\bneeds\("(\w+)"\)""", code)}
    assert named - {"scale", "synthesis"} == {*extras_of_all(project)} - {"fast"}
    assert named <= {*project["optional-dependencies"]}


def extras_of_all(project):
    (one,) = project["optional-dependencies"]["all"]
    return Requirement(one).extras


INSTALLS = re.compile(r"pip install +(?:-\w+ +)*['\"`]?(anonpaper|\.)(?:\[(\w+)\])?")


def test_what_is_said_to_install_the_package_works():
    """It lies in a clone and on no index; an extra is one that pyproject.toml has.

    `errors.needs` names the extra in both forms: of a package that is installed pip adds extras.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    folders = ("anonpaper/", "notebooks/", "benchmarks/", "README.md", "CONTRIBUTING.md", "site/")
    told = [
        (name, *match.groups())
        for name in files_of_the_project()
        if name.startswith(folders)
        and name.endswith((".py", ".md", ".ipynb"))
        and name != "anonpaper/errors.py"
        for match in INSTALLS.finditer((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert len({name for name, *_ in told}) > 3
    for name, what, extra in told:
        assert what == ".", name
        assert extra is None or extra in project["optional-dependencies"], name


# ---- what runs where --------------------------------------------------------------------------

SCHEDULED = (
    ".ci/run",
    *(f".github/workflows/{name}.yml" for name in ("check", "monthly", "benchmark")),
)


def test_files_that_recipes_name_are_there():
    for name in ("Makefile", "tools/lock.sh", "tools/wheel_test.sh", *SCHEDULED):
        named = re.findall(
            r"(?<![\w/.-])(?:tests|tools|benchmarks)/[\w/]+\.\w+", (ROOT / name).read_text()
        )
        assert [path for path in named if not (ROOT / path).exists()] == [], name


def test_workflows_are_yaml_whose_jobs_have_steps():
    for name in SCHEDULED[1:]:
        jobs = yaml.safe_load((ROOT / name).read_text())["jobs"]
        assert jobs
        assert all(job["runs-on"] and job["steps"] for job in jobs.values())


# ---- the wheel --------------------------------------------------------------------------------

README = "[a](notebooks) ![b](figures/b.png) [c](https://c.org) [d](#d)"


def test_links_of_the_readme_lead_to_the_repository_or_are_left_out():
    there = load_setup().readme(README, "https://host/o/n")
    assert there == (
        "[a](https://host/o/n/blob/HEAD/notebooks) ![b](https://host/o/n/raw/HEAD/figures/b.png) "
        "[c](https://c.org) [d](#d)"
    )
    assert load_setup().readme(README, "") == "a  [c](https://c.org) [d](#d)"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@host.org:o/n.git", "https://host.org/o/n"),
        ("https://user:secret@host.org/o/n.git", "https://host.org/o/n"),
        ("/srv/n", ""),
    ],
)
def test_the_address_is_that_of_the_clone(remote, address, tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", remote], check=True)
    monkeypatch.chdir(tmp_path)
    assert load_setup().address() == address
    (tmp_path / "PKG-INFO").write_text("Name: n\nProject-URL: Source, https://other.org/o/n\n")
    assert load_setup().address() == "https://other.org/o/n"


def load_setup():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "setup.py")))
