"""A run: the ranked documents that a search returned for each query. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids
from relgate.eval.lists.types import Query

__all__ = ["Documents", "GivenQuery", "GivenScores", "Ranking", "Run"]

Documents: TypeAlias = tuple[str, ...] | None
"""A query's documents, best first; None where they are not known."""


class Ranking(Sequence[Documents]):
    """The documents of every query in one column, a stretch of it a query.

    Attributes:
        ids: all documents.
        starts: per query, where its documents begin in `ids`; shape (nq,).
        counts: per query, how many it has; -1 where they are not known. Shape (nq,).
        distinct: it is known that no query has a document twice.
    """

    __slots__ = ("counts", "distinct", "ids", "starts")

    def __init__(
        self,
        ids: Ids,
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        distinct: bool = False,
    ) -> None:
        self.ids = ids
        self.distinct = distinct
        self.starts = starts
        self.counts = counts

    @classmethod
    def of(cls, docs: Sequence[Documents]) -> Ranking:
        """The column of these lists; a column is returned as it is."""
        if isinstance(docs, Ranking):
            return docs
        counts = np.fromiter((-1 if d is None else len(d) for d in docs), np.int64, len(docs))
        held = np.maximum(counts, 0)
        ids = Ids.of(tuple(chain.from_iterable(d for d in docs if d)))
        return cls(ids, np.cumsum(held) - held, counts)

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, at: int) -> Documents: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Documents, ...]: ...
    def __getitem__(self, at: int | slice) -> Documents | tuple[Documents, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        count, start = int(self.counts[at]), int(self.starts[at])
        return None if count < 0 else self.ids[start : start + count]

    def __iter__(self) -> Iterator[Documents]:
        for at in range(len(self)):
            yield self[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Ranking, tuple, list)):
            return NotImplemented
        return tuple(self) == tuple(cast("Sequence[object]", other))

    __hash__ = None  # type: ignore[assignment] # as a list's

    def __repr__(self) -> str:
        return repr(tuple(self))


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
            `judge_version`, `golden_version`.
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
            Repeats are kept: metrics count the first. Whatever sequence is given is kept as a
            `Ranking`.
        failures: {query id: error text} of the queries that the engine could not answer.
        given: the scores that came in the file, or None.
        format: what the file was taken for.
        path: the file.
        notes: what is odd but readable in the file, a line each.
    """

    name: str
    queries: tuple[Query, ...]
    docs: Sequence[Documents]
    failures: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    given: GivenScores | None = None
    format: str = ""
    path: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "docs", Ranking.of(self.docs))

    @property
    def ranking(self) -> Ranking:
        """`docs` as a column."""
        return Ranking.of(self.docs)
