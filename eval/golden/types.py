"""A golden set: queries, their judgments, and what must come back for them. Pure.

The dataclasses are the file format too: `relgate.eval.golden.files` validates foreign JSON against
them with pydantic, and `docs/schema/golden.schema.json` is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, MinLen

__all__ = [
    "Expectation",
    "FilterValue",
    "GoldenJudgment",
    "GoldenQuery",
    "GoldenSet",
    "Rating",
    "Retired",
    "SetName",
]

SetName = Literal["core", "challenge", "shadow"]
Expectation = Literal["non-empty", "empty", ">=1 grade>=2"]
FilterValue = str | int | float | bool | tuple[str | int | float | bool, ...]

_Id = Annotated[str, MinLen(1)]
_CLOSED: dict[str, Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's grade of a pair. Raters stay in the file; reports never name them.

    Attributes:
        rater: the rater's id.
        grade: 0 and up.
        rated_at: ISO 8601 time, or None.
        note: why, asked for only where a grade overturns a baseline.
    """

    __pydantic_config__: ClassVar[Any] = _CLOSED

    rater: _Id
    grade: Annotated[int, Ge(0)]
    rated_at: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class GoldenJudgment:
    """The grade of one document for one query.

    Attributes:
        grade: the grade of record, on the set's scale.
        doc_id: the live id; may be left out where `locator` stands.
        locator: a durable key (canonical URL, external id), resolved to the live id at run time.
        rater: who graded, where one person did.
        rated_at: ISO 8601 time, or None.
        note: why.
        ratings: every rater's grade, where several graded the pair.
    """

    __pydantic_config__: ClassVar[Any] = _CLOSED

    grade: Annotated[int, Ge(0)]
    doc_id: _Id | None = None
    locator: _Id | None = None
    rater: str | None = None
    rated_at: str | None = None
    note: str | None = None
    ratings: tuple[Rating, ...] = ()

    @property
    def key(self) -> str:
        """What tells this document from the query's others: the locator, else the id."""
        return self.locator if self.locator is not None else (self.doc_id or "")


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """One query of the set. Its judgments hold for its surface, locale and filters only.

    Attributes:
        id: never used for another query again.
        text: what the shopper types.
        judgments: graded documents, no document twice.
        locale: for example `en-US`.
        surface: the product surface, for example `billing` or `docs`.
        filters: what is filtered by, sent with the query.
        stratum: the group it is reported in.
        weight: its share of traffic in any unit, 0 and up.
        head: whether it is a head query.
        critical: whether its best document may never leave the top three.
        set: `core` gates; `challenge` and `shadow` are reported and gate nothing.
        expect: what must come back.
        failure_mode: the kind of past failure it guards against (`typo`, `synonym`, `zero-hit`,
            `exact-sku`, ...).
        tags: free words.
    """

    __pydantic_config__: ClassVar[Any] = _CLOSED

    id: _Id
    text: _Id
    judgments: tuple[GoldenJudgment, ...] = ()
    locale: str | None = None
    surface: str | None = None
    filters: dict[str, FilterValue] | None = None
    stratum: str | None = None
    weight: Annotated[float, Ge(0), Le(1e12)] | None = None
    head: bool = False
    critical: bool = False
    set: SetName = "core"
    expect: Expectation | None = None
    failure_mode: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def scope(self) -> tuple[Any, ...]:
        """What makes it another query than one of the same text: surface, locale, filters."""
        filters = tuple(sorted((self.filters or {}).items(), key=lambda pair: pair[0]))
        return (self.text, self.surface, self.locale, filters)


@dataclass(frozen=True, slots=True)
class Retired:
    """A query that was taken out, kept so that its id is never used again.

    Attributes:
        id: the query's id.
        reason: why it was taken out.
        version: the version it is missing from first.
    """

    __pydantic_config__: ClassVar[Any] = _CLOSED

    id: _Id
    reason: _Id
    version: _Id


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A versioned set of queries with their judgments.

    Attributes:
        version: names this content for good once it is frozen.
        queries: at least one, no id twice.
        k: the depth that its metrics use.
        scale: the scale of its grades by name.
        retired: queries taken out, with the reason.
    """

    __pydantic_config__: ClassVar[Any] = _CLOSED

    version: _Id
    queries: Annotated[tuple[GoldenQuery, ...], MinLen(1)]
    k: Annotated[int, Ge(1), Le(10_000)] = 10
    scale: str = "0-3"
    retired: tuple[Retired, ...] = ()

    def of_set(self, name: SetName) -> tuple[GoldenQuery, ...]:
        """The queries of one of the three sets, in file order."""
        return tuple(query for query in self.queries if query.set == name)

    def pairs(self) -> Iterator[tuple[GoldenQuery, GoldenJudgment]]:
        """Every judgment with its query."""
        for query in self.queries:
            for judgment in query.judgments:
                yield query, judgment

    def with_queries(self, queries: tuple[GoldenQuery, ...], version: str) -> GoldenSet:
        """The set with other queries under another version."""
        return replace(self, queries=queries, version=version)
