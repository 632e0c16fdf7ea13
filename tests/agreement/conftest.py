"""Labels, and a judge that says what a script tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from relgate.eval.agreement.pairs import GradedPairs
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.judge.types import Candidate, GradeError, JudgedHit

Row = tuple[str, str, int]


@dataclass
class ScriptedJudge:
    """Implements the judge protocol: answers by document text; a GradeError is a failure."""

    says: Mapping[str, int | GradeError]
    version: str = "esci-v1@0123abcd"
    fingerprint: str = "f" * 16
    model: str | None = "scripted-1"
    family: str | None = "none"
    batch_size: int = 10
    leaves_out: frozenset[str] = frozenset()
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    now_in: int = 0
    most_in: int = 0

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.asked.append((query, tuple(c.text for c in candidates)))
        self.now_in += 1
        self.most_in = max(self.most_in, self.now_in)
        await asyncio.sleep(0)
        self.now_in -= 1
        return [self._hit(c) for c in candidates if c.text not in self.leaves_out]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))

    def _hit(self, candidate: Candidate) -> JudgedHit:
        said = self.says[candidate.text]
        if isinstance(said, GradeError):
            return JudgedHit(candidate.id, 0, "I", "judge-error", error=said)
        return JudgedHit(candidate.id, said, "ICSE"[said], f"reason for {candidate.text}")


def label_list(
    rows: Sequence[Row], *, source: Source = Source.HUMAN, scale: str = "0-3"
) -> JudgmentList:
    builder = ListBuilder(SCALES[scale])
    for query, doc_id, grade in rows:
        builder.add(Query(query, f"text of {query}"), doc_id, grade, Provenance(source))
    return builder.build()


def pairs_of(
    human: Sequence[int],
    judge: Sequence[int],
    *,
    query: Sequence[int] | None = None,
    sources: Mapping[str, int] | None = None,
) -> GradedPairs:
    """Pairs, one a query unless `query` says otherwise."""
    n = len(human)
    of = np.arange(n) if query is None else np.asarray(query)
    return GradedPairs(
        query=of.astype(np.int64),
        human=np.asarray(human, np.int64),
        judge=np.asarray(judge, np.int64),
        queries=tuple(Query(f"q{i}") for i in range(int(of.max(initial=-1)) + 1)),
        doc_ids=tuple(f"d{i}" for i in range(n)),
        sources={"human": n} if sources is None else sources,
    )


@dataclass(frozen=True)
class Made:
    """What the tests build with."""

    judge: type[ScriptedJudge] = ScriptedJudge
    labels: Callable[..., JudgmentList] = label_list
    pairs: Callable[..., GradedPairs] = pairs_of


@pytest.fixture
def make() -> Made:
    return Made()


@pytest.fixture(scope="session")
def make_pairs() -> Callable[..., GradedPairs]:
    return pairs_of
