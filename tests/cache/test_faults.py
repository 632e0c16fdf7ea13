"""Each step that changes a file of the cache fails in turn, or is the process's last."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from relgate.cache import cache_stats

SHIM = Path(__file__).with_name("faults.c")
PAIRS = 20

RUN = """
import json, sys
from relgate.cache import CachedJudge, open_store
from relgate.judge.types import Candidate, JudgedHit
from relgate.rubrics.errors import CacheUnavailableError
class Judge:
    version = 'v@1'; fingerprint = 'f'; model = family = None; batch_size = 5; calls = 0
    async def grade(self, query, candidates):
        self.calls += 1
        return [JudgedHit(c.id, 1, 'C', c.text) for c in candidates]
judge, stored, error = Judge(), 0, None
try:
    store = open_store(sys.argv[1])
    cached = CachedJudge(judge, store)
    for q in range(2):
        hits = cached.grade_sync(f'q {q}', [Candidate(str(i), f'text {i}') for i in range(10)])
        assert all(hit.graded for hit in hits)
        stored = cached.stored
        print(json.dumps({'stored': stored, 'hits': cached.hits}), flush=True)
    store.close()
except CacheUnavailableError as caught:
    print(json.dumps({'stored': stored, 'hits': 0, 'error': str(caught)}), flush=True)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: no step of the file system can be made to fail")
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)  # noqa: S603 - our own source
    return library


class Faults:
    def __init__(self, shim: Path, top: Path) -> None:
        self.shim, self.top = shim, top

    def run(self, folder: Path, *, at: int = 0, kind: str = "") -> tuple[list[dict], int]:
        """Lines that the run printed, and how many steps it made; killed runs make -1."""
        count = self.top / "count"
        count.unlink(missing_ok=True)
        env = os.environ | {
            "LD_PRELOAD": str(self.shim), "FAULT_DIR": str(folder), "FAULT_AT": str(at),
            "FAULT_KIND": kind, "FAULT_COUNT": str(count),
        }  # fmt: skip
        done = subprocess.run(  # noqa: S603 - this interpreter, texts of ours
            [sys.executable, "-c", RUN, folder],
            env=env, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, (at, kind, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return lines, int(count.read_text()) if count.exists() else -1


@pytest.fixture
def faults(shim, tmp_path):
    return Faults(shim, tmp_path)


def check(faults: Faults, folder: Path, lines: list[dict]) -> None:
    """What was acknowledged is there, the file is whole, and the next run ends equal."""
    acknowledged = lines[-1]["stored"] if lines else 0
    after, _ = faults.run(folder)
    assert after[-1]["hits"] >= acknowledged
    stats = cache_stats(folder)
    assert (stats.rows, stats.invalid) == (PAIRS, 0)
    with sqlite3.connect(folder / "cache.db") as con:
        assert con.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert con.execute("SELECT count(*) FROM Cache").fetchone() == (PAIRS,)  # no claim is left
    con.close()


def test_the_shim_counts_steps_and_fails_the_one_it_is_told(faults, tmp_path):
    _, steps = faults.run(tmp_path / "sound")
    assert steps > 20
    lines, _ = faults.run(tmp_path / "failed", at=1, kind="error")
    assert "error" in lines[-1]


@pytest.mark.parametrize("kind", ["error", "kill"])
def test_a_fault_at_some_steps_loses_nothing_acknowledged(faults, tmp_path, kind):
    _, steps = faults.run(tmp_path / "sound")
    for at in (steps // 2, steps - 3):
        folder = tmp_path / str(at)
        check(faults, folder, faults.run(folder, at=at, kind=kind)[0])


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["error", "full", "kill"])
def test_a_fault_at_each_step_in_turn_loses_nothing_acknowledged(faults, tmp_path, kind):
    _, steps = faults.run(tmp_path / "sound")
    print(f"{steps} steps")  # noqa: T201 - a figure
    for at in range(1, steps + 1):
        folder = tmp_path / str(at)
        check(faults, folder, faults.run(folder, at=at, kind=kind)[0])
        shutil.rmtree(folder)
