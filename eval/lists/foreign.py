"""Judgment lists as the text that other tools read. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from relgate.eval.lists.columns import fold
from relgate.eval.lists.jsontext import Json
from relgate.eval.lists.loss import Part, left_out, refuse_id, text_keys
from relgate.eval.lists.quepid_book import ANONYMOUS
from relgate.eval.lists.table import cell
from relgate.eval.lists.types import Judgment, JudgmentList
from relgate.rubrics.errors import InputError

__all__ = ["FOREIGN_FORMATS", "Target", "foreign_text"]

_RUN_BY_SHEETS = re.compile(r"[-=+@]")
_SPACED = re.compile(r" [-=+@]")
_LTR_ID = re.compile(r"[ \t\r\n\f\v#]")
_LTR_DOC = re.compile(r"[\t\r\n]")
_LINE_END = re.compile(r"[\r\n]")
_HOLE = "{{query}}"


@dataclass(frozen=True, slots=True)
class Target:
    """What a format states that a judgment list does not hold.

    Attributes:
        name: the list's name.
        index: the concrete index of the documents, for `rank-eval-request` and `rre`.
        case_id: the Quepid case that ratings are imported into; without it `quepid-ratings` is
            the export form.
        search: the search body of `rank-eval-request`, with `{{query}}` where the text goes.
    """

    name: str = "judgments"
    index: str | None = None
    case_id: int | None = None
    search: Mapping[str, Json] | None = None


def foreign_text(
    judgments: JudgmentList, file_format: str, path: str | Path, target: Target
) -> tuple[str, tuple[str, ...]]:
    """The list as text, and what of it the format could not carry, a line each.

    Args:
        judgments: the list.
        file_format: one of `FOREIGN_FORMATS`.
        path: the file it is for, for messages.
        target: what the format states besides.

    Raises:
        InputError: an id or text that would not come back, or a missing part of `target`.
    """
    write, keeps = _WRITERS[file_format]
    return write(judgments, path, target), left_out(judgments, file_format, keeps=keeps)


def _by_query(judgments: JudgmentList) -> list[list[Judgment]]:
    rows: list[list[Judgment]] = [list[Judgment]() for _ in judgments.queries]
    places: list[int] = judgments.query.tolist()
    for query, row in zip(places, judgments.rows(), strict=True):
        rows[query].append(row)
    return rows


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _opensearch(judgments: JudgmentList, path: str | Path, target: Target) -> str:
    texts = text_keys(judgments, "opensearch", path)
    ratings = [
        {"query": text, "ratings": [{"docId": r.doc_id, "rating": f"{r.grade}.000"} for r in rows]}
        for text, rows in zip(texts, _by_query(judgments), strict=True)
    ]
    head = {"name": target.name, "description": "", "type": "IMPORT_JUDGMENT"}
    return _json(head | {"judgmentRatings": ratings})


def _rre(judgments: JudgmentList, path: str | Path, target: Target) -> str:
    texts = text_keys(judgments, "rre", path)
    queries = [
        {
            "placeholders": {"$query": text},
            "relevant_documents": {row.doc_id: {"gain": row.grade} for row in rows},
        }
        for text, rows in zip(texts, _by_query(judgments), strict=True)
    ]
    head = {"id_field": "id", "index": _index(target, path), "template": "template.json"}
    return _json(head | {"queries": queries})


def _index(target: Target, path: str | Path) -> str:
    if not target.index:
        raise InputError(
            "the format names the index of the documents, and none is given",
            path=path,
            mend="give it with --index; the concrete one, not an alias",
        )
    return target.index


def _rank_eval(judgments: JudgmentList, path: str | Path, target: Target) -> str:
    if target.search is None or _HOLE not in json.dumps(target.search):
        raise InputError(
            f"a _rank_eval request runs a search, and none with {_HOLE} in it is given",
            path=path,
            mend="give its body with --search",
        )
    index = _index(target, path)
    texts = text_keys(judgments, "rank-eval-request", path)
    requests = [
        {
            "id": query.id,
            "template_id": "search",
            "params": {"query": text},
            "ratings": [{"_index": index, "_id": r.doc_id, "rating": r.grade} for r in rows],
        }
        for query, text, rows in zip(judgments.queries, texts, _by_query(judgments), strict=True)
    ]
    return _json(
        {
            "requests": requests,
            "templates": [{"id": "search", "template": {"source": dict(target.search)}}],
            "metric": {"dcg": {"k": 10, "normalize": True}},
        }
    )


def _quepid_ratings(judgments: JudgmentList, path: str | Path, target: Target) -> str:
    texts = text_keys(judgments, "quepid-ratings", path)
    rows = zip(texts, _by_query(judgments), strict=True)
    if target.case_id is None:
        queries = [
            {"query": t, "ratings": {r.doc_id: float(r.grade) for r in rs}} for t, rs in rows
        ]
        return _json({"queries": queries})
    ratings = [
        {"query_text": text, "doc_id": row.doc_id, "rating": row.grade}
        for text, found in rows
        for row in found
    ]
    bare = len(judgments.queries) - len(set(judgments.query.tolist()))
    if bare:
        raise InputError(
            f"an import into a Quepid case cannot carry {bare} queries without a judgment",
            path=path,
            mend="leave --case-id out, or write quepid-csv",
        )
    return _json({"case_id": target.case_id, "ratings": ratings})


def _book(judgments: JudgmentList, path: str | Path, target: Target) -> str:
    texts = text_keys(judgments, "quepid-book", path)
    pairs = [
        {"query_text": text, "doc_id": row.doc_id, "judgements": [_judgement(row)]}
        for text, rows in zip(texts, _by_query(judgments), strict=True)
        for row in rows
    ]
    scale = list(range(judgments.scale.max_grade + 1))
    return _json({"name": target.name, "scale": scale, "query_doc_pairs": pairs})


def _judgement(row: Judgment) -> dict[str, object]:
    return {
        "rating": float(row.grade),
        "unrateable": False,
        "judge_later": False,
        "user_email": row.provenance.rater,
        "explanation": row.reason,
    }


def _spaced(text: str, name: str, path: str | Path) -> str:
    """A cell as Quepid writes it: a blank ahead of what a spreadsheet would run."""
    if _SPACED.match(text):
        raise refuse_id(name, "text", text, "reading takes its first blank off", path)
    return cell(" " + text if _RUN_BY_SHEETS.match(text) else text)


def _quepid_csv(judgments: JudgmentList, path: str | Path, _: Target) -> str:
    texts = text_keys(judgments, "quepid-csv", path)
    lines = ["query,docid,rating"]
    for text, rows in zip(texts, _by_query(judgments), strict=True):
        query = _spaced(text, "quepid-csv", path)
        lines += [f"{query},{_spaced(r.doc_id, 'quepid-csv', path)},{r.grade}.0" for r in rows]
        lines += [] if rows else [f"{query},,"]
    return "\n".join(lines)


def _book_csv(judgments: JudgmentList, path: str | Path, _: Target) -> str:
    name = "quepid-book-csv"
    texts = text_keys(judgments, name, path)
    used = [
        o.rater for o, n in zip(judgments.origins, judgments.counts_by_origin(), strict=True) if n
    ]
    raters: dict[str | None, str] = {}
    for rater in dict.fromkeys(used or [None]):
        shown = ANONYMOUS if rater is None else rater
        if not shown or rater == ANONYMOUS or fold(shown) in map(fold, raters.values()):
            raise refuse_id(name, "rater", shown, "another column has that name, or none has", path)
        raters[rater] = shown
    header = [_spaced(shown, name, path) for shown in raters.values()]
    lines = [",".join(["query", "docid", *header])]
    for text, rows in zip(texts, _by_query(judgments), strict=True):
        query = _spaced(text, name, path)
        for row in rows:
            cells = [f"{row.grade}.0" if r == row.provenance.rater else "" for r in raters]
            lines.append(",".join([query, _spaced(row.doc_id, name, path), *cells]))
        lines += [] if rows else [query + "," * (len(raters) + 1)]
    return "\n".join(lines)


def _ltr(judgments: JudgmentList, path: str | Path, _: Target) -> str:
    heads = [f"# qid:{q.id}: {q.text}*1\n" for q in judgments.queries if q.text]
    return "".join(heads) + "\n" + "".join(_ltr_rows(judgments, path))


def _ltr_rows(judgments: JudgmentList, path: str | Path) -> Iterator[str]:
    for query in judgments.queries:
        if _LTR_ID.search(query.id):
            raise refuse_id("ltr", "query id", query.id, "it holds a blank or #", path)
        if query.text and _LINE_END.search(query.text):
            raise refuse_id("ltr", "query", query.text, "it holds the end of a line", path)
    for row in judgments.rows():
        if _LTR_DOC.search(row.doc_id):
            raise refuse_id("ltr", "document id", row.doc_id, "it holds a tab or line end", path)
        yield f"{row.grade}\tqid:{row.query.id}\t# {row.doc_id}\t{row.query.text or ''}\n"


_Writer = Callable[[JudgmentList, str | Path, Target], str]
_WRITERS: Mapping[str, tuple[_Writer, tuple[Part, ...]]] = MappingProxyType(
    {
        "ltr": (_ltr, ("bare", "ids", "texts")),
        "opensearch": (_opensearch, ("bare", "texts")),
        "quepid-book": (_book, ("texts", "raters", "reasons")),
        "quepid-book-csv": (_book_csv, ("bare", "texts", "raters")),
        "quepid-csv": (_quepid_csv, ("bare", "texts")),
        "quepid-ratings": (_quepid_ratings, ("bare", "texts")),
        "rank-eval-request": (_rank_eval, ("bare", "ids", "texts")),
        "rre": (_rre, ("bare", "texts")),
    }
)

FOREIGN_FORMATS: tuple[str, ...] = tuple(_WRITERS)
"""The formats that `foreign_text` writes."""
