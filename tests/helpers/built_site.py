"""The documentation site, built once a test run; what is in its pages."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Parts(HTMLParser):
    """Ids and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.ids.add(value)
            if name in {"href", "src"} and value:
                self.addresses.append((tag, value))


@dataclass
class Site:
    """A built site.

    Attributes:
        folder: where its pages are.
        code: what the build ended with.
        said: its warnings.
    """

    folder: Path
    code: int
    said: str
    _pages: dict[Path, Parts] = field(default_factory=dict)

    def parts(self, page: Path) -> Parts:
        if page not in self._pages:
            self._pages[page] = Parts()
            self._pages[page].feed(page.read_text("utf-8"))
        return self._pages[page]

    def pages(self) -> list[Path]:
        return sorted(self.folder.rglob("*.html"))

    def addresses(self) -> list[tuple[Path, str, str]]:
        """Page, tag, address."""
        return [(page, *found) for page in self.pages() for found in self.parts(page).addresses]

    def has(self, page: Path, fragment: str) -> bool:
        """Whether a page is there, and the place in it that is meant."""
        return page.is_file() and (
            not fragment or page.suffix != ".html" or fragment in self.parts(page).ids
        )

    def broken(self) -> list[str]:
        """Links inside the site that lead nowhere."""
        out = []
        for page, _, address in self.addresses():
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not self.has(target, unquote(parts.fragment)):
                out.append(f"{page.relative_to(self.folder)}: {address}")
        return out


def build_site(sources: Path, root: Path, out: Path) -> Site:
    """A site of `sources` on the terms of the project in `root`: a warning is a failure."""
    done = subprocess.run(  # noqa: S603 - our own site
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", root / "docs", "-b",
         "html", "-d", out / "trees", sources, out / "html"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return Site(out / "html", done.returncode, done.stderr)


@cache
def whole_site(root: Path) -> Site:
    """The site of the repository, as `make site` builds it."""
    out = Path(tempfile.mkdtemp(prefix="relgate-site-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    return build_site(root, root, out)
