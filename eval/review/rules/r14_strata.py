"""R14: a thin group of queries that a good mean hides."""

from __future__ import annotations

from collections.abc import Sequence

from relgate.eval.metrics.compare import holm
from relgate.eval.review.rules.base import Rule, failed, not_checked, passed
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import TOLERANCE, Evidence, Finding, RuleOutcome, Stratum, Verdict
from relgate.eval.wording import counted

__all__ = ["RULE"]


def check(evidence: Evidence, settings: ReviewSettings) -> RuleOutcome:
    """Fails for a stratum whose mean drop is over its budget and no work of chance.

    Chance: the sign-flip p of the stratum's deltas, Holm-adjusted over all strata large enough to
    be tested. A drop over the budget in a smaller stratum, or one that chance explains, is a note.
    """
    unknown = sorted(settings.stratum_budgets.keys() - {s.name for s in evidence.strata})
    tail = f"; budgets name strata that are not there: {', '.join(unknown)}" if unknown else ""
    if not evidence.strata:
        return not_checked("R14", f"no strata were given{tail}")
    if not evidence.covers_all:
        return not_checked("R14", "the queries listed are not the whole query set")
    large = [s for s in evidence.strata if s.n >= settings.min_stratum_queries]
    small = [s for s in evidence.strata if s.n < settings.min_stratum_queries]
    adjusted = dict(zip([s.name for s in large], holm([s.p for s in large]), strict=True))
    findings = [
        _dropped(s, adjusted[s.name], settings)
        for s in large
        if _over(s, settings) and not adjusted[s.name] >= settings.max_stratum_p  # NaN fails
    ]
    notes = [
        _watched(s, adjusted.get(s.name), settings)
        for s in evidence.strata
        if s.n and _over(s, settings) and adjusted.get(s.name, 1.0) >= settings.max_stratum_p
    ]
    line = _line(large, small, settings) + tail
    if findings:
        return failed("R14", line, *findings, *notes)
    if large:
        return passed("R14", line, *notes)
    watched = "".join(f"; {note.message}" for note in notes)
    return not_checked("R14", f"{line}{watched}")


def _over(stratum: Stratum, settings: ReviewSettings) -> bool:
    """Whether it dropped over its budget; a delta that is no number did."""
    return not stratum.delta >= -settings.budget_of(stratum.name) - TOLERANCE


def _line(large: Sequence[Stratum], small: Sequence[Stratum], settings: ReviewSettings) -> str:
    parts = [f"{counted(len(large), 'stratum', 'strata')} tested"]
    if large:
        worst = min(large, key=lambda s: s.delta)
        parts.append(f"worst {worst.name} {worst.delta:+.4f} (n {worst.n})")
    if small:
        parts.append(
            f"{len(small)} with fewer than {settings.min_stratum_queries} queries only watched"
        )
    return ", ".join(parts)


def _told(stratum: Stratum) -> str:
    return (
        f"stratum {stratum.name} dropped {stratum.before:.4f} to {stratum.after:.4f} "
        f"({stratum.delta:+.4f}, n {stratum.n})"
    )


def _figures(stratum: Stratum) -> dict[str, object]:
    return {"stratum": stratum.name, "delta": stratum.delta, "n": stratum.n, "p": stratum.p}


def _dropped(stratum: Stratum, p: float, settings: ReviewSettings) -> Finding:
    budget = settings.budget_of(stratum.name)
    return Finding(
        "R14",
        Verdict.NEEDS_WORK,
        f"{_told(stratum)}, Holm-adjusted p {p:.4f}; its budget is {budget:g}",
        {**_figures(stratum), "p_holm": p, "budget": budget},
        advice=f"look at the losers of stratum {stratum.name} by themselves",
    )


def _watched(stratum: Stratum, p: float | None, settings: ReviewSettings) -> Finding:
    why = (
        f"fewer than {settings.min_stratum_queries} queries"
        if p is None
        else f"inside the noise, Holm-adjusted p {p:.4f}"
    )
    note = f"watch: {_told(stratum)}; {why}"
    return Finding("R14", Verdict.APPROVE, note, {**_figures(stratum), "p_holm": p})


RULE = Rule(
    id="R14",
    name="strata",
    asks=(
        "Did the mean of a stratum (declared or vertical, locale, filtered or unfiltered) drop "
        "over its budget, beyond chance?"
    ),
    default="> 0.01, Holm-adjusted p < 0.05, from 30 queries on",
    severity="NEEDS-WORK",
    source="G, X",
    unchecked="no strata, or none large enough: note",
    mend="look at the losers of that stratum; the query table says which query is in which",
    check=check,
)
