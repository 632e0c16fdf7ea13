"""Figures over many queries, and who stands behind them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relgate.eval.lists.types import Source

__all__ = [
    "Aggregate",
    "ApartFigures",
    "CertificateFacts",
    "Correction",
    "Coverage",
    "Delta",
    "ExpectedScores",
    "FillFacts",
    "Interval",
    "JudgeUse",
    "ModeFigures",
    "Noise",
    "Stratum",
    "Unrated",
]


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

    @property
    def weighted_delta(self) -> float | None:
        """The traffic-weighted delta, None without weights."""
        if self.weighted_before is None or self.weighted_after is None:
            return None
        return self.weighted_after - self.weighted_before


@dataclass(frozen=True, slots=True)
class ExpectedScores:
    """The gating mean when each filled grade is drawn from the judge's own class probabilities.

    Attributes:
        name: the metric with its convention.
        before: its mean over the draws.
        after: likewise.
        low: 2.5 % of the draws have a smaller delta.
        high: 2.5 % have a greater one.
        pairs: filled grades that came with probabilities.
        filled: all filled grades; the others, and people's, are taken as they are.
        draws: how many draws.
        seed: of the draws.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    pairs: int
    filled: int
    draws: int
    seed: int

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
        mostly: those of them with more unrated than R8 allows a query (more than half by default).
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
class Interval:
    """A figure with its 95 % interval; NaN where it is undefined."""

    point: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a judge's certificate says, whether or not it still holds.

    Its id holds the second that it was made in, and is left out: the same review twice is the same.

    Attributes:
        level: what its policy made of the figures.
        labels: pairs that people and the judge both graded.
        queries: queries among them.
        coverage: share of the asked pairs that got a grade, 0..1.
        made_on: the date, ISO 8601.
        expires_on: likewise.
        f1: F1 at the floor.
        kappa_quadratic: quadratic kappa.
    """

    level: str
    labels: int
    queries: int
    coverage: float
    made_on: str
    expires_on: str
    f1: Interval
    kappa_quadratic: Interval


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
        policy: the trust policy that its certificate was earned under, None without one.
        certificate: what its newest certificate says, None without one.
    """

    version: str | None
    fingerprint: str | None
    model: str | None
    family: str | None
    rows: int
    problem: str | None
    policy: str | None = None
    certificate: CertificateFacts | None = None


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
        saved_usd: what the cached grades had cost, by the price table, of those that record their
            tokens; None without a price or a count.
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
    saved_usd: float | None = None

    @property
    def gaps(self) -> int:
        """Unrated pairs that the fill was to close."""
        return self.asked + self.not_asked + self.no_text

    @property
    def error_rate(self) -> float:
        """Failed share of the pairs asked, 0..1; 0 when none was asked."""
        return (self.asked - self.graded) / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class Delta:
    """A mean delta with its 95 % interval; the ends are None where there is none."""

    point: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The mean delta that people's labels make of the judge's (PPI++).

    Attributes:
        metric: the gating metric with its convention.
        labelled: n, queries whose top k on both sides both people and the judge graded.
        unlabelled: N, those that the judge graded and people did not.
        needed: the least n.
        why: why there is no correction, one sentence; None where there is.
        judge: mean delta by the judge's grades alone, over both; None without a correction.
        people: mean delta by people's grades alone, over the labelled; likewise.
        corrected: the prediction-powered delta; likewise.
        weight: lambda, how far the judge's deltas count; likewise.
        asked: people's pairs that the judge was asked about for this.
        notes: what a reader must know, a sentence each.
    """

    metric: str
    labelled: int
    unlabelled: int
    needed: int
    why: str | None = None
    judge: Delta | None = None
    people: Delta | None = None
    corrected: Delta | None = None
    weight: float | None = None
    asked: int = 0
    notes: tuple[str, ...] = ()


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
class Stratum:
    """A group of queries under the primary metric.

    Attributes:
        name: `billing`, or `locale en-US`.
        before: mean before, over its queries scored on both sides.
        after: mean after.
        n: how many those are.
        p: two-sided sign-flip randomisation p of its mean delta, not adjusted; NaN over none.
    """

    name: str
    before: float
    after: float
    n: int
    p: float

    @property
    def delta(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ApartFigures:
    """Queries of one set that never gates, `challenge` or `shadow`.

    Attributes:
        name: the set.
        queries: how many of its queries the runs have.
        relevance: the metric that gates elsewhere, on them; None when it has no value.
        emptied: its queries, as shown, that found documents before and find none after.
    """

    name: str
    queries: int
    relevance: Aggregate | None
    emptied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """One mode of a hybrid search (lexical, vector, ...) by itself.

    Attributes:
        name: what the change calls it.
        relevance: the metric that gates, on the mode's own runs; None when it has no value.
        recall: recall@k of relevant documents on them; likewise.
        unrated_after: mean unrated share of its documents within k after, 0..1; NaN when unknown.
        lacks: what keeps it from standing for the review, one clause; None when nothing does.
    """

    name: str
    relevance: Aggregate | None
    recall: Aggregate | None
    unrated_after: float
    lacks: str | None = None
