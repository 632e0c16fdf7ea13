"""R16: the judge is of another family than the pipeline, and did not make the ranking.

A breach is raised before any call (exit code 5). The rule looks again at what it is given, so that
evidence that came another way cannot pass unseen.
"""

from __future__ import annotations

from collections.abc import Sequence

from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, Finding, JudgeUse, RuleOutcome, Verdict
from relgate.judge.families import NO_FAMILY, check_circularity, check_family_separation
from relgate.rubrics.errors import HonestyError

__all__ = ["RULE"]


def check(evidence: Evidence, _settings: ReviewSettings) -> RuleOutcome:
    """Passes without model-made grades; caps when the pipeline's models were not declared."""
    models = [j for j in evidence.judges if j.family != NO_FAMILY]
    notes = [Finding("R16", Verdict.APPROVE, text) for text in evidence.overrides]
    if not models:
        return passed("R16", "no grades made by a language model in the scores", *notes)
    if evidence.change is None or (declared := evidence.change.system_models) is None:
        return not_checked(
            "R16",
            "the pipeline's models were not declared (system_models; [] for none)",
            cap=Verdict.NEEDS_WORK,
        )
    breach = None if evidence.overrides else _breach(models, evidence.change)
    if breach is not None:
        advice = "grade with a judge of another family, which is no part of the ranking"
        return failed("R16", breach, Finding("R16", Verdict.REFUSE, breach, advice=advice))
    families = ", ".join(sorted({j.family or "declared" for j in models}))
    against = ", ".join(declared) or "no models in the pipeline"
    return passed("R16", f"judge family {families} against {against}", *notes)


def _breach(judges: Sequence[JudgeUse], change: ChangeDescription) -> str | None:
    """What is wrong with the first judge that must not judge this change, or None."""
    try:
        for judge in judges:
            check_family_separation(
                judge_model=judge.model or judge.version,
                family=judge.family,
                system_models=change.system_models or (),
            )
            check_circularity(
                version=judge.version or "",
                fingerprint=judge.fingerprint,
                ranker_judges=change.ranker_judges,
            )
    except HonestyError as error:
        return str(error)
    return None


RULE = Rule(
    id="R16",
    name="honesty",
    asks="Is the judge of another family than the pipeline's models, and no part of the ranking?",
    default="-",
    severity="raises (exit code 5); REFUSE",
    source="judge document, X",
    unchecked="filled grades and system_models unset: cap NEEDS-WORK",
    mend="declare system_models, and take a judge of another family that is no part of the ranking",
    check=check,
)
