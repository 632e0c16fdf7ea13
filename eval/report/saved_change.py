"""The description of a change in a saved review read back. Pure."""

from __future__ import annotations

from relgate.eval.report.schema import ReviewFile
from relgate.eval.report.shapes.change import FiltersShape, PercentilesShape
from relgate.eval.review.change import ChangeDescription, ChangeType, Detected
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.supplied import (
    FilterCase,
    FilterStrategy,
    GroundTruth,
    Latency,
    Percentiles,
)

__all__ = ["change_of", "checked_cases"]


def change_of(file: ReviewFile) -> ChangeDescription | None:
    """The description, with what was supplied beside it; None when the review had none."""
    change, supplied = file.change, file.supplied
    if change is None:
        return None
    latency, truth, filters = supplied.latency, supplied.ground_truth, supplied.filters
    return ChangeDescription(
        types=tuple(ChangeType(kind) for kind in change.types),
        intent=change.intent,
        description=change.description,
        sha=change.sha,
        system_models=change.system_models,
        latency=(
            None
            if latency is None
            else Latency(_percentiles(latency.before), _percentiles(latency.after))
        ),
        ground_truth=None if truth is None else GroundTruth(**truth.model_dump()),
        filters=None if filters is None else _strategy(filters),
        types_from_diff=change.types_from_diff,
        detected=(
            None
            if change.detected is None
            else tuple(
                Detected(ChangeType(d.type), d.file, d.line, d.key, d.removed)
                for d in change.detected
            )
        ),
    )


def _percentiles(side: PercentilesShape | None) -> Percentiles | None:
    return None if side is None else Percentiles(**side.model_dump())


def _strategy(filters: FiltersShape) -> FilterStrategy:
    cases = tuple(checked.case for checked in checked_cases(filters))
    return FilterStrategy(filters.before, filters.after, filters.intended, cases)


def checked_cases(filters: FiltersShape | None) -> tuple[CheckedCase, ...]:
    """The filter cases and which of them held; none when no filters were supplied."""
    if filters is None:
        return ()
    return tuple(
        CheckedCase(FilterCase(c.query, c.filter, c.expect), c.held_before, c.held_after)
        for c in filters.cases
    )
