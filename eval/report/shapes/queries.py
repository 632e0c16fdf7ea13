"""A query of a review on both sides, and a loser with what moved. Pure."""

from __future__ import annotations

from typing import Literal

from relgate.eval.report.shapes.base import Count, Shape, SourceWord

__all__ = [
    "DocShape",
    "LoserShape",
    "PlacedShape",
    "PointersShape",
    "QueryShape",
    "SideShape",
    "SplainerShape",
    "ToolsShape",
]


class DocShape(Shape):
    """A document with its grade and who made it; null where unrated."""

    doc_id: str
    grade: int | None
    source: SourceWord | None


class SideShape(Shape):
    """One query on one side: why it failed, what came back within k, best first."""

    error: str | None
    absent: bool
    listed: bool
    returned: Count
    unrated: Count | None
    best_rank: int | None
    top: tuple[DocShape, ...]


class QueryShape(Shape):
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


class PlacedShape(Shape):
    """A document of a loser's lists, and where it was and is; null outside the top k."""

    doc_id: str
    title: str | None
    grade: int | None
    source: SourceWord | None
    rank_before: int | None
    rank_after: int | None
    move: Literal["entered", "left", "up", "down", "kept"]


class PointersShape(Shape):
    """Where to look at the query further; a link is null where the project does not give it."""

    splainer: str | None
    quepid: str | None
    how: str | None


class LoserShape(Shape):
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


class SplainerShape(Shape):
    """How Splainer reaches the engine."""

    engine: Literal["solr", "es", "os"]
    url: str
    query: str | None
    fields: str | None
    site: str


class ToolsShape(Shape):
    """What the project says of its debugging tools."""

    splainer: SplainerShape | None
    quepid: str | None
