"""Durable keys: documents named by a URL or an external id, resolved to their live ids. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import JudgmentList, match_key
from relgate.rubrics.errors import InputError

__all__ = ["Relocated", "relocate"]


@dataclass(frozen=True, slots=True)
class Relocated:
    """A list under live ids, and the keys of it that no document has any more."""

    judgments: JudgmentList
    unresolved: tuple[str, ...]


def relocate(judgments: JudgmentList, ids_by_key: Mapping[str, tuple[str, ...]]) -> Relocated:
    """The list with each key replaced by the live id; rows of unresolved keys are left out.

    Args:
        judgments: a list whose document ids are keys.
        ids_by_key: {match_key(key): ids of the documents that have it}.

    Raises:
        InputError: a key of several documents, or two keys of one document graded differently.
    """
    builder = ListBuilder(judgments.scale)
    unresolved: dict[str, None] = {}
    for query in judgments.queries:
        builder.add_query(query)
    for row in judgments.rows():
        ids = ids_by_key.get(match_key(row.doc_id), ())
        if len(ids) > 1:
            raise InputError(
                f"{len(ids)} documents have the key {row.doc_id!r}: "
                f"{', '.join(map(repr, ids[:3]))}",
                mend="use a field that tells them apart",
            )
        if not ids:
            unresolved.setdefault(row.doc_id)
            continue
        builder.add_row(replace(row, doc_id=ids[0]))
    return Relocated(builder.build(), tuple(unresolved))
