"""R15: grades that a judge filled in need a certificate that holds."""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.lists.types import Source
from relgate.eval.review.rules.base import Rule, failed, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, JudgeUse, RuleOutcome, Verdict
from relgate.eval.wording import counted

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """An uncalibrated judge cannot turn a gate green: it caps the verdict."""
    named = sum(j.rows for j in evidence.judges)
    unnamed = max(0, evidence.coverage.by_source.get(Source.JUDGE, 0) - named)
    if not named + unnamed:
        unsaid = evidence.coverage.by_source.get(Source.IMPORT, 0)
        tail = f"; who made {counted(unsaid, 'grade')} is not stated" if unsaid else ""
        return passed("R15", f"no grades marked as judge-made in the scores{tail}")
    made = counted(named + unnamed, "judge-made grade")
    faulty = [j for j in evidence.judges if j.problem is not None]
    bare = sum(j.rows for j in faulty) + unnamed
    if not bare:
        rest = "rests" if named == 1 else "rest"
        policies = sorted({j.policy for j in evidence.judges if j.policy})
        return passed(
            "R15",
            f"{made} {rest} on a valid certificate, trusted under policy {', '.join(policies)}",
        )
    return failed(
        "R15",
        f"{made}, {bare} of them without a trusted certificate",
        *map(_uncertified, faulty),
        *_undeclared(unnamed),
    )


def _uncertified(judge: JudgeUse) -> Finding:
    return Finding(
        "R15",
        Verdict.NEEDS_WORK,
        f"{counted(judge.rows, 'grade')} by judge {judge.version or 'of unknown version'}: "
        f"{judge.problem}",
        {"rows": judge.rows, "version": judge.version, "fingerprint": judge.fingerprint},
        advice="calibrate this judge on people's labels (relgate calibrate --human ...)",
    )


def _undeclared(rows: int) -> Iterator[Finding]:
    """Grades of judges that nobody named."""
    if rows:
        yield Finding(
            "R15",
            Verdict.NEEDS_WORK,
            f"{counted(rows, 'judge-made grade')}, and nothing says by which judge",
            {"rows": rows},
            advice="calibrate the judge on people's labels (relgate calibrate --human ...)",
        )


RULE = Rule(
    id="R15",
    name="judge",
    asks="Do filled grades rest on a valid, trusted certificate of the same fingerprint?",
    default="-",
    severity="caps at NEEDS-WORK",
    source="X",
    unchecked="no filled grades: passes",
    mend=(
        "calibrate the judge against people's labels: relgate calibrate; the certificate "
        "must be trusted, in date and of the same fingerprint"
    ),
    check=check,
)
