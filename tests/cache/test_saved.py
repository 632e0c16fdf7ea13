"""What look-ups saved: tokens in rows, a record a run, money by the price table."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest

from relgate.cache import CachedJudge, MemoryStore, cache_stats, open_store
from relgate.cache.contents import valid_rows
from relgate.cache.saved import Tokens, decode_item, encode_saved, new_saved_key, tokens_of
from relgate.cache.transfer import export_rows, import_rows
from relgate.cache.upkeep import verify_cache
from relgate.judge.fake import FakeGenerate
from relgate.judge.llm import make_llm_judge
from relgate.judge.prices import Price
from relgate.judge.types import Candidate, GenerateReply, Usage

CANDIDATES = [Candidate(str(n), f"text {n}") for n in range(4)]
USAGE = Usage(400, 80)


def judge(usage: Usage = USAGE):
    rows = [{"id": str(n), "esci": "E", "reason": "r"} for n in range(1, 5)]
    answer = GenerateReply(text=json.dumps({"grades": rows}), usage=usage)
    return make_llm_judge(FakeGenerate(lambda _: answer), model="m")


def run(place, usage: Usage = USAGE) -> CachedJudge:
    store = open_store(place)
    cached = CachedJudge(judge(usage), store)
    cached.grade_sync("q", CANDIDATES)
    cached.record_saved()
    store.close()
    return cached


def saved(place) -> Tokens:
    return sum(cache_stats(place).saved.values(), start=Tokens())


def test_who_pays_saves_nothing_and_who_is_served_saves_what_was_paid(place):
    assert run(place).saved == Tokens()
    assert saved(place) == Tokens()
    for runs in (1, 2):
        assert run(place).saved == Tokens(4, 0, 400, 80)
        assert saved(place) == Tokens(4 * runs, 0, 400 * runs, 80 * runs)
    (held,) = cache_stats(place).by_judge.values()
    assert held == Tokens(4, 0, 400, 80)


def test_a_served_grade_says_what_it_had_cost(folder):
    run(folder)
    store = open_store(folder)
    hits = CachedJudge(judge(), store).grade_sync("q", CANDIDATES)
    store.close()
    assert {hit.usage for hit in hits} == {Usage(100, 20)}


def test_grades_without_a_count_are_said_to_be_so_and_not_guessed(folder):
    run(folder, Usage())
    assert run(folder).saved == Tokens(4, 4, 0, 0)
    assert saved(folder) == Tokens(4, 4, 0, 0)
    assert saved(folder).usd(Price(1.0, 1.0)) is None


def test_a_record_is_written_once_however_often_it_is_asked_for(folder):
    run(folder)
    store = open_store(folder)
    cached = CachedJudge(judge(), store)
    cached.grade_sync("q", CANDIDATES)
    cached.record_saved()
    cached.record_saved()
    cached.grade_sync("q", CANDIDATES[:1])
    cached.record_saved()
    store.close()
    assert saved(folder) == Tokens(5, 0, 500, 100)


def test_a_record_is_no_grade_in_no_count_and_in_no_export(folder, tmp_path):
    run(folder)
    run(folder)
    stats, found = cache_stats(folder), verify_cache(folder)
    assert (stats.rows, stats.invalid) == (4, 0)
    assert (found.sound, found.damaged, found.foreign) == (4, 0, 0)
    with valid_rows(folder) as rows, (tmp_path / "out").open("wb") as file:
        assert export_rows(rows, file) == 4


def test_tokens_survive_export_and_import(folder, tmp_path):
    run(folder)
    with valid_rows(folder) as rows, (tmp_path / "out").open("wb") as file:
        export_rows(rows, file)
    other = open_store(tmp_path / "other")
    import_rows(tmp_path / "out", other)
    other.close()
    assert run(tmp_path / "other").saved == Tokens(4, 0, 400, 80)


def test_a_damaged_record_is_found_and_counts_nothing(folder, plant):
    run(folder)
    run(folder)
    plant(folder, "UPDATE Cache SET value = replace(value, '400', '900') WHERE key LIKE 'saved %'")
    assert saved(folder) == Tokens()
    assert cache_stats(folder).invalid == 1
    assert verify_cache(folder).damaged == 1


@pytest.mark.parametrize("usages", [[], [USAGE], [USAGE, Usage(1, None), Usage(None, 1)]])
def test_only_whole_counts_are_summed(usages):
    whole = usages.count(USAGE)
    uncounted = len(usages) - whole
    assert tokens_of(usages) == Tokens(len(usages), uncounted, 400 * whole, 80 * whole)


def test_money_is_tokens_by_price_a_million():
    tokens = Tokens(5, 1, 2_000_000, 500_000)
    assert tokens.usd(Price(input=0.40, output=1.60)) == pytest.approx(0.8 + 0.8)
    assert tokens.usd(None) is None


def test_a_record_moved_or_altered_is_none():
    key = new_saved_key()
    text = encode_saved(
        Tokens(1, 0, 2, 3), version="v@1", model=None, at=datetime(2026, 1, 1, tzinfo=UTC), key=key
    )
    assert decode_item(key, text).tokens == Tokens(1, 0, 2, 3)
    assert decode_item(new_saved_key(), text) is None
    assert decode_item(key, text.replace('"prompt_tokens":2', '"prompt_tokens":9')) is None


def test_where_nothing_can_be_stored_the_count_is_left():
    class Full(MemoryStore):
        def put_many(self, items, *, owner=None):
            from relgate.rubrics.errors import CacheUnavailableError  # noqa: PLC0415

            if owner is None:
                raise CacheUnavailableError("the disk is full")
            return super().put_many(items, owner=owner)

    cached = CachedJudge(judge(), Full())
    for _ in range(2):
        cached.grade_sync("q", CANDIDATES)
    cached.record_saved()
    assert cached.saved == Tokens(4, 0, 400, 80)


def test_grades_from_before_a_time_are_asked_again_and_replaced(folder):
    store = open_store(folder)
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    CachedJudge(judge(), store, clock=lambda: long_ago).grade_sync("q", CANDIDATES)
    cached = CachedJudge(judge(), store, since=long_ago + timedelta(seconds=1))
    assert sum(map(len, cached.missing("q", CANDIDATES))) == 4
    hits = cached.grade_sync("q", CANDIDATES)
    assert (cached.hits, cached.misses, cached.invalid, cached.saved) == (0, 4, 0, Tokens())
    assert all(datetime.fromisoformat(hit.judged_at) > long_ago for hit in hits)
    cached.grade_sync("q", CANDIDATES)
    assert (cached.hits, cached.misses) == (4, 4)
    exact = CachedJudge(judge(), store, since=long_ago)
    exact.grade_sync("q", CANDIDATES)
    assert exact.misses == 0
    store.close()


def test_grades_paid_in_a_batch_count_at_half_the_price_held_and_saved(place):
    run(place, Usage(400, 80, batch=True))
    assert run(place, Usage(400, 80, batch=True)).saved.batch_prompt == 400
    price = Price(10.0, 100.0)
    [held] = cache_stats(place).by_judge.values()
    assert held.usd(price) == saved(place).usd(price) == (400 * 10 + 80 * 100) / 1e6 / 2
    assert (Tokens(2, 0, 800, 160, 400, 80) - held).usd(price) == (400 * 10 + 80 * 100) / 1e6


def test_a_record_from_before_batches_is_read():
    old = '{"format":1,"version":"v@1","model":"m","at":"2026-01-02T03:04:05+00:00","grades":2,'
    old += '"uncounted":0,"prompt_tokens":9,"completion_tokens":4'
    key = new_saved_key()
    checksum = hashlib.sha256(f"{key}\n{old}".encode()).hexdigest()[:32]
    record = decode_item(key, f'{old},"checksum":"{checksum}"}}')
    assert record is not None
    assert record.tokens == Tokens(2, 0, 9, 4)
