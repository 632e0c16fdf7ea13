"""Shows a page: everything escaped, no name left undefined, a strict content policy. Pure.

A page may load nothing. Its one style sheet and its one script are allowed by their hash, so text
from data that got past the escaping could still neither run nor style anything.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from relgate.eval.report.escape import terminal_text
from relgate.eval.report.html.parts import Page

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]

_PACKAGE = "relgate.eval.report.html"
_TEMPLATE = "page.html"
_STYLE = "page.css"
_SCRIPT = "sort.js"


def render(page: Page) -> str:
    """The page as one HTML document, ending in a newline; the same page gives the same text.

    Controls in text from data are shown as escapes, as on a terminal.
    """
    from markupsafe import Markup  # noqa: PLC0415 - jinja2's own

    style, script = _asset(_STYLE), _asset(_SCRIPT)
    template = _environment().get_template(_TEMPLATE)
    return template.render(
        page=page,
        sections=[section for section in page.sections if section.parts],
        style=Markup(style),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - likewise
        policy=_policy(style, script),
    )


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    from importlib.resources import files  # noqa: PLC0415 - only when a page is drawn

    return files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - as above

    made = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    made.tests["web"] = _is_web
    return made


def _shown(value: object) -> object:
    """Text with its controls visible; what a macro or a chart made is left as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return terminal_text(value)
    return value


def _is_web(value: str) -> bool:
    return value.startswith(("https://", "http://"))
