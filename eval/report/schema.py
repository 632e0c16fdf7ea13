"""The shape of `review.json`: what a saved review is checked against, and its published schema.

Foreign bytes come in here, so these are pydantic models. `python -m relgate.eval.report.schema`
prints `docs/review.schema.json`.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["FORMAT", "ReviewFile", "review_schema"]

FORMAT = "relgate-review/2"
"""What a file of this shape says of itself; another number is another shape."""

Word = Literal["APPROVE", "NEEDS-WORK", "BLOCK", "REFUSE"]
RuleId = Annotated[str, Field(pattern=r"^R[0-9]+$")]
Count = Annotated[int, Field(ge=0)]
SourceWord = Literal["human", "rule", "import", "judge"]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WithheldShape(_Shape):
    """One thing that a rule saw and that earns no verdict, since none can be given."""

    rule: RuleId
    message: str
    figures: dict[str, Any]
    advice: str | None
    queries: tuple[str, ...]


class FindingShape(WithheldShape):
    """One thing that a rule found, and the verdict that it alone would mean."""

    severity: Word


class CheckedShape(_Shape):
    """A rule that ran."""

    rule: RuleId
    state: Literal["passed", "failed"]
    summary: str


class NotCheckedShape(_Shape):
    """A rule whose input is absent, and whether that caps the verdict at NEEDS-WORK."""

    rule: RuleId
    why: str
    caps_verdict: bool


class AggregateShape(_Shape):
    """A metric's mean on both sides; null where it is not a number."""

    name: str
    before: float | None
    after: float | None
    delta: float | None
    n: Count | None
    weighted_before: float | None
    weighted_after: float | None


class DocShape(_Shape):
    """A document with its grade and who made it; null where unrated."""

    doc_id: str
    grade: int | None
    source: SourceWord | None


class SideShape(_Shape):
    """One query on one side: why it failed, what came back within k, best first."""

    error: str | None
    absent: bool
    listed: bool
    returned: Count
    unrated: Count | None
    best_rank: int | None
    top: tuple[DocShape, ...]


class QueryShape(_Shape):
    """One query; `before`, `after` and `delta` are the primary metric, null without a value."""

    id: str
    text: str
    before: float | None
    after: float | None
    delta: float | None
    unrated: Count | None
    returned: Count
    head: bool
    critical: bool
    no_ideal: bool
    unjudged: bool
    expects_empty: bool
    strata: tuple[str, ...]
    before_side: SideShape
    after_side: SideShape


class PlacedShape(_Shape):
    """A document of a loser's lists, and where it was and is; null outside the top k."""

    doc_id: str
    title: str | None
    grade: int | None
    source: SourceWord | None
    rank_before: int | None
    rank_after: int | None
    move: Literal["entered", "left", "up", "down", "kept"]


class PointersShape(_Shape):
    """Where to look at the query further; a link is null where the project does not give it."""

    splainer: str | None
    quepid: str | None
    how: str | None


class LoserShape(_Shape):
    """One of the queries that lost most, with both lists."""

    id: str
    text: str
    before: float | None
    after: float | None
    delta: float | None
    head: bool
    critical: bool
    error: str | None
    listed: bool
    look_at: str | None
    before_list: tuple[PlacedShape, ...]
    after_list: tuple[PlacedShape, ...]
    left: tuple[str, ...]
    entered: tuple[str, ...]
    debug: PointersShape


class SplainerShape(_Shape):
    """How Splainer reaches the engine."""

    engine: Literal["solr", "es", "os"]
    url: str
    query: str | None
    fields: str | None
    site: str


class ToolsShape(_Shape):
    """What the project says of its debugging tools."""

    splainer: SplainerShape | None
    quepid: str | None


class UnratedShape(_Shape):
    """How much of what came back within k nobody has graded; shares are 0..1."""

    known: bool
    mean_share_before: float | None
    mean_share_after: float | None
    queries: Count
    mostly_unrated: Count
    empty: Count


class CoverageShape(_Shape):
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


class JudgeUseShape(_Shape):
    """A judge whose grades the scores rest on."""

    version: str | None
    fingerprint: str | None
    model: str | None
    family: str | None
    grades: Count
    certificate_problem: str | None
    policy: str | None


class FillShape(_Shape):
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


class StandingShape(_Shape):
    """A rule over every grade that the documents left open could have."""

    state: str
    least: Word
    most: Word


class OpenQueryShape(_Shape):
    """A query whose open documents can still change the verdict."""

    id: str
    text: str
    doc_ids: tuple[str, ...]


class DoubtedJudgeShape(_Shape):
    """For each grade of a judge's, the grades of people that its certificate leaves possible."""

    version: str
    fingerprint: str
    certificate: str
    labels: Count
    possible: dict[str, tuple[Count, ...]]


class JudgeErrorShape(_Shape):
    """What the judges may have got wrong, and where that can still change the verdict."""

    level: float
    judges: tuple[DoubtedJudgeShape, ...]
    documents: Count
    open: tuple[OpenQueryShape, ...]


class OpenFillShape(_Shape):
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


class ExpectedShape(_Shape):
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


class JudgeShape(_Shape):
    """Who made the grades, and by which fill."""

    grades: tuple[JudgeUseShape, ...]
    fill: FillShape | None
    open_fill: OpenFillShape | None
    overrides: tuple[str, ...]


class ConventionsShape(_Shape):
    """What the figures depend on, and the metrics' names with it."""

    k: Annotated[int, Field(ge=1)]
    floor: Annotated[int, Field(ge=1)]
    gain: Literal["exp2", "linear"]
    no_ideal: Literal["apart", "zero"]
    unrated: Literal["zero", "condensed", "judged-only"]
    persistence: float
    basis: Literal["recomputed from the judgment list", "as given in the files"]
    covers_all: bool
    names: dict[str, str]


class DetectedShape(_Shape):
    """A type of change that the diff shows, and where; a removed line is one of the old file."""

    type: str
    file: str
    line: Annotated[int, Field(ge=1)]
    key: str
    removed: bool


class ChangeShape(_Shape):
    """The change under review, in its author's words; `detected` is null without a diff."""

    types: tuple[str, ...]
    intent: Literal["improve", "neutral"] | None
    description: str | None
    sha: str | None
    system_models: tuple[str, ...] | None
    types_from_diff: bool
    detected: tuple[DetectedShape, ...] | None


class PercentilesShape(_Shape):
    """Latency of one side in milliseconds."""

    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    samples: Count | None


class LatencyShape(_Shape):
    """Latency of both sides."""

    before: PercentilesShape | None
    after: PercentilesShape | None


class GroundTruthShape(_Shape):
    """What the author says of the neighbours that recall was measured against."""

    recomputed: bool | None
    model: str | None
    source: str | None
    recall_before: float | None
    recall_after: float | None


class FilterCaseShape(_Shape):
    """A filter case, and whether it held; null where that cannot be told."""

    query: str
    filter: str
    expect: Literal["non-empty", "empty", ">=1 grade>=2"]
    held_before: bool | None
    held_after: bool | None


class FiltersShape(_Shape):
    """The filter strategy and its cases."""

    before: str | None
    after: str | None
    intended: bool
    cases: tuple[FilterCaseShape, ...]


class SuppliedShape(_Shape):
    """The evidence that came with the change; null where it brought none."""

    latency: LatencyShape | None
    ground_truth: GroundTruthShape | None
    filters: FiltersShape | None


class StratumShape(_Shape):
    """A group of queries; p is before any adjustment."""

    name: str
    before: float | None
    after: float | None
    delta: float | None
    n: Count
    p: float | None


class ModeShape(_Shape):
    """One mode of a hybrid search by itself, and what keeps it from standing for the review."""

    name: str
    relevance: AggregateShape | None
    recall: AggregateShape | None
    unrated_after: float | None
    lacks: str | None


class ApartShape(_Shape):
    """Queries of one set that never gates: challenge or shadow."""

    name: str
    queries: Count
    relevance: AggregateShape | None
    emptied: tuple[str, ...]


class NoiseShape(_Shape):
    """How the delta stands against chance: randomisation p, 95 % interval, detectable effect."""

    p: float | None
    low: float | None
    high: float | None
    detectable: float | None
    n: Count


class DeltaShape(_Shape):
    """A mean delta with its 95 % interval."""

    delta: float
    low: float | None
    high: float | None


class CorrectedShape(_Shape):
    """What people's labels make of the judge's mean delta, or `why` they make nothing of it.

    `n` queries have people's and the judge's grades for all of the top k on both sides, and
    `unlabelled` the judge's alone. `judge` is the delta by its grades alone, `people` by theirs on
    the n; `corrected` is the prediction-powered one, with the judge's counted by `lambda`. The
    delta as scored is in `aggregate`, its interval in `noise`.
    """

    metric: str
    method: Literal["PPI++, Student's t over queries, 95 %"]
    n: Count
    unlabelled: Count
    needed: Count
    corrected: DeltaShape | None
    people: DeltaShape | None
    judge: DeltaShape | None
    weight: Annotated[float | None, Field(alias="lambda")]
    why: str | None
    asked: Count
    notes: tuple[str, ...]


class ReviewFile(_Shape):
    """A saved review, as `relgate review --out` writes it and `relgate report` reads it.

    Numbers have six decimals; one that is not finite is null. `findings` holds what decides the
    verdict; when that is REFUSE, what else was seen stands in `withheld`, without a severity.
    """

    format: Literal["relgate-review/2"]
    verdict: Word
    exit_code: Literal[0, 1, 3, 4]
    headline: str
    actions: tuple[str, ...]
    findings: tuple[FindingShape, ...]
    withheld: tuple[WithheldShape, ...]
    checked: tuple[CheckedShape, ...]
    not_checked: tuple[NotCheckedShape, ...]
    aggregate: Annotated[dict[str, AggregateShape], Field(min_length=1)]
    primary: str
    queries: tuple[QueryShape, ...]
    losers: tuple[LoserShape, ...]
    tools: ToolsShape
    coverage: CoverageShape
    judge: JudgeShape
    conventions: ConventionsShape
    change: ChangeShape | None
    supplied: SuppliedShape
    strata: tuple[StratumShape, ...]
    modes: tuple[ModeShape, ...]
    apart: tuple[ApartShape, ...]
    noise: NoiseShape | None
    corrected: CorrectedShape | None
    without_judge: AggregateShape | None
    expected: ExpectedShape | None
    settings: dict[str, float]
    settings_changed: tuple[str, ...]
    inputs: dict[str, str]
    cross_checks: tuple[str, ...]
    warnings: tuple[str, ...]


def review_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `review.json`."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **ReviewFile.model_json_schema()}


if __name__ == "__main__":
    print(json.dumps(review_schema(), indent=2))  # noqa: T201 - a page on stdout is its job
