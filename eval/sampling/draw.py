"""Draws pairs to label within a budget, and puts them in blind order. Pure.

Every choice is by lot: a hash of the seed, the query and the document. Neither rank nor system nor
the order of the runs has a part in it, and the same pool and seed give the same sample anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relgate.eval.lists.types import match_key
from relgate.eval.sampling.pool import PoolPair, Stratum
from relgate.rubrics.errors import UsageError

__all__ = ["Sample", "StratumShare", "draw_sample"]


@dataclass(frozen=True, slots=True)
class StratumShare:
    """What one stratum has in the pool and in the sample.

    Attributes:
        stratum: which.
        queries: its queries in the pool.
        pool: its pairs there.
        sampled: those of them that were drawn; sampled / pool is the chance of each, on average.
    """

    stratum: Stratum
    queries: int
    pool: int
    sampled: int


@dataclass(frozen=True, slots=True)
class Sample:
    """The pairs to label.

    Attributes:
        pairs: query by query, queries and documents each in the order of their lots.
        strata: the share of each stratum, by name.
    """

    pairs: tuple[PoolPair, ...]
    strata: tuple[StratumShare, ...]


def draw_sample(pairs: Sequence[PoolPair], *, budget: int | None = None, seed: int = 0) -> Sample:
    """A sample of the pool.

    Strata take turns, so that a large one cannot crowd out a small one; within a stratum the
    queries take turns; within a query the lot decides.

    Args:
        pairs: the pool.
        budget: how many pairs can be labelled; None takes all.
        seed: another seed is another lot.

    Raises:
        UsageError: a budget below 1.
    """
    if budget is not None and budget < 1:
        raise UsageError(f"the budget is {budget} pairs; it must be 1 or more")
    strata = _by_stratum(pairs)
    queues = {stratum: _in_turn(group, seed) for stratum, group in sorted(strata.items())}
    drawn = _take_turns(list(queues.values()), len(pairs) if budget is None else budget)
    chosen = {_pair(pair) for pair in drawn}
    shares = tuple(
        StratumShare(
            stratum=stratum,
            queries=len({match_key(pair.query.id) for pair in queue}),
            pool=len(queue),
            sampled=sum(_pair(pair) in chosen for pair in queue),
        )
        for stratum, queue in queues.items()
    )
    ordered = sorted(drawn, key=lambda p: (_query_lot(p, seed), _pair_lot(p, seed), _pair(p)))
    return Sample(tuple(ordered), shares)


def _by_stratum(pairs: Iterable[PoolPair]) -> dict[Stratum, list[PoolPair]]:
    groups: dict[Stratum, list[PoolPair]] = {}
    for pair in pairs:
        groups.setdefault(pair.stratum, []).append(pair)
    return groups


def _in_turn(pairs: Sequence[PoolPair], seed: int) -> list[PoolPair]:
    """All pairs of a stratum in the order in which they are drawn: its queries take turns."""
    by_query: dict[str, list[PoolPair]] = {}
    for pair in sorted(pairs, key=lambda p: (_query_lot(p, seed), _pair_lot(p, seed), _pair(p))):
        by_query.setdefault(match_key(pair.query.id), []).append(pair)
    return _take_turns(list(by_query.values()), len(pairs))


def _take_turns(queues: Sequence[Sequence[PoolPair]], most: int) -> list[PoolPair]:
    """One of each queue, then a second of each, and so on, until `most` are taken."""
    taken: list[PoolPair] = []
    for turn in range(max(map(len, queues), default=0)):
        taken += [queue[turn] for queue in queues if turn < len(queue)]
        if len(taken) >= most:
            break
    return taken[:most]


def _pair(pair: PoolPair) -> tuple[str, str]:
    return match_key(pair.query.id), match_key(pair.doc_id)


def _query_lot(pair: PoolPair, seed: int) -> bytes:
    return _lot(str(seed), match_key(pair.query.shown))


def _pair_lot(pair: PoolPair, seed: int) -> bytes:
    return _lot(str(seed), match_key(pair.query.shown), match_key(pair.doc_id))


def _lot(*parts: str) -> bytes:
    digest = hashlib.sha256(b"relgate sample 1")
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()
