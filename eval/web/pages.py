"""Pages: Jinja2 templates, everything escaped, no name left undefined, controls visible."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from relgate.eval.report.escape import terminal_text

__all__ = ["ENTRY", "Pages", "visible"]

ENTRY = "entry.html"

_OWN = "relgate.eval.web"
_REPORT = ("relgate.eval.report.html", "templates")  # the style of every page of relgate
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_KEPT = re.compile("([\u200e\u200f])")


class Pages:
    """The pages of one package, upon those of this one.

    Its `templates/` come before ours, so that it may `{% extends "base.html" %}`; its `static/`
    likewise. `/static/page.css` is the reports' style sheet, `/static/web.css` what forms need.

    Args:
        package: the import name of the package; None for ours alone.
    """

    def __init__(self, package: str | None = None) -> None:
        self._packages = tuple(filter(None, (package, _OWN)))
        self._templates = _environment(self._packages)

    def text(self, name: str, /, **values: object) -> str:
        """A template of this name, filled."""
        return self._templates.get_template(name).render(**values)

    def page(self, name: str, /, **values: object) -> HTMLResponse:
        """A template of this name, filled, as an answer."""
        return HTMLResponse(self.text(name, **values))

    async def static(self, request: Request) -> Response:
        """One file out of `static/`."""
        name = request.path_params["name"]
        found = _asset(self._packages, name)
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found, media_type=_TYPES[name[name.rindex(".") :]])


def visible(text: str) -> str:
    r"""`text` with its controls shown as escapes, `\u202e`.

    As on a terminal, but for marks of direction: each text stands in an element of its own.
    """
    parts = _KEPT.split(text)
    return "".join(part if i % 2 else terminal_text(part) for i, part in enumerate(parts))


@cache
def _environment(packages: tuple[str, ...]) -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: object) -> object:
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    return value


@cache
def _asset(packages: tuple[str, ...], name: str) -> bytes | None:
    for package, folder in (*((package, "static") for package in packages), _REPORT):
        place = files(package).joinpath(folder)
        known = {file.name: file for file in place.iterdir()} if place.is_dir() else {}
        if name in known and any(name.endswith(ending) for ending in _TYPES):
            return known[name].read_bytes()
    return None
