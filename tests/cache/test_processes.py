"""Real processes: killed in the middle, and at work on one cache together."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relgate.cache import cache_stats, grade_key, open_store

WORKER = Path(__file__).with_name("worker.py")
PAIRS, BATCHES, AT_ONCE = 20, 2, 8
IN_FLIGHT = AT_ONCE * BATCHES


class Runs:
    """Starts workers over one cache and counts what they asked the server for."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "cache"
        self.log = tmp_path / "requests"

    def start(self, first: int, last: int) -> subprocess.Popen[str]:
        command = [sys.executable, WORKER, self.folder, self.log, str(first), str(last)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter, texts of ours

    def whole(self, first: int, last: int) -> None:
        process = self.start(first, last)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")

    def killed(self, first: int, last: int, *, after: int) -> list[int]:
        """Kill -9 a run once it has acknowledged `after` queries; which it acknowledged."""
        process = self.start(first, last)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        lines = [process.stdout.readline() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        rest, err = process.communicate(timeout=60)
        assert err == ""
        return [int(line) for line in [*lines, *rest.splitlines()] if line.strip()]

    def keys(self, query: int) -> list[str]:
        """The keys of the worker's pairs for one query."""
        return [
            grade_key(
                version="esci-v1@00000000",
                fingerprint="f0",
                query=f"query {query}",
                text=f"text {'x' * n} for {query}",
            )
            for n in range(PAIRS)
        ]

    @property
    def requests(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_runs_killed_at_random_lose_nothing_acknowledged_and_repeat_only_what_was_in_flight(runs):
    """C13."""
    draw = random.Random(13)  # noqa: S311 - no secret
    queries, kills = 120, 5
    for _ in range(kills):
        acknowledged = runs.killed(0, queries, after=draw.randrange(1, 12))
        keys = [key for query in acknowledged for key in runs.keys(query)]
        store = open_store(runs.folder)
        assert len(store.get_many(keys)) == len(keys) == PAIRS * len(acknowledged)
        store.close()
    runs.whole(0, queries)
    needed = queries * BATCHES
    assert needed <= runs.requests <= needed + kills * IN_FLIGHT
    before = runs.requests
    runs.whole(0, queries)
    assert runs.requests == before
    stats = cache_stats(runs.folder)
    assert (stats.rows, stats.invalid, stats.set_aside) == (queries * PAIRS, 0, 0)


def test_a_run_killed_right_after_its_start_shadows_no_earlier_grade(runs):
    """C14: 900 of 1,000 done, killed at the start, then only the rest is paid."""
    runs.whole(0, 45)
    runs.killed(0, 0, after=0)
    before = runs.requests
    runs.whole(0, 50)
    assert runs.requests - before == 5 * BATCHES
    assert cache_stats(runs.folder).rows == 1_000


def test_processes_that_start_and_write_at_once_lose_nothing(runs):
    together = [runs.start(first, first + 30) for first in (0, 20, 40)]
    for process in together:
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    before = runs.requests
    runs.whole(0, 70)
    assert runs.requests == before
    stats = cache_stats(runs.folder)
    assert (stats.rows, stats.invalid, stats.set_aside) == (70 * PAIRS, 0, 0)
