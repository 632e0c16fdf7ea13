"""examples/ray_vllm with Ray of this machine, against a stand-in for vLLM's server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from cluster_fill import KEY
from counting_server import grade_of

from relgate.rubrics import load_rubric

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed: pip install 'relgate[ray]'"
)


@pytest.fixture
def ray_folder():
    """A short path: Ray puts sockets below it."""
    folder = Path(tempfile.mkdtemp(prefix="rg"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path) -> list[str]:
    """Command lines of processes that Ray started for a session below `folder`."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


def test_the_example_fills_and_leaves_neither_a_key_nor_a_process(
    root, tmp_path, server, ray_folder
):
    environ = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ENDPOINT": server.url,
        "OUT": str(tmp_path),
        "OPENAI_API_KEY": KEY,
        "RAY_TMPDIR": str(ray_folder),
    }
    environ.pop("RAY_ADDRESS", None)

    def fill() -> dict[str, object]:
        done = subprocess.run(  # noqa: S603 - our own example
            [str(root / "examples/ray_vllm/fill.sh"), "--json"],
            env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert all(line.startswith("relgate: ") for line in done.stderr.splitlines()), done.stderr
        assert KEY not in done.stdout + done.stderr
        return json.loads(done.stdout)

    first = fill()
    assert (first["asked"], first["graded"], first["errors"]) == (16, 16, {})
    assert server.calls == first["calls"] == 4
    assert server.keys == {f"Bearer {KEY}"}  # it reached the workers
    written = [path for path in ray_folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert written
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert processes_of(ray_folder) == []

    grades = {label.code: label.grade for label in load_rubric().labels}
    rows = [json.loads(line) for line in (tmp_path / "filled.jsonl").read_text().splitlines()]
    texts = {
        row["id"]: row["title"]
        for row in map(
            json.loads, (root / "examples/ray_vllm/products.jsonl").read_text().splitlines()
        )
    }
    judged = [row for row in rows if row["source"] == "judge"]
    assert len(judged) == 16
    for row in judged:
        shown = f"title: {texts[row['doc_id']]}"
        assert row["grade"] == grades[grade_of(row["query"], shown)]

    again = fill()
    assert (again["cached"], again["calls"], server.calls) == (16, 0, 4)
