"""A run in a process of its own: grades QUERIES x PAIRS (20) pairs, eight queries at once.

    python worker.py CACHE REQUESTS FIRST LAST [BATCH [PAIRS]]

REQUESTS is the port of a server that counts, or a file that gets one line a request before the
answer, as a paid server would. Prints the number of each query when its grades are in hand:
acknowledged.
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

    def __init__(self, requests: str, batch_size: int) -> None:
        self.batch_size = batch_size
        self._port = int(requests) if requests.isdecimal() else None
        if self._port is None:
            self._log = os.open(requests, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def grade(self, query, candidates):
        said = f"{query} {','.join(str(len(c.text)) for c in candidates)}\n".encode()
        if self._port is None:
            os.write(self._log, said)
            await asyncio.sleep(0.01)
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            writer.write(said)
            assert await reader.readline() == b"graded\n"
            writer.close()
            await writer.wait_closed()
        return [
            JudgedHit(c.id, len(c.text) % 4, "ICSE"[len(c.text) % 4], c.text) for c in candidates
        ]

    def grade_sync(self, query, candidates):
        raise NotImplementedError


async def main(place: str, requests: str, first: int, last: int, sizes: tuple[int, int]) -> None:
    batch_size, pairs = sizes
    store = open_store(place, required=True)
    judge = CachedJudge(PaidServer(requests, batch_size), store)
    slot = asyncio.Semaphore(AT_ONCE)
    print("started", flush=True)  # noqa: T201 - read by the test

    async def one(query: int) -> None:
        candidates = [Candidate(f"p{n}", f"text {'x' * n} for {query}") for n in range(pairs)]
        async with slot:
            hits = await judge.grade(f"query {query}", candidates)
        assert [h.grade for h in hits] == [len(c.text) % 4 for c in candidates]
        print(query, flush=True)  # noqa: T201 - read by the test

    await asyncio.gather(*(one(query) for query in range(first, last)))
    store.close()


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[3:]]
    first, last, batch, pairs = given + [0, 0, 10, PAIRS][len(given) :]
    asyncio.run(main(sys.argv[1], sys.argv[2], first, last, (batch, pairs)))
