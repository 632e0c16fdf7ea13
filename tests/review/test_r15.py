"""R15: grades that a judge filled in need a certificate that holds."""

from __future__ import annotations

from relgate.eval.lists.types import Source
from relgate.eval.review.types import JudgeUse, RuleState, Verdict


def judge(problem: str | None = None, rows: int = 7) -> JudgeUse:
    return JudgeUse("esci-v1@ab12cd34", "f1", "m", "google", rows, problem)


def test_people_alone_need_no_certificate(check, evidence, many):
    outcome = check("R15", evidence(*many(3)))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary == "no grades marked as judge-made in the scores"


def test_grades_that_nobody_says_who_made_are_counted(check, evidence, many):
    outcome = check("R15", evidence(*many(3), by_source={Source.HUMAN: 20, Source.IMPORT: 10}))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary.endswith("; who made 10 grades is not stated")


def test_a_certificate_that_holds_passes(check, evidence, many):
    outcome = check("R15", evidence(*many(3), judges=(judge(), judge(rows=5))))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary.startswith("12 judge-made grades")


def test_one_that_does_not_hold_caps_at_needs_work(check, evidence, many):
    outcome = check("R15", evidence(*many(3), judges=(judge(), judge("it expired", rows=5))))
    (finding,) = outcome.findings
    assert (outcome.state, finding.severity) == (RuleState.FAILED, Verdict.NEEDS_WORK)
    assert "5 grades by judge esci-v1@ab12cd34: it expired" in finding.message
    assert finding.figures["rows"] == 5
    assert "calibrate" in finding.advice


def test_judge_made_grades_that_nobody_accounts_for_fail(check, evidence, many):
    outcome = check("R15", evidence(*many(3), by_source={Source.HUMAN: 20, Source.JUDGE: 10}))
    assert outcome.findings[0].severity is Verdict.NEEDS_WORK
    assert outcome.findings[0].figures == {"rows": 10}
