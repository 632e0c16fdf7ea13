"""The shape of `review.json`: what a saved review is checked against, and its published schema.

Foreign bytes come in here, so these are pydantic models. `python -m relgate.eval.report.schema`
prints `docs/review.schema.json`.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from relgate.eval.report.shapes.base import AggregateShape, Count, RuleId, Shape, Word
from relgate.eval.report.shapes.change import ChangeShape, SuppliedShape
from relgate.eval.report.shapes.judge import CoverageShape, ExpectedShape, JudgeShape
from relgate.eval.report.shapes.queries import LoserShape, QueryShape, ToolsShape

__all__ = ["FORMAT", "ReviewFile", "review_schema"]

FORMAT = "relgate-review/2"
"""What a file of this shape says of itself; another number is another shape."""


class WithheldShape(Shape):
    """One thing that a rule saw and that earns no verdict, since none can be given."""

    rule: RuleId
    message: str
    figures: dict[str, Any]
    advice: str | None
    queries: tuple[str, ...]


class FindingShape(WithheldShape):
    """One thing that a rule found, and the verdict that it alone would mean."""

    severity: Word


class CheckedShape(Shape):
    """A rule that ran."""

    rule: RuleId
    state: Literal["passed", "failed"]
    summary: str


class NotCheckedShape(Shape):
    """A rule whose input is absent, and whether that caps the verdict at NEEDS-WORK."""

    rule: RuleId
    why: str
    caps_verdict: bool


class ConventionsShape(Shape):
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


class StratumShape(Shape):
    """A group of queries; p is before any adjustment."""

    name: str
    before: float | None
    after: float | None
    delta: float | None
    n: Count
    p: float | None


class ModeShape(Shape):
    """One mode of a hybrid search by itself, and what keeps it from standing for the review."""

    name: str
    relevance: AggregateShape | None
    recall: AggregateShape | None
    unrated_after: float | None
    lacks: str | None


class ApartShape(Shape):
    """Queries of one set that never gates: challenge or shadow."""

    name: str
    queries: Count
    relevance: AggregateShape | None
    emptied: tuple[str, ...]


class NoiseShape(Shape):
    """How the delta stands against chance: randomisation p, 95 % interval, detectable effect."""

    p: float | None
    low: float | None
    high: float | None
    detectable: float | None
    n: Count


class DeltaShape(Shape):
    """A mean delta with its 95 % interval."""

    delta: float
    low: float | None
    high: float | None


class CorrectedShape(Shape):
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


class ReviewFile(Shape):
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
