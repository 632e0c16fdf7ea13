"""What the commands with a local page share: their options, and running the site. I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relgate.eval.cli.common import FILE, Output

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from relgate.eval.web.access import Access
    from relgate.eval.web.guard import Door
    from relgate.eval.web.images import Images

__all__ = ["host_site", "images_of", "page_options"]

F = TypeVar("F", bound=Callable[..., Any])


def page_options(function: F) -> F:
    """`--host`, `--port`, `--allow-network`, `--links`, `--open`, `--images`, `--image-host`."""
    for option in reversed(
        (
            click.option("--host", default="127.0.0.1", help="Where to listen; 127.0.0.1."),
            click.option("--port", type=click.IntRange(0, 65_535), default=0, help="A free one."),
            click.option(
                "--allow-network",
                is_flag=True,
                help="Let other machines in, with --host: plain HTTP, whoever reads the network's "
                "traffic reads the link.",
            ),
            click.option(
                "--links",
                type=FILE,
                help="Keep port and links in this file, so that they open the page next time too; "
                "whoever reads it can.",
            ),
            click.option("--open", "open_page", is_flag=True, help="Open the browser."),
            click.option("--images", type=FILE, help="Folder that image paths are looked up in."),
            click.option(
                "--image-host",
                "image_hosts",
                multiple=True,
                help="Load https images from this host (it sees who looks at what); repeatable.",
            ),
        )
    ):
        function = option(function)
    return function


def images_of(flags: Mapping[str, Any]) -> Images:
    """The images that the flags allow."""
    from relgate.eval.web.images import Images  # noqa: PLC0415 - starlette

    folder: Path | None = flags["images"]
    return Images.allowed(folder, flags["image_hosts"])


def host_site(
    output: Output,
    flags: Mapping[str, Any],
    make: Callable[[Access, Door], ASGIApp],
    *,
    roles: Sequence[str],
    opens: str,
    kept: Callable[[], str],
) -> None:
    """Runs a site until Ctrl-C: prints a link a role, then what was kept.

    Args:
        output: where to print. The links go to stdout as they are, and nowhere else.
        flags: what `page_options` gave.
        make: makes the app, once it is known who may come in and where it listens.
        roles: who comes in, each by a link of its own.
        opens: the role whose page `--open` opens.
        kept: what to say at the end.

    Raises:
        UsageError: it cannot listen there, or may not.
        InputError: the file of links is something else.
        PlatformError: the file of links cannot be written.
    """
    from relgate.eval.web.access import Access  # noqa: PLC0415 - starlette
    from relgate.eval.web.links import Links, keep_links, read_links  # noqa: PLC0415
    from relgate.eval.web.server import (  # noqa: PLC0415 - uvicorn
        door_of,
        link,
        listen,
        open_browser,
        serve,
    )

    host, links_file = flags["host"], flags["links"]
    known = None if links_file is None else read_links(links_file, *roles)
    access = Access.new(*roles) if known is None else known.access
    port = flags["port"] or (0 if known is None else known.port)
    with listen(host, port, network=flags["allow_network"]) as socket:
        door = door_of(socket, host)
        if links_file is not None:
            keep_links(links_file, Links(door.port, access))
        app = make(access, door)
        links = {role: link(socket, access.tokens[role]) for role in roles}

        def ready() -> None:
            _print_links(output, links)
            if flags["open_page"]:
                open_browser(links[opens])

        serve(app, socket, ready=ready)
    output.remark(kept())


def _print_links(output: Output, links: Mapping[str, str]) -> None:
    if output.as_json:
        output.unmasked(json.dumps({"links": dict(links)}))
    else:
        width = max(map(len, links))
        for role, url in links.items():
            output.unmasked(f"{role:<{width}}  {url}")
    output.remark("Ctrl-C stops it")
