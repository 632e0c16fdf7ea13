"""From a reply to one row a candidate. Never raises, whatever came. Pure.

A reply is searched for JSON values. A value that holds rows (an object with a `grades` list, a
list of rows, a list nested once) is a block; rows standing alone, as a cut-off reply leaves them,
form a block together. The last block counts: a model that thinks aloud concludes at the end.
Each row stands alone: one that cannot be read does not touch its neighbours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from relgate.judge.prompt import one_line
from relgate.judge.types import GenerateReply, GradeError
from relgate.rubrics import Label, Rubric

__all__ = ["MAX_REASON_CHARS", "ParsedReply", "ParsedRow", "parse_reply"]

MAX_REASON_CHARS = 240

# A reply of some thousand rows is far smaller; past this, or past so many characters scanned in
# vain, the text is not a reply.
_MAX_REPLY_CHARS = 1_000_000
_MAX_SCANNED_CHARS = 4_000_000
_DECODER = json.JSONDecoder()
_OPENING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """One candidate's row: a label and a reason, or an error."""

    label: Label | None
    reason: str = ""
    error: GradeError | None = None


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """Rows in the order of the references, and how many rows named something never asked."""

    rows: tuple[ParsedRow, ...]
    unknown_ids: int = 0


def parse_reply(reply: GenerateReply, refs: Sequence[str], rubric: Rubric) -> ParsedReply:
    """One row for each of `refs`, in their order.

    A row needs a reference that was shown and a label of the rubric. Two rows that give one
    reference different labels leave it ungraded. What is missing gets the reason why: truncated
    or blocked as the finish reason says, unreadable when nothing could be read, else missing.
    """
    block = _last_block(reply)
    absent = _absence(reply, block)
    known = set(refs)
    found: dict[str, ParsedRow] = {}
    unknown = 0
    for raw in block:
        ref = _reference(raw.get("id"))
        if ref is None or ref not in known:
            unknown += 1
            continue
        row = _row(raw, rubric)
        old = found.get(ref)
        found[ref] = row if old is None or old.label == row.label else _UNREADABLE
    rows = tuple(found.get(ref, ParsedRow(None, error=absent)) for ref in refs)
    return ParsedReply(rows, unknown)


_UNREADABLE = ParsedRow(None, error=GradeError.UNREADABLE)


def _absence(reply: GenerateReply, block: Sequence[object]) -> GradeError:
    named = {
        "length": GradeError.TRUNCATED,
        "blocked": GradeError.BLOCKED,
        "refused": GradeError.REFUSED,
    }.get(reply.finish_reason)
    if named is not None:
        return named
    return GradeError.MISSING if block else GradeError.UNREADABLE


def _reference(value: object) -> str | None:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return _digits(value)
    return None


def _digits(value: int) -> str | None:
    try:
        return str(value)
    except ValueError:  # more digits than Python converts: no reference of ours
        return None


def _row(raw: Mapping[str, Any], rubric: Rubric) -> ParsedRow:
    value = raw.get(rubric.label_field)
    text = value if isinstance(value, str) else _reference(value)
    label = None if text is None else rubric.label_of(text)
    if label is None:
        return _UNREADABLE
    reason = raw.get("reason")
    return ParsedRow(label, one_line(reason, MAX_REASON_CHARS) if isinstance(reason, str) else "")


def _last_block(reply: GenerateReply) -> Sequence[Mapping[str, Any]]:
    if reply.data is not None:
        rows = _rows_of(reply.data)
        return rows if rows is not None else []
    last: list[Mapping[str, Any]] = []
    alone = False
    for value in _json_values(reply.text or ""):
        if _is_row(value):
            if not alone:
                last, alone = [], True
            last.append(value)
        elif (rows := _rows_of(value)) is not None:
            last, alone = rows, False
    return last


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and "id" in value and "grades" not in value


def _rows_of(value: object) -> list[Mapping[str, Any]] | None:
    """The rows of a block, or None when `value` is not one."""
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value).get("grades")
        if not isinstance(inner, list):
            return None
        value = cast("list[object]", inner)
    if not isinstance(value, list):
        return None
    rows: list[Mapping[str, Any]] = []
    for item in cast("list[object]", value):
        for row in cast("list[object]", item) if isinstance(item, list) else [item]:
            if isinstance(row, list):
                return None
            if isinstance(row, dict):
                rows.append(cast("dict[str, Any]", row))
    return rows


def _json_values(text: str) -> Iterator[Any]:
    """Every JSON object or list that stands in `text`, left to right, none inside another.

    Where an outer value is cut off or malformed, the complete values inside it are found.
    """
    text = text[:_MAX_REPLY_CHARS]
    at = scanned = 0
    while scanned < _MAX_SCANNED_CHARS:
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        at = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            # The decoder read from `at`, and then counted the lines up to where it failed.
            scanned += error.pos - at + error.pos // 16 + 1
            at += 1
        except ValueError:  # a number of more digits than Python converts
            scanned += len(text) - at
            at += 1
        except RecursionError:
            return
        else:
            yield value
            at = end
