"""A judgment list out of dictionaries in memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.ids import Ids, in_nfc
from relgate.eval.lists.types import MAX_GIVEN, JudgmentList, Provenance, Query, Scale, Source
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
    given: list[dict[str, int]] = []
    plain = in_nfc(grades) and "" not in grades
    for own in grades.values():  # a dictionary at a time: its texts are looked at while at hand
        given.append(dict(own))
        plain = plain and "" not in own and in_nfc(own)
    values = list(chain.from_iterable(own.values() for own in given))
    for kind in set(map(type, values)) - {int}:
        query, doc = next((q, d) for q, own in grades.items() for d in own if type(own[d]) is kind)
        raise InputError(
            f"the grade of document {doc!r} of query {query!r} is a {kind.__name__}",
            mend="use whole numbers",
        )
    held = _on_scale(values, scale) if plain else None
    if held is None:
        return _careful(grades, scale, origin)
    counts = np.fromiter(map(len, given), np.int64, len(given))
    return JudgmentList(
        scale=scale,
        queries=tuple(map(Query, grades)),
        query=np.repeat(np.arange(len(given), dtype=np.int32), counts),
        doc_id=Ids.later(len(values), lambda: chain.from_iterable(given), plain=True),
        grade=held.astype(np.int16),
        origins=(origin,),
        origin=np.zeros(len(values), np.int32),
        given=tuple(given),
    )


def _on_scale(values: list[int], scale: Scale) -> NDArray[np.uint8] | None:
    """The values as an array; None where one is off the scale, or no byte."""
    try:
        grades = np.frombuffer(bytes(values), np.uint8)
    except ValueError:
        return None
    return grades if grades.max(initial=0) <= min(scale.max_grade, MAX_GIVEN) else None


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
