"""Judges count with the grades that the scores rest on; a mean and its n are over one set."""

from __future__ import annotations

import pytest

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.review.types import JudgeUse, RuleState

GRADES = {"q1": {"a": 3, "b": 1}, "q2": {"a": 2, "b": 0}}


def made_by(version: str) -> Provenance:
    return Provenance(Source.JUDGE, judge_version=version, fingerprint=version, model="m")


def use(version: str, problem: str | None = None) -> JudgeUse:
    return JudgeUse(version, version, "m", "google", 99, problem)


@pytest.fixture
def judged():
    """Both queries of the runs by judge `seen`, one that no run has by judge `unseen`."""
    builder = ListBuilder(SCALES["0-3"])
    for query, maker in (("q1", "seen"), ("q2", "seen"), ("elsewhere", "unseen")):
        for doc, grade in {"a": 3, "b": 1}.items():
            builder.add(Query(query), doc, grade, made_by(maker))
    return builder.build()


def test_grades_of_queries_that_no_run_has_need_no_certificate(judged, make_run, reviewed, outcome):
    run = make_run({"q1": ["a"], "q2": ["a"]})
    judges = (use("seen"), use("unseen", "it expired"))
    done = reviewed(judged, run, run, judges=judges)
    assert [(j.version, j.rows) for j in done.evidence.judges] == [("seen", 4)]
    assert outcome(done, "R15").state is RuleState.PASSED
    assert outcome(done, "R15").summary.startswith("4 judge-made grades")


def test_grades_of_the_runs_queries_do(judged, make_run, reviewed, outcome):
    run = make_run({"q1": ["a"], "q2": ["a"]})
    done = reviewed(judged, run, run, judges=(use("seen", "it expired"),))
    assert outcome(done, "R15").state is RuleState.FAILED


def test_grades_that_no_named_judge_made_fail(judged, make_run, reviewed, outcome):
    run = make_run({"q1": ["a"], "q2": ["a"]})
    done = reviewed(judged, run, run, judges=(use("unseen"),))
    assert outcome(done, "R15").state is RuleState.FAILED


def test_judged_at_k_is_over_the_queries_that_return_something_on_both_sides(
    make_list, make_run, reviewed
):
    before = make_run({"q1": ["a", "b"], "q2": ["a", "x"], "q3": ["x", "y", "z"]})
    after = make_run({"q1": ["a", "x"], "q2": ["a", "b"], "q3": []})
    found = reviewed(make_list({**GRADES, "q3": {"a": 3}}), before, after).evidence
    judged = found.aggregate("judged")
    # by hand, without q3, which is empty after: (2/2 + 1/2) / 2 before, (1/2 + 2/2) / 2 after
    assert (judged.before, judged.after, judged.n) == (0.75, 0.75, 2)


def test_grades_of_an_unnamed_judge_beside_a_trusted_one_fail(judged, make_run, reviewed, outcome):
    run = make_run({"q1": ["a"], "elsewhere": ["a"]})
    found = outcome(reviewed(judged, run, run, judges=(use("seen"),)), "R15")
    (finding,) = found.findings
    assert found.summary == "4 judge-made grades, 2 of them without a trusted certificate"
    assert finding.message == "2 judge-made grades, and nothing says by which judge"
