"""The same judge as a second-stage ranker, and plain reciprocal rank fusion.

Reranking never raises for a judge's failure: search goes on with the first stage's order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from relgate.judge.redact import redact
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, Judge, JudgedHit
from relgate.rubrics import Rubric
from relgate.rubrics.errors import UsageError

__all__ = [
    "DEFAULT_WEIGHTS",
    "RerankedHit",
    "RrfHit",
    "blend_weight",
    "llm_rerank",
    "llm_rerank_sync",
    "reciprocal_rank_fusion",
]

DEFAULT_WEIGHTS: tuple[tuple[int | None, float], ...] = ((3, 0.75), (10, 0.60), (None, 0.40))
"""Weight of the first stage by rank: .75 to rank 3, .60 to rank 10, .40 after (judge document)."""

_ESCI_BEST = 3

IdT = TypeVar("IdT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RerankedHit:
    """A hit in its new place.

    Attributes:
        id: the document's id.
        rank: 1-based new rank.
        first_rank: 1-based rank in the first stage.
        score: the judge's `grade / max grade`, 0..1; None when it got no grade.
        blended: `w / first_rank + (1 - w) * score`; None when it got no grade.
    """

    id: str
    rank: int
    first_rank: int
    score: float | None
    blended: float | None


def blend_weight(rank: int, weights: Sequence[tuple[int | None, float]] = DEFAULT_WEIGHTS) -> float:
    """The first stage's weight at 1-based `rank`: that of the first bound not below it."""
    for bound, weight in weights:
        if bound is None or rank <= bound:
            return weight
    return weights[-1][1]


async def llm_rerank(
    judge: Judge,
    query: str,
    hits: Sequence[Candidate],
    *,
    max_grade: int | None = None,
    pool: int = 50,
    weights: Sequence[tuple[int | None, float]] = DEFAULT_WEIGHTS,
    deadline_s: float = 10.0,
    on_error: Callable[[str], None] | None = None,
) -> list[RerankedHit]:
    """`hits` in a new order: first stage and judge blended by rank.

    Args:
        judge: any judge.
        query: the query.
        hits: the first stage's results, best first.
        max_grade: the best grade; scores are `grade / max_grade`. By default that of the judge's
            `rubric`, or 3 where it has none.
        pool: how many of the first hits are judged; the rest keep their places.
        weights: (last rank, weight of the first stage), the last bound None.
        deadline_s: seconds after which the first stage's order is returned.
        on_error: told when the first stage's order had to be returned.

    Hits without a grade keep their slots; the graded ones are permuted among theirs. Ties keep
    the first stage's order. Never raises for the judge's sake. Give a `CachedJudge` to have each
    grade paid for once: what it had graded when the deadline passed is stored, and the next request
    finds it.

    Raises:
        UsageError: `max_grade` is below 1.
    """
    if max_grade is not None and max_grade < 1:
        raise UsageError(f"max_grade is {max_grade}; give the best grade, 1 or more")
    import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never rerank

    asked = list(hits[:pool])
    limit = asyncio.timeout(deadline_s)
    why: str | None = None
    judged: list[JudgedHit] = []
    try:
        async with limit:
            judged = await judge.grade(query, asked)
    except Exception as error:  # noqa: BLE001 - a foreign judge may raise anything; search goes on
        late = limit.expired()
        why = f"{deadline_s:g} s passed" if late else f"{type(error).__name__}: {error}"
    if why is None and [row.id for row in judged] != [hit.id for hit in asked]:
        why, judged = "the judge did not return one row a hit in their order", []
    if why is not None and on_error is not None:
        on_error(f"first-stage order kept: {redact(why)}")
    best = _best_grade(judge) if max_grade is None else max_grade
    scores = [row.grade / best if row.graded else None for row in judged]
    scores += [None] * (len(hits) - len(scores))
    return _place(hits, scores, weights)


def llm_rerank_sync(
    judge: Judge, query: str, hits: Sequence[Candidate], *, deadline_s: float = 10.0
) -> list[RerankedHit]:
    """As `llm_rerank` with its defaults, for callers without an event loop."""
    return run_sync(llm_rerank(judge, query, hits, deadline_s=deadline_s))


def _best_grade(judge: Judge) -> int:
    rubric = getattr(judge, "rubric", None)
    return rubric.max_grade if isinstance(rubric, Rubric) else _ESCI_BEST


def _place(
    hits: Sequence[Candidate],
    scores: Sequence[float | None],
    weights: Sequence[tuple[int | None, float]],
) -> list[RerankedHit]:
    blended = [
        None
        if score is None
        else (w := blend_weight(rank, weights)) / rank + (1 - w) * min(max(score, 0.0), 1.0)
        for rank, score in enumerate(scores, start=1)
    ]
    slots = [i for i, value in enumerate(blended) if value is not None]
    order = list(range(len(hits)))
    by_score = sorted(slots, key=lambda i: -(blended[i] or 0.0))
    for slot, i in zip(slots, by_score, strict=True):
        order[slot] = i
    return [
        RerankedHit(hits[i].id, rank, i + 1, scores[i], blended[i])
        for rank, i in enumerate(order, start=1)
    ]


@dataclass(frozen=True, slots=True)
class RrfHit(Generic[IdT]):
    """A document and its fused score."""

    id: IdT
    score: float


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[IdT]], *, k: float = 60.0
) -> list[RrfHit[IdT]]:
    """Plain RRF: each ranking adds `1 / (k + rank)` to each of its documents.

    A repeated document counts at its first rank. Ties go to the one met first.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009 (k = 60).
    """
    scores: dict[IdT, float] = {}
    for ranking in rankings:
        for rank, doc in enumerate(dict.fromkeys(ranking), start=1):
            scores[doc] = scores.get(doc, 0.0) + 1.0 / (k + rank)
    return [RrfHit(doc, score) for doc, score in sorted(scores.items(), key=lambda x: -x[1])]
