"""What a rule is, and the three ways it can end. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import (
    TOLERANCE,
    Evidence,
    Finding,
    QueryEvidence,
    RuleOutcome,
    RuleState,
    Verdict,
)
from relgate.eval.wording import counted, percent

__all__ = [
    "Fallen",
    "Rule",
    "failed",
    "fallen",
    "not_checked",
    "passed",
]

Check = Callable[[Evidence, ReviewSettings], RuleOutcome]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the reviewer.

    Attributes:
        id: `R5`.
        name: one word or two, `carnage`.
        asks: what it looks at, one sentence.
        default: its default threshold, as text.
        severity: what a finding means, as text.
        source: R the reviewer document, G the golden-query guide, X ours.
        unchecked: what its absence does to the verdict, as text.
        mend: what to do about a finding, an imperative without a full stop.
        check: the rule itself.
    """

    id: str
    name: str
    asks: str
    default: str
    severity: str
    source: str
    unchecked: str
    mend: str
    check: Check


def passed(rule: str, summary: str, *notes: Finding) -> RuleOutcome:
    """The rule ran and found nothing that counts; notes may go along."""
    return RuleOutcome(rule, RuleState.PASSED, summary, notes)


def failed(rule: str, summary: str, *findings: Finding) -> RuleOutcome:
    """The rule ran and found something."""
    return RuleOutcome(rule, RuleState.FAILED, summary, findings)


def not_checked(rule: str, why: str, *, cap: Verdict | None = None) -> RuleOutcome:
    """The rule's input is absent; `cap` is the best verdict that leaves possible."""
    return RuleOutcome(rule, RuleState.NOT_CHECKED, why, cap=cap)


@dataclass(frozen=True, slots=True)
class Fallen:
    """The queries that fell by more than a limit, of those scored on both sides.

    Attributes:
        queries: worst first.
        of: how many are scored on both sides; at least 1.
    """

    queries: tuple[QueryEvidence, ...]
    of: int

    @property
    def share(self) -> float:
        """How many of them fell, 0..1."""
        return len(self.queries) / self.of

    @property
    def texts(self) -> list[str]:
        """What the fallen are called."""
        return [q.query.shown for q in self.queries]

    def line(self, what: str) -> str:
        """`2 of 40 queries (5.0 %) got worse`."""
        queries = counted(self.of, "query", "queries")
        return f"{len(self.queries):,} of {queries} ({percent(self.share)}) {what}"

    def figures(self, name: str) -> dict[str, float]:
        """The counts, those of the fallen under `name`."""
        return {name: len(self.queries), "queries": self.of, "share": self.share}


def fallen(evidence: Evidence, limit: float) -> Fallen | None:
    """The queries that fell by more than `limit`; None when none is scored on both sides."""
    paired = evidence.paired
    if not paired:
        return None
    found = (q for q in paired if q.delta < -limit - TOLERANCE)
    return Fallen(tuple(sorted(found, key=lambda q: q.delta)), len(paired))
