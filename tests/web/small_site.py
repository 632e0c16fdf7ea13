"""A small site of its own, run as a process by the tests: `small_site.py IMAGES HOST...`."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from relgate.eval.web.access import Access, need, roles_of
from relgate.eval.web.images import Images
from relgate.eval.web.pages import Pages
from relgate.eval.web.server import door_of, link, listen, serve
from relgate.eval.web.site import json_body, site
from relgate.rubrics.errors import InputError, PlatformError


class Note(BaseModel):
    text: str


kept: list[str] = []
access = Access.new("owner", "rater")
images = Images.allowed(Path(sys.argv[1]), sys.argv[3:])


async def home(request: Request) -> Response:
    return JSONResponse({"roles": sorted(roles_of(request)), "kept": kept})


async def owner(request: Request) -> Response:
    need(request, "owner")
    return JSONResponse({"kept": len(kept)})


async def note(request: Request) -> Response:
    kept.append((await json_body(request, Note)).text)
    return JSONResponse({"saved": len(kept)})


async def fails(request: Request) -> Response:
    if request.path_params["how"] == "input":
        raise InputError("no such pair", mend="open the page again")
    raise PlatformError("the disk is full")


routes = [
    Route("/", home),
    Route("/owner", owner),
    Route("/note", note, methods=["POST"]),
    Route("/fails/{how}", fails, methods=["POST"]),
]
host = sys.argv[2]
with listen(host, network=True) as listening:
    app = site(routes, pages=Pages(), access=access, door=door_of(listening, host), images=images)

    def ready() -> None:
        for role, token in access.tokens.items():
            sys.stdout.write(f"{role} {link(listening, token)}\n")
        sys.stdout.flush()

    serve(app, listening, ready=ready)
sys.stdout.write(f"kept {len(kept)}\n")
