"""Runs the rules and comes to a verdict. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relgate.eval.review.actions import recommended_actions
from relgate.eval.review.rules import RULES
from relgate.eval.review.rules.r04_aggregate import movement
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    Evidence,
    Review,
    RuleOutcome,
    RuleState,
    Verdict,
)
from relgate.eval.wording import counted

__all__ = ["review"]


def review(evidence: Evidence, settings: ReviewSettings | None = None) -> Review:
    """Runs every rule; the verdict is the worst finding, or the cap of a rule left unchecked."""
    settings = settings if settings is not None else ReviewSettings()
    outcomes = tuple(rule.check(evidence, settings) for rule in RULES)
    verdict = _verdict(outcomes)
    return Review(
        verdict=verdict,
        headline=_headline(verdict, evidence, outcomes, settings) + _overridden(evidence),
        outcomes=outcomes,
        actions=recommended_actions(verdict, evidence, outcomes),
        evidence=evidence,
        settings=settings,
    )


def _verdict(outcomes: Sequence[RuleOutcome]) -> Verdict:
    worst = [f.severity for outcome in outcomes for f in outcome.findings]
    caps = [outcome.cap for outcome in outcomes if outcome.cap is not None]
    return max([*worst, *caps], default=Verdict.APPROVE)


# What a headline says first: what broke, then what is doubtful. The rest follows in rule order.
_FIRST = ("R12", "R9", "R10", "R11", "R13", "R6", "R5", "R7")

# Rules whose findings say more than their measurement does.
_BY_FINDING = frozenset({"R9", "R10", "R11", "R13", "R14", "R18"})

_BRIEF = {
    "R15": "the filled grades rest on a judge without a trusted certificate",
    "R17": "the delta is inside the noise",
}


def _headline(
    verdict: Verdict,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    settings: ReviewSettings,
) -> str:
    if verdict is Verdict.REFUSE:
        why = [
            f"{f.rule}: {f.message}"
            for outcome in outcomes
            for f in outcome.findings
            if f.severity is Verdict.REFUSE
        ]
        return "no verdict can be given: " + "; ".join(why)
    mean = _mean_phrase(evidence, outcomes, settings)
    failed = [o for o in outcomes if o.state is RuleState.FAILED and o.rule != "R4"]
    failed.sort(key=lambda o: _FIRST.index(o.rule) if o.rule in _FIRST else len(_FIRST))
    if failed:
        joint = "and" if evidence.main.delta < 0 else "but"
        return f"{mean}, {joint} " + "; ".join(_why(o, evidence) for o in failed)
    caps = [o for o in outcomes if o.cap is not None]
    if caps:
        return f"{mean}, but " + "; ".join(f"{o.rule} could not run: {o.summary}" for o in caps)
    if verdict is not Verdict.APPROVE:
        return mean
    few = [o for o in outcomes if o.rule == "R17" and o.state is RuleState.NOT_CHECKED]
    chance = "".join(f", not held against chance (R17: {o.summary})" for o in few)
    return f"{mean}{chance}; every rule that could run passed"


def _overridden(evidence: Evidence) -> str:
    """A verdict reached by overriding an honesty rule says so itself."""
    return f" ({'; '.join(evidence.overrides)})" if evidence.overrides else ""


def _mean_phrase(
    evidence: Evidence, outcomes: Sequence[RuleOutcome], settings: ReviewSettings
) -> str:
    """The mean in R4's own words: improved, flat, dropped."""
    main = evidence.main
    word = movement([a.delta for a in evidence.primary], settings)
    over = "" if main.n is None else f" over {counted(main.n, 'query', 'queries')}"
    line = f"aggregate {word}, {main.delta:+.4f} ({main.before:.4f} to {main.after:.4f}){over}"
    line += "".join(f", {a.name} {a.delta:+.4f}" for a in evidence.primary[1:])
    if main.weighted_delta is not None:
        line += f", traffic-weighted {main.weighted_delta:+.4f}"
    if evidence.unfilled is not None:
        line += f", {evidence.unfilled.delta:+.4f} without the judge's grades"
    found = next((o for o in outcomes if o.rule == "R17"), None)
    # R17 passes with a finding where the delta is inside the noise and no improvement is claimed.
    if found is not None and found.state is RuleState.PASSED and found.findings:
        line += ", not distinguishable from noise"
    own = settings.changed()
    return f"{line}, under {counted(len(own), 'budget')} of the project's own" if own else line


def _why(outcome: RuleOutcome, evidence: Evidence) -> str:
    if outcome.rule in _BRIEF:
        return _BRIEF[outcome.rule]
    if outcome.rule in _BY_FINDING:
        worst = sorted(outcome.findings, key=lambda f: -f.severity)
        counting = sum(f.severity > Verdict.APPROVE for f in worst)
        return worst[0].message + (f" (and {counting - 1} more)" if counting > 1 else "")
    if outcome.rule != "R6":
        return outcome.summary
    named = {i for f in outcome.findings for i in f.queries}
    hurt = [q for q in evidence.queries if q.query.id in named]
    if not hurt:
        return outcome.findings[0].message
    shown = ", ".join(f'"{q.query.shown}" {q.delta:+.2f}' for q in hurt)
    kind = "head" if all(q.head for q in hurt) else "head or critical"
    return f"{counted(len(hurt), f'{kind} query', f'{kind} queries')} regressed ({shown})"
