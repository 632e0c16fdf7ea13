"""The cache against diskcache loops, 100,000 rows of some 200 bytes (goals G6 and G7).

Each figure is the median of five interleaved rounds, CPU seconds; ratios hold within one run.
"""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

import diskcache

from relgate.cache import CachedJudge, open_store
from relgate.judge.types import Candidate, JudgedHit

PAIRS = 100_000
AT_ONCE = 100
ROUNDS = 5
TUNED = {"eviction_policy": "none", "cull_limit": 0}


class CountingJudge:
    """Grades everything, costs nothing, counts its calls."""

    version, fingerprint, model, family, batch_size = "v@1", "f", None, None, 10

    def __init__(self) -> None:
        self.calls = 0

    async def grade(self, _query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.calls += 1
        return [JudgedHit(c.id, 1, "C", "close enough") for c in candidates]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


def cpu_s(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def medians(**works: Callable[[], object]) -> dict[str, float]:
    """Median CPU seconds of each, taken in turn."""
    rounds = [{name: cpu_s(work) for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(r[name] for r in rounds) for name in works}


def show(what: str, found: dict[str, float], goals: dict[str, float]) -> None:
    ours = found["relgate"]
    print(f"{what}: {ours / PAIRS * 1e6:.1f} us CPU a row")
    for peer, least in goals.items():
        ratio = found[peer] / ours
        said = "reached" if ratio >= least else "not reached"
        print(
            f"    {ratio:5.1f}x {peer} ({found[peer] / PAIRS * 1e6:.1f} us); goal {least}x {said}"
        )


def rows() -> dict[str, str]:
    keys = (hashlib.sha256(str(i).encode()).hexdigest() for i in range(PAIRS))
    return dict.fromkeys(keys, '{"grade": 3, "reason": "' + "x" * 170 + '"}')


def in_parts(items: dict[str, str]) -> list[dict[str, str]]:
    return [dict(list(items.items())[i : i + AT_ONCE]) for i in range(0, PAIRS, AT_ONCE)]


def writes(items: dict[str, str]) -> None:
    parts = in_parts(items)

    def ours() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(folder)
            for part in parts:
                store.put_many(part)
            store.close()

    def singles(**settings: object) -> None:
        with tempfile.TemporaryDirectory() as folder, diskcache.Cache(folder, **settings) as peer:
            for key, value in items.items():
                peer.set(key, value)

    found = medians(relgate=ours, tuned=lambda: singles(**TUNED), default=singles)
    show("cache: write, 100 a transaction (G7)", found, {"tuned": 1.7, "default": 3.0})


def looks(items: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        store, peer = open_store(folder), diskcache.Cache(other, **TUNED)
        store.put_many(items)
        with peer.transact():
            for key, value in items.items():
                peer.set(key, value)
        parts = in_parts(items)

        def ours() -> None:
            for part in parts:
                store.get_many(part)

        def singles() -> None:
            for key in items:
                peer.get(key)

        found = medians(relgate=ours, tuned=singles, at_once=lambda: store.get_many(items))
        show("cache: look up 100 a call, as a run does, in its order (G6)", found, {"tuned": 2.5})
        ratio = found["tuned"] / found["at_once"]
        print(
            f"    all in one call: {ratio:.1f}x ({found['at_once'] / PAIRS * 1e6:.1f} us); no goal"
        )
        store.close()
        peer.close()


async def grade_all(judge: CachedJudge) -> None:
    for query in range(PAIRS // 100):
        await judge.grade(f"query {query}", [Candidate(str(i), f"text {i}") for i in range(100)])


def again() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, inner = open_store(folder), CountingJudge()
        first = cpu_s(lambda: asyncio.run(grade_all(CachedJudge(inner, store))))
        inner.calls = 0
        second = cpu_s(lambda: asyncio.run(grade_all(CachedJudge(inner, store))))
        store.close()
    a, b = first / PAIRS * 1e6, second / PAIRS * 1e6
    print(f"cached judge: {a:.0f} us CPU a pair claimed, graded and stored, in batches of 10")
    print(f"    again: {b:.1f} us a pair, {inner.calls} calls; goal 20 us and 0 calls (G6)")


def cache() -> None:
    items = rows()
    looks(items)
    again()
    writes(items)


if __name__ == "__main__":
    cache()
