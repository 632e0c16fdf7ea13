from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relgate.cache import CachedJudge, MemoryStore, cache_stats, open_store
from relgate.cache.keys import grade_key
from relgate.cache.rows import decode_row
from relgate.judge.types import Candidate, Judge, JudgedHit
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import CacheUnavailableError, UsageError


def test_it_is_a_judge_and_passes_on_what_the_inner_one_is(folder, paid):
    store = open_store(folder)
    inner = paid(batch_size=7)
    cached = CachedJudge(inner, store)
    assert isinstance(cached, Judge)
    names = ("version", "fingerprint", "model", "family", "batch_size")
    assert [getattr(cached, n) for n in names] == [getattr(inner, n) for n in names]
    store.close()


def test_a_second_run_makes_no_call_and_says_the_same(filled, second_run):
    inner, cached = second_run(filled)
    assert inner.calls == []
    assert (cached.hits, cached.misses, cached.stored, cached.invalid) == (12, 0, 0, 0)


def test_the_first_run_and_the_second_return_equal_rows_to_the_last_field(folder, paid, candidates):
    store = open_store(folder)
    first = CachedJudge(paid(), store).grade_sync("q", candidates)
    again = CachedJudge(paid(), store).grade_sync("q", candidates)
    store.close()
    assert first == again


def test_a_setting_changed_and_changed_back_costs_two_calls(folder, paid, candidates):
    """C02: the fingerprint holds the settings, temperature 0, 1, 0."""
    store = open_store(folder)
    judges = [paid(fingerprint=f"temperature={t}", batch_size=50) for t in (0, 1, 0)]
    for judge in judges:
        CachedJudge(judge, store).grade_sync("q", candidates)
    store.close()
    assert [len(judge.calls) for judge in judges] == [1, 1, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "template-v2"},
        {"version": "esci-v1@11111111"},
    ],
)
def test_a_changed_template_or_rubric_gives_no_hit(filled, paid, candidates, change):
    """C03, C10."""
    store = open_store(filled)
    cached = CachedJudge(paid(**change), store)
    cached.grade_sync("tv stand", candidates)
    store.close()
    assert (cached.hits, cached.misses) == (0, 12)


def test_a_changed_text_gives_no_hit_and_a_changed_id_does(filled, paid, candidates):
    """C03: the fields shown are in the text; ids are not in the key."""
    store = open_store(filled)
    cached = CachedJudge(paid(), store)
    cached.grade_sync("tv stand", [Candidate(c.id, c.text + " | brown") for c in candidates])
    assert cached.hits == 0
    hits = cached.grade_sync("tv stand", [Candidate("new-" + c.id, c.text) for c in candidates])
    store.close()
    assert cached.hits == 12
    assert [h.id for h in hits] == ["new-" + c.id for c in candidates]


def test_a_judge_whose_fingerprint_changes_under_way_gets_no_stale_hit(filled, paid, candidates):
    """C10."""
    inner = paid()
    store = open_store(filled)
    cached = CachedJudge(inner, store)
    inner.fingerprint = "edited"
    cached.grade_sync("tv stand", candidates)
    store.close()
    assert cached.hits == 0


@pytest.mark.parametrize("lack", ["version", "fingerprint"])
def test_a_judge_without_version_or_fingerprint_is_not_cached(paid, lack):
    """C10."""
    with pytest.raises(UsageError):
        CachedJudge(paid(**{lack: ""}), MemoryStore())


def test_failed_rows_are_not_stored_and_are_asked_again(folder, paid, candidates):
    store = open_store(folder)
    failing = CachedJudge(paid(fail=["p3", "p4"]), store)
    hits = failing.grade_sync("q", candidates)
    assert [h.id for h in hits if not h.graded] == ["p3", "p4"]
    assert (failing.stored, failing.unsaved) == (10, 0)  # a failure is no grade that was lost
    inner = paid()
    hits = CachedJudge(inner, store).grade_sync("q", candidates)
    store.close()
    assert all(h.graded for h in hits)
    assert sorted(inner.graded_texts) == sorted([candidates[3].text, candidates[4].text])


def test_of_a_reply_cut_after_the_first_row_one_row_is_cached(folder, paid):
    """P13: cached_max 1."""
    three = [Candidate(f"p{n}", f"text {n}") for n in (1, 2, 3)]
    store = open_store(folder)
    CachedJudge(paid(fail=["p2", "p3"]), store).grade_sync("q", three)
    store.close()
    assert cache_stats(folder).rows == 1


def test_when_every_call_fails_there_is_no_row(folder, paid, candidates):
    store = open_store(folder)
    CachedJudge(paid(fail=[c.id for c in candidates]), store).grade_sync("q", candidates)
    store.close()
    assert cache_stats(folder).rows == 0


def test_identical_texts_are_graded_once_and_every_id_gets_its_row(paid):
    inner = paid()
    cached = CachedJudge(inner, MemoryStore())
    hits = cached.grade_sync("q", [Candidate(i, "same") for i in ("a", "b", "a")])
    assert inner.graded_texts == ["same"]
    assert [h.id for h in hits] == ["a", "b", "a"]
    assert (cached.hits, cached.misses) == (0, 1)


def test_retrieval_order_does_not_reach_the_batches(paid, candidates):
    forward, backward = paid(batch_size=5), paid(batch_size=5)
    CachedJudge(forward, MemoryStore()).grade_sync("q", candidates)
    CachedJudge(backward, MemoryStore()).grade_sync("q", candidates[::-1])
    assert forward.calls == backward.calls
    assert [len(batch) for _, batch in forward.calls] == [5, 5, 2]


def test_rows_come_back_in_the_order_of_the_candidates_from_cache_and_judge_mixed(
    filled, paid, candidates
):
    mixed = [Candidate("new", "a new one"), *candidates[::-1], Candidate("newer", "another")]
    store = open_store(filled)
    hits = CachedJudge(paid(), store).grade_sync("tv stand", mixed)
    store.close()
    assert [(h.id, h.grade) for h in hits] == [(c.id, len(c.text) % 4) for c in mixed]


def test_no_candidates_no_call(paid):
    inner = paid()
    assert CachedJudge(inner, MemoryStore()).grade_sync("q", []) == []
    assert inner.calls == []


def test_odd_characters_are_graded_stored_and_found(folder, paid):
    odd = [Candidate("s", "lone \ud800 surrogate"), Candidate("n", "nul \0 byte")]
    store = open_store(folder)
    first = CachedJudge(paid(), store).grade_sync("q\udfff", odd)
    inner = paid()
    second = CachedJudge(inner, store).grade_sync("q\udfff", odd)
    store.close()
    assert inner.calls == []
    assert first == second
    assert [h.reason for h in second] == [
        "because lone \ufffd surrogate",
        "because nul \ufffd byte",
    ]


def test_the_row_says_who_graded_what_and_when(folder, paid):
    store = open_store(folder)
    inner = paid()
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    CachedJudge(inner, store, clock=lambda: now).grade_sync("q", [Candidate("a", "text")])
    key = grade_key(version=inner.version, fingerprint=inner.fingerprint, query="q", text="text")
    row = decode_row(store.get_many([key])[key], key=key)
    store.close()
    assert row is not None
    assert (row.version, row.fingerprint, row.model) == (inner.version, "f0", "paid-1")
    assert (row.judged_at, row.batch_size, row.position) == ("2026-01-02T03:04:05+00:00", 1, 1)


def test_a_row_whose_label_and_grade_do_not_fit_the_rubric_is_a_miss_and_is_said(
    folder, paid, caplog
):
    store = open_store(folder)

    class Swapped(paid):
        def _one(self, candidate, *_):
            return JudgedHit(candidate.id, 0, "E", "odd")

    one = [Candidate("a", "text")]
    CachedJudge(Swapped(), store).grade_sync("q", one)
    inner = paid()
    strict = CachedJudge(inner, store, rubric=load_rubric())
    with caplog.at_level(logging.WARNING):
        strict.grade_sync("q", one)
        strict.grade_sync("q", one)
    store.close()
    assert len(inner.calls) == 1  # graded anew, and the good row then replaces the odd one
    assert (strict.invalid, strict.hits) == (1, 1)
    assert len(caplog.records) == 1


def test_a_grade_that_does_not_fit_the_rubric_is_returned_and_not_stored(folder, paid, caplog):
    store = open_store(folder)

    class Odd(paid):
        rubric = load_rubric()

        def _one(self, candidate, *_):
            return JudgedHit(candidate.id, 7, "E", "off the scale")

    cached = CachedJudge(Odd(), store)
    assert cached.grade_sync("q", [Candidate("a", "text")])[0].grade == 7
    store.close()
    assert (cached.stored, cached.unsaved) == (0, 1)
    assert len(caplog.records) == 1


def test_a_judge_that_mixes_up_its_rows_poisons_nothing(folder, paid, candidates):
    store = open_store(folder)

    class Mixed(paid):
        async def grade(self, query, candidates):
            return (await super().grade(query, candidates))[::-1]

    with pytest.raises(RuntimeError, match="in their order"):
        CachedJudge(Mixed(), store).grade_sync("q", candidates)
    store.close()
    assert cache_stats(folder).rows == 0


class BrokenStore(MemoryStore):
    """A store whose disk is full."""

    def put_many(self, *_, **__):
        raise CacheUnavailableError("cache.db: the disk is full")


def test_a_store_that_cannot_write_loses_no_grade_in_hand_and_is_said_once(
    paid, candidates, caplog
):
    cached = CachedJudge(paid(batch_size=3), BrokenStore())
    hits = cached.grade_sync("q", candidates)
    assert [h.grade for h in hits] == [len(c.text) % 4 for c in candidates]
    assert (cached.stored, cached.unsaved) == (0, 12)
    assert [r.getMessage() for r in caplog.records] == [
        "cache.db: the disk is full: grades are returned, but not stored"
    ]


def test_a_required_store_that_cannot_write_stops_the_run(paid, candidates):
    store = BrokenStore()
    store.required = True
    with pytest.raises(CacheUnavailableError):
        CachedJudge(paid(), store).grade_sync("q", candidates)


def test_when_one_batch_raises_the_others_are_still_stored(folder, paid, candidates):
    store = open_store(folder)

    class Half(paid):
        async def grade(self, query, candidates):
            first = not self.calls
            hits = await super().grade(query, candidates)
            if first:
                raise OSError("a fault of the judge's own")
            await asyncio.sleep(0.05)
            return hits

    # the first batch to get here raises at once; the other two come back later
    with pytest.raises(OSError, match="own"):
        CachedJudge(Half(batch_size=4), store).grade_sync("q", candidates)
    store.close()
    assert cache_stats(folder).rows == 8


def test_cancelling_leaves_every_finished_batch_stored(folder, paid, candidates):
    store = open_store(folder)

    class Slow(paid):
        async def grade(self, query, candidates):
            late = len(self.calls) >= 2
            hits = await super().grade(query, candidates)
            if late:
                await asyncio.sleep(60)
            return hits

    inner = Slow(batch_size=3)

    async def run() -> None:
        task = asyncio.create_task(CachedJudge(inner, store).grade("q", candidates))
        while store.stats().written < 6:  # noqa: ASYNC110 - the writes are seen from outside
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    store.close()
    assert cache_stats(folder).rows == 6


def test_a_write_under_way_is_finished_when_the_run_is_cancelled(paid):
    started, stored = asyncio.Event(), []

    class SlowStore(MemoryStore):
        def put_many(self, items, **_):
            loop.call_soon_threadsafe(started.set)
            time.sleep(0.1)
            stored.extend(items)
            return len(items)

    async def run() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        cached = CachedJudge(paid(), SlowStore())
        task = asyncio.create_task(cached.grade("q", [Candidate("a", "text")]))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(stored) == 1
        assert cached.stored == 1

    loop: asyncio.AbstractEventLoop
    asyncio.run(run())


def test_grade_sync_inside_a_loop_is_a_usage_error(paid):
    async def run() -> None:
        CachedJudge(paid(), MemoryStore()).grade_sync("q", [])

    with pytest.raises(UsageError):
        asyncio.run(run())


def test_a_missing_directory_is_made_for_the_user_alone(tmp_path: Path):
    folder = tmp_path / "deep" / "cache"
    open_store(folder).close()
    assert folder.stat().st_mode & 0o777 == 0o700
