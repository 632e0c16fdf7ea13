"""The disk engine keeps to its memory, and says when there is no room to sort in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from relgate.eval.large.parts import Wanted, parts
from relgate.rubrics.errors import PlatformError

QUERIES, JUDGED, DEPTH = 60_000, 50, 10
START_MB = 260  # an interpreter with numpy, pyarrow and DuckDB, and a margin


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3 million judgments and a run of 600,000 rows, every tenth document of it judged."""
    made = tmp_path_factory.mktemp("large")
    for name, n, step, value in (("list", JUDGED, 1, "grade"), ("run", DEPTH, 10, "rank")):
        query = np.repeat(np.arange(QUERIES), n)
        place = np.tile(np.arange(n), QUERIES)
        table = {
            "query_id": pa.array(query).cast(pa.string()),
            "doc_id": pa.array(query * 1_000 + place * step).cast(pa.string()),
            value: pa.array(place % 4 if value == "grade" else place),
        }
        parquet.write_table(pa.table(table), made / f"{name}.parquet")
    return made


# `ru_maxrss` of a child tells of the parent too, which here has run thousands of tests.
_MAIN = """
import atexit
from pathlib import Path

atexit.register(lambda: print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]))
from relgate.eval.cli.app import run

run()
"""


def score(folder: Path, *words: str) -> float:
    """Peak resident MB of a whole `relgate score`."""
    files = ["--judgments", folder / "list.parquet", "--run", folder / "run.parquet"]
    return peak_mb("score", *words, *files)


def peak_mb(*words: str | Path) -> float:
    """Peak resident MB of a whole command."""
    command = [sys.executable, "-c", _MAIN, *words, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout.splitlines()[-1]) / 1024


def test_the_memory_that_is_named_is_kept(folder: Path) -> None:
    assert score(folder, "--engine", "disk", "--memory", "200MB") < START_MB + 200
    assert score(folder, "--engine", "memory") > START_MB + 200  # so the limit binds


def test_a_list_is_converted_in_the_memory_that_is_named(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    words = ["convert", folder / "list.parquet", "--scale", "0-3", "--to", "parquet", "--out", out]
    assert peak_mb(*words, "--engine", "disk", "--memory", "200MB") < START_MB + 200
    assert parquet.read_metadata(out).num_rows == QUERIES * JUDGED


def test_no_room_to_sort_in_is_an_error_of_the_machine(folder: Path) -> None:
    """48 MB are too little for DuckDB; the command line starts at 200 MB."""
    file = Wanted(
        str(folder / "list.parquet"), ("query_id", "doc_id", "grade"), 3_000_000,
        ("query_id", "doc_id", "grade"), "query_id", None,
    )  # fmt: skip
    told = pytest.raises(PlatformError, match=r"no room to sort in .*--memory.*TMPDIR")
    with told, parts([file, file], texts={}, memory=20_000_000) as cut:
        list(cut.tables)
