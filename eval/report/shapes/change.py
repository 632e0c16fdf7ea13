"""The change under review, and the evidence that came with it. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from relgate.eval.report.shapes.base import Count, Shape

__all__ = [
    "ChangeShape",
    "DetectedShape",
    "FilterCaseShape",
    "FiltersShape",
    "GroundTruthShape",
    "LatencyShape",
    "PercentilesShape",
    "SuppliedShape",
]


class DetectedShape(Shape):
    """A type of change that the diff shows, and where; a removed line is one of the old file."""

    type: str
    file: str
    line: Annotated[int, Field(ge=1)]
    key: str
    removed: bool


class ChangeShape(Shape):
    """The change under review, in its author's words; `detected` is null without a diff."""

    types: tuple[str, ...]
    intent: Literal["improve", "neutral"] | None
    description: str | None
    sha: str | None
    system_models: tuple[str, ...] | None
    types_from_diff: bool
    detected: tuple[DetectedShape, ...] | None


class PercentilesShape(Shape):
    """Latency of one side in milliseconds."""

    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    samples: Count | None


class LatencyShape(Shape):
    """Latency of both sides."""

    before: PercentilesShape | None
    after: PercentilesShape | None


class GroundTruthShape(Shape):
    """What the author says of the neighbours that recall was measured against."""

    recomputed: bool | None
    model: str | None
    source: str | None
    recall_before: float | None
    recall_after: float | None


class FilterCaseShape(Shape):
    """A filter case, and whether it held; null where that cannot be told."""

    query: str
    filter: str
    expect: Literal["non-empty", "empty", ">=1 grade>=2"]
    held_before: bool | None
    held_after: bool | None


class FiltersShape(Shape):
    """The filter strategy and its cases."""

    before: str | None
    after: str | None
    intended: bool
    cases: tuple[FilterCaseShape, ...]


class SuppliedShape(Shape):
    """The evidence that came with the change; null where it brought none."""

    latency: LatencyShape | None
    ground_truth: GroundTruthShape | None
    filters: FiltersShape | None
