"""R12: queries that the change broke outright, and those that were broken before."""

from __future__ import annotations

from relgate.eval.review.types import RuleState, Verdict

DEAD = {"error": "parsing_exception: no such field", "returned": 0}


def test_no_failure_passes(check, evidence, many):
    outcome = check("R12", evidence(*many(3)))
    assert outcome.state is RuleState.PASSED
    assert outcome.summary == "no queries fail that answered before"


def test_one_query_that_fails_after_blocks_with_its_drop_and_its_error(
    check, evidence, many, query
):
    outcome = check("R12", evidence(*many(500), query("q2", 0.8, 0.0, now=DEAD)))
    (finding,) = outcome.findings
    assert (outcome.state, finding.severity) == (RuleState.FAILED, Verdict.BLOCK)
    assert '"q2" (a drop of 0.80: parsing_exception: no such field)' in finding.message
    assert (finding.queries, finding.figures) == (("q2",), {"failed": 1})


def test_a_broken_query_blocks_also_when_nobody_can_score_it(check, evidence, many, query):
    outcome = check("R12", evidence(*many(3), query("a", now=DEAD, unjudged=True)))
    assert outcome.findings[0].severity is Verdict.BLOCK
    assert "drop" not in outcome.findings[0].message


def test_a_query_that_failed_before_is_no_improvement_that_can_be_told(
    check, evidence, many, query
):
    mended = query("mended", 0.0, 0.9, was=DEAD)
    still = [query(name, 0.0, 0.0, was=DEAD, now=DEAD) for name in ("still", "dead")]
    outcome = check("R12", evidence(*many(3), mended, *still))
    (finding,) = outcome.findings
    assert finding.severity is Verdict.NEEDS_WORK
    assert finding.queries == ("mended", "still", "dead")
    assert finding.figures == {"failed_before": 3}
    assert outcome.summary.endswith("3 failed before, 1 of them answering now")


def test_both_are_told_apart(check, evidence, query):
    found = evidence(query("broken", 0.8, 0.0, now=DEAD), query("mended", 0.0, 0.8, was=DEAD))
    severities = [f.severity for f in check("R12", found).findings]
    assert severities == [Verdict.BLOCK, Verdict.NEEDS_WORK]


def test_a_long_list_is_counted(check, evidence, query):
    broken = [query(f"q{i}", 0.5, 0.0, now=DEAD) for i in range(7)]
    (finding,) = check("R12", evidence(*broken)).findings
    assert finding.message.startswith("7 queries fail")
    assert finding.message.endswith("and 2 more")
    assert len(finding.queries) == 7
