"""R8: whether the judgments still know what the search returns."""

from __future__ import annotations

import pytest

from relgate.eval.review.types import Basis, RuleState, Verdict


@pytest.fixture
def stale(query):
    """`stale` of `n` queries have 6 of 10 documents unrated, the others 5 of 10."""

    def build(n: int, stale: int):
        return [query(f"q{i}", 0.5, 0.5, now={"unrated": 6 if i < stale else 5}) for i in range(n)]

    return build


@pytest.mark.parametrize(
    ("n", "bad", "state"),
    [
        (10, 0, RuleState.PASSED),
        (10, 3, RuleState.PASSED),  # 30 % is not more than 30 %
        (10, 4, RuleState.FAILED),
        (3, 1, RuleState.FAILED),
        (135, 40, RuleState.PASSED),  # 29.6 %
        (135, 41, RuleState.FAILED),
    ],
)
def test_more_than_thirty_percent_stale_is_refused(check, evidence, stale, *, n, bad, state):
    outcome = check("R8", evidence(*stale(n, bad)))
    assert outcome.state is state
    assert f"{bad} of {n} queries" in outcome.summary


def test_the_finding_says_stale_unrated_and_refresh(check, evidence, stale):
    (finding,) = check("R8", evidence(*stale(4, 2))).findings
    assert finding.severity is Verdict.REFUSE
    assert "unrated" in finding.message
    assert "stale" in finding.message
    assert "refresh" in finding.advice
    assert finding.figures == {"mostly_unrated": 2, "queries": 4, "share": 0.5}


@pytest.mark.parametrize(
    ("unrated", "returned", "state"),
    [(1, 2, RuleState.PASSED), (2, 3, RuleState.FAILED), (3, 3, RuleState.FAILED)],
)
def test_the_share_is_of_the_documents_returned(
    check, evidence, query, *, unrated, returned, state
):
    found = query("a", 0.5, 0.5, now={"unrated": unrated, "returned": returned})
    assert check("R8", evidence(found)).state is state


def test_only_the_after_side_counts(check, evidence, query):
    assert check("R8", evidence(query("a", 0.5, 0.5, was={"unrated": 10}))).state is (
        RuleState.PASSED
    )


@pytest.mark.parametrize(
    "now", [{"returned": 0}, {"returned": 0, "error": "timeout"}, {"absent": True}]
)
def test_a_query_without_a_document_is_not_in_the_share(check, evidence, stale, query, now):
    found = [*stale(10, 3), query("none", 0.5, 0.0, now=now)]
    assert "3 of 10 queries" in check("R8", evidence(*found)).summary


def test_an_after_side_without_documents_is_not_checked_and_caps(check, evidence, query):
    outcome = check("R8", evidence(query("a", 0.5, 0.0, now={"returned": 0})))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)


def test_files_that_do_not_tell_are_not_checked_and_cap(check, evidence, stale, query):
    untold = query("untold", 0.5, 0.5, now={"returned": 0, "unrated_known": False})
    for found in ([untold], [*stale(10, 3), untold]):
        outcome = check("R8", evidence(*found))
        assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)
        assert f"1 of {len(found)}" in outcome.summary


def test_what_is_known_may_already_be_too_much(check, evidence, stale, query):
    untold = query("untold", 0.5, 0.5, now={"returned": 0, "unrated_known": False})
    outcome = check("R8", evidence(*stale(9, 9), untold))
    assert outcome.findings[0].severity is Verdict.REFUSE
    assert "9 of 10 queries" in outcome.summary


def test_settings_override_the_defaults(check, evidence, stale):
    found = evidence(*stale(10, 4))
    assert check("R8", found, max_stale_share=0.4).state is RuleState.PASSED
    assert check("R8", found, mostly_unrated=0.6).state is RuleState.PASSED
    strict = check("R8", found, mostly_unrated=0.4)
    assert strict.state is RuleState.FAILED
    assert "10 of 10 queries" in strict.summary
    assert "more than 40.0 %" in strict.summary


def test_a_recall_report_has_no_unrated_documents(check, evidence, query):
    bare = {"unrated_known": False}
    queries = [query(name, 0.9, 0.9, was=bare, now=bare) for name in "abc"]
    recall = {"settings_before": {"metric": "recall"}, "settings_after": {"metric": "recall"}}
    report = check("R8", evidence(*queries, basis=Basis.GIVEN, **recall))
    assert (report.state, report.cap) == (RuleState.NOT_CHECKED, None)
    other = check("R8", evidence(*queries, basis=Basis.GIVEN))
    assert (other.state, other.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)
