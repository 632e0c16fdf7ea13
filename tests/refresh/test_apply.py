"""New grades in old places; what is gone goes out; the rest stays. And what a run makes of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.cache.keys import text_hash
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Judgment, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.refresh.apply import apply_grades, retired_rows, stale_gaps
from relgate.eval.refresh.shift import run_shifts
from relgate.eval.refresh.stale import Check, Present, find_stale
from relgate.eval.runs.types import Run
from relgate.rubrics.errors import UsageError

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PRESENT = Present("v@2", "f")
OLD = Provenance(Source.JUDGE, judge_version="v@1", fingerprint="f")
FRESH = Provenance(Source.JUDGE, judge_version="v@2", fingerprint="f")
PERSON = Provenance(Source.HUMAN)


def listed(*rows, queries=()):
    """A list of (query, doc, grade, provenance), every text `text of <doc>`."""
    builder = ListBuilder(SCALES["0-3"])
    for query in queries:
        builder.add_query(query)
    for query, doc, grade, origin in rows:
        builder.add(
            Query(query), doc, grade, origin, reason="why", text_hash=text_hash(f"text of {doc}")
        )
    return builder.build()


def stale(judgments, *, gone=(), changed=()):
    def text_of(doc):
        if doc in gone:
            return None
        return f"new text of {doc}" if doc in changed else f"text of {doc}"

    return find_stale(judgments, text_of, present=PRESENT, now=NOW)


def graded(query, doc, grade):
    return Judgment(Query(query, "with a text"), doc, grade, FRESH, text_hash="h")


def cells(judgments):
    return [(r.query.id, r.doc_id, r.grade, r.provenance) for r in judgments.rows()]


def test_a_new_grade_takes_the_place_of_the_old():
    judgments = listed(("q", "a", 3, OLD), ("q", "b", 1, FRESH), ("p", "a", 0, OLD))
    done = apply_grades(judgments, stale(judgments), [graded("p", "a", 2), graded("q", "a", 3)])
    assert cells(done.judgments) == [
        ("q", "a", 3, FRESH), ("q", "b", 1, FRESH), ("p", "a", 2, FRESH),
    ]  # fmt: skip
    assert [(m.query.id, m.doc_id, m.old, m.new, m.why) for m in done.moves] == [
        ("q", "a", 3, 3, (Check.RUBRIC,)),
        ("p", "a", 0, 2, (Check.RUBRIC,)),
    ]
    assert (done.matrix, done.changed) == ({(0, 2): 1, (3, 3): 1}, 1)


def test_the_queries_stay_as_the_list_has_them():
    judgments = listed(("q", "a", 3, OLD), queries=[Query("empty"), Query("q")])
    done = apply_grades(judgments, stale(judgments), [graded("q", "a", 2)])
    assert done.judgments.queries == judgments.queries


def test_without_a_new_grade_the_old_one_stays_and_is_named():
    judgments = listed(("q", "a", 3, OLD), ("q", "b", 1, OLD))
    done = apply_grades(judgments, stale(judgments), [graded("q", "b", 0)])
    assert cells(done.judgments)[0] == ("q", "a", 3, OLD)
    assert [row.judgment.doc_id for row in done.still_stale] == ["a"]


def test_no_persons_grade_is_ever_replaced():
    judgments = listed(("q", "a", 3, PERSON))
    found = stale(judgments, changed=["a"])
    assert stale_gaps(judgments, found, {}) == []
    done = apply_grades(judgments, found, [graded("q", "a", 0)])
    assert list(done.judgments.rows()) == list(judgments.rows())
    assert [(r.judgment.doc_id, r.why) for r in done.for_people] == [("a", (Check.TEXT,))]


def test_a_fresh_grade_is_not_replaced_either():
    judgments = listed(("q", "a", 3, FRESH))
    done = apply_grades(judgments, stale(judgments), [graded("q", "a", 0)])
    assert list(done.judgments.rows()) == list(judgments.rows())
    assert done.moves == ()


def test_what_is_gone_is_in_the_retired_list_and_in_no_other():
    judgments = listed(("q", "a", 3, OLD), ("q", "b", 1, PERSON), ("p", "b", 2, FRESH))
    found = stale(judgments, gone=["b"])
    done = apply_grades(judgments, found, [graded("q", "a", 3)])
    rows = list(judgments.rows())
    assert [row.judgment for row in done.retired] == rows[1:]
    assert list(retired_rows(judgments, found).rows()) == rows[1:]
    assert [r.doc_id for r in done.judgments.rows()] == ["a"]
    assert done.judgments.queries == judgments.queries


def test_a_grade_off_the_scale_is_refused():
    judgments = listed(("q", "a", 3, OLD))
    with pytest.raises(UsageError, match="the judge graded 4"):
        apply_grades(judgments, stale(judgments), [graded("q", "a", 4)])


def test_a_composed_and_a_decomposed_id_are_one_pair():
    judgments = listed(("q", "caf\u00e9", 3, OLD))
    done = apply_grades(judgments, stale(judgments), [graded("q", "cafe\u0301", 1)])
    assert [(r.doc_id, r.grade) for r in done.judgments.rows()] == [("caf\u00e9", 1)]


def test_the_judge_is_asked_by_the_querys_text_where_a_table_knows_it():
    judgments = listed(("7", "a", 3, OLD), ("8", "a", 3, OLD))
    gaps = stale_gaps(judgments, stale(judgments), {"7": "red shoes"})
    assert [(g.query.text, g.doc_ids) for g in gaps] == [("red shoes", ("a",)), (None, ("a",))]


_ROWS = st.lists(
    st.tuples(
        st.sampled_from("pq"), st.sampled_from("abcdef"), st.integers(0, 3),
        st.sampled_from([OLD, FRESH, PERSON]),
    ),
    unique_by=lambda row: row[:2],
)  # fmt: skip


@given(_ROWS, st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_every_row_of_the_input_is_somewhere_and_only_once(rows, gone, answered):
    judgments = listed(*rows)
    found = stale(judgments, gone=gone)
    answers = [graded(q, d, 1) for q in "pq" for d in answered]
    done = apply_grades(judgments, found, answers)
    retired = {(r.judgment.query.id, r.judgment.doc_id) for r in done.retired}
    kept = [(r.query.id, r.doc_id) for r in done.judgments.rows()]
    assert sorted([*kept, *retired]) == sorted((q, d) for q, d, _, _ in rows)
    for row in done.judgments.rows():
        if row.provenance.source is Source.HUMAN:
            assert (row.query.id, row.doc_id, row.grade, PERSON) in rows


# --- what a run makes of it


def run_of(**docs):
    return Run("r", tuple(Query(q) for q in docs), tuple(tuple(d) for d in docs.values()))


def test_the_same_run_by_two_lists_moves_by_labels_alone():
    old = listed(("q", "a", 3, PERSON), ("q", "b", 1, PERSON), ("p", "a", 2, PERSON))
    new = listed(("q", "a", 1, PERSON), ("q", "b", 3, PERSON), ("p", "a", 2, PERSON))
    run = run_of(q="ab", p="a")
    (shift,) = run_shifts(old, new, [run], align(old, [run]), Conventions())
    # gains 2^g - 1: the ideal order before, the worst after; (1 + 7/log2 3) / (7 + 1/log2 3)
    swapped = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert shift.old.value == pytest.approx(1)
    assert shift.new.value == pytest.approx((swapped + 1) / 2)
    assert (shift.delta, shift.n) == (pytest.approx((swapped - 1) / 2), 2)
    assert [(q.query.id, q.old, q.new) for q in shift.queries] == [
        ("q", pytest.approx(1), pytest.approx(swapped))
    ]


def test_a_query_that_loses_its_last_relevant_label_is_named_and_left_out_of_the_delta():
    old = listed(("q", "a", 3, PERSON), ("p", "a", 2, PERSON))
    new = listed(("q", "a", 0, PERSON), ("p", "a", 2, PERSON))
    run = run_of(q="a", p="a")
    (shift,) = run_shifts(old, new, [run], align(old, [run]), Conventions())
    assert (shift.lost, shift.gained, shift.n, shift.delta) == (1, 0, 1, 0.0)


def test_with_no_query_left_the_delta_is_undefined_and_not_0():
    old, new = listed(("q", "a", 3, PERSON)), listed(("q", "a", 0, PERSON))
    run = run_of(q="a")
    (shift,) = run_shifts(old, new, [run], align(old, [run]), Conventions())
    assert (math.isnan(shift.delta), math.isnan(shift.new.value)) == (True, True)
    assert (shift.n, shift.lost) == (0, 1)


def test_lists_of_other_queries_are_not_compared():
    old, new = listed(("q", "a", 3, PERSON)), listed(("p", "a", 3, PERSON))
    run = run_of(q="a")
    with pytest.raises(UsageError):
        run_shifts(old, new, [run], align(old, [run]), Conventions())
