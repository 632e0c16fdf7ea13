"""The names that columns go by, and what their cells may hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from relgate.eval.lists.jsontext import Json
from relgate.eval.lists.types import Scale, Source
from relgate.rubrics.errors import InputError

__all__ = [
    "DOC_ID",
    "OPTIONAL",
    "QUERY_ID",
    "QUERY_TEXT",
    "fold",
    "grade_of",
    "is_list_header",
    "list_columns",
    "source_of",
]

QUERY_ID = ("query_id", "qid", "queryid", "topic_id")
QUERY_TEXT = ("query", "query_text", "querytext", "searchtext", "search_text", "keywords")
DOC_ID = ("doc_id", "docid", "doc", "product_id", "productid", "document_id", "documentid", "docno")
_GRADE = (
    "grade",
    "rating",
    "relevance",
    "label",
    "human",
    "esci_label",
    "llm_grade",
    "judgment",
    "judgement",
)
OPTIONAL = (
    "source",
    "rater",
    "judge_version",
    "fingerprint",
    "model",
    "certificate",
    "judged_at",
    "reason",
    "text_hash",
)
_WHOLE = re.compile(r"[+-]?[0-9]+(?:[.,]0*)?")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
_MAX_SHOWN = 12
_MAX_DIGITS = 18


def fold(name: str) -> str:
    """A column name without regard to case, outer blanks, inner blanks and hyphens."""
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def is_list_header(
    names: Sequence[str], grade_column: str | None = None, doc_column: str | None = None
) -> bool:
    """Whether `names` hold all the columns that a judgment list needs."""
    hits = _hits(names, grade_column, doc_column)
    return bool((hits["query"] or hits["query_id"]) and hits["doc_id"] and hits["grade"])


def list_columns(
    names: Sequence[str],
    *,
    grade_column: str | None,
    path: str | Path,
    line: int | None,
    doc_column: str | None = None,
) -> dict[str, str]:
    """Which column of a judgment list is what: `{doc_id, grade, query ...: name in the file}`.

    Args:
        names: the columns of the file.
        grade_column: the one that holds the grade, where there is more than one that may.
        path: the file, for messages.
        line: the header's line, for messages.
        doc_column: the one that holds the document, where it has a name of its own.

    Raises:
        InputError: a needed column is missing, or two columns would serve as one.
    """
    hits = _hits(names, grade_column, doc_column)
    for canonical, stated in (("grade", grade_column), ("doc_id", doc_column)):
        if stated is not None and not hits[canonical]:
            raise InputError(
                f"no column {stated!r}; found {_shown(names)}",
                path=path,
                line=line,
                mend="name the column as it stands in the header",
            )
    for canonical, columns in hits.items():
        if len(columns) > 1:
            raise _ambiguous(canonical, columns, path, line)
    found = {canonical: columns[0] for canonical, columns in hits.items() if columns}
    _check_needed(found, names, path, line)
    return found


def _hits(
    names: Sequence[str], grade_column: str | None, doc_column: str | None
) -> dict[str, list[str]]:
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in OPTIONAL}
    groups |= {"query_id": QUERY_ID, "query": QUERY_TEXT, "doc_id": DOC_ID, "grade": _GRADE}
    hits = {
        canonical: [name for name in names if fold(name) in accepted]
        for canonical, accepted in groups.items()
    }
    for canonical, stated in (("grade", grade_column), ("doc_id", doc_column)):
        if stated is not None:
            exact = [name for name in names if name == stated]
            hits[canonical] = exact or [name for name in names if fold(name) == fold(stated)]
    return hits


def _ambiguous(
    canonical: str, hits: Sequence[str], path: str | Path, line: int | None
) -> InputError:
    mend = "say which with --grade-column" if canonical == "grade" else "rename or drop one"
    return InputError(
        f"columns {_shown(hits)} may all be the {canonical}", path=path, line=line, mend=mend
    )


def _check_needed(
    found: Mapping[str, str], names: Sequence[str], path: str | Path, line: int | None
) -> None:
    missing: list[str] = []
    if "query" not in found and "query_id" not in found:
        missing.append(f"query ({'|'.join(QUERY_TEXT[:3] + QUERY_ID[:2])})")
    if "doc_id" not in found:
        missing.append(f"document ({'|'.join(DOC_ID[:4])})")
    if "grade" not in found:
        missing.append(f"grade ({'|'.join(_GRADE[:4])})")
    if missing:
        raise InputError(
            f"no column for the {', the '.join(missing)}; found {_shown(names)}",
            path=path,
            line=line,
            mend="rename the columns",
        )


def _shown(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _MAX_SHOWN else ""
    return ", ".join(repr(name[:40]) for name in names[:_MAX_SHOWN]) + more


def grade_of(
    value: Json, scale: Scale, *, pair: str, path: str | Path | None, line: int | None
) -> int | None:
    """The grade in a cell or a JSON value; None when it is blank.

    A whole number, also written `3.0`, a word of the scale, or one of the values that it maps. A
    word on a scale of numbers, a fraction, NaN and anything else are refused, never rounded.
    Whether the number lies on the scale is for the list builder to say.

    Args:
        value: the cell.
        scale: the list's scale.
        pair: the query and the document, for messages.
        path: the file, for messages.
        line: its line, for messages.

    Raises:
        InputError: not a grade.
    """
    text = "" if value is None else repr(value) if isinstance(value, float) else str(value)
    text = text.strip()
    if not text:
        return None
    if not isinstance(value, (bool, dict, list)):
        if text.upper() in scale.labels:
            return scale.labels[text.upper()]
        grade = _numbered(text, scale)
        if grade is not None:
            return grade
    raise InputError(
        f"{text[:40]!r} is no grade on the scale {scale.name} ({pair})",
        path=path,
        line=line,
        mend=_grade_mend(text, scale),
    )


def _numbered(text: str, scale: Scale) -> int | None:
    if len(text) > _MAX_DIGITS:
        return None
    if scale.values:
        known = _DECIMAL.fullmatch(text) is not None
        return scale.values.get(Decimal(text.replace(",", "."))) if known else None
    return int(re.split("[.,]", text)[0]) if _WHOLE.fullmatch(text) else None


def _grade_mend(text: str, scale: Scale) -> str:
    if text.upper() in {"E", "S", "C", "I"}:
        return "ESCI letters need --scale esci"
    if scale.values:
        return f"this scale reads {', '.join(map(str, scale.values))}; name another with --scale"
    if scale.labels:
        return f"use {', '.join(scale.labels)}, or 0 to {scale.max_grade}"
    return f"use a whole number from 0 to {scale.max_grade}, or name the scale with --scale"


def source_of(text: str, *, path: str | Path | None, line: int | None) -> Source:
    """Who made a judgment: `human`, `rule`, `import`, `judge`; `llm` is read as `judge`.

    Raises:
        InputError: another word.
    """
    word = text.strip().casefold()
    if word == "llm":
        return Source.JUDGE
    try:
        return Source(word)
    except ValueError as error:
        raise InputError(
            f"{text!r} is no source of judgments",
            path=path,
            line=line,
            mend="use human, rule, import or judge",
        ) from error
