"""Coverage, the judge, and what a fill did. Pure."""

from __future__ import annotations

from typing import Literal

from relgate.eval.report.shapes.base import Count, RuleId, Shape, SourceWord, Word

__all__ = [
    "CertificateShape",
    "CoverageShape",
    "DoubtedJudgeShape",
    "ExpectedShape",
    "FillShape",
    "IntervalShape",
    "JudgeErrorShape",
    "JudgeShape",
    "JudgeUseShape",
    "OpenFillShape",
    "OpenQueryShape",
    "StandingShape",
    "UnratedShape",
]


class UnratedShape(Shape):
    """How much of what came back within k nobody has graded; shares are 0..1."""

    known: bool
    mean_share_before: float | None
    mean_share_after: float | None
    queries: Count
    mostly_unrated: Count
    empty: Count


class CoverageShape(Shape):
    """What the review rests on, in counts."""

    queries: Count
    scored: Count
    no_ideal: Count
    unjudged: Count
    list_only: Count
    judgments: Count
    by_source: dict[SourceWord, Count]
    unrated: UnratedShape
    unrated_before_fill: UnratedShape | None


class IntervalShape(Shape):
    """A figure with its 95 % interval; null where it is undefined."""

    point: float | None
    low: float | None
    high: float | None


class CertificateShape(Shape):
    """What a judge's certificate says, whether or not it still holds."""

    level: str
    labels: Count
    queries: Count
    coverage: float
    made_on: str
    expires_on: str
    f1: IntervalShape
    kappa_quadratic: IntervalShape


class JudgeUseShape(Shape):
    """A judge whose grades the scores rest on."""

    version: str | None
    fingerprint: str | None
    model: str | None
    family: str | None
    grades: Count
    certificate_problem: str | None
    policy: str | None
    certificate: CertificateShape | None


class FillShape(Shape):
    """What a fill in this review did."""

    judge: str
    asked: Count
    graded: Count
    cached: Count
    errors: dict[str, Count]
    error_rate: float
    no_text: Count
    calls: Count | None
    not_asked: Count
    cost_usd: float | None
    saved_usd: float | None


class StandingShape(Shape):
    """A rule over every grade that the documents left open could have."""

    state: str
    least: Word
    most: Word


class OpenQueryShape(Shape):
    """A query whose open documents can still change the verdict."""

    id: str
    text: str
    doc_ids: tuple[str, ...]


class DoubtedJudgeShape(Shape):
    """For each grade of a judge's, the grades of people that its certificate leaves possible."""

    version: str
    fingerprint: str
    certificate: str
    labels: Count
    possible: dict[str, tuple[Count, ...]]


class JudgeErrorShape(Shape):
    """What the judges may have got wrong, and where that can still change the verdict."""

    level: float
    judges: tuple[DoubtedJudgeShape, ...]
    documents: Count
    open: tuple[OpenQueryShape, ...]


class OpenFillShape(Shape):
    """What a fill of only what is open did."""

    settled: bool
    least: Word
    most: Word
    pairs: Count
    asked: Count
    saved: Count
    waves: Count
    bounds: Literal["exact", "outer"]
    rules: dict[RuleId, StandingShape]
    open_rules: tuple[RuleId, ...]
    open: tuple[OpenQueryShape, ...]
    judge_error: JudgeErrorShape | None


class ExpectedShape(Shape):
    """The gating mean over draws from the judge's own class probabilities; no verdict rests on it.

    95 % of the draws have a delta between low and high.
    """

    name: str
    before: float
    after: float
    delta: float
    low: float
    high: float
    pairs: Count
    filled: Count
    draws: Count
    seed: int


class JudgeShape(Shape):
    """Who made the grades, and by which fill."""

    grades: tuple[JudgeUseShape, ...]
    fill: FillShape | None
    open_fill: OpenFillShape | None
    overrides: tuple[str, ...]
