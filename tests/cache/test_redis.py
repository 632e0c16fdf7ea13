"""A store on a real server: the same rows and rules as on disk, and what a server can get wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from relgate.cache import CachedJudge, cache_stats, open_store
from relgate.cache.redis_store import redis_url, shown_place
from relgate.rubrics.errors import CacheUnavailableError


@pytest.fixture
def store(place):
    opened = open_store(place)
    yield opened
    opened.close()


def test_what_is_put_is_got_by_another_store_later(store, place):
    assert store.put_many({"a": "1", "b": "2"}) == 2
    assert store.put_many({"a": "3"}) == 1
    assert store.put_many({}) == 0
    other = open_store(place)
    assert other.get_many(["b", "a", "c", "a"]) == {"a": "3", "b": "2"}
    assert other.get_many([]) == {}
    assert (other.stats().found, other.stats().written, other.stats().writable) == (2, 0, True)
    other.close()
    other.close()


def test_thousands_of_rows_are_found_scanned_and_deleted(store):
    rows = {f"{n:064x}": f"{n} é" for n in range(3_000)}
    store.put_many(rows)
    assert store.get_many(rows) == rows
    assert dict(item for item in store.scan() if item) == rows
    keys = sorted(rows)
    assert store.delete_many([*keys[:2_000], "no such"]) == 2_000
    assert store.get_many(rows) == {key: rows[key] for key in keys[2_000:]}
    assert store.delete_many([]) == 0


def test_a_second_run_makes_no_call_and_says_the_same(place, second_run, candidates, paid):
    store = open_store(place)
    CachedJudge(paid(), store).grade_sync("tv stand", candidates)
    store.close()
    inner, cached = second_run(place)
    assert inner.calls == []
    assert (cached.hits, cached.misses, cached.invalid) == (12, 0, 0)
    stats = cache_stats(place)
    assert (stats.rows, stats.invalid, stats.set_aside) == (12, 0, 0)
    assert stats.bytes > 0


@pytest.mark.parametrize("value", [b"\xff\x00", b"", b"{}", b'{"format":1}'])
def test_a_foreign_value_on_the_server_is_a_miss(redis_server, second_run, candidates, paid, value):
    redis_server.clear()
    store = open_store(redis_server.url)
    CachedJudge(paid(), store).grade_sync("tv stand", candidates)
    with redis.Redis.from_url(redis_server.url) as client:
        client.set(next(client.scan_iter("relgate:1:grade:*")), value)
        client.rpush("relgate:1:grade:list", "x")
    store.close()
    inner, cached = second_run(redis_server.url)
    assert len(inner.graded_texts) == 1
    assert (cached.hits, cached.invalid) == (11, 1)
    assert cache_stats(redis_server.url).invalid == 1  # the list


def test_a_server_that_forgets_is_said_to(start_redis, caplog):
    server = start_redis(
        "--appendonly", "no", "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"
    )
    open_store(server.url).close()
    off, drops = (record.getMessage() for record in caplog.records)
    assert "append-only file is off" in off
    assert "allkeys-lru" in drops


def test_a_server_that_keeps_everything_needs_no_word(redis_server, caplog):
    open_store(redis_server.url).close()
    assert caplog.records == []


def test_a_server_without_room_is_named_and_nothing_is_half_stored(start_redis, paid, candidates):
    server = start_redis("--appendonly", "yes", "--maxmemory", "1mb")
    store = open_store(server.url, required=True)
    with pytest.raises(CacheUnavailableError, match="maxmemory"):
        CachedJudge(paid(), store).grade_sync("q", candidates)
    assert list(store.scan()) == []
    store.close()


def test_no_server_is_an_error_and_a_password_is_in_no_message(tmp_path):
    for url in ("redis://user:hunter2@127.0.0.1:1/0", f"unix://me:hunter2@{tmp_path}/none.sock"):
        with pytest.raises(CacheUnavailableError) as caught:
            open_store(url)
        assert "hunter2" not in str(caught.value)
        assert "hunter2" not in shown_place(url)


@pytest.mark.parametrize(
    ("place", "url"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        (Path("redis://127.0.0.1:6379/0"), "redis://127.0.0.1:6379/0"),
        (Path("project") / "rediss://u:p@host/1", "rediss://u:p@host/1"),
        (Path("unix:///run/redis.sock"), "unix:///run/redis.sock"),
        (Path("unix://u:p@/run/redis.sock"), "unix://u:p@/run/redis.sock"),
        (Path(".relgate/cache"), None),
        ("redis", None),
    ],
)
def test_an_address_is_told_from_a_folder_also_after_it_was_a_path(place, url):
    assert redis_url(place) == url


def test_the_commands_work_on_a_server(redis_server, paid, candidates, tmp_path):
    redis_server.clear()
    store = open_store(redis_server.url)
    CachedJudge(paid(), store).grade_sync("q", candidates)
    store.close()

    def relgate(*words):
        done = subprocess.run(  # noqa: S603 - this interpreter, texts of ours
            [
                sys.executable, "-m", "relgate.eval", "cache", *words, "--json",
                "--cache", redis_server.url,
            ],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert relgate("stats")["rows"] == 12
    assert relgate("verify")["sound"] == 12
    assert relgate("export", "a.jsonl")["rows"] == 12
    assert relgate("prune", "--model", "paid-1", "--yes")["deleted"] == 12
    assert relgate("import", "a.jsonl") == {"stored": 12, "there": 0}
