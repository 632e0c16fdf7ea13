"""How the documentation site is built: `make site`. Sphinx reads this file.

The sources are the Markdown files of the repository as they lie (`docs/`, README, examples), so
that each link works on the forge and on the site, and nothing is written twice. Commands and the
API come from the code when the site is built.
"""

from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

project = "relgate"
author = "the relgate authors"
release = version = metadata.version("relgate")
copyright = "the relgate authors, Apache-2.0"  # noqa: A001 - Sphinx's name for it

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**.md",
    "examples/*/README.md",
]
exclude_patterns = [
    "[!RCSde]*",  # neither walked nor read: .venv, .git, out, tests ...
    "eval",
    "build",
    "dist",
    "docs/_site",
]

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # CHANGELOG and others begin lower where the forge does too

smartquotes = False  # `--json` has two hyphens
default_role = "code"  # a docstring's `name` is code
napoleon_google_docstring = True
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"
html_title = f"relgate {release}"
html_static_path = ["_site/static"]
html_extra_path = ["_site/extra"]
html_css_files = ["relgate.css"]
html_copy_source = False
html_show_sphinx = False
# No web fonts, no CDN, no analytics: the site opens from a disk without a network.

# What axe-core finds against the theme's pages, mended in each page that is written.
_ACCESSIBLE = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',  # wide ones scroll, by keyboard too
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
}


def _mend_pages(app: Sphinx, error: Exception | None) -> None:
    if error is not None:
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text("utf-8")
        mended = text
        for found, better in _ACCESSIBLE.items():
            mended = mended.replace(found, better)
        if mended != text:
            page.write_text(mended, "utf-8")


def setup(app: Sphinx) -> None:
    """Sphinx calls it."""
    app.connect("build-finished", _mend_pages)
