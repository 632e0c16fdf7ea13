"""Which judgments are stale, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from relgate.cache.keys import text_hash
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.refresh.stale import Check, Present, RowState, State, find_stale
from relgate.rubrics.errors import UsageError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
JUDGE = Provenance(
    Source.JUDGE,
    judge_version="esci-v1@0badc0de",
    fingerprint="f" * 16,
    model="m-1",
    judged_at="2026-02-01T12:00:00+00:00",
)
PERSON = Provenance(Source.HUMAN, rater="r1", judged_at="2026-02-01")
PRESENT = Present("esci-v1@0badc0de", "f" * 16)


def states(*rows, texts=None, present=PRESENT, max_age_days=60.0):
    """The states of rows (provenance, text that was judged or None), documents d0, d1 ..."""
    builder = ListBuilder(SCALES["0-3"])
    for i, (origin, judged) in enumerate(rows):
        then = None if judged is None else text_hash(judged)
        builder.add(Query("q", "q"), f"d{i}", 1, origin, text_hash=then)
    shop = {f"d{i}": "as it was" for i in range(len(rows))} | (texts or {})
    return find_stale(
        builder.build(), shop.get, present=present, now=NOW, max_age_days=max_age_days
    )


def only(*rows, **more):
    (found,) = states(*rows, **more).rows
    return found


@pytest.mark.parametrize("origin", [JUDGE, PERSON])
def test_what_nothing_speaks_against_is_fresh(origin):
    found = only((origin, "as it was"))
    assert found == RowState()
    assert found.state is State.FRESH


@pytest.mark.parametrize("origin", [JUDGE, PERSON])
def test_another_text_is_stale(origin):
    found = only((origin, "as it was"), texts={"d0": "as it was."})
    assert (found.state, found.why) == (State.STALE, (Check.TEXT,))


def test_a_text_that_cannot_be_shown_any_more_is_another_text():
    assert only((JUDGE, "as it was"), texts={"d0": ""}).why == (Check.TEXT,)


@pytest.mark.parametrize("origin", [JUDGE, PERSON])
def test_a_document_that_left_the_catalogue_is_gone_and_nothing_else(origin):
    old = replace(origin, judged_at="2001-01-01")
    found = only((old, "as it was"), texts={"d0": None})
    assert (found.state, found.why) == (State.GONE, (Check.GONE,))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"judge_version": "esci-v1@00000000"}, Check.RUBRIC),
        ({"judge_version": "graded-v1@0badc0de"}, Check.RUBRIC),
        ({"fingerprint": "0" * 16}, Check.JUDGE),
        ({"judged_at": "2025-12-30T11:59:59+00:00"}, Check.AGE),
        ({"judged_at": "2025-12-30T12:59:59+01:00"}, Check.AGE),
        ({"judged_at": "2025-12-30"}, Check.AGE),
    ],
)
def test_each_planted_fault_of_a_judges_grade_is_found(change, check):
    found = only((replace(JUDGE, **change), "as it was"))
    assert (found.state, found.why) == (State.STALE, (check,))


def test_several_reasons_are_all_told():
    old = replace(JUDGE, judge_version="esci-v0@1", fingerprint="0", judged_at="2001-01-01")
    found = only((old, "as it was"), texts={"d0": "new"})
    assert found.why == (Check.TEXT, Check.RUBRIC, Check.JUDGE, Check.AGE)


def test_an_age_equal_to_the_limit_is_not_too_old():
    edge = (NOW - timedelta(days=60)).isoformat()
    assert only((replace(JUDGE, judged_at=edge), "as it was")).state is State.FRESH


def test_without_a_limit_no_age_is_checked_and_no_time_is_missed():
    rows = [(replace(JUDGE, judged_at=t), "as it was") for t in ("1999-01-01", None)]
    assert {r.state for r in states(*rows, max_age_days=None).rows} == {State.FRESH}


@pytest.mark.parametrize("source", [Source.HUMAN, Source.RULE, Source.IMPORT])
def test_rubric_and_judge_do_not_make_a_persons_grade_stale(source):
    row = Provenance(source, judge_version="other@1", fingerprint="0", judged_at="2026-02-01")
    assert only((row, "as it was")).state is State.FRESH


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"judge_version": None}, Check.RUBRIC),
        ({"fingerprint": None}, Check.JUDGE),
        ({"judged_at": None}, Check.AGE),
        ({"judged_at": "last spring"}, Check.AGE),
        ({"judged_at": "2126-02-01"}, Check.AGE),
    ],
)
def test_a_judgment_without_what_a_check_needs_is_unknown_and_not_fresh(change, check):
    found = only((replace(JUDGE, **change), "as it was"))
    assert (found.state, found.unknown) == (State.UNKNOWN, (check,))


@pytest.mark.parametrize("then", [None, "abc123", "a" * 32, "Z" * 64, ""])
def test_a_hash_that_is_none_or_another_kind_of_hash_is_unknown(then):
    builder = ListBuilder(SCALES["0-3"])
    builder.add(Query("q"), "d", 1, PERSON, text_hash=then)
    found = find_stale(builder.build(), lambda _: "text", present=None, now=NOW)
    assert found.rows == (RowState(unknown=(Check.TEXT,)),)


def test_what_is_stale_by_one_check_is_stale_though_another_is_unknown():
    found = only((replace(JUDGE, judge_version="other@1"), None))
    assert (found.state, found.why, found.unknown) == (
        State.STALE,
        (Check.RUBRIC,),
        (Check.TEXT,),
    )


def test_without_a_judge_to_compare_with_rubric_and_judge_are_unknown():
    assert only((JUDGE, "as it was"), present=None).unknown == (Check.RUBRIC, Check.JUDGE)


def test_the_states_add_up_to_the_list_and_each_kind_is_counted_apart():
    found = states(
        (JUDGE, "as it was"),
        (JUDGE, "before"),
        (replace(JUDGE, judge_version="other@1"), "before"),
        (JUDGE, "as it was"),
        (JUDGE, None),
        (PERSON, "before"),
        (PERSON, "as it was"),
        texts={"d3": None},
    )
    counts = {
        judge: [found.count(state, by_judge=judge) for state in State] for judge in (True, False)
    }
    assert counts == {True: [1, 2, 1, 1], False: [1, 1, 0, 0]}
    assert sum(found.count(state) for state in State) == 7
    assert found.reasons(by_judge=True) == {Check.GONE: 1, Check.TEXT: 2, Check.RUBRIC: 1}
    assert found.reasons(by_judge=False) == {Check.TEXT: 1}
    assert found.unknowns(by_judge=True) == {Check.TEXT: 1}
    assert found.unknowns(by_judge=False) == {}


@pytest.mark.parametrize("days", [-1.0, float("nan"), float("inf"), 1e9])
def test_an_age_that_is_no_age_is_refused(days):
    with pytest.raises(UsageError, match="greatest age"):
        states((JUDGE, "as it was"), max_age_days=days)
