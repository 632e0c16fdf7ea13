"""Runs a site on this machine: a socket, the link, a clean stop. I/O.

with listen(host, port, network=False) as socket:
    door = door_of(socket, host)
    app = site([...], pages=Pages("relgate.eval.some"), access=access, door=door)
    print(link(socket, host, access.tokens["rater"]))
    serve(app, socket)      # until Ctrl-C
"""

from __future__ import annotations

import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from relgate.eval.web.guard import Door
from relgate.rubrics.errors import UsageError

__all__ = ["LOOPBACK", "door_of", "link", "listen", "open_browser", "serve"]

LOOPBACK = "127.0.0.1"

_LOCAL = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_BACKLOG = 128
_STOP_S = 2  # for requests that are under way


def listen(host: str = LOOPBACK, port: int = 0, *, network: bool = False) -> socket.socket:
    """A listening socket.

    Args:
        host: the address; `localhost` is 127.0.0.1.
        port: 0 takes a free one.
        network: whether other machines may be let in.

    Raises:
        UsageError: an address that lets other machines in without `network`; or one that cannot
            be had.
    """
    address = LOOPBACK if host == "localhost" else host
    try:
        family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host!r} is no address of this machine: {error}") from error
    if not network and not ip_address(where[0]).is_loopback:
        raise UsageError(
            f"--host {host} would let other machines in; --allow-network allows that. The page is "
            "plain HTTP: whoever can read the network's traffic reads the link and what is sent. "
            "A tunnel (ssh -L) to the default host needs neither flag"
        )
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror}; name another --port, or none "
            "for a free one"
        ) from error
    return made


def door_of(listening: socket.socket, host: str = LOOPBACK) -> Door:
    """What the guard has to know of where a site listens."""
    bound, port = listening.getsockname()[:2]
    outside = not ip_address(bound).is_loopback
    names = {*_LOCAL, host.lower(), *([socket.gethostname().lower()] if outside else [])}
    return Door(port, tuple(sorted(names)), any_address=outside)


def link(listening: socket.socket, token: str, path: str = "/") -> str:
    """The address to open, with its token; show it to nobody else, and log it nowhere."""
    bound, port = listening.getsockname()[:2]
    host = _own_address() if bound in _ANYWHERE else bound
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{path}?token={token}"


def _own_address() -> str:
    """This machine's address on its network; a UDP socket asks the routes and sends nothing."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))
        address: str = asked.getsockname()[0]
        return address
    return socket.gethostname()


def open_browser(url: str) -> None:
    """Opens the link in this machine's browser, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def serve(
    app: ASGIApp, listening: socket.socket, *, ready: Callable[[], None] = lambda: None
) -> None:
    """Answers until Ctrl-C or SIGTERM, then ends the requests that are under way and returns.

    No request is logged: the first holds the token.

    Args:
        app: the site.
        listening: where it listens; from here on browsers may connect.
        ready: called first, to show the link; whoever stops it at once stops it cleanly too.
    """
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_S,
    )
    server = uvicorn.Server(config)
    with _stopped_by_signals(server):
        ready()
        server.run(sockets=[listening])


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Generator[None]:
    """A signal before the server has its own handlers, or once it has stopped, ends nothing else.

    uvicorn raises what it caught once more when it has stopped.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
