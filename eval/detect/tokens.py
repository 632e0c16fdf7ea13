"""A line of configuration as keys and values, and what it stands in. Pure.

Only lines of a diff are at hand, never the whole file: what encloses a line is read from the
indentation of the lines before it in its hunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Pair", "Reader"]

_QUOTED = re.compile(r"""["']([\w.\-]+)["']\s*:\s*(\[[^\]]*\]?|\{|"(?:[^"\\]|\\.)*"|[^,}\]]*)""")
_BARE = re.compile(r"^\s*(?:-\s+)?([A-Za-z_][\w.\-]*)\s*:(?:\s+(.*)|\s*)$")
_EQUALS = re.compile(r"^\s*([A-Za-z_][\w.\-]*)\s*=\s*(.*)$")
_PARAMETER = re.compile(r"(?:^|[?&\s])([a-zA-Z][\w.]*)=([^&\s]*)")
_BLOCK = re.compile(r"^\s*([A-Za-z][\w\-]*)((?:\s+[^{\s]+)*)\s*\{\s*$")
_TAG = re.compile(r"<([A-Za-z][\w:.\-]*)((?:\s+[\w:.\-]+\s*=\s*\"[^\"]*\")*)\s*/?>?([^<]*)")
_ATTRIBUTE = re.compile(r'([\w:.\-]+)\s*=\s*"([^"]*)"')
_COMMENT = re.compile(r"^\s*(#|//|<!--|;|/\*|\*)")
_CODE = re.compile(r"\.(py|js|ts|java|kt|rb|go|php|scala|cs)$")
_EQUALS_FILE = re.compile(r"\.(properties|conf|cfg|ini|toml|env)$")

# Solr's `<field>` declares one; `field` in a query only names one.
_RENAMED = {"field": "schemaField"}

# Solr's parameters: the name is the key.
_NAMED = frozenset({"str", "int", "bool", "float", "lst", "arr"})


@dataclass(frozen=True, slots=True)
class Pair:
    """A key with its value, and the keys it stands in, outermost first.

    A line without a key of its own (an entry of a list) has the key it stands in, twice over.
    """

    path: tuple[str, ...]
    key: str
    value: str


class Reader:
    """Reads the lines of one side of a hunk in order, keeping what they stand in."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[tuple[int, str]] = []

    def read(self, line: str) -> list[Pair]:
        """The pairs of the next line; none for a blank line or a comment."""
        text = line.rstrip("\r\n")
        if not text.strip() or _COMMENT.match(text):
            return []
        indent = len(text) - len(text.lstrip())
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()
        path = tuple(key for _, key in self._open)
        found = list(_of_line(text, self._file))
        pairs = list(_nested(found, path))
        for key, value in found[-1:] if len(found) == 1 else found[:1]:
            if _opens(text, value, self._file):
                self._open.append((indent, key))
        if not pairs and path and text.strip(" \t,[]{}()"):
            pairs = [Pair(path, path[-1], text.strip(" \t,"))]
        return pairs


def _nested(found: Iterable[tuple[str, str]], path: tuple[str, ...]) -> Iterator[Pair]:
    """Keys of one line: those before stand around, as in `{"hnsw": {"m": 16}}`."""
    around = path
    for dotted, value in found:
        *outer, key = dotted.split(".")
        yield Pair((*around, *outer), key, value.strip(" \t,"))
        around = (*around, *outer, key)


def _opens(text: str, value: str, file: str) -> bool:
    """Whether lines further in stand in this one."""
    bare = value.strip(" \t,")
    if file.endswith((".xml",)):
        return "</" not in text and "/>" not in text
    return bare in {"", "{", "[", "|", ">"} or text.rstrip().endswith(("{", "[", "("))


def _of_line(text: str, file: str) -> Iterator[tuple[str, str]]:
    if file.endswith(".xml"):
        yield from _of_xml(text)
    elif _EQUALS_FILE.search(file) and (match := _EQUALS.match(text)):
        yield match[1], match[2]
    elif (quoted := _QUOTED.findall(text)) or _CODE.search(file):
        yield from quoted
    elif match := _BLOCK.match(text):
        yield match[1], f"{match[2].strip()} {{" if match[2].strip() else "{"
    elif match := _BARE.match(text):
        yield match[1], match[2] or ""
        yield from _PARAMETER.findall(match[2] or "")
    else:
        yield from _PARAMETER.findall(text)


def _of_xml(text: str) -> Iterator[tuple[str, str]]:
    for tag, attributes, content in _TAG.findall(text):
        given: dict[str, str] = dict(_ATTRIBUTE.findall(attributes))
        name = given.pop("name", None) if tag in _NAMED else _RENAMED.get(tag)
        yield name or str(tag), content.strip()
        yield from given.items()
        yield from _PARAMETER.findall(content)
