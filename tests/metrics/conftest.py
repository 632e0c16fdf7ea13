"""Builders of small judgment lists and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_run
from relgate.eval.metrics.types import RunScores
from relgate.eval.runs.types import Run

Grades = Mapping[str, Mapping[str, int]]
Ranked = Mapping[str, Sequence[str] | None]
MakeList = Callable[..., JudgmentList]
MakeRun = Callable[..., Run]
Score = Callable[..., RunScores]


def _query(query: str | Query) -> Query:
    return query if isinstance(query, Query) else Query(query)


@pytest.fixture(scope="session")
def make_list() -> MakeList:
    """{query: {doc: grade}} -> JudgmentList, on the scale `scale`."""

    def build(grades: Mapping[str | Query, Mapping[str, int]], scale: str = "0-3") -> JudgmentList:
        builder = ListBuilder(SCALES[scale])
        for query, docs in grades.items():
            builder.add_query(_query(query))
            for doc, grade in docs.items():
                builder.add(_query(query), doc, grade, Provenance(Source.HUMAN))
        return builder.build()

    return build


@pytest.fixture(scope="session")
def make_run() -> MakeRun:
    """{query: [docs]} -> Run; None says that the file lists no hits."""

    def build(
        ranked: Mapping[str | Query, Sequence[str] | None], name: str = "run", **rest: object
    ) -> Run:
        docs = tuple(None if found is None else tuple(found) for found in ranked.values())
        return Run(name, tuple(_query(query) for query in ranked), docs, **rest)  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def score(make_list: MakeList, make_run: MakeRun) -> Score:
    """Grades and rankings straight to scores."""

    def build(
        grades: Grades,
        ranked: Ranked,
        conventions: Conventions | None = None,
        scale: str = "0-3",
        **rest: object,
    ) -> RunScores:
        judgments, run = make_list(grades, scale=scale), make_run(ranked, **rest)
        return score_run(judgments, run, align(judgments, [run]), 0, conventions or Conventions())

    return build
