"""Notices what is odd but readable in ids and texts, so that it is said and not hidden. Pure."""

from __future__ import annotations

import re
from math import inf

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
        self._firsts: dict[str, tuple[float, str]] = {}
        self._seen: dict[str, bool] = {}  # and whether it is odd
        self._said: set[tuple[str, str]] = set()

    def add(self, what: str, value: str, *, line: int | None = None) -> None:
        """Counts one `what`; `value` and its line are shown for the first in the file."""
        self._counts[what] = self._counts.get(what, 0) + 1
        place, at = ("", inf) if line is None else (f", line {line}", float(line))
        known = self._firsts.get(what)
        if known is None or at < known[0]:
            self._firsts[what] = at, f"{value!r}{place}"

    def once(self, what: str, value: str) -> None:
        """As `add`, but the second time it counts no more."""
        if (what, value) not in self._said:
            self._said.add((what, value))
            self.add(what, value)

    def look(self, value: str, *, line: int | None = None) -> None:
        """Notices what is odd about an id or a query text; each text is looked at once."""
        if value in self._seen:
            return
        found = oddities(value)
        self._seen[value] = bool(found)
        for what in found:
            self.add(_NOTED[what], value, line=line)

    def let_go(self) -> None:
        """Forgets the texts that were in order, of which there may be many."""
        self._seen = {value: odd for value, odd in self._seen.items() if odd}

    def lines(self) -> tuple[str, ...]:
        """One line a kind, in the order of first appearance."""
        return tuple(
            f"{count} {what} (first: {self._firsts[what][1]})"
            for what, count in self._counts.items()
        )
