"""Sphinx configuration of the site; tools/site.py stages the pages and runs Sphinx."""

import importlib.metadata
from pathlib import Path

project = "anonpaper"
author = "The anonpaper authors"
release = importlib.metadata.version("anonpaper")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
language = "en"
exclude_patterns = ["_build"]

# notebooks are shown as they were executed
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # widgets would come from elsewhere
nb_mime_priority_overrides = [("html", "text/latex", None)]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

suppress_warnings = ["ref.python"]  # words of a type, such as "shape (size,)", are no links
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections say the types
autodoc_mock_imports = ["ctgan", "distributed", "rdt", "sdv", "torch"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = "anonpaper"
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app):
    """Give the page of the search, alone, the texts of all pages and what shows excerpts."""

    def add(app, pagename, templatename, context, doctree):
        if pagename == "search":
            app.add_js_file("texts.js")
            app.add_js_file("excerpts.js")

    app.connect("html-page-context", add)


html_search_scorer = str(Path(__file__).with_name("scorer.js"))  # lessons first
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # a page opened as a file may not read other files
SINGLE = ["index", "report", "use", "data", "notebooks/00_start_here"]  # pages of no section
html_sidebars = dict.fromkeys(SINGLE, [])
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 2,
    "header_links_before_dropdown": 8,  # what stands beside the papers follows below it
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_header_start": ["breadcrumbs"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "report": []},
    "show_toc_level": 2,
}
copyright = "The anonpaper authors, MIT licence"
