"""Asks a judge to grade what people graded. I/O through the judge only."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.pairs import (
    UNGRADED,
    GradedPairs,
    error_counts,
    made_by_people_or_rule,
    source_counts,
)
from relgate.eval.lists.types import JudgmentList, match_key
from relgate.judge.types import Candidate, GradeError, Judge, JudgedHit
from relgate.rubrics.errors import InputError

__all__ = ["IN_FLIGHT", "Progress", "agrade_pairs"]

Progress = Callable[[int, int], None]
"""Called after each query with the pairs done and the pairs in all."""

IN_FLIGHT = 8
"""Queries that are with the judge at once."""

_LAST_BITS = 1e-6  # a mean of probabilities may leave the scale by as much


@dataclass(frozen=True, slots=True)
class _Ask:
    """One query's call: which rows of the list, and the candidates for them."""

    query: str
    rows: tuple[int, ...]
    candidates: tuple[Candidate, ...]


async def agrade_pairs(
    judge: Judge,
    human_labels: JudgmentList,
    candidates: Callable[[str], Candidate | None],
    *,
    min_labels: int = 1,
    in_flight: int = IN_FLIGHT,
    on_progress: Progress | None = None,
) -> GradedPairs:
    """The human labels with the judge's grades beside them.

    Raises:
        InputError: as `acalibrate_judge`.
    """
    labels = made_by_people_or_rule(human_labels)
    asks = _asks(labels, candidates)
    total = sum(len(ask.rows) for ask in asks)
    _refuse_too_few(total, labels, min_labels)
    hits: dict[int, JudgedHit] = {}
    todo = iter(asks)

    async def work() -> None:
        for ask in todo:  # shared by all workers: each takes the next query
            hits.update(_by_row(ask, await judge.grade(ask.query, ask.candidates)))
            if on_progress is not None:
                on_progress(len(hits), total)

    await _all(*(asyncio.ensure_future(work()) for _ in range(min(in_flight, len(asks)))))
    return _columns(labels, hits, made_by_judge=len(human_labels) - len(labels))


async def _all(*workers: asyncio.Future[None]) -> None:
    """Waits for all; the first error, or a cancellation, ends the others before it goes on."""
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _refuse_too_few(total: int, labels: JudgmentList, min_labels: int) -> None:
    if not total:
        some = ", ".join(repr(doc_id) for doc_id in labels.doc_id[:3])
        raise InputError(
            f"none of the {len(labels)} labelled documents ({some} ...) is in the catalogue",
            mend="give the catalogue that these labels were made on, with the same document ids",
        )
    if total < min_labels:
        bare = len(labels) - total
        lost = f"; {bare} labelled documents are not in the catalogue" if bare else ""
        raise InputError(
            f"insufficient calibration set: {total} labels with a text, {min_labels} needed{lost}",
            mend="give the catalogue that the labels were made on"
            if len(labels) >= min_labels
            else "label more pairs, or lower min_labels",
        )


def _asks(labels: JudgmentList, candidates: Callable[[str], Candidate | None]) -> list[_Ask]:
    """One call a query, queries and candidates in an order that no label can be read from."""
    by_query: list[list[tuple[str, int, Candidate]]] = [[] for _ in labels.queries]
    for row, (q, doc_id) in enumerate(zip(labels.query.tolist(), labels.doc_id, strict=True)):
        candidate = candidates(doc_id)
        if candidate is not None:
            by_query[int(q)].append((_shuffle_key(doc_id), row, candidate))
    return list(_filled(labels, by_query))


def _filled(
    labels: JudgmentList, by_query: list[list[tuple[str, int, Candidate]]]
) -> Iterator[_Ask]:
    for query, found in sorted(
        zip(labels.queries, by_query, strict=True), key=lambda entry: match_key(entry[0].id)
    ):
        if found:
            found.sort(key=lambda entry: entry[:2])
            rows, texts = tuple(x[1] for x in found), tuple(x[2] for x in found)
            yield _Ask(query.shown, rows, texts)


def _shuffle_key(doc_id: str) -> str:
    """Lists are often sorted by grade; batches cut from such an order would give it away."""
    return hashlib.sha256(doc_id.encode("utf-8", "surrogatepass")).hexdigest()


def _by_row(ask: _Ask, hits: list[JudgedHit]) -> dict[int, JudgedHit]:
    """The hits by row of the list; a candidate that the judge left out is a failed grade."""
    given = {hit.id: hit for hit in hits}
    return {
        row: given.get(candidate.id) or _missing(candidate.id)
        for row, candidate in zip(ask.rows, ask.candidates, strict=True)
    }


def _missing(doc_id: str) -> JudgedHit:
    return JudgedHit(doc_id, 0, "", "", error=GradeError.MISSING)


def _columns(
    labels: JudgmentList, hits: dict[int, JudgedHit], *, made_by_judge: int
) -> GradedPairs:
    asked = np.zeros(len(labels), bool)
    asked[list(hits)] = True
    kept = labels.take(asked)
    said = [hits[i] for i in np.flatnonzero(asked).tolist()]
    _refuse_other_scale(said, kept)
    return GradedPairs(
        query=kept.query.astype(np.int64),
        human=kept.grade.astype(np.int64),
        judge=np.array([hit.grade if hit.graded else UNGRADED for hit in said], np.int64),
        queries=kept.queries,
        doc_ids=tuple(kept.doc_id),
        judge_reasons=tuple(hit.reason if hit.graded else None for hit in said),
        human_reasons=kept.reason,
        errors=error_counts([hit.error for hit in said]),
        sources=source_counts(kept),
        without_text=len(labels) - len(kept),
        made_by_judge=made_by_judge,
        expected=_known([hit.expected_grade if hit.graded else None for hit in said]),
        spread=_known([hit.spread if hit.graded else None for hit in said]),
    )


def _known(values: list[float | None]) -> NDArray[np.float64] | None:
    """The values with NaN where there is none; None when there is none at all."""
    if all(value is None for value in values):
        return None
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _refuse_other_scale(said: list[JudgedHit], labels: JudgmentList) -> None:
    top = labels.scale.max_grade
    for hit in said:
        if hit.graded and not 0 <= hit.grade <= top:
            raise InputError(
                f"the judge gave {hit.id!r} grade {hit.grade}, the labels are on the scale "
                f"{labels.scale.name} (0 to {top})",
                mend="use a rubric and labels of one scale",
            )
        if hit.graded:
            _refuse_odd_numbers(hit, top)


def _refuse_odd_numbers(hit: JudgedHit, top: int) -> None:
    """A judge of the user's own may give any number, and NaN would pass for "not given"."""
    expected, spread = hit.expected_grade, hit.spread
    if expected is not None and not -_LAST_BITS <= expected <= top + _LAST_BITS:
        what = f"expected grade {expected} of {hit.id!r} is not on the labels' scale (0 to {top})"
    elif spread is not None and not 0 <= spread <= top:
        what = f"spread {spread} of {hit.id!r} is none on the labels' scale (0 to {top})"
    else:
        return
    raise InputError(f"the judge's {what}", mend="give a finite number of grades, or None")
