"""R16: the judge is of another family than the pipeline, and did not make the ranking.

A breach is raised before any call (exit code 5), so what reaches this rule is what is left: that
separation holds, was overridden by name, or could not be checked.
"""

from __future__ import annotations

from relgate.eval.review.rules.base import Rule, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, RuleOutcome, Verdict
from relgate.judge.families import NO_FAMILY

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Passes without model-made grades; caps when the pipeline's models were not declared."""
    models = [j for j in evidence.judges if j.family != NO_FAMILY]
    notes = [Finding("R16", Verdict.APPROVE, text) for text in evidence.overrides]
    if not models:
        return passed("R16", "no grades made by a language model in the scores", *notes)
    declared = evidence.change.system_models if evidence.change is not None else None
    if declared is None:
        return not_checked(
            "R16",
            "the pipeline's models were not declared (system_models; [] for none)",
            cap=Verdict.NEEDS_WORK,
        )
    families = ", ".join(sorted({j.family or "declared" for j in models}))
    against = ", ".join(declared) or "no models in the pipeline"
    return passed("R16", f"judge family {families} against {against}", *notes)


RULE = Rule(
    id="R16",
    name="honesty",
    asks="Is the judge of another family than the pipeline's models, and no part of the ranking?",
    default="-",
    severity="raises (exit code 5)",
    source="judge document, X",
    unchecked="filled grades and system_models unset: cap NEEDS-WORK",
    check=check,
)
