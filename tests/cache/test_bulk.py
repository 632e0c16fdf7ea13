"""The cache around a judge that takes many queries at once."""

from __future__ import annotations

import asyncio

import pytest

from relgate.cache import CachedJudge, open_store
from relgate.cache.bulk import BulkCachedJudge
from relgate.judge.many import grade_many
from relgate.judge.types import Ask, BulkJudge, Candidate, GradeError
from relgate.rubrics.errors import PlatformError


class Bulk:
    """A `BulkJudge` over the scripted one: answers out of order, some at a time."""

    def __init__(self, inner, *, together=3, dies_after=None):
        self.inner = inner
        for name in ("version", "fingerprint", "model", "family", "batch_size"):
            setattr(self, name, getattr(inner, name))
        self.together = together
        self.dies_after = dies_after
        self.asked: list[Ask] = []

    async def grade(self, query, candidates):
        return await self.inner.grade(query, candidates)

    def grade_sync(self, query, candidates):
        return self.inner.grade_sync(query, candidates)

    async def grade_many(self, asks, took):
        self.asked += asks
        numbers = list(range(len(asks)))[::-1]
        for start in range(0, len(numbers), self.together):
            if self.dies_after is not None and start >= self.dies_after:
                raise PlatformError("the cluster is gone")
            some = numbers[start : start + self.together]
            await took(
                [(n, await self.inner.grade(asks[n].query, asks[n].candidates)) for n in some]
            )


def ask(query: str, *docs: int) -> Ask:
    return Ask(query, tuple(Candidate(f"{query}-{doc}", f"text {doc}") for doc in docs))


ASKS = [ask(f"q{n}", *range(n, n + 9)) for n in range(8)]


@pytest.fixture
def store(folder):
    opened = open_store(folder)
    yield opened
    opened.close()


def run(judge, asks=ASKS):
    """The answers in order; each is told once."""
    rows = {}

    async def took(answered):
        for number, hits in answered:
            assert number not in rows
            rows[number] = hits

    asyncio.run(grade_many(judge, asks, took))
    return [rows[n] for n in range(len(asks))]


def said(answers):
    return [[(h.id, h.grade, h.esci, h.reason, h.error) for h in hits] for hits in answers]


def test_it_is_a_bulk_judge_and_the_other_is_not(store, paid):
    assert isinstance(BulkCachedJudge(Bulk(paid()), store), BulkJudge)
    assert not isinstance(CachedJudge(paid(), store), BulkJudge)


@pytest.mark.parametrize("pairs", [1, 20, 50_000])
def test_it_says_what_the_judge_says_one_query_at_a_time(tmp_path, paid, pairs):
    one, many = open_store(tmp_path / "one"), open_store(tmp_path / "many")
    single, bulk = paid(batch_size=4), paid(batch_size=4)
    cached = BulkCachedJudge(Bulk(bulk), many)
    cached.pairs_at_once = pairs
    assert said(run(cached)) == said(run(CachedJudge(single, one)))
    assert sorted(map(repr, bulk.calls)) == sorted(map(repr, single.calls))
    one.close()
    many.close()


def test_only_what_the_store_lacks_is_sent(store, paid):
    run(BulkCachedJudge(Bulk(paid()), store), ASKS[:5])
    inner = Bulk(paid())
    cached = BulkCachedJudge(inner, store)
    run(cached)
    assert [each.query for each in inner.asked] == ["q5", "q6", "q7"]
    assert (cached.hits, cached.misses) == (45, 27)


def test_one_text_under_two_ids_is_paid_once_and_answers_both(store, paid):
    twins = (Candidate("a", "text 1"), Candidate("b", "text 1"))
    inner = Bulk(paid())
    asks = [Ask("q", twins), Ask("q", (Candidate("c", "text 1"),)), Ask("q", ())]
    first, second, nothing = run(BulkCachedJudge(inner, store), asks)
    assert [len(each.candidates) for each in inner.asked] == [1]
    assert ([h.id for h in first], [h.id for h in second], nothing) == (["a", "b"], ["c"], [])


def test_what_came_before_the_end_is_kept(store, paid):
    with pytest.raises(PlatformError, match="the cluster is gone"):
        run(BulkCachedJudge(Bulk(paid(batch_size=50), dies_after=3), store))
    inner = Bulk(paid(batch_size=50))
    run(BulkCachedJudge(inner, store))
    assert len(inner.asked) == len(ASKS) - 3


def test_nobody_holds_a_claim_after_the_end(store, paid):
    with pytest.raises(PlatformError):
        run(BulkCachedJudge(Bulk(paid(), dies_after=3), store))
    cached = BulkCachedJudge(Bulk(paid()), store)
    keys = [cached._key(each.query, c.text) for each in ASKS for c in each.candidates]  # noqa: SLF001
    assert store.claim_many(keys, owner="another", seconds=5) == set(keys)


def test_a_failed_row_is_not_kept_and_asked_again(store, paid):
    class Failing(Bulk):
        async def grade_many(self, asks, took):
            from dataclasses import replace  # noqa: PLC0415

            async def spoilt(answered):
                await took(
                    [
                        (n, [replace(h, error=GradeError.MISSING) for h in hits])
                        for n, hits in answered
                    ]
                )

            await super().grade_many(asks, spoilt)

    failed = run(BulkCachedJudge(Failing(paid()), store))
    assert not any(hit.graded for hits in failed for hit in hits)
    inner = Bulk(paid())
    assert all(hit.graded for hits in run(BulkCachedJudge(inner, store)) for hit in hits)
    assert sum(len(each.candidates) for each in inner.asked) == 72


def test_what_another_process_pays_for_is_waited_for(store, paid):
    held = BulkCachedJudge(Bulk(paid()), store)
    key = held._key("q0", "text 3")  # noqa: SLF001
    assert store.claim_many([key], owner="another", seconds=0.5) == {key}
    inner = Bulk(paid(batch_size=50))
    answers = run(BulkCachedJudge(inner, store), ASKS[:1])
    assert [len(each.candidates) for each in inner.asked] == [8, 1]
    assert all(hit.graded for hit in answers[0])
