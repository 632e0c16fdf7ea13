"""Judgments, their provenance and scale, and the columnar list that holds them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relgate.eval.lists.ids import Ids
from relgate.eval.lists.keys import match_key
from relgate.eval.lists.pairs import PairIndex

__all__ = [
    "MAX_GIVEN",
    "SCALES",
    "Judgment",
    "JudgmentList",
    "Provenance",
    "Query",
    "Scale",
    "Source",
    "match_key",
]


MAX_GIVEN = 127
"""The best grade of a list that keeps its dictionaries: what they give fits a signed byte."""


class Source(StrEnum):
    """Who made a judgment. Order of rank: human, rule and import, judge."""

    HUMAN = "human"
    RULE = "rule"
    IMPORT = "import"
    JUDGE = "judge"

    @property
    def rank(self) -> int:
        """Who wins when two sources grade one pair: the higher rank."""
        return {Source.HUMAN: 2, Source.RULE: 1, Source.IMPORT: 1, Source.JUDGE: 0}[self]


@dataclass(frozen=True, slots=True)
class Scale:
    """A named set of grades 0..max_grade, and how a file writes them.

    Attributes:
        name: how files and flags call it.
        max_grade: the best grade; the least is 0.
        labels: word in capitals -> grade, for lists that hold words; empty for plain numbers.
        values: number in the file -> grade, for lists that hold gains or count from 1; then no
            other number is read.
        grades_on: the name of the scale that the grades are on once such values are read.
    """

    name: str
    max_grade: int
    labels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    values: Mapping[Decimal, int] = field(default_factory=lambda: MappingProxyType({}))
    grades_on: str | None = None

    @property
    def once_read(self) -> Scale:
        """The scale of a list that was read with this one."""
        return self if self.grades_on is None else SCALES[self.grades_on]


def _mapped(name: str, on: Scale, values: str) -> Scale:
    """A scale whose file writes `values`, best first, for the grades of `on`."""
    numbers = [Decimal(value) for value in values.split()]
    grades = {number: on.max_grade - place for place, number in enumerate(numbers)}
    return Scale(name, on.max_grade, values=MappingProxyType(grades), grades_on=on.name)


_ESCI = Scale("esci", 3, MappingProxyType({"E": 3, "S": 2, "C": 1, "I": 0}))
_0_3 = Scale("0-3", 3)

SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            _0_3,
            _ESCI,
            Scale("0-4", 4),
            Scale("0-1", 1),
            Scale("0-2", 2),
            Scale("wands", 2, MappingProxyType({"EXACT": 2, "PARTIAL": 1, "IRRELEVANT": 0})),
            _mapped("esci-100", _ESCI, "100 10 1 0"),
            _mapped("esci-gains", _ESCI, "1 0.1 0.01 0"),
            _mapped("1-4", _0_3, "4 3 2 1"),
        )
    }
)
"""The scales that `--scale` knows. Never guessed from a file's values.

`esci-100` is how OpenSearch's ESCI sample writes E S C I, `esci-gains` the gains behind the
published ESCI figures; `1-4` counts from 1.
"""


@dataclass(frozen=True, slots=True)
class Query:
    """A query's id and, where the file says so, its text.

    In a list keyed by query text the id is that text.
    """

    id: str
    text: str | None = None

    @property
    def shown(self) -> str:
        """What a person reads: the text, or the id where no text is known."""
        return self.text if self.text is not None else self.id

    @property
    def is_bare(self) -> bool:
        """Whether nothing but the id is known: no text, or one that only says the id again."""
        return self.text is None or self.text == self.id


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a judgment comes from. Many rows share one: lists store it once.

    Attributes:
        source: human, rule, import or judge.
        rater: the rater's id, kept in the list and never in a report.
        judge_version: `<tag>@<hash>` of the judge, for source judge.
        fingerprint: the judge's fingerprint.
        model: the model that answered.
        certificate: id of the calibration certificate the judge held when it graded.
        judged_at: ISO 8601 time, or None.
    """

    source: Source
    rater: str | None = None
    judge_version: str | None = None
    fingerprint: str | None = None
    model: str | None = None
    certificate: str | None = None
    judged_at: str | None = None


@dataclass(frozen=True, slots=True)
class Judgment:
    """One grade with its provenance, as a row."""

    query: Query
    doc_id: str
    grade: int
    provenance: Provenance
    reason: str | None = None
    text_hash: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentList:
    """A judgment list, columnar: one entry a (query, document) pair, no pair twice.

    Build it with `relgate.eval.lists.build.ListBuilder`, which finds conflicts.

    Attributes:
        scale: the scale of `grade`.
        queries: distinct queries, in order of first appearance.
        query: per row, index into `queries`.
        doc_id: per row; whatever sequence is given is kept as a column, see `Ids`.
        grade: per row, 0..scale.max_grade.
        origins: distinct provenances.
        origin: per row, index into `origins`.
        reason: per row, or None when no row has one.
        text_hash: per row, hash of the text that was judged, or None when no row has one.
        given: per query of `queries`, {document: grade} once more, where the list was made of
            dictionaries, all documents are in NFC and no grade is above `MAX_GIVEN`: they find a
            document in memory faster than any index.
    """

    scale: Scale
    queries: tuple[Query, ...]
    query: NDArray[np.int32]
    doc_id: Sequence[str]
    grade: NDArray[np.int16]
    origins: tuple[Provenance, ...]
    origin: NDArray[np.int32]
    reason: tuple[str | None, ...] | None = None
    text_hash: tuple[str | None, ...] | None = None
    given: tuple[Mapping[str, int], ...] | None = field(default=None, repr=False)
    _pairs: PairIndex | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "doc_id", Ids.of(self.doc_id))

    def __len__(self) -> int:
        return len(self.doc_id)

    @property
    def pairs(self) -> PairIndex:
        """Where each pair stands. Made once; it serves every run after that."""
        if self._pairs is None:
            made = PairIndex(self.query, Ids.of(self.doc_id), len(self.queries))
            object.__setattr__(self, "_pairs", made)
            return made
        return self._pairs

    def rows(self) -> Iterator[Judgment]:
        """Every judgment as a row, in file order."""
        for i, doc_id in enumerate(self.doc_id):
            yield Judgment(
                query=self.queries[int(self.query[i])],
                doc_id=doc_id,
                grade=int(self.grade[i]),
                provenance=self.origins[int(self.origin[i])],
                reason=None if self.reason is None else self.reason[i],
                text_hash=None if self.text_hash is None else self.text_hash[i],
            )

    def grades_by_query(self) -> list[dict[str, int]]:
        """Per query of `queries`: {match_key(doc id): grade}."""
        out: list[dict[str, int]] = [{} for _ in self.queries]
        for q, doc_id, grade in zip(
            self.query.tolist(), self.doc_id, self.grade.tolist(), strict=True
        ):
            out[q][match_key(doc_id)] = grade
        return out

    def counts_by_source(self) -> dict[Source, int]:
        """How many rows each source made; sources without rows are left out."""
        counts: dict[Source, int] = {}
        for origin, n in zip(self.origins, self.counts_by_origin(), strict=True):
            if n:
                counts[origin.source] = counts.get(origin.source, 0) + n
        return counts

    def counts_by_origin(self) -> list[int]:
        """How many rows each of `origins` made."""
        counts: list[int] = np.bincount(self.origin, minlength=len(self.origins)).tolist()
        return counts

    def take(self, keep: NDArray[np.bool_]) -> JudgmentList:
        """The rows where `keep` is true; queries without rows stay listed."""
        index = np.flatnonzero(keep).tolist()

        def pick(column: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
            return None if column is None else tuple(column[i] for i in index)

        return JudgmentList(
            scale=self.scale,
            queries=self.queries,
            query=self.query[keep],
            doc_id=Ids.of(self.doc_id).take(np.flatnonzero(keep)),
            grade=self.grade[keep],
            origins=self.origins,
            origin=self.origin[keep],
            reason=pick(self.reason),
            text_hash=pick(self.text_hash),
        )
