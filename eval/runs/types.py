"""A run: the ranked documents that a search returned for each query. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relgate.eval.lists.types import Query

__all__ = ["GivenQuery", "GivenScores", "Run"]


@dataclass(frozen=True, slots=True)
class GivenQuery:
    """What a `_rank_eval` response itself says of one query.

    Attributes:
        metric_score: its score as the engine computed it; NaN when the file says NaN.
        unrated: ids it lists as unrated, or None when it has no such list.
        ratings: {doc id: rating} of the rated hits it lists, or None when it lists no hits.
    """

    metric_score: float | None
    unrated: tuple[str, ...] | None
    ratings: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class GivenScores:
    """The scores that came inside a file.

    Attributes:
        metric: the engine's metric where the file tells (`dcg`, `precision` ...), else None.
        k: its cut-off where the file tells, else None.
        normalized: for dcg, whether it is NDCG; None where the file does not tell.
        metric_score: the engine's aggregate; NaN when no query ran; None when absent.
        queries: per query id.
        stated: what else the file says of how it was measured, {name: value}: options of its
            metric (`relevant_rating_threshold`), `gain`, `floor`, `judgments_sha256`,
            `golden_version`.
    """

    metric: str | None
    k: int | None
    normalized: bool | None
    metric_score: float | None
    queries: Mapping[str, GivenQuery]
    stated: Mapping[str, str | float | bool] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Run:
    """One side of a comparison.

    Attributes:
        name: how reports call it.
        queries: in file order; includes those that failed.
        docs: per query, its documents best first; None when the file gives no hits for it.
            Repeats are kept: metrics count the first.
        failures: {query id: error text} of the queries that the engine could not answer.
        given: the scores that came in the file, or None.
        format: what the file was taken for.
        path: the file.
        notes: what is odd but readable in the file, a line each.
    """

    name: str
    queries: tuple[Query, ...]
    docs: tuple[tuple[str, ...] | None, ...]
    failures: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    given: GivenScores | None = None
    format: str = ""
    path: str | None = None
    notes: tuple[str, ...] = ()
