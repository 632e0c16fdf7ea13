"""R15: grades that a judge filled in need a certificate that holds."""

from __future__ import annotations

from relgate.eval.lists.types import Source
from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, RuleOutcome, Verdict

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """An uncalibrated judge cannot turn a gate green: it caps the verdict."""
    if not evidence.judges:
        return _undeclared(evidence.coverage.by_source.get(Source.JUDGE, 0))
    rows = sum(j.rows for j in evidence.judges)
    faulty = [j for j in evidence.judges if j.problem is not None]
    if not faulty:
        return passed("R15", f"{rows} judge-made grades rest on a valid, trusted certificate")
    return failed(
        "R15",
        f"{rows} judge-made grades, {sum(j.rows for j in faulty)} of them without a trusted "
        "certificate",
        *(
            Finding(
                "R15",
                Verdict.NEEDS_WORK,
                f"{j.rows} grades by judge {j.version or 'of unknown version'}: {j.problem}",
                {"rows": j.rows, "version": j.version, "fingerprint": j.fingerprint},
                advice="calibrate this judge on people's labels (relgate calibrate --human ...)",
            )
            for j in faulty
        ),
    )


def _undeclared(rows: int) -> RuleOutcome:
    """Nobody named a judge: then the list must hold no grade of one."""
    if not rows:
        return passed("R15", "no judge-made grades in the scores")
    line = f"{rows} judge-made grades, and nothing says by which judge"
    advice = "calibrate the judge on people's labels (relgate calibrate --human ...)"
    return failed("R15", line, Finding("R15", Verdict.NEEDS_WORK, line, {"rows": rows}, advice))


RULE = Rule(
    id="R15",
    name="judge",
    asks="Do filled grades rest on a valid, trusted certificate of the same fingerprint?",
    default="-",
    severity="caps at NEEDS-WORK",
    source="X",
    unchecked="no filled grades: passes",
    check=check,
)
