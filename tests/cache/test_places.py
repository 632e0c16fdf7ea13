"""Places where nothing can be written: a read-only mount and a full disk, both real.

The mounts live in a namespace of their own (`unshare -rm`) and are gone with the process.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import json, logging, os, signal, sys
from relgate.cache import CachedJudge, cache_stats, open_store
from relgate.judge.types import Candidate, JudgedHit
from relgate.rubrics.errors import CacheUnavailableError
class Judge:
    version = 'v@1'; fingerprint = 'f'; model = family = None; batch_size = 10; calls = 0
    async def grade(self, query, candidates):
        self.calls += 1
        return [JudgedHit(c.id, 1, 'C', c.text) for c in candidates]
said = []
class Keep(logging.Handler):
    def emit(self, record): said.append(record.getMessage())
logging.getLogger('relgate').addHandler(Keep())
def pairs(n): return [Candidate(str(i), f'text {i}') for i in range(n)]
def tell(**figures): print(json.dumps({**figures, 'said': said}))
folder = sys.argv[1]
"""

FILL = """
store = open_store(folder)
CachedJudge(Judge(), store).grade_sync('q', pairs(30))
"""

READ = """
judge = Judge()
store = open_store(folder)
cached = CachedJudge(judge, store)
for _ in range(2):
    hits = cached.grade_sync('q', pairs(40))
try:
    open_store(folder, required=True)
    required = None
except CacheUnavailableError as error:
    required = str(error)
rows = cache_stats(folder).rows
tell(hits=len(hits), cached=cached.hits, calls=judge.calls, stored=cached.stored, rows=rows,
     unsaved=cached.unsaved, required=required, files=sorted(os.listdir(folder)))
"""

FULL = """
store = open_store(folder, required='required' in sys.argv)
judge = Judge()
cached = CachedJudge(judge, store)
total = 0
error = None
try:
    for q in range(150):
        total += len(cached.grade_sync(f'q {q}', pairs(20)))
except CacheUnavailableError as caught:
    error = str(caught)
store.close()
kept = cache_stats(folder).rows
tell(total=total, stored=cached.stored, unsaved=cached.unsaved, kept=kept, error=error)
"""

AGAIN = """
judge = Judge()
store = open_store(folder)
cached = CachedJudge(judge, store)
for q in range(150):
    cached.grade_sync(f'q {q}', pairs(20))
store.close()
tell(hits=cached.hits, misses=cached.misses, rows=cache_stats(folder).rows)
"""


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory):
    """Run shell lines as root of a mount namespace, with `$1` a folder; its JSON lines."""
    if shutil.which("unshare") is None:
        pytest.skip("no `unshare`: read-only and full mounts cannot be made")
    probe = tmp_path_factory.mktemp("probe")
    mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", str(probe)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:  # noqa: S603 - this interpreter, texts of ours
        pytest.skip("`unshare -rm mount` is not permitted here")

    def run(folder: Path, *lines: str) -> list[dict[str, object]]:
        script = "set -e\n" + "\n".join(lines)
        done = subprocess.run(  # noqa: S603 - this interpreter, texts of ours
            ["unshare", "-rm", "sh", "-c", script, "sh", str(folder)],  # noqa: S607 - wherever the system has it
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def python(tmp_path: Path, name: str, code: str) -> str:
    path = tmp_path / f"{name}.py"
    path.write_text(HEAD + code)
    return f'"{sys.executable}" "{path}"'


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("closed", "store.close()"),
        ("killed", "os.kill(os.getpid(), signal.SIGKILL)"),
        ("killed, half its log lost", "os.kill(os.getpid(), signal.SIGKILL)"),
    ],
)
def test_from_a_read_only_mount_grades_are_read_and_none_is_written(
    namespace, tmp_path, ending, code
):
    fill = python(tmp_path, "fill", FILL + code)
    read = python(tmp_path, "read", READ)
    lose = 'rm "$1/c/cache.db-shm"' if "lost" in ending else ":"
    (seen,) = namespace(
        tmp_path,
        'mkdir "$1/m" && mount -t tmpfs -o size=4m none "$1/m"',
        f'set -- "$1/m" && mkdir "$1/c" && {{ {fill} "$1/c"; }} 2>/dev/null || true',
        lose,
        'mount -o remount,ro "$1"',
        f'{read} "$1/c"',
    )
    assert seen["hits"] == 40
    assert seen["stored"] == 0
    assert "not writable" in str(seen["required"])
    said = seen["said"]
    assert isinstance(said, list)
    assert "it is read, but new grades are not kept" in said[0]
    if "lost" in ending:
        # an unreadable log is said, and its rows are paid for again
        assert "of its log cannot be read here" in said[1]
        assert (seen["cached"], seen["calls"], seen["unsaved"]) == (40, 4, 40)
    else:
        assert len(said) == 1
        assert (seen["cached"], seen["calls"], seen["unsaved"], seen["rows"]) == (70, 1, 10, 30)


def test_where_nothing_can_be_made_grades_live_in_memory_for_the_run(namespace, tmp_path):
    read = python(tmp_path, "read", READ.replace("sorted(os.listdir(folder))", "[]"))
    (seen,) = namespace(
        tmp_path,
        'mkdir "$1/m" && mount -t tmpfs -o size=4m,ro none "$1/m"',
        f'{read} "$1/m/deep/cache"',
    )
    assert (seen["cached"], seen["calls"], seen["unsaved"]) == (40, 4, 40)
    assert "Read-only file system" in str(seen["required"])
    assert seen["said"] == [
        f"cache {tmp_path}/m/deep/cache: Read-only file system: grades are not kept for later runs"
    ]


@pytest.mark.parametrize(
    ("size", "queries"), [("1m", 150), pytest.param("4m", 800, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("demand", ["", "required"])
def test_on_a_full_disk_what_was_acknowledged_is_there_and_a_later_run_goes_on(
    namespace, tmp_path, demand, size, queries
):
    full, again = (
        python(tmp_path, name, code.replace("range(150)", f"range({queries})"))
        for name, code in (("full", FULL), ("again", AGAIN))
    )
    pairs = 20 * queries
    seen, after = namespace(
        tmp_path,
        f'mkdir "$1/m" && mount -t tmpfs -o size={size} none "$1/m"',
        f'{full} "$1/m/c" {demand}',
        'mount -o remount,size=64m "$1/m"',
        f'{again} "$1/m/c"',
    )
    said, stored = seen["said"], seen["stored"]
    assert isinstance(said, list)
    assert isinstance(stored, int)
    assert 0 < stored < pairs
    assert seen["kept"] == stored
    message = str(seen["error"]) if demand else said[0]
    assert f"{tmp_path}/m/c/cache.db: the disk is full" in message
    assert "bytes free, about" in message
    if demand:
        assert said == []
    else:
        assert (seen["total"], seen["unsaved"]) == (pairs, pairs - stored)
    assert (after["hits"], after["misses"]) == (stored, pairs - stored)
    assert (after["rows"], after["said"]) == (pairs, [])


@pytest.mark.parametrize("size", ["8k", "16k", "64k", "256k"])
def test_a_disk_too_full_to_start_a_cache_is_named(namespace, tmp_path, size):
    code = """
try:
    open_store(folder)
except CacheUnavailableError as error:
    tell(error=str(error))
"""
    start = python(tmp_path, "start", code)
    (seen,) = namespace(
        tmp_path,
        f'mkdir "$1/m" && mount -t tmpfs -o size={size} none "$1/m"',
        f'{start} "$1/m/c"',
    )
    assert "/m/c/cache.db: the disk is full" in str(seen["error"])
