"""Grading gaps with a judge, and merging what comes back."""

from __future__ import annotations

import asyncio
import unicodedata

import pytest

from relgate.cache.keys import text_hash
from relgate.eval.gaps.fill import fill_gaps, merge_filled
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Judgment, Provenance, Query, Source
from relgate.judge.types import Candidate, GradeError, JudgedHit
from relgate.rubrics.errors import CacheUnavailableError, UsageError

NOW = "2026-03-01T12:00:00+00:00"


class Scripted:
    """A judge whose grades are told beforehand; a missing one is an error."""

    version = "esci-v1@0badc0de"
    fingerprint = "f" * 16
    model = "m-1"
    family = "acme"
    batch_size = 10

    def __init__(self, **grades):
        self.grades = grades
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.judged_at: str | None = None

    async def grade(self, query, candidates):
        self.asked.append((query, tuple(c.text for c in candidates)))
        await asyncio.sleep(0)
        return [self._row(c) for c in candidates]

    def _row(self, candidate):
        grade = self.grades.get(candidate.id)
        if grade is None:
            return JudgedHit(
                candidate.id, 0, "I", "judge-error", GradeError.TIMEOUT, f"no {candidate.id}"
            )
        return JudgedHit(candidate.id, grade, "ICSE"[grade], "why", judged_at=self.judged_at)

    def grade_sync(self, query, candidates):
        return asyncio.run(self.grade(query, candidates))


def gap(query, *docs):
    return QueryGaps(Query(query, query), doc_ids=docs, returned=len(docs))


def text_of(doc):
    return Candidate(doc, f"text of {doc}")


def fill(judge, *gaps, candidate_of=text_of, **more):
    return asyncio.run(fill_gaps(judge, gaps, candidate_of, judged_at=NOW, **more))


def grades_of(filled):
    return {(row.query.id, row.doc_id): row.grade for row in filled.judgments}


def test_each_graded_gap_becomes_a_judgment():
    filled = fill(Scripted(a=3, b=0, c=1), gap("q", "a", "b"), gap("p", "c"))
    assert grades_of(filled) == {("q", "a"): 3, ("q", "b"): 0, ("p", "c"): 1}
    assert (filled.asked, filled.errors, filled.no_text, filled.error_rate) == (3, {}, 0, 0.0)


def test_the_judge_sees_the_querys_text_and_the_catalogues():
    judge = Scripted(a=3)
    gaps = QueryGaps(Query("7", "red shoes"), doc_ids=("a",), returned=1)
    fill(judge, gaps)
    assert judge.asked == [("red shoes", ("text of a",))]


def test_a_judgment_carries_who_made_it_of_what_and_when():
    (row,) = fill(Scripted(a=2), gap("q", "a"), certificate="c-1").judgments
    assert row.provenance == Provenance(
        Source.JUDGE,
        judge_version="esci-v1@0badc0de",
        fingerprint="f" * 16,
        model="m-1",
        certificate="c-1",
        judged_at=NOW,
    )
    assert (row.reason, row.text_hash) == ("why", text_hash("text of a"))


def test_a_grade_from_the_cache_keeps_its_own_time():
    judge = Scripted(a=2)
    judge.judged_at = "2025-01-01T00:00:00+00:00"
    (row,) = fill(judge, gap("q", "a")).judgments
    assert row.provenance.judged_at == "2025-01-01T00:00:00+00:00"


def test_a_failed_grade_is_never_a_judgment_and_is_counted():
    filled = fill(Scripted(a=3), gap("q", "a", "b"), gap("p", "c"))
    assert grades_of(filled) == {("q", "a"): 3}
    assert filled.errors == {"timeout": 2}
    assert filled.error_rate == pytest.approx(2 / 3)
    assert filled.first_error == "no b"


def test_a_grade_of_0_is_a_judgment_and_no_failure():
    filled = fill(Scripted(a=0), gap("q", "a"))
    assert grades_of(filled) == {("q", "a"): 0}
    assert filled.errors == {}


def test_what_has_no_text_is_counted_and_not_asked():
    judge = Scripted(a=3, b=3, c=3)
    filled = fill(
        judge,
        gap("q", "a", "b"),
        gap("p", "c"),
        candidate_of=lambda doc: text_of(doc) if doc == "a" else None,
    )
    assert judge.asked == [("q", ("text of a",))]
    assert (filled.asked, filled.no_text) == (1, 2)


def test_nothing_to_ask_is_no_error_rate():
    filled = fill(Scripted())
    assert (filled.asked, filled.error_rate, filled.judgments) == (0, 0.0, ())


def test_judgments_stand_in_the_order_of_the_gaps_however_the_answers_come():
    class Uneven(Scripted):
        async def grade(self, query, candidates):
            await asyncio.sleep(0.02 if query == "q0" else 0)
            return await super().grade(query, candidates)

    gaps = [gap(f"q{i}", f"d{i}") for i in range(70)]
    filled = fill(Uneven(**{f"d{i}": 1 for i in range(70)}), *gaps)
    assert [row.doc_id for row in filled.judgments] == [f"d{i}" for i in range(70)]


def test_progress_ends_at_the_whole():
    seen: list[tuple[int, int]] = []
    fill(
        Scripted(a=1, b=1, c=1),
        gap("q", "a", "b"),
        gap("p", "c"),
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_an_error_of_the_judge_itself_comes_out_as_it_is():
    """A store that is required and full: one error, not a group of them."""

    class Full(Scripted):
        async def grade(self, *_args):
            raise CacheUnavailableError("the disk is full")

    with pytest.raises(CacheUnavailableError, match="the disk is full"):
        fill(Full(), gap("q", "a"), gap("p", "b"))


# --- merging


def a_list(*rows, scale="0-3", queries=()):
    builder = ListBuilder(SCALES[scale])
    for query in queries:
        builder.add_query(query)
    for query, doc, grade, source in rows:
        builder.add(Query(query, query), doc, grade, Provenance(source), reason="r")
    return builder.build()


def judged(query, doc, grade):
    return Judgment(Query(query, query), doc, grade, Provenance(Source.JUDGE, judge_version="v@1"))


def as_rows(judgments):
    return {(r.query.id, r.doc_id): (r.grade, r.provenance.source) for r in judgments.rows()}


@pytest.mark.parametrize("source", [Source.HUMAN, Source.RULE, Source.IMPORT, Source.JUDGE])
def test_a_grade_that_is_there_stays_whoever_gave_it(source):
    merged = merge_filled(a_list(("q", "a", 0, source)), [judged("q", "a", 3)])
    assert as_rows(merged) == {("q", "a"): (0, source)}


def test_new_grades_come_after_the_old_which_are_unchanged():
    old = a_list(("q", "a", 0, Source.HUMAN), ("p", "b", 2, Source.IMPORT))
    merged = merge_filled(old, [judged("q", "x", 3), judged("r", "y", 1)])
    rows = list(merged.rows())
    assert rows[:2] == list(old.rows())
    assert as_rows(merged) == {
        ("q", "a"): (0, Source.HUMAN),
        ("p", "b"): (2, Source.IMPORT),
        ("q", "x"): (3, Source.JUDGE),
        ("r", "y"): (1, Source.JUDGE),
    }


def test_a_document_in_another_unicode_form_is_the_same_document():
    composed = "caf\u00e9"
    decomposed = unicodedata.normalize("NFD", composed)
    old = a_list((composed, composed, 0, Source.HUMAN))
    merged = merge_filled(old, [judged(composed, decomposed, 3)])
    assert as_rows(merged) == as_rows(old)


def test_queries_without_a_judgment_stay_listed():
    old = a_list(("q", "a", 1, Source.HUMAN), queries=(Query("bare", "bare"),))
    merged = merge_filled(old, [judged("q", "x", 3)])
    assert [q.id for q in merged.queries] == ["bare", "q"]


def test_nothing_filled_is_the_same_list():
    old = a_list(("q", "a", 1, Source.HUMAN))
    assert list(merge_filled(old, []).rows()) == list(old.rows())


def test_a_grade_off_the_lists_scale_is_refused():
    with pytest.raises(UsageError, match="scale is 0-1"):
        merge_filled(a_list(("q", "a", 1, Source.HUMAN), scale="0-1"), [judged("q", "x", 3)])
