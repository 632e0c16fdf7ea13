"""The long forms: fifty kills, a server that goes down under eight processes, 100,000 pairs."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relgate.cache import cache_stats, grade_key, open_store
from relgate.cache.contents import valid_rows

WORKER = Path(__file__).with_name("worker.py")
NEEDED, AT_ONCE = 2_000, 8
KILLS = 50

pytestmark = pytest.mark.soak


def start(place, port, *numbers):
    command = [sys.executable, str(WORKER), str(place), str(port), *map(str, numbers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter, texts of ours


def whole(place, port, *numbers):
    process = start(place, port, *numbers)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")


def key(query):
    return grade_key(
        version="esci-v1@00000000",
        fingerprint="f0",
        query=f"query {query}",
        text=f"text  for {query}",
    )


def grades(place):
    with valid_rows(place) as rows:
        return {key: row.model_dump(exclude={"judged_at"}) for key, row in rows}


def test_fifty_kills_lose_nothing_acknowledged_and_repeat_only_what_was_in_flight(
    place, counting, tmp_path, record_property
):
    """2,000 candidates, one a request, eight at once; the end equals an unkilled run's."""
    draw = random.Random(50)  # noqa: S311 - no secret
    for _ in range(KILLS):
        process = start(place, counting.port, 0, NEEDED, 1, 1)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        lines = [process.stdout.readline() for _ in range(draw.randrange(60))]
        time.sleep(draw.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        rest, err = process.communicate(timeout=60)
        assert err == ""
        acknowledged = [key(int(n)) for n in [*lines, *rest.splitlines()] if n.strip()]
        store = open_store(place)
        assert len(store.get_many(acknowledged)) == len(acknowledged)
        store.close()
    whole(place, counting.port, 0, NEEDED, 1, 1)
    asked = counting.asked.total()
    record_property("requests", asked)
    print(f"requests: {asked} for {NEEDED} pairs and {KILLS} kills")  # noqa: T201 - a figure
    assert len(counting.asked) == NEEDED
    assert asked <= NEEDED + KILLS * AT_ONCE
    unkilled = tmp_path / "unkilled"
    whole(unkilled, counting.port, 0, NEEDED, 1, 1)
    assert grades(place) == grades(unkilled)


def test_eight_processes_outlive_a_restart_of_the_server(start_redis, counting):
    """Killed without warning in mid-run; its file has what it acknowledged."""
    server = start_redis()
    processes = [start(server.url, counting.port, 0, NEEDED, 1, 1) for _ in range(8)]
    end = time.monotonic() + 60
    while counting.asked.total() < NEEDED // 3:
        assert time.monotonic() < end
        time.sleep(0.01)
    server.kill()
    time.sleep(1.5)
    server.start()
    for process in processes:
        _, err = process.communicate(timeout=240)
        assert (process.returncode, err) == (0, "")
    asked = counting.asked.total()
    print(f"requests: {asked} for {NEEDED} pairs, the server killed once")  # noqa: T201 - a figure
    assert len(counting.asked) == NEEDED
    assert asked <= NEEDED + 8 * AT_ONCE
    assert cache_stats(server.url).rows == NEEDED


MANY = """
import asyncio, json, resource, sys, time
from relgate.cache import CachedJudge, open_store
from relgate.judge.types import Candidate, JudgedHit
class Judge:
    version = 'v@1'; fingerprint = 'f'; model = family = None; batch_size = 10; calls = 0
    async def grade(self, query, candidates):
        self.calls += 1
        return [JudgedHit(c.id, 1, 'C', 'close enough') for c in candidates]
async def main(judge):
    cached = CachedJudge(judge, store)
    pending = iter(range(1_000))
    async def worker():
        for q in pending:
            pairs = [Candidate(str(i), f'text {i} ' * 40) for i in range(100)]
            await cached.grade(f'query {q}', pairs)
    await asyncio.gather(*(worker() for _ in range(16)))
    return cached
store, judge = open_store(sys.argv[1]), Judge()
wall, cpu = time.perf_counter(), time.process_time()
cached = asyncio.run(main(judge))
print(json.dumps({'calls': judge.calls, 'hits': cached.hits, 'stored': cached.stored,
    'wall_s': time.perf_counter() - wall, 'cpu_us': (time.process_time() - cpu) * 10,
    'peak_mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
store.close()
"""


def test_a_hundred_thousand_pairs_again_make_no_call_in_half_a_gigabyte(place):
    def run():
        done = subprocess.run(  # noqa: S603 - this interpreter, texts of ours
            [sys.executable, "-c", MANY, place], capture_output=True, text=True, check=True
        )
        print(done.stdout)  # noqa: T201 - figures
        return json.loads(done.stdout)

    first, second = run(), run()
    assert (first["calls"], first["stored"]) == (10_000, 100_000)
    assert (second["calls"], second["hits"]) == (0, 100_000)
    assert max(first["peak_mb"], second["peak_mb"]) < 500
    assert second["wall_s"] < 60


def test_a_million_rows_are_looked_through_in_flat_memory(folder):
    store = open_store(folder)
    for start_at in range(0, 1_000_000, 10_000):
        store.put_many({f"{n:064x}": "x" * 200 for n in range(start_at, start_at + 10_000)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(1 for _ in store.scan()) == 1_000_000
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    store.close()
    assert grown_mb < 100
