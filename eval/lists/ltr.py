r"""SVMrank rows as learning-to-rank tools keep them: `3 qid:1 1:9.8 # p1 red shoes`. Pure.

The query texts stand in the rows, or ahead of them as `# qid:1: red shoes*1` (`*1` is a weight).
"""

from __future__ import annotations

import re

from relgate.eval.lists.jsontext import Content
from relgate.eval.lists.sink import ListFile, Options, Sink
from relgate.rubrics.errors import InputError

__all__ = ["looks_like_ltr", "read_ltr"]

_HEAD = re.compile(r"#[ \t]*qid:([^ \t]+?):[ \t](.*)")
_WEIGHT = re.compile(r"\*[0-9]+(?:\.[0-9]+)?\Z")
_ROW = re.compile(
    r"([^ \t#]+)[ \t]+qid:([^ \t#]+)((?:[ \t]+[^ \t#:]+:[^ \t#]+)*)[ \t]*(?:#[ \t]?(.*))?"
)


def looks_like_ltr(content: Content) -> bool:
    """Whether the first line is a header of a query, or a row."""
    for line in content.head.split("\n"):
        if line.strip():
            row = line.rstrip("\r")
            return bool(_HEAD.fullmatch(row) or _ROW.fullmatch(row))
    return False


def read_ltr(content: Content, options: Options) -> ListFile:
    """The grades; feature values and query weights are left out, and that is noted.

    Raises:
        InputError: a line of another shape, or a row whose comment names no document.
    """
    sink = Sink(options, content.path)
    for number, raw in enumerate(content.text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if head := _HEAD.fullmatch(line):
            _add_query(sink, head[1], head[2], number)
        elif row := _ROW.fullmatch(line):
            _add_row(sink, row, number)
        elif line.strip() and not line.lstrip().startswith("#"):
            raise InputError(
                "not a row of grade, qid, features and # document",
                path=content.path,
                line=number,
                mend="write it as: 3 qid:1 # p1",
            )
    return sink.finish("ltr")


def _add_query(sink: Sink, query_id: str, text: str, line: int) -> None:
    words = _WEIGHT.sub("", text)
    if words != text and not text.endswith("*1"):
        sink.notes.add("query weight(s) left out", text, line=line)
    sink.add({"query_id": query_id, "query": words}, line=line)


def _add_row(sink: Sink, row: re.Match[str], line: int) -> None:
    grade, query_id, features, comment = row.groups()
    if features:
        sink.notes.add("row(s) have features; left out", features.strip()[:40], line=line)
    doc_id, text = _named(comment or "")
    if not doc_id:
        raise InputError(
            "the row names no document",
            path=sink.path,
            line=line,
            mend="put it behind the row: # p1",
        )
    sink.add({"query_id": query_id, "query": text, "doc_id": doc_id, "grade": grade}, line=line)


def _named(comment: str) -> tuple[str, str | None]:
    """The document, and the query where it stands behind it: a tab parts them, else a blank."""
    doc_id, _, text = comment.partition("\t" if "\t" in comment else " ")
    return doc_id, text or None
