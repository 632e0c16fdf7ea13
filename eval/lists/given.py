"""A judgment list out of dictionaries in memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.ids import Ids
from relgate.eval.lists.types import JudgmentList, Provenance, Query, Scale, Source
from relgate.rubrics.errors import InputError

__all__ = ["list_of_grades"]


def list_of_grades(
    grades: Mapping[str, Mapping[str, int]],
    *,
    scale: Scale,
    provenance: Provenance | None = None,
) -> JudgmentList:
    """The list in `{query id: {document id: grade}}`, which is copied.

    Args:
        grades: whole numbers; queries without documents are listed.
        scale: what they lie on.
        provenance: where they come from; None is an import.

    Raises:
        InputError: an empty id, a grade off the scale or no whole number, or ids that are one in
            Unicode NFC with two grades.
    """
    origin = Provenance(Source.IMPORT) if provenance is None else provenance
    docs = Ids.of(tuple(chain.from_iterable(grades.values())))
    values = list(chain.from_iterable(own.values() for own in grades.values()))
    for kind in set(map(type, values)) - {int}:
        query, doc = next((q, d) for q, own in grades.items() for d in own if type(own[d]) is kind)
        raise InputError(
            f"the grade of document {doc!r} of query {query!r} is a {kind.__name__}",
            mend="use whole numbers",
        )
    simple = docs.plain_texts is not None and "".join(grades).isascii() and "" not in grades
    if not simple or any("" in own for own in grades.values()) or not _on_scale(values, scale):
        return _careful(grades, scale, origin)
    counts = np.fromiter(map(len, grades.values()), np.int64, len(grades))
    return JudgmentList(
        scale=scale,
        queries=tuple(map(Query, grades)),
        query=np.repeat(np.arange(len(grades), dtype=np.int32), counts),
        doc_id=docs,
        grade=np.array(values, np.int16),
        origins=(origin,),
        origin=np.zeros(len(values), np.int32),
        given=tuple(map(dict, grades.values())),
    )


def _on_scale(values: list[int], scale: Scale) -> bool:
    return not values or (min(values) >= 0 and max(values) <= scale.max_grade)


def _careful(
    grades: Mapping[str, Mapping[str, int]], scale: Scale, provenance: Provenance
) -> JudgmentList:
    builder = ListBuilder(scale)
    for query_id, own in grades.items():
        query = Query(query_id)
        builder.add_query(query)
        for doc_id, grade in own.items():
            builder.add(query, doc_id, grade, provenance)
    return builder.build()
