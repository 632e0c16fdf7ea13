"""Who pays: claims in every kind of store, and processes that share one cache."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relgate.cache import CachedJudge, MemoryStore, open_store
from relgate.cache.claims import is_free, is_gone, new_owner
from relgate.judge.types import Candidate

WORKER = Path(__file__).with_name("worker.py")
ELSEWHERE = "another-machine/1 1 1 x"


@pytest.fixture(params=["memory", "disk", "read-only", "redis"])
def store(request, folder):
    if request.param == "memory":
        opened = MemoryStore()
    elif request.param == "redis":
        server = request.getfixturevalue("redis_server")
        server.clear()
        opened = open_store(server.url)
    else:
        opened = open_store(folder)
        if request.param == "read-only":
            from relgate.cache.disk import DiskStore  # noqa: PLC0415 - only here

            opened.put_many({"x": "y"})
            opened.close()
            opened = DiskStore(folder, read_only=True)
    yield opened
    opened.close()


@pytest.fixture
def shared_store(place):
    opened = open_store(place)
    yield opened
    opened.close()


def claim(store, keys, owner, seconds=30.0):
    return store.claim_many(keys, owner=owner, seconds=seconds)


def test_what_one_holds_another_does_not_get(store):
    one, two = new_owner(), new_owner()
    assert claim(store, ["a", "b"], one) == {"a", "b"}
    assert claim(store, ["b", "c"], two) == {"c"}
    assert claim(store, ["a", "b", "c"], one) == {"a", "b"}  # its own are renewed


def test_a_claim_ends_when_it_is_given_back_and_by_nobody_else(store):
    one, two = new_owner(), new_owner()
    claim(store, ["a", "b"], one)
    store.release_many(["a", "b"], owner=two)
    assert claim(store, ["a", "b"], two) == set()
    store.release_many(["a"], owner=one)
    assert claim(store, ["a", "b"], two) == {"a"}


def test_a_claim_that_is_not_renewed_ends_and_a_renewed_one_lives(store):
    one, two = new_owner(), new_owner()
    claim(store, ["a", "b"], one, seconds=0.3)
    time.sleep(0.2)
    claim(store, ["b"], one, seconds=5)
    time.sleep(0.2)
    assert claim(store, ["a", "b"], two) == {"a"}


def test_storing_a_row_ends_the_owners_claim_on_it(store):
    one, two = new_owner(), new_owner()
    claim(store, ["a", "b"], one)
    store.put_many({"a": "1"}, owner=one)
    assert claim(store, ["a", "b"], two) == {"a"}


def test_a_claim_is_no_row(shared_store):
    claim(shared_store, ["a", "b"], new_owner())
    shared_store.put_many({"c": "1"})
    assert shared_store.get_many(["a", "b", "c"]) == {"c": "1"}
    assert list(shared_store.scan()) == [("c", "1")]


def test_many_claims_at_once(shared_store):
    keys = {f"{n:064x}" for n in range(3_000)}
    one, two = new_owner(), new_owner()
    assert claim(shared_store, keys, one) == keys
    assert claim(shared_store, keys, two) == set()
    shared_store.release_many(keys, owner=one)
    assert claim(shared_store, keys, two) == keys


def test_the_claim_of_a_process_that_was_killed_is_free_at_once(shared_store, place):
    code = (
        "import os, signal, sys\n"
        "from relgate.cache import open_store\n"
        "from relgate.cache.claims import new_owner\n"
        "store = open_store(sys.argv[1])\n"
        "store.claim_many(['a'], owner=new_owner(), seconds=30)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, place], check=False)  # noqa: S603 - this interpreter, texts of ours
    assert done.returncode == -signal.SIGKILL
    claim(shared_store, ["b"], ELSEWHERE)
    assert claim(shared_store, ["a", "b"], new_owner()) == {"a"}


def test_only_a_process_of_this_machine_is_known_to_be_gone():
    machine, pid, start, number = new_owner().split(" ")
    assert not is_gone(f"{machine} {pid} {start} {number}")
    assert is_gone(f"{machine} {pid} {int(start) + 1} {number}")  # its number was given out again
    assert is_gone(f"{machine} 4194999 {start} {number}")
    assert not is_gone(f"elsewhere {pid} 1 {number}")
    for odd in ("", "x", machine, f"{machine} x 1", f"{machine} \u00b2 1", f"{machine} 1 ?"):
        assert not is_gone(odd)


def test_a_process_that_ended_and_was_not_waited_for_is_gone():
    machine = new_owner().split(" ")[0]
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    start = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    owner = f"{machine} {process.pid} {start} x"
    assert not is_gone(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(owner)
    process.communicate()


@pytest.mark.parametrize(
    ("holder", "expires", "free"),
    [
        (ELSEWHERE, 110.0, False),
        (ELSEWHERE, 100.0, True),
        (ELSEWHERE, 10_000.0, True),  # the clock was put back, or the row was planted
        (ELSEWHERE, None, True),
        (ELSEWHERE, float("nan"), True),
        (None, 110.0, True),
        ("me", 110.0, True),
    ],
)
def test_a_claim_holds_from_now_to_its_near_end(holder, expires, free):
    assert is_free(holder, expires, owner="me", now=100.0) is free


@pytest.mark.parametrize(
    "change",
    [
        "expire_time = NULL",
        "expire_time = 'never'",
        "expire_time = 9e18",
        "mode = 4, value = x'80'",
        "mode = 3, filename = '../secret'",
        "value = 7",
    ],
)
def test_a_planted_claim_holds_nothing_up(folder, plant, change):
    store = open_store(folder)
    claim(store, ["a"], ELSEWHERE)
    store.close()
    plant(folder, f"UPDATE Cache SET {change} WHERE key = 'claim a'")  # noqa: S608 - planting
    store = open_store(folder)
    me = new_owner()
    assert claim(store, ["a"], me) == {"a"}
    assert store.put_many({"a": "1"}, owner=me) == 1
    store.close()


# --- the cached judge


def test_two_tasks_of_one_process_pay_once(store, paid, candidates):
    class Slow(paid):
        async def grade(self, query, candidates):
            await asyncio.sleep(0.1)
            return await super().grade(query, candidates)

    inner = Slow()
    judge = CachedJudge(inner, store)

    async def run():
        return await asyncio.gather(*(judge.grade("q", candidates) for _ in range(3)))

    one, two, three = asyncio.run(run())
    assert one == two == three
    assert sorted(inner.graded_texts) == sorted(c.text for c in candidates)
    assert (judge.hits, judge.misses) == (24, 12)


def test_a_failed_grade_gives_its_claim_back_and_who_waited_asks_again(shared_store, paid):
    one = [Candidate("a", "text")]

    class Slow(paid):
        async def grade(self, query, candidates):
            await asyncio.sleep(0.1)
            return await super().grade(query, candidates)

    failing, working = Slow(fail=["a"]), paid()

    async def run():
        first = asyncio.create_task(CachedJudge(failing, shared_store).grade("q", one))
        await asyncio.sleep(0.05)
        return await first, await CachedJudge(working, shared_store).grade("q", one)

    (failed,), (graded,) = asyncio.run(run())
    assert not failed.graded
    assert graded.graded


@pytest.mark.parametrize("end", ["cancelled", "raised"])
def test_a_call_that_ends_early_gives_its_claims_back(shared_store, paid, candidates, end):
    class Stuck(paid):
        async def grade(self, *_):
            if end == "raised":
                raise OSError("a fault of the judge's own")
            await asyncio.sleep(60)

    async def run():
        task = asyncio.create_task(CachedJudge(Stuck(), shared_store).grade("q", candidates))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises((asyncio.CancelledError, OSError)):
            await task
        begin = time.monotonic()
        inner = paid()
        await CachedJudge(inner, shared_store).grade("q", candidates)
        assert len(inner.graded_texts) == 12
        assert time.monotonic() - begin < 2

    asyncio.run(run())


def test_a_long_call_keeps_its_claim(shared_store, paid):
    one = [Candidate("a", "text")]

    class Long(paid):
        async def grade(self, query, candidates):
            await asyncio.sleep(1.2)
            return await super().grade(query, candidates)

    first, second = Long(), paid()

    async def run():
        task = asyncio.create_task(CachedJudge(first, shared_store, claim_s=0.4).grade("q", one))
        await asyncio.sleep(0.1)
        await CachedJudge(second, shared_store, claim_s=0.4).grade("q", one)
        await task

    asyncio.run(run())
    assert (len(first.calls), len(second.calls)) == (1, 0)


def test_what_an_owner_gone_without_a_word_held_is_taken_over_when_it_expires(shared_store, paid):
    inner = paid()
    judge = CachedJudge(inner, shared_store)
    keys = [judge._key("q", "text")]  # noqa: SLF001 - the key of a pair
    shared_store.claim_many(keys, owner=ELSEWHERE, seconds=0.5)
    begin = time.monotonic()
    judge.grade_sync("q", [Candidate("a", "text")])
    assert 0.3 < time.monotonic() - begin < 3
    assert len(inner.calls) == 1


# --- processes


def workers(place, requests, count, *numbers):
    command = [sys.executable, str(WORKER), place, str(requests), *map(str, numbers)]
    return [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter, texts of ours
        for _ in range(count)
    ]


def test_eight_processes_with_two_thousand_shared_keys_make_two_thousand_requests(place, counting):
    """2,000 pairs, one a request: each asked once, by whom ever, and no error."""
    for process in workers(place, counting.port, 8, 0, 100, 1):
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
    assert len(counting.asked) == 2_000
    assert counting.asked.total() == 2_000
