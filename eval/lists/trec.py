"""TREC qrels: `query iteration document grade`, split at ASCII blanks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from relgate.eval.lists.clean import clean_qrels
from relgate.eval.lists.jsontext import Content
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.rubrics.errors import InputError

__all__ = ["looks_like_qrels", "read_qrels", "trec_lines"]

_FIELD = re.compile(r"[^ \t\r\f\v]+")  # ASCII blanks only: str.split() cuts at a no-break space
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")
_FIELDS = 4


def trec_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each line number (from 1) with its fields; blank lines are passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        fields: list[str] = _FIELD.findall(line)
        if fields:
            yield number, fields


def looks_like_qrels(content: Content) -> bool:
    """Whether the first line has four fields, the last a number."""
    for _, fields in trec_lines(content.head):
        return len(fields) == _FIELDS and _NUMBER.fullmatch(fields[3]) is not None
    return False


def read_qrels(content: Content, options: Options) -> ListFile:
    """A judgment list from TREC qrels; float grades such as `3.0` are read.

    Raises:
        InputError: a line without four fields, a negative grade, or any other fault, with its line.
    """
    clean = clean_qrels(content.raw, options)
    if clean is not None:
        return ListFile(clean, "trec", content.path, 0, 0, 0, ())
    sink = Sink(options, content.path)
    for line, fields in trec_lines(content.text):
        if len(fields) != _FIELDS:
            raise InputError(
                f"{len(fields)} fields, not 4 (query, iteration, document, grade)",
                path=content.path,
                line=line,
                mend="ids may hold no blank; use CSV for ids that do",
            )
        sink.add({"query_id": fields[0], "doc_id": fields[2], "grade": fields[3]}, line=line)
    return sink.finish("trec")
