"""JSON text to values, strictly, and a file's kind: a fault has its line. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from relgate.rubrics.errors import InputError

__all__ = [
    "MAX_DEPTH",
    "Content",
    "Json",
    "as_list",
    "as_object",
    "as_text",
    "content_of",
    "decode",
    "json_lines",
    "json_name",
    "parse_json",
]

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""What `json.loads` can give."""

MAX_DEPTH = 100
"""The deepest nesting of JSON that is read."""

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds, and what can be said of it at once.

    Attributes:
        path: the file.
        kind: one JSON value, one JSON object a line, or other text.
        raw: all of it in UTF-8, as `read_raw` gives it.
        value: the JSON value for kind `json`, else None.
    """

    path: str
    kind: Literal["json", "jsonl", "text"]
    raw: bytes
    value: Json
    _text: str | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All of it as text; made once.

        Raises:
            InputError: it is not UTF-8.
        """
        if self._text is None:
            object.__setattr__(self, "_text", decode(self.raw, self.path))
        return self._text or ""

    @property
    def head(self) -> str:
        """The first lines as text: enough to tell what they are lines of.

        Raises:
            InputError: the file is not UTF-8.
        """
        cut = self.raw.rfind(b"\n", 0, _HEAD_BYTES) + 1
        begun = self.raw[:cut]
        if len(self.raw) <= _HEAD_BYTES or not begun.strip() or not begun.isascii():
            return self.text
        return begun.decode()

    @property
    def header_text(self) -> str:
        """Enough of the text to open a table: the head, or all where a quote may hold line ends.

        Raises:
            InputError: as `head`.
        """
        return self.text if b'"' in self.raw else self.head


def decode(raw: bytes, path: str | Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        InputError: it is not UTF-8.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}",
            path=path,
            line=raw.count(b"\n", 0, error.start) + 1,
            mend="save it as UTF-8",
        ) from error


def content_of(raw: bytes, path: str | Path) -> Content:
    """What kind of text a file holds, and its value when it is one JSON value.

    Raises:
        InputError: it begins as JSON and is not, as `parse_json`; or it is not UTF-8.
    """
    found = Content(str(path), "text", raw, None)
    body = found.head.lstrip()
    if body[:1] not in {"{", "["}:
        return found
    body = found.text.lstrip()
    first, _, rest = body.partition("\n")
    if body[0] == "{" and rest.strip() and _is_object(first):
        return replace(found, kind="jsonl")
    return replace(found, kind="json", value=parse_json(found.text, path))


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def json_lines(text: str, path: str | Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each line number (from 1) with its JSON object; blank lines are passed over.

    Raises:
        InputError: a line that is no JSON object, or as `read_json`.
    """
    # Only "\n" ends a line: str.splitlines would cut at U+2028 inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = parse_json(line, path, line=number)
        if not isinstance(value, dict):
            raise InputError(
                f"a JSON {json_name(value)}, not an object",
                path=path,
                line=number,
                mend="write one {...} a line",
            )
        yield number, value


def json_name(value: Json) -> str:
    """The word for a JSON value in a message: `list`, `text`, `number` ..."""
    match value:
        case None:
            return "null"
        case bool():
            return "true/false"
        case str():
            return "text"
        case list():
            return "list"
        case dict():
            return "object"
        case _:
            return "number"


def as_object(value: Json, where: str, path: str | Path | None) -> dict[str, Json]:
    """`value` as an object.

    Raises:
        InputError: it is something else; `where` says which part of the file it is.
    """
    if not isinstance(value, dict):
        raise _other(value, "object", where, path)
    return value


def as_list(value: Json, where: str, path: str | Path | None) -> list[Json]:
    """`value` as a list; errors as `as_object`."""
    if not isinstance(value, list):
        raise _other(value, "list", where, path)
    return value


def as_text(value: Json, where: str, path: str | Path | None) -> str:
    """An id or a query as text: text itself, or a whole number's digits.

    Raises:
        InputError: another type (a fraction has lost its digits already), nothing, or half a
            surrogate pair, which no file can hold.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _other(value, "text", where, path)
    if not value:
        raise InputError(f"{where} is empty", path=path, mend="fill it in, or drop the entry")
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise InputError(
            f"{where} holds half a surrogate pair: {value!r}", path=path, mend="mend the text"
        )
    return value


def _other(value: Json, want: str, where: str, path: str | Path | None) -> InputError:
    got = json_name(value)
    shown = "" if isinstance(value, (dict, list)) else f" ({str(value)[:40]!r})"
    return InputError(
        f"{where} is {got}{shown}, not {want}", path=path, mend="check the file's format"
    )


class _DuplicateNameError(Exception):
    def __init__(self, name: str) -> None:
        self.name = name


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _DuplicateNameError(name)
            seen.add(name)
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def parse_json(text: str, path: str | Path | None = None, *, line: int | None = None) -> Json:
    """The value of a JSON text. NaN and Infinity are let through: rules deal with them.

    Args:
        text: the JSON.
        path: the file, for messages.
        line: the line of the file that `text` is, when it is one line of several.

    Raises:
        InputError: not JSON, cut short, nested deeper than `MAX_DEPTH`, a number too long to
            read, or a name twice in one object.
    """
    try:
        return _checked(text, path, line)
    except json.JSONDecodeError as error:
        raise _not_json(text, error, path, line) from error
    except RecursionError as error:
        raise _too_deep(path, line) from error
    except _DuplicateNameError as error:
        raise InputError(
            f"the name {error.name!r} stands twice in one JSON object",
            path=path,
            line=_second_line(text, error.name) if line is None else line,
            mend="keep one of the two",
        ) from error
    except ValueError as error:  # a whole number of more digits than Python reads
        raise InputError(
            "a number is too long to read", path=path, line=line, mend="write it as text"
        ) from error


def _checked(text: str, path: str | Path | None, line: int | None) -> Json:
    value: Json = _DECODER.decode(text)
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth_exceeded(value):
        raise _too_deep(path, line)
    return value


def _not_json(
    text: str, error: json.JSONDecodeError, path: str | Path | None, line: int | None
) -> InputError:
    short = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    what = "the JSON ends too early" if short else f"not JSON: {error.msg}"
    return InputError(
        f"{what} (column {error.colno})",
        path=path,
        line=error.lineno if line is None else line,
        mend="export it again",
    )


def _too_deep(path: str | Path | None, line: int | None) -> InputError:
    return InputError(
        f"JSON nested deeper than the limit MAX_DEPTH ({MAX_DEPTH})",
        path=path,
        line=line,
        mend="flatten it",
    )


def _depth_exceeded(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, (dict, list))
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _second_line(text: str, name: str) -> int | None:
    """The line of the second `"name":`, when there are just two: else which one is not known."""
    found = [m.start() for m in re.finditer(re.escape(json.dumps(name)) + r"\s*:", text)]
    return text.count("\n", 0, found[1]) + 1 if len(found) == 2 else None  # noqa: PLR2004 - a pair
