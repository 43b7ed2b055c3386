"""What several tests need: the programs of tools/, notebooks, secrets of lessons, and browsers."""

import importlib.util
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
NAMES = sorted(
    path.relative_to(NOTEBOOKS).with_suffix("").as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if not {".ipynb_checkpoints", "solutions"} & {*path.parts}
)


@cache
def load_tool(name):
    """Return a program as a module; what it imports of its neighbours is found beside it."""
    spec = importlib.util.spec_from_file_location(f"tools.{name}", ROOT / "tools" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return module


def files_of_the_project(root=ROOT):
    """Return the names of all files that git has or would add, also where there is no .git."""
    listed = ["ls-files", "--cached", "--others", "--exclude-standard"]
    with tempfile.TemporaryDirectory() as nothing:  # an image or an unpacked archive has none
        if not (root / ".git").exists():
            subprocess.run(["git", "init", "-q", "--bare", nothing], check=True)
            listed = [f"--git-dir={nothing}", f"--work-tree={root}", *listed]
        done = subprocess.run(
            ["git", *listed], cwd=root, check=True, capture_output=True, text=True
        )
    return [name for name in done.stdout.splitlines() if (root / name).is_file()]


def read(name, solved=False):
    """Return a notebook, or a lesson with its solutions."""
    path = NOTEBOOKS / f"{name}.ipynb"
    if solved and name.startswith("course/"):
        return load_tool("course").lecturers_version(path)
    return nbformat.read(path, as_version=4)


def code_cells(name):
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


# ---- lessons ----------------------------------------------------------------------------------

SOLUTIONS = NOTEBOOKS / "course" / "solutions"
needs_solutions = pytest.mark.skipif(
    not SOLUTIONS.is_dir(), reason="the solutions are not in the public archive"
)


@cache
def secrets_of_lessons():
    """Return lines of solutions, right answers and hidden tests, and sentences of model answers.

    A line is no secret if a lesson shows it; one of a solution always is.
    """
    solutions, others, visible = set(), set(), ""
    for path in SOLUTIONS.glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                words = re.sub(r"[*`$]", "", cell.source)
                solutions |= {one for one in re.split(r"[.;:?!(]\s|\$", words) if len(one) > 40}
            else:
                lines = solutions if "solution" in cell.metadata.tags else others
                lines |= lines_of(cell.source)
        visible += "\n".join(cell.source for cell in code_cells(f"course/{path.stem}"))
    for answers in yaml.safe_load((SOLUTIONS / "answers.yaml").read_text()).values():
        others |= lines_of(answers["right"]) | lines_of(answers["also right"])
    assert len(solutions) > 100 and len(others) > 150
    others = {line for line in others if line not in visible}
    return {" ".join(line.split()) for line in solutions | others}


def lines_of(code):
    """Return the lines that are long enough to tell something, and import nothing."""
    lines = {line.strip() for line in code.splitlines() if len(line.strip()) > 25}
    return {line for line in lines if not line.startswith(("import ", "from "))}


def told(text):
    """Return the secrets of lessons that a text tells, as it stands or as JSON has it."""
    unescaped = re.sub(r'\\(["\\n])', lambda match: match[1].replace("n", " "), text)
    text = " ".join(f"{text} {unescaped}".split())
    return [secret for secret in secrets_of_lessons() if secret in text]


# ---- browsers ---------------------------------------------------------------------------------

PATIENCE = 120_000  # milliseconds, on a busy machine
PHONE, SCREEN = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@contextmanager
def opened(browser, **options):
    """Open an empty page that waits as long as a busy machine takes."""
    with browser.new_context(**options) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def serious(page):
    """Return what axe finds that some readers could not use."""
    from axe_playwright_python.sync_playwright import Axe

    return [
        (rule["id"], [node["html"][:200] for node in rule["nodes"][:3]])
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


# the article of the site scrolls by itself, so what is too wide for it does not make the page
# wider; one pixel is lost in rounding
WIDE = """() => [document.documentElement, document.querySelector(".bd-article-container")]
  .filter(Boolean).map(node => node.scrollWidth - node.clientWidth).filter(wide => wide > 1)
  .map(wide => "wider than the screen by " + wide)"""

# what a reader could trip over, looked up in the page itself
FAULTS = """async () => {
  if (window.MathJax) await window.MathJax.startup.promise;
  const shown = node => node.parentElement && node.parentElement.checkVisibility();
  const faults = (WIDE)();
  for (const image of document.images) {
    image.loading = "eager";
    await image.decode().catch(() => {});
    if (!image.naturalWidth) faults.push("no picture: " + image.getAttribute("src"));
  }
  const formulas = document.querySelectorAll(".math");
  if (formulas.length && !document.querySelector("mjx-container, math")) faults.push("no maths");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (texts.nextNode()) {
    const text = texts.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !shown(text)) continue;
    if (parent.closest("mjx-container, math, svg, script, style, sub, sup")) continue;
    if (!parent.closest("pre, code") && /\\\\\\(|\\\\\\)|\\\\\\[|\\$\\$/.test(text.data))
      faults.push("raw maths: " + text.data.trim().slice(0, 60));
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < 13.99) small.add(parent.className + " " + size + "px: " + text.data.trim());
  }
  return [...faults, ...[...small].slice(0, 5)];
}""".replace("WIDE", WIDE)
