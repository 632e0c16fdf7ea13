"""Where the images of a page may come from: a folder that we serve, or hosts that are named. I/O.

A catalogue holds addresses that others wrote. A page that loaded them would tell each of those
hosts who looks at what, and when: so none is loaded unless the owner named its host.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse

from relgate.rubrics.errors import InputError, UsageError

__all__ = ["IMAGE_PATH", "Images"]

IMAGE_PATH = "/images/"

_TYPES = {
    ".avif": "image/avif", ".gif": "image/gif", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
    ".png": "image/png", ".webp": "image/webp",
}  # fmt: skip
_HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Images:
    """What a page may show.

    Attributes:
        folder: image files, served by us under `IMAGE_PATH`; None for none.
        hosts: hosts that images may be loaded from over https, `img.example.com` or
            `*.example.com`.
    """

    folder: Path | None = None
    hosts: tuple[str, ...] = ()

    @classmethod
    def allowed(cls, folder: Path | None, hosts: Sequence[str]) -> Images:
        """The images that flags allow.

        Raises:
            InputError: the folder is none.
            UsageError: a host that is no plain host name.
        """
        if folder is not None and not folder.is_dir():
            raise InputError("no such folder of images", path=folder, mend="check the path")
        for host in hosts:
            if not _HOST.fullmatch(host.lower()):
                raise UsageError(f"{host!r} is no host; name it like img.example.com")
        return cls(folder, tuple(host.lower() for host in hosts))

    @property
    def policy(self) -> str:
        """The sources of `img-src` in a content policy."""
        return " ".join(("'self'", *(f"https://{host}" for host in self.hosts)))

    def address(self, value: str) -> str | None:
        """What a page may load for an image of a catalogue, or None.

        Args:
            value: an https address, or the path of a file within the folder.
        """
        try:
            parts = urlsplit(value.strip())
            host = parts.hostname or ""
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            allowed = parts.scheme == "https" and any(_matches(host, h) for h in self.hosts)
            return value.strip() if allowed else None
        name = value.strip()
        return None if self._file(name) is None else IMAGE_PATH + quote(name)

    async def serve(self, request: Request) -> FileResponse:
        """One file of the folder; nothing outside it, and nothing that is no image."""
        file = self._file(request.path_params["name"])
        if file is None:
            raise HTTPException(404, "no such image")
        return FileResponse(file, media_type=_TYPES[file.suffix.lower()])

    def _file(self, name: str) -> Path | None:
        if self.folder is None or not name:
            return None
        home = self.folder.resolve()
        try:
            path = (home / name).resolve()
            found = path.is_relative_to(home) and path.is_file()
        except (OSError, ValueError):  # a NUL, or a name too long
            return None
        return path if found and path.suffix.lower() in _TYPES else None


def _matches(host: str, allowed: str) -> bool:
    if allowed.startswith("*."):
        return host.endswith(allowed[1:])
    return host == allowed
