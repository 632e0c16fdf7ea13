"""Everything that a review rests on, and the review itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.debug import DebugTools
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types._figures import (
    Aggregate,
    ApartFigures,
    Correction,
    Coverage,
    ExpectedScores,
    FillFacts,
    JudgeUse,
    ModeFigures,
    Noise,
    Stratum,
)
from relgate.eval.review.types._outcomes import Finding, RuleOutcome, Verdict
from relgate.eval.review.types._queries import QueryEvidence

__all__ = [
    "Basis",
    "Evidence",
    "Review",
]


class Basis(StrEnum):
    """Where the scores come from."""

    RECOMPUTED = "recomputed from the judgment list"
    GIVEN = "as given in the files"


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
        filter_cases: the cases of a filter change, and whether each held.
        modes: each mode of a hybrid search by itself.
        apart: sets of queries that never gate.
        strata: groups of queries, declared ones first.
        contradictions: what a file says against itself, one sentence each.
        unlike_ratings: documents that the two files rate differently, one sentence each.
        unfilled: the gating aggregate before the fill; None without one.
        correction: what people's labels make of the judge's delta; None where no judge's grade
            counts.
        expected: that aggregate under the class probabilities of the fill's judge, where it gives
            them.
        titles: {document id: title}, where a catalogue was read.
        tools: where a report points to for one query.
        inputs: {what: where from and its hash}, for the record.
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
    filter_cases: tuple[CheckedCase, ...] = ()
    modes: tuple[ModeFigures, ...] = ()
    apart: tuple[ApartFigures, ...] = ()
    strata: tuple[Stratum, ...] = ()
    contradictions: tuple[str, ...] = ()
    unlike_ratings: tuple[str, ...] = ()
    unfilled: Aggregate | None = None
    correction: Correction | None = None
    expected: ExpectedScores | None = None
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tools: DebugTools = field(default_factory=DebugTools)
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def gives_recall(self) -> bool:
        """Whether both files are recall@k reports: the mean that gates is recall."""
        stated = (self.settings_before, self.settings_after)
        given = self.basis is Basis.GIVEN
        return given and all(settings.get("metric") == "recall" for settings in stated)

    @property
    def main(self) -> Aggregate:
        """The aggregate that gates."""
        return self.aggregates[0]

    @property
    def primary(self) -> tuple[Aggregate, ...]:
        """The aggregates that R4 gates: NDCG alone, MRR and P@k with binary labels."""
        second = self.aggregate("precision") if self.main.key == "mrr" else None
        return (self.main,) if second is None else (self.main, second)

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
        settings: the reviewer's numbers.
    """

    verdict: Verdict
    headline: str
    outcomes: tuple[RuleOutcome, ...]
    actions: tuple[str, ...]
    evidence: Evidence
    settings: ReviewSettings

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, worst first, then in the rules' order."""
        found = [f for outcome in self.outcomes for f in outcome.findings]
        return tuple(sorted(found, key=lambda f: -f.severity))

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """The findings that count, worst first: under a refusal only those that refuse."""
        refused = self.verdict is Verdict.REFUSE
        return tuple(f for f in self.findings if not refused or f.severity is Verdict.REFUSE)

    @property
    def withheld(self) -> tuple[Finding, ...]:
        """Under a refusal whatever else was found, in the rules' order: it earns no verdict."""
        if self.verdict is not Verdict.REFUSE:
            return ()
        found = (f for outcome in self.outcomes for f in outcome.findings)
        return tuple(f for f in found if f.severity is not Verdict.REFUSE)
