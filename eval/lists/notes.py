"""Notices what is odd but readable in ids and texts, so that it is said and not hidden. Pure."""

from __future__ import annotations

import re

__all__ = ["Notes", "oddities"]

_MANGLED = re.compile(r"[0-9]+(?:[.,][0-9]+)?E\+[0-9]+")
_INVISIBLE = re.compile("[\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_CONTROL = re.compile("[\x00-\x1f\x7f]")


_NOTED = {
    "looks mangled": "id(s) look mangled by a spreadsheet; kept as they are",
    "outer blanks": "text(s) begin or end with a blank; kept as they are",
    "invisible characters": "text(s) hold invisible characters; kept as they are",
    "control characters": "text(s) hold control characters; kept as they are",
}


def oddities(value: str) -> list[str]:
    """What is odd about an id or a query text, by the names that `Notes` explains."""
    found: list[str] = []
    if "E+" in value and _MANGLED.fullmatch(value):
        found.append("looks mangled")
    if value != value.strip():
        found.append("outer blanks")
    elif not (value.isascii() and value.isprintable()):
        if _INVISIBLE.search(value):
            found.append("invisible characters")
        if _CONTROL.search(value):
            found.append("control characters")
    return found


class Notes:
    """Counts each kind of oddity and remembers the first, for one line of output each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._firsts: dict[str, str] = {}
        self._seen: set[str] = set()

    def add(self, what: str, value: str, *, line: int | None = None) -> None:
        """Counts one `what`; `value` and its line are shown for the first."""
        self._counts[what] = self._counts.get(what, 0) + 1
        place = "" if line is None else f", line {line}"
        self._firsts.setdefault(what, f"{value!r}{place}")

    def look(self, value: str, *, line: int | None = None) -> None:
        """Notices what is odd about an id or a query text; each text is looked at once."""
        if value in self._seen:
            return
        self._seen.add(value)
        for what in oddities(value):
            self.add(_NOTED[what], value, line=line)

    def lines(self) -> tuple[str, ...]:
        """One line a kind, in the order of first appearance."""
        return tuple(
            f"{count} {what} (first: {self._firsts[what]})" for what, count in self._counts.items()
        )
