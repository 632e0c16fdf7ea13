"""What a format cannot carry: refused where it would change the list, else counted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from relgate.eval.lists.types import JudgmentList, Provenance, Source, match_key
from relgate.rubrics.errors import InputError

__all__ = ["Part", "left_out", "refuse_id", "text_keys"]

Part = Literal["bare", "ids", "texts", "raters", "reasons"]
"""What some formats have a place for: queries without a judgment, by text; ids; texts ..."""


def left_out(judgments: JudgmentList, name: str, *, keeps: Sequence[Part]) -> tuple[str, ...]:
    """What of a list a format called `name` has no place for, a line each.

    Args:
        judgments: the list.
        name: the format, for the lines.
        keeps: what it has a place for besides pairs and grades.
    """
    plain = Provenance(Source.IMPORT)
    judged = set(judgments.query.tolist())
    bare = [
        query
        for place, query in enumerate(judgments.queries)
        if place not in judged and not ("bare" in keeps and query.text)
    ]
    named = [q for q in judgments.queries if q.text is not None and q.text != q.id]
    origins = [
        replace(origin, rater=None) if "raters" in keeps else origin for origin in judgments.origins
    ]
    used = judgments.counts_by_origin()
    counted = (
        (len(bare), "queries without a judgment"),
        (0 if "ids" in keeps else len(named), "query ids"),
        (0 if "texts" in keeps else len(named), "query texts"),
        (sum(o != plain and n > 0 for o, n in zip(origins, used, strict=True)),
         "kinds of provenance"),
        (0 if "reasons" in keeps else sum(r is not None for r in judgments.reason or ()),
         "reasons"),
        (sum(h is not None for h in judgments.text_hash or ()), "text hashes"),
    )  # fmt: skip
    return tuple(f"not in {name}: {n} {what}" for n, what in counted if n)


def text_keys(judgments: JudgmentList, name: str, path: str | Path) -> list[str]:
    """The text of each query, for a format that knows queries by their texts.

    Raises:
        InputError: a query without a text, or two queries with one text.
    """
    missing = [query.id for query in judgments.queries if not query.text]
    if missing:
        raise InputError(
            f"{name} knows queries by their texts, and {len(missing)} have none "
            f"(first: {missing[0]!r})",
            path=path,
            mend="give the texts with --queries",
        )
    texts = [query.text or "" for query in judgments.queries]
    seen: set[str] = set()
    for text in texts:
        if match_key(text) in seen:
            raise InputError(
                f"{name} knows queries by their texts, and two have the text {text!r}",
                path=path,
                mend="write csv or jsonl",
            )
        seen.add(match_key(text))
    return texts


def refuse_id(name: str, what: str, text: str, why: str, path: str | Path) -> InputError:
    """The error for a text that a format would not give back."""
    return InputError(
        f"{name} cannot carry the {what} {text!r}: {why}", path=path, mend="write csv or jsonl"
    )
