"""Puts a site together: its routes, our static files and images, and the guard before them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from relgate.eval.web.access import Access
from relgate.eval.web.guard import Door, Guard
from relgate.eval.web.images import IMAGE_PATH, Images
from relgate.eval.web.pages import Pages
from relgate.rubrics.errors import PlatformError, RelgateError

__all__ = ["Body", "json_body", "site"]

Body = TypeVar("Body", bound=BaseModel)
_Handler = Callable[[Request, Exception], Awaitable[Response]]


def site(
    routes: Sequence[BaseRoute],
    *,
    pages: Pages,
    access: Access,
    door: Door,
    images: Images | None = None,
) -> ASGIApp:
    """An app that lets in whoever has a token.

    A `RelgateError` that a route raises is answered in one line, in plain text: 500 where the
    machine is at fault, else 400.

    Args:
        routes: Starlette's routes. What changes something is a POST.
        pages: where `/static/...` comes from.
        access: the tokens.
        door: where it listens.
        images: what may be shown; None for nothing.
    """
    shown = images or Images()
    app = Starlette(
        routes=[
            *routes,
            Route("/static/{name}", pages.static),
            Route(IMAGE_PATH + "{name:path}", shown.serve),
        ],
        exception_handlers={HTTPException: cast("_Handler", _refused), RelgateError: _failed},
    )
    return Guard(app, access=access, door=door, images=shown)


async def json_body(request: Request, model: type[Body]) -> Body:
    """A request's body, checked.

    Raises:
        HTTPException: 415, 413 or 422: it is no JSON, too long, or not what the model asks for.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415, "send JSON")
    try:
        return model.model_validate_json(await request.body())
    except ClientDisconnect as error:
        raise HTTPException(413, "that is too long") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise HTTPException(422, f"{place}: {first['msg']}" if place else first["msg"]) from error


async def _refused(_request: Request, error: HTTPException) -> Response:
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


async def _failed(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", 500 if isinstance(error, PlatformError) else 400)
