from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

from relgate.cache import CachedJudge, JudgeModel, cache_stats, open_store
from relgate.judge.types import Candidate


def test_a_missing_cache_holds_nothing_and_is_not_made(folder):
    stats = cache_stats(folder)
    assert (stats.rows, stats.invalid, stats.bytes, stats.oldest) == (0, 0, 0, None)
    assert not folder.exists()


def test_rows_are_counted_by_version_and_model(folder, paid, candidates):
    store = open_store(folder)
    CachedJudge(paid(version="b@1"), store).grade_sync("q", candidates)
    other = paid(version="a@1")
    other.model = None
    CachedJudge(other, store).grade_sync("q", candidates[:5])
    store.close()
    stats = cache_stats(folder)
    assert [(judge, held.grades) for judge, held in stats.by_judge.items()] == [
        (JudgeModel("a@1", ""), 5),
        (JudgeModel("b@1", "paid-1"), 12),
    ]
    assert (stats.rows, stats.invalid) == (17, 0)
    assert stats.bytes == (folder / "cache.db").stat().st_size


def test_oldest_and_newest_are_instants_whatever_the_offset(folder, paid):
    store = open_store(folder)
    plus_two = timezone(timedelta(hours=2))
    times = [
        datetime(2026, 1, 1, 12, tzinfo=UTC),
        datetime(2026, 1, 1, 13, tzinfo=plus_two),  # an hour before
        datetime(2026, 1, 1, 12, 30, tzinfo=UTC),
    ]
    for n, time in enumerate(times):
        judge = CachedJudge(paid(), store, clock=lambda time=time: time)
        judge.grade_sync("q", [Candidate("a", f"text {n}")])
    store.close()
    stats = cache_stats(folder)
    assert stats.oldest == "2026-01-01T13:00:00+02:00"
    assert stats.newest == "2026-01-01T12:30:00+00:00"


def test_looking_changes_no_byte_and_makes_no_file_once_the_cache_is_closed(filled):
    before = {p.name: p.read_bytes() for p in filled.iterdir()}
    cache_stats(filled)
    after = {p.name: p.read_bytes() for p in filled.iterdir()}
    assert before == after


def test_rows_still_in_the_log_of_a_killed_run_are_counted(folder):
    code = (
        "import os, signal, sys\n"
        "from relgate.cache import CachedJudge, open_store\n"
        "from relgate.judge.types import Candidate, JudgedHit\n"
        "class J:\n"
        "    version = 'v@1'; fingerprint = 'f'; model = family = None; batch_size = 5\n"
        "    async def grade(self, query, candidates):\n"
        "        return [JudgedHit(c.id, 1, 'C', 'r') for c in candidates]\n"
        "j = CachedJudge(J(), open_store(sys.argv[1]))\n"
        "j.grade_sync('q', [Candidate(str(n), str(n)) for n in range(7)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], check=False)  # noqa: S603 - this interpreter, texts of ours
    assert done.returncode == -signal.SIGKILL
    assert (folder / "cache.db-wal").stat().st_size > 0
    assert cache_stats(folder).rows == 7
