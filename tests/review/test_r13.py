"""R13: rises of the empty rate and of the fewer-than-three rate; wanted empties."""

from __future__ import annotations

from math import nan

import pytest

from relgate.eval.review.types import RuleState, Verdict

PASSED, FAILED, NOT_CHECKED = RuleState.PASSED, RuleState.FAILED, RuleState.NOT_CHECKED


@pytest.fixture
def hits(query):
    """`n` queries of which the first found so many documents before and after, the rest ten."""

    def build(n, *found, **marks):
        padded = [*found, *[(10, 10)] * (n - len(found))]
        return [
            query(f"q{i}", 0.5, 0.5, was={"returned": was}, now={"returned": now}, **marks)
            for i, (was, now) in enumerate(padded)
        ]

    return build


# 1 of 200 is 0.005, the soft budget; 3 of 200 is 0.015, the hard one (golden-query guide).
@pytest.mark.parametrize("to", [0, 2])
@pytest.mark.parametrize(
    ("new", "severity"),
    [(0, None), (1, None), (2, Verdict.NEEDS_WORK), (3, Verdict.NEEDS_WORK), (4, Verdict.BLOCK)],
)
def test_a_rise_over_its_budget_is_found_and_one_equal_to_it_passes(
    check, evidence, hits, *, to, new, severity
):
    outcome = check("R13", evidence(*hits(200, *[(10, to)] * new)))
    assert {f.severity for f in outcome.findings} == (set() if severity is None else {severity})
    kinds = 2 if to == 0 else 1  # an empty list is one of fewer than three, too
    assert len(outcome.findings) == (0 if severity is None else kinds)
    assert all(f.queries == tuple(f"q{i}" for i in range(new)) for f in outcome.findings)


def test_three_documents_are_not_few(check, evidence, hits):
    assert check("R13", evidence(*hits(5, *[(10, 3)] * 5))).state is PASSED


def test_an_empty_query_that_was_near_empty_raises_only_the_empty_rate(check, evidence, hits):
    (finding,) = check("R13", evidence(*hits(10, (2, 0)))).findings
    assert "no document" in finding.message


def test_empties_that_are_mended_make_up_for_new_ones(check, evidence, hits):
    assert check("R13", evidence(*hits(10, (0, 10), (10, 0)))).state is PASSED


def test_queries_without_an_ideal_or_a_score_count(check, evidence, hits, query):
    blind = query("blind", nan, nan, now={"returned": 0}, no_ideal=True)
    outcome = check("R13", evidence(*hits(9), blind))
    assert outcome.state is FAILED
    assert outcome.findings[0].queries == ("blind",)
    assert outcome.summary.startswith("of 10 queries")


def test_failed_and_absent_queries_are_not_empty(check, evidence, hits, query):
    failed = query("failed", 0.5, 0.0, now={"returned": 0, "error": "timeout"})
    absent = query("absent", 0.5, now={"returned": 0, "absent": True})
    outcome = check("R13", evidence(*hits(9), failed, absent))
    assert outcome.state is PASSED
    assert outcome.summary.startswith("of 9 queries")


def test_where_no_documents_are_listed_it_is_not_checked_and_caps_nothing(check, evidence, query):
    bare = {"listed": False, "returned": 10}
    outcome = check("R13", evidence(*[query(f"q{i}", 0.5, 0.5, was=bare, now=bare) for i in "ab"]))
    assert (outcome.state, outcome.cap) == (NOT_CHECKED, None)


@pytest.mark.parametrize("unlisted", [{"listed": False}, {"absent": True}, {"error": "timeout"}])
@pytest.mark.parametrize("side", ["was", "now"])
def test_a_query_that_one_side_does_not_list_is_in_no_rate(
    check, evidence, hits, query, *, side, unlisted
):
    other = {"was": "now", "now": "was"}[side]
    half = query("half", 0.5, 0.5, **{side: {"returned": 9, **unlisted}, other: {"returned": 0}})
    outcome = check("R13", evidence(*hits(9), half))
    assert outcome.state is PASSED
    assert outcome.summary.startswith("of 9 queries, no document: 0 before, 0 after")


def test_wanted_empties_do_not_count(check, evidence, hits, query):
    wanted = query("wanted", nan, nan, now={"returned": 0}, expects_empty=True)
    outcome = check("R13", evidence(*hits(9), wanted))
    assert outcome.state is PASSED
    assert outcome.summary.startswith("of 9 queries")
    assert outcome.summary.endswith("1 meant to be empty")


@pytest.mark.parametrize("before", [0, 4])
def test_an_answer_where_none_is_wanted_is_a_finding(check, evidence, hits, query, before):
    leak = query(
        "leak", 0.0, 0.0, was={"returned": before}, now={"returned": 1}, expects_empty=True
    )
    (finding,) = check("R13", evidence(*hits(9), leak)).findings
    assert (finding.severity, finding.queries) == (Verdict.NEEDS_WORK, ("leak",))
    assert finding.message == '1 query meant to be empty finds documents: "leak"'


def test_both_budgets_are_settings(check, evidence, hits):
    found = evidence(*hits(10, (10, 0)))
    loose = {"empty_soft_rise": 0.1, "empty_hard_rise": 0.2}
    assert check("R13", found, **loose).state is PASSED


# --- a whole review ---


def test_a_review_sees_empties_and_wanted_empties(make_list, make_run, reviewed, outcome):
    grades = {f"q{i}": {"a": 3, "b": 1, "c": 0} for i in range(10)}
    full = dict.fromkeys(grades, ("a", "b", "c"))
    before, after = make_run(full), make_run({**full, "q3": ()})
    seen = outcome(reviewed(make_list(grades), before, after), "R13")
    assert seen.findings[0].figures["rise"] == pytest.approx(0.1)
    wanted = reviewed(make_list(grades), before, after, expect_empty=frozenset({"q3"}))
    assert outcome(wanted, "R13").state is PASSED
    leaks = reviewed(make_list(grades), before, after, expect_empty=frozenset({"q4"}))
    assert "q4" in {i for f in outcome(leaks, "R13").findings for i in f.queries}


def test_given_scores_are_looked_at_only_where_the_files_list_hits(rank_eval, reviewed, outcome):
    def detail(*ids):
        hits = [{"hit": {"_id": i}, "rating": 1} for i in ids]
        return {"metric_score": 0.5, "hits": hits}

    bare = rank_eval("bare", {"a": 0.5, "b": 0.5})
    assert outcome(reviewed(None, bare, bare), "R13").state is NOT_CHECKED
    before = rank_eval("before", {"a": detail("x", "y", "z"), "b": 0.5})
    after = rank_eval("after", {"a": detail(), "b": 0.5})
    seen = outcome(reviewed(None, before, after), "R13")
    assert seen.state is FAILED
    assert seen.summary.startswith("of 1 query,")


def test_a_query_that_falls_from_three_documents_is_named(check, evidence, hits):
    (finding,) = check("R13", evidence(*hits(10, (3, 2), (2, 1), (10, 3)))).findings
    assert finding.queries == ("q0",)
    assert finding.figures["before"] == pytest.approx(0.1)
