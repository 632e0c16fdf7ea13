"""A run in a process of its own: grades QUERIES x 20 pairs, eight queries at once.

    python worker.py CACHE REQUESTS FIRST LAST

Appends one line a request to the file REQUESTS before it answers, as a paid server would, and
prints the number of each query when its grades are in hand: acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import sys

from relgate.cache import CachedJudge, open_store
from relgate.judge.types import Candidate, JudgedHit

PAIRS = 20
AT_ONCE = 8


class PaidServer:
    version = "esci-v1@00000000"
    fingerprint = "f0"
    model = "paid-1"
    family = "none"
    batch_size = 10

    def __init__(self, requests: str) -> None:
        self._log = os.open(requests, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def grade(self, query, candidates):
        os.write(self._log, f"{query} {len(candidates)}\n".encode())
        await asyncio.sleep(0.01)
        return [
            JudgedHit(c.id, len(c.text) % 4, "ICSE"[len(c.text) % 4], c.text) for c in candidates
        ]

    def grade_sync(self, query, candidates):
        raise NotImplementedError


async def main(folder: str, requests: str, first: int, last: int) -> None:
    store = open_store(folder, required=True)
    judge = CachedJudge(PaidServer(requests), store)
    slot = asyncio.Semaphore(AT_ONCE)
    print("started", flush=True)  # noqa: T201 - read by the test

    async def one(query: int) -> None:
        candidates = [Candidate(f"p{n}", f"text {'x' * n} for {query}") for n in range(PAIRS)]
        async with slot:
            hits = await judge.grade(f"query {query}", candidates)
        assert [h.grade for h in hits] == [len(c.text) % 4 for c in candidates]
        print(query, flush=True)  # noqa: T201 - read by the test

    await asyncio.gather(*(one(query) for query in range(first, last)))
    store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
