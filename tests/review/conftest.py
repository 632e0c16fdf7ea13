"""Builders: evidence for single rules, lists and runs for whole reviews, files as engines write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import pytest
from shared_cases import shared_cases

from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.sides import unrated_of
from relgate.eval.review.types import (
    Aggregate,
    Basis,
    Coverage,
    Evidence,
    QueryEvidence,
    Review,
    RuleOutcome,
    Side,
)
from relgate.eval.review.verdict import review
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run

Make = Callable[..., Any]


@pytest.fixture(scope="session")
def query() -> Make:
    """One query with a score on each side; ten rated documents unless said otherwise."""

    def build(
        name: str,
        before: float = nan,
        after: float = nan,
        *,
        was: Mapping[str, Any] | None = None,
        now: Mapping[str, Any] | None = None,
        **marks: bool,
    ) -> QueryEvidence:
        return QueryEvidence(
            Query(name),
            Side(**{"value": before, "returned": 10, **(was or {})}),
            Side(**{"value": after, "returned": 10, **(now or {})}),
            **marks,
        )

    return build


@pytest.fixture(scope="session")
def many(query: Make) -> Make:
    """`n` queries, the first of them with these deltas and the rest unchanged."""

    def build(n: int, *deltas: float, before: float = 0.5) -> list[QueryEvidence]:
        padded = [*deltas, *[0.0] * (n - len(deltas))]
        return [query(f"q{i}", before, before + delta) for i, delta in enumerate(padded)]

    return build


@pytest.fixture(scope="session")
def evidence() -> Make:
    """Evidence of these queries; the mean is theirs unless `mean` says otherwise."""

    def build(
        *queries: QueryEvidence,
        mean: tuple[float, float] | None = None,
        others: Sequence[Aggregate] = (),
        by_source: Mapping[Source, int] | None = None,
        **rest: Any,
    ) -> Evidence:
        paired = [q for q in queries if q.paired]
        own = mean or (
            sum(q.before for q in paired) / len(paired) if paired else nan,
            sum(q.after for q in paired) / len(paired) if paired else nan,
        )
        return Evidence(
            **{
                "conventions": Conventions(),
                "basis": Basis.RECOMPUTED,
                "aggregates": (Aggregate("ndcg", "nDCG@10", *own, len(paired)), *others),
                "queries": queries,
                "coverage": Coverage(
                    queries=len(queries),
                    scored=len(paired),
                    no_ideal=0,
                    unjudged=0,
                    list_only=0,
                    judgments=10 * len(queries),
                    by_source=by_source or {Source.HUMAN: 10 * len(queries)},
                    now=unrated_of(queries, 0.5),
                ),
                **rest,
            }
        )

    return build


@pytest.fixture(scope="session")
def check() -> Make:
    """Runs one rule by its id, with the default settings or those given."""
    from relgate.eval.review.rules import RULES  # noqa: PLC0415 - the table, not a module's own

    rules = {rule.id: rule for rule in RULES}

    def run(rule: str, found: Evidence, **settings: float) -> RuleOutcome:
        outcome = rules[rule].check(found, ReviewSettings(**settings))
        assert outcome.rule == rule
        assert all(f.rule == rule for f in outcome.findings)
        return outcome

    return run


def _query(query: str | Query) -> Query:
    return query if isinstance(query, Query) else Query(query)


@pytest.fixture(scope="session")
def make_list() -> Make:
    """{query: {doc: grade}} -> JudgmentList."""

    def build(
        grades: Mapping[str | Query, Mapping[str, int]],
        *,
        scale: str = "0-3",
        provenance: Provenance | None = None,
    ) -> JudgmentList:
        builder = ListBuilder(SCALES[scale])
        for query, docs in grades.items():
            builder.add_query(_query(query))
            for doc, grade in docs.items():
                builder.add(_query(query), doc, grade, provenance or Provenance(Source.HUMAN))
        return builder.build()

    return build


@pytest.fixture(scope="session")
def make_run() -> Make:
    """{query: [docs]} -> Run; None says that the file lists no hits."""

    def build(
        ranked: Mapping[str | Query, Sequence[str] | None],
        name: str = "run",
        **rest: Any,
    ) -> Run:
        docs = tuple(None if found is None else tuple(found) for found in ranked.values())
        return Run(name, tuple(_query(query) for query in ranked), docs, **rest)

    return build


@pytest.fixture
def rank_eval(tmp_path: Path) -> Make:
    """Writes a `_rank_eval` response in the reviewer's own shape, and reads it."""

    def build(
        name: str,
        scores: Mapping[str, Any],
        *,
        unrated: Sequence[str] | None = (),
        **top: Any,
    ) -> Run:
        extra = {} if unrated is None else {"unrated_docs": list(unrated)}
        details = {
            key: score if isinstance(score, dict) else {"metric_score": score, **extra}
            for key, score in scores.items()
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**top, "details": details}), "utf-8")
        return read_run(path, name=name)

    return build


@pytest.fixture(scope="session")
def reviewed() -> Make:
    """List (or None) and runs straight to a review; keywords are those of `Extras`."""

    def build(
        judgments: JudgmentList | None,
        before: Run,
        after: Run,
        *,
        conventions: Conventions | None = None,
        **extras: Any,
    ) -> Review:
        found = build_evidence(
            judgments, before, after, conventions or Conventions(), Extras(**extras)
        )
        return review(found)

    return build


@pytest.fixture(scope="session")
def outcome() -> Make:
    """One rule's outcome out of a review."""

    def find(done: Review, rule: str) -> RuleOutcome:
        return next(o for o in done.outcomes if o.rule == rule)

    return find


@pytest.fixture(scope="session")
def of() -> Make:
    """One query's evidence out of a review."""

    def find(done: Review, query_id: str) -> QueryEvidence:
        return next(q for q in done.evidence.queries if q.query.id == query_id)

    return find


@pytest.fixture(scope="session")
def case(shared: Path) -> Make:
    """A shared case by its id."""
    return shared_cases(shared).__getitem__
