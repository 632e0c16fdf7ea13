"""The guard in front of every page: host, token, origin, size, headers. ASGI.

What each check is against:

- Host: another site's name that was made to resolve to this machine (DNS rebinding).
- Token: other people and programs on this machine, and on the network where that is allowed.
- Origin, on whatever changes something: another site that has this browser send a request.
- Size: a body that fills the memory.
- Headers: text from data that got past the escaping; it may neither run nor load anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relgate.eval.web.access import Access, admit, cookie
from relgate.eval.web.images import Images

__all__ = ["MAX_BODY_BYTES", "Door", "Guard"]

MAX_BODY_BYTES = 64 * 1024

_TOKEN = "token"  # noqa: S105 - the parameter's name
_SAFE = frozenset({"GET", "HEAD"})
_CLOSED = (
    "This page opens with the link that relgate printed where it was started.\n"
    "The link is new each time relgate starts."
)


@dataclass(frozen=True, slots=True)
class Door:
    """Where a site listens.

    Attributes:
        port: the port.
        hosts: names that a browser may call it by, lower case.
        any_address: whether any numeric address will do too, as for a site on a network. A name
            can be made to point here, a numeric address cannot.
    """

    port: int
    hosts: Sequence[str]
    any_address: bool = False

    def knows(self, host: str) -> bool:
        """Whether a Host header names this site; its port is that of a tunnel, maybe."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        return name in self.hosts or (self.any_address and _is_address(name))


class Guard:
    """Wraps an app. Websockets are refused: no page of ours has any."""

    def __init__(self, app: ASGIApp, *, access: Access, door: Door, images: Images) -> None:
        self._app = app
        self._access = access
        self._door = door
        self._headers = _headers(images)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        request = Request(scope)
        answer = self._answer(request)
        if answer is not None:
            await answer(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive), send_guarded)

    def _answer(self, request: Request) -> Response | None:
        """What to say instead of the page; None lets the request through."""
        if not self._door.knows(request.headers.get("host", "")):
            return _refusal(421, "This is not the address of this page.")
        if request.method not in _SAFE and not _same_origin(request):
            return _refusal(403, "Another site may not send anything here.")
        token = request.query_params.get(_TOKEN)
        if token is not None and request.method in _SAFE:
            role = self._access.role(token)
            return _refusal(403, _CLOSED) if role is None else self._let_in(request, role)
        roles = self._access.roles(request.cookies, self._door.port)
        if not roles:
            return _refusal(403, _CLOSED)
        if _stated_size(request) > MAX_BODY_BYTES:
            return _refusal(413, "That is too long.")
        admit(request, roles)
        return None

    def _let_in(self, request: Request, role: str) -> Response:
        """Sets the cookie, and goes on to the address without the token.

        By a page and not by a redirect: browsers hold back a SameSite=Strict cookie from a redirect
        that began on another site, as where the link was clicked in a chat.
        """
        from relgate.eval.web.pages import ENTRY, Pages  # noqa: PLC0415 - jinja2

        rest = [(k, v) for k, v in request.query_params.multi_items() if k != _TOKEN]
        path = "/" + request.url.path.lstrip("/")
        goal = f"{path}?{urlencode(rest)}" if rest else path
        answer = HTMLResponse(Pages().text(ENTRY, goal=goal))
        answer.set_cookie(
            cookie(role, self._door.port),
            self._access.tokens[role],
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


def _refusal(status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", status)


def _same_origin(request: Request) -> bool:
    """Whether a page of ours sent it. Browsers state an origin with whatever is no GET."""
    origin = request.headers.get("origin", "")
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    scheme, _, rest = origin.partition("://")
    return scheme in {"http", "https"} and rest.lower() == request.headers["host"].lower()


def _stated_size(request: Request) -> int:
    stated = request.headers.get("content-length", "0")
    return int(stated) if stated.isascii() and stated.isdigit() else 0


def _limited(receive: Receive) -> Receive:
    """Ends a body that goes on past the limit, as if the browser had left."""
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        return message if read <= MAX_BODY_BYTES else {"type": "http.disconnect"}

    return receive_some


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _headers(images: Images) -> dict[str, str]:
    return {
        "content-security-policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src {images.policy}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }
