"""Replays a golden set through Elasticsearch's own `_rank_eval`: many queries a request. I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from relgate.eval.golden.types import GoldenQuery
from relgate.eval.harness.types import Answer, Call, Hit
from relgate.eval.lists.jsontext import Json
from relgate.eval.runs.rank_eval import read_rank_eval
from relgate.rubrics.errors import InputError

if TYPE_CHECKING:
    from relgate.eval.harness.web import WebEngine

__all__ = ["rank_eval_answers", "rank_eval_request"]

_BATCH = 100


def rank_eval_request(
    calls: Sequence[Call],
    queries: Mapping[str, GoldenQuery],
    bodies: Mapping[str, Json],
    *,
    index: str,
    k: int,
) -> dict[str, Json]:
    """The body of a `_rank_eval` request.

    Args:
        calls: the searches.
        queries: the golden queries by id, for the ratings.
        bodies: the filled search body of each call, by query id.
        index: the concrete index: an alias leaves every document unrated.
        k: depth.
    """
    requests: list[Json] = [
        {
            "id": call.query_id,
            "request": bodies[call.query_id],
            "ratings": [
                {"_index": index, "_id": judgment.doc_id, "rating": judgment.grade}
                for judgment in queries[call.query_id].judgments
                if judgment.doc_id is not None
            ],
        }
        for call in calls
    ]
    return {"requests": requests, "metric": {"dcg": {"k": k, "normalize": True}}}


def rank_eval_answers(
    engine: WebEngine, calls: Sequence[Call], queries: Mapping[str, GoldenQuery], k: int
) -> Iterator[Answer]:
    """An answer for each call, a hundred to a request; latency is not told by `_rank_eval`.

    A request that fails makes each of its queries a failure.
    """
    for begin in range(0, len(calls), _BATCH):
        part = calls[begin : begin + _BATCH]
        value, failure = engine.rank_eval(part, queries, k)
        if failure is not None:
            yield from (Answer(call.query_id, (), 0.0, failure=failure) for call in part)
            continue
        yield from _answers(value, part)


def _answers(value: Json, calls: Sequence[Call]) -> Iterator[Answer]:
    try:
        run = read_rank_eval(value, "the answer", "run")
    except InputError as error:
        yield from (Answer(call.query_id, (), 0.0, failure=str(error)) for call in calls)
        return
    docs = {query.id: found for query, found in zip(run.queries, run.docs, strict=True)}
    for call in calls:
        found = docs.get(call.query_id)
        failure = run.failures.get(call.query_id)
        if failure is None and found is None:
            failure = "not in the answer"
        hits = () if found is None or failure is not None else tuple(Hit(doc) for doc in found)
        yield Answer(call.query_id, hits, 0.0, failure=failure)
