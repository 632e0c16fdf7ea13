"""What a replay came to: the run, latency percentiles, near-duplicate titles. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np

from relgate.eval.golden.types import GoldenQuery
from relgate.eval.harness.types import Answer
from relgate.eval.lists.check import near_form
from relgate.eval.lists.types import Query
from relgate.eval.runs.types import Run

__all__ = ["about_of", "latency_of", "near_duplicates", "run_lines", "run_of"]

_SAME = 0.9
_PERCENTILES = (50, 95, 99)


def run_of(name: str, queries: Sequence[GoldenQuery], answers: Mapping[str, Answer]) -> Run:
    """The answers as a run; a query without an answer failed."""
    failures = {
        q.id: answers[q.id].failure or "" if q.id in answers else "not asked"
        for q in queries
        if q.id not in answers or answers[q.id].failure is not None
    }
    return Run(
        name=name,
        queries=tuple(Query(q.id, q.text) for q in queries),
        docs=tuple(
            None if q.id in failures else tuple(hit.doc_id for hit in answers[q.id].hits)
            for q in queries
        ),
        failures=MappingProxyType(failures),
        format="jsonl",
    )


def run_lines(queries: Sequence[GoldenQuery], answers: Mapping[str, Answer]) -> str:
    """The answers as a run in JSONL, with scores and titles where the engine gave them."""
    return "".join(
        f"{json.dumps(_row(q, answers.get(q.id)), ensure_ascii=False)}\n" for q in queries
    )


def _row(query: GoldenQuery, answer: Answer | None) -> dict[str, object]:
    row: dict[str, object] = {"query_id": query.id, "query": query.text}
    if answer is None or answer.failure is not None:
        failure = "not asked" if answer is None else answer.failure
        return row | {"docs": None, "failure": failure}
    docs = [
        {
            "id": hit.doc_id,
            **({} if hit.score is None else {"score": hit.score}),
            **({} if hit.title is None else {"title": hit.title}),
        }
        for hit in answer.hits
    ]
    return row | {"docs": docs, "latency_ms": round(answer.latency_ms, 3)}


def latency_of(answers: Iterable[Answer]) -> dict[str, float] | None:
    """p50, p95 and p99 of the searches that answered, in milliseconds; None without any."""
    times = [answer.latency_ms for answer in answers if answer.failure is None]
    if not times:
        return None
    values = np.percentile(np.array(times), _PERCENTILES)
    return {f"p{p}": round(float(v), 3) for p, v in zip(_PERCENTILES, values, strict=True)}


def about_of(answers: Iterable[Answer]) -> dict[str, str]:
    """What the engine said of itself; where it changed its mind, all it said."""
    found: dict[str, dict[str, None]] = {}
    for answer in answers:
        for name, value in answer.about.items():
            found.setdefault(name, {})[value] = None
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}


def near_duplicates(answer: Answer, k: int) -> tuple[tuple[str, str], ...]:
    """Pairs of documents within k whose titles are the same, or nearly: ids, best first.

    Nearly: nine tenths of the words of both are shared (Jaccard). Three alike at the top look
    good to P@k and not to people.
    """
    titled = [
        (hit.doc_id, frozenset(near_form(hit.title).split()))
        for hit in answer.hits[:k]
        if hit.title
    ]
    return tuple(
        (one, other)
        for (one, words), (other, more) in combinations(titled, 2)
        if one != other and words and len(words & more) >= _SAME * len(words | more)
    )
