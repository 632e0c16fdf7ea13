"""What a review rests on, and what it says: evidence, findings, outcomes, the verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from math import isnan, nan
from types import MappingProxyType
from typing import Any

from relgate.eval.lists.types import Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.change import ChangeDescription

__all__ = [
    "TOLERANCE",
    "Aggregate",
    "Basis",
    "Coverage",
    "Evidence",
    "FillFacts",
    "Finding",
    "JudgeUse",
    "Noise",
    "QueryEvidence",
    "RankedDoc",
    "Review",
    "RuleOutcome",
    "RuleState",
    "Side",
    "Unrated",
    "Verdict",
]

TOLERANCE = 1e-9
"""A delta counts as a change when it is larger than this; a drop equal to its limit passes."""


class Verdict(IntEnum):
    """Worst last. REFUSE is not a worse BLOCK: no verdict can be given."""

    APPROVE = 0
    NEEDS_WORK = 1
    BLOCK = 2
    REFUSE = 3

    @property
    def word(self) -> str:
        """How reports write it: `NEEDS-WORK`."""
        return self.name.replace("_", "-")

    @property
    def exit_code(self) -> int:
        """What the command line returns: 0, 1, 3, 4."""
        return {0: 0, 1: 1, 2: 3, 3: 4}[int(self)]


class RuleState(StrEnum):
    """What became of a rule. A rule without its input is shown, never silent."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


class Basis(StrEnum):
    """Where the scores come from."""

    RECOMPUTED = "recomputed from the judgment list"
    GIVEN = "as given in the files"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    Attributes:
        rule: the rule's id, `R5`.
        severity: the verdict that this finding alone would mean.
        message: one sentence with its figures and threshold.
        figures: the numbers, for machines.
        advice: what to do about it, or None.
        queries: ids of the queries it names.
    """

    rule: str
    severity: Verdict
    message: str
    figures: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    advice: str | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What a rule came to.

    Attributes:
        rule: the rule's id.
        state: passed, failed or not checked.
        summary: one line: what was measured, or which input was absent.
        findings: at least one when failed; notes when passed.
        cap: the best verdict still possible, where an unchecked rule limits it.
    """

    rule: str
    state: RuleState
    summary: str
    findings: tuple[Finding, ...] = ()
    cap: Verdict | None = None


@dataclass(frozen=True, slots=True)
class RankedDoc:
    """A document in a result list, with its grade and who gave it; None where unrated."""

    doc_id: str
    grade: int | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One query on one side.

    Attributes:
        value: the primary metric; NaN where it has no value. A failed query has 0.
        error: why the engine could not answer, or None.
        absent: neither in the details nor in the failures of this side.
        returned: distinct documents within k.
        unrated: those of them without a grade.
        unrated_known: whether the files tell which are unrated.
        top: the documents within k, best first, repeats kept; empty where the file lists none.
        best_rank: rank of the best-graded relevant document, None when not within k.
    """

    value: float = nan
    error: str | None = None
    absent: bool = False
    returned: int = 0
    unrated: int = 0
    unrated_known: bool = True
    top: tuple[RankedDoc, ...] = ()
    best_rank: int | None = None

    @property
    def answered(self) -> bool:
        """Whether it came back with a document, as far as the file tells."""
        if self.absent or self.error is not None:
            return False
        return self.returned > 0 or not self.unrated_known


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """One query on both sides.

    Attributes:
        query: id and text.
        was: the before side.
        now: the after side.
        head: marked as a head query.
        critical: marked as critical.
        no_ideal: no judgment above grade 0, so the metric is undefined.
        unjudged: no judgment at all.
    """

    query: Query
    was: Side
    now: Side
    head: bool = False
    critical: bool = False
    no_ideal: bool = False
    unjudged: bool = False

    @property
    def before(self) -> float:
        """The primary metric before."""
        return self.was.value

    @property
    def after(self) -> float:
        """The primary metric after."""
        return self.now.value

    @property
    def delta(self) -> float:
        """After minus before; NaN where either has no value."""
        return self.after - self.before

    @property
    def paired(self) -> bool:
        """Whether it has a value on both sides."""
        return not (isnan(self.before) or isnan(self.after))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A metric's mean on both sides.

    Attributes:
        key: `ndcg`, `mrr` ..., or `given` for the files' own.
        name: with its convention, `nDCG(gain=exp2)@10`.
        before: mean before.
        after: mean after.
        n: queries it is over; None when the file does not tell.
        weighted_before: traffic-weighted mean, None without weights.
        weighted_after: likewise.
    """

    key: str
    name: str
    before: float
    after: float
    n: int | None
    weighted_before: float | None = None
    weighted_after: float | None = None

    @property
    def delta(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Unrated:
    """How much of what came back within k nobody has graded.

    Attributes:
        known: whether the files tell.
        mean_before: mean unrated share before, over queries with a document; NaN when unknown.
        mean_after: likewise after.
        queries: queries with a document on the after side.
        mostly: those of them with more than half unrated.
        empty: queries without any document on the after side.
    """

    known: bool
    mean_before: float
    mean_after: float
    queries: int
    mostly: int
    empty: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the review rests on.

    Attributes:
        queries: queries of either run.
        scored: those with a value on both sides.
        no_ideal: those reported apart, since no judgment is above grade 0.
        unjudged: those without any judgment.
        list_only: judged queries that neither run has; left out.
        judgments: judgments of the runs' queries.
        by_source: the same by who made them.
        now: unrated documents as scored.
        at_first: unrated documents before the fill; None without one.
    """

    queries: int
    scored: int
    no_ideal: int
    unjudged: int
    list_only: int
    judgments: int
    by_source: Mapping[Source, int]
    now: Unrated
    at_first: Unrated | None = None


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """A judge whose grades the scores rest on.

    Attributes:
        version: its version, or None when the list does not say.
        fingerprint: likewise.
        model: likewise.
        family: likewise; `none` for a judge without a language model.
        rows: grades of it in the list.
        problem: why its certificate does not hold, one sentence; None when it holds.
    """

    version: str | None
    fingerprint: str | None
    model: str | None
    family: str | None
    rows: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class FillFacts:
    """What a fill in this review did.

    Attributes:
        judge: how the command line names the judge.
        asked: pairs put to the judge.
        graded: pairs it graded.
        cached: those of them that came from the cache.
        errors: {kind: pairs that got no grade}.
        not_asked: pairs left out because the run had stopped; still unrated.
        no_text: unrated pairs that the catalogue has no text for; not put to the judge.
        calls: calls made to the model.
        seconds: wall time.
        cost_usd: what was spent in this run, by the price table; None without a price.
    """

    judge: str
    asked: int
    graded: int
    cached: int
    errors: Mapping[str, int]
    no_text: int
    calls: int | None
    seconds: float
    not_asked: int = 0
    cost_usd: float | None = None

    @property
    def error_rate(self) -> float:
        """Failed share of the pairs asked, 0..1; 0 when none was asked."""
        return (self.asked - self.graded) / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class Noise:
    """How a delta stands against chance.

    Attributes:
        p: two-sided sign-flip randomisation p.
        low: lower end of the 95 % bootstrap interval of the mean delta.
        high: upper end.
        detectable: least mean delta found with 80 % power.
        n: paired queries.
    """

    p: float
    low: float
    high: float
    detectable: float
    n: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything the rules may look at.

    Attributes:
        conventions: what the figures depend on.
        basis: recomputed, or as given.
        aggregates: the one that gates first.
        queries: of either run, in the runs' order.
        coverage: counts.
        change: the change description, or None when none was given.
        settings_before: what the before file states of its metric, {name: value}.
        settings_after: likewise after.
        cross_checks: scores in the files that ours do not reproduce, one sentence each.
        judges: judges whose grades the scores rest on.
        fill: what a fill in this review did; None without one.
        overrides: honesty rules overridden by name, one sentence each.
        noise: None when it cannot be told.
        covers_all: the queries listed are the whole query set (their mean gives the aggregate).
        has_heads: whether any head or critical list was given at all.
        heads_missing: head or critical queries that were given and are in neither run.
        warnings: what the readers had to say.
    """

    conventions: Conventions
    basis: Basis
    aggregates: tuple[Aggregate, ...]
    queries: tuple[QueryEvidence, ...]
    coverage: Coverage
    change: ChangeDescription | None = None
    settings_before: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    settings_after: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    cross_checks: tuple[str, ...] = ()
    judges: tuple[JudgeUse, ...] = ()
    fill: FillFacts | None = None
    overrides: tuple[str, ...] = ()
    noise: Noise | None = None
    covers_all: bool = True
    has_heads: bool = False
    heads_missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def main(self) -> Aggregate:
        """The aggregate that gates."""
        return self.aggregates[0]

    @property
    def paired(self) -> list[QueryEvidence]:
        """The queries scored on both sides: the denominator of shares."""
        return [q for q in self.queries if q.paired]

    def aggregate(self, key: str) -> Aggregate | None:
        """The aggregate of that key, or None."""
        return next((a for a in self.aggregates if a.key == key), None)


@dataclass(frozen=True, slots=True)
class Review:
    """A finished review.

    Attributes:
        verdict: the worst finding, or the cap of an unchecked rule.
        headline: one sentence that says why.
        outcomes: one a rule, in the rules' order.
        actions: what to do next, each naming its queries.
        evidence: what it rests on.
    """

    verdict: Verdict
    headline: str
    outcomes: tuple[RuleOutcome, ...]
    actions: tuple[str, ...]
    evidence: Evidence

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, worst first, then in the rules' order."""
        found = [f for outcome in self.outcomes for f in outcome.findings]
        return tuple(sorted(found, key=lambda f: -f.severity))
