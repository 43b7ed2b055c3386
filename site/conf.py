"""Sphinx configuration of the site; tools/site.py stages the pages and runs Sphinx.

Pages lie where their files lie in the project, so that links between files lead from page to
page. `page_of` knows the few pages that lie elsewhere.
"""

import importlib.metadata
import re
import sys
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from sphinx.addnodes import pending_xref
from sphinx.search.en import SearchEnglish

from anonpaper.compendium import papers

sys.modules["rfc3987_syntax"] = None  # as in tools/inputs.py
SearchEnglish.stem = cache(SearchEnglish.stem)  # words come again

project = "anonpaper"
release = importlib.metadata.version("anonpaper")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["README.md"]  # parts of it are included by pages
templates_path = [str(Path(__file__).with_name("_templates"))]  # autosummary seeks beside pages

# notebooks are shown as they were executed
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # widgets would come from elsewhere
nb_code_prompt_show = nb_code_prompt_hide = "code"
nb_mime_priority_overrides = [("html", "text/latex", None)]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 3

suppress_warnings = ["ref.python"]  # words of a type, such as "shape (size,)", are no links
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections say the types
autodoc_mock_imports = ["ctgan", "rdt", "sdv", "torch"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# |S|, the size of a set, is a substitution to Sphinx
MODULES = Path(__file__).parents[1].joinpath("anonpaper").rglob("*.py")
SETS = {name for path in MODULES for name in re.findall(r"\|(\w+)\|", path.read_text("utf-8"))}
rst_prolog = "".join(f".. |{name}| replace:: \\|{name}\\|\n" for name in sorted(SETS))

html_theme = "pydata_sphinx_theme"
html_title = "anonpaper"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["wide.js"]

html_search_scorer = str(Path(__file__).with_name("scorer.js"))  # lessons first
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # a page opened as a file may not read other files
GUIDES = [f"site/{path.stem}" for path in Path(__file__).parent.glob("*.md")]
SINGLE = ["index", "data/README", "notebooks/00_start_here", "SECURITY", "CONTRIBUTING"]
SINGLE += GUIDES  # of no section
html_sidebars = dict.fromkeys(SINGLE, [])
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_theme_options = {
    "header_links_before_dropdown": 6,  # what stands beside the papers follows below it
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
}
copyright = "The anonpaper authors, MIT licence"

NAMES = {key: paper.name for key, paper in papers().items()}
ELSEWHERE = (
    (r"README\.md", "index"),
    (r"figures(/\w+)*", "figures/README"),
    (r"notebooks", "figures/README"),
    (r"notebooks/(together|beyond)", "ours"),
    (r"notebooks/course(/SYLLABUS\.md)?", "course"),
    (r"notebooks/(\w+)", r"figures/\1"),
)


def page_of(address, pages):
    """Return the page that stands for a file or folder of the project; None if there is none."""
    module = re.sub(r"(/__init__)?\.py$", "", address).replace("/", ".")
    found = [join("api", module), "api/index" if module.startswith("anonpaper") else ""]
    for pattern, page in ELSEWHERE:
        if match := re.fullmatch(pattern, address):
            found.append(match.expand(page))
    return next((page for page in found if page in pages), None)


def lead_to_pages(app, doctree):
    """Lead links to the pages of files; one to a file without a page becomes plain text."""
    for node in list(doctree.findall(pending_xref)):
        if node["reftype"] != "myst":
            continue
        if node.astext() in NAMES:
            (text,) = node.findall(lambda part: not part.children)
            text.parent.replace(text, type(text)(NAMES[node.astext()]))
        if node["refdomain"] is None and not node["reftarget"].startswith("#"):
            folder = dirname(app.env.docname)
            page = page_of(normpath(join(folder, node["reftarget"])), app.env.found_docs)
            if page is None:
                node.replace_self(node.children)
            else:
                node.attributes.update(refdomain="doc", reftarget=page, reftargetid=None)


def finish(app, exception):
    """Name the toggles of the navigation for those who do not see them."""
    Path(app.outdir, "_static", "webpack-macros.html").unlink(missing_ok=True)  # of the theme
    named = '<summary aria-label="show or hide its pages"><span class="toctree-toggle"'
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text("utf-8")
        path.write_text(text.replace('<summary><span class="toctree-toggle"', named), "utf-8")


def setup(app):
    """Connect both to what Sphinx does."""
    app.connect("doctree-read", lead_to_pages)
    app.connect("build-finished", finish)
