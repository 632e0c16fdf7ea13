"""Lists larger than memory: 100 million judgments scored from disk, and the peak memory of that.

`python bench/huge.py [MILLIONS] [MEMORY]`: 100 and 2GB by default; not part of `make bench`. The
files are written as a stream, into a folder that is removed; TMPDIR chooses the disk. Every query's
judgments stand in two places of the list. Each size runs in a process of its own; the small one is
scored in memory too, and every figure must be the same but for the last bits of a sum.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

JUDGED, DEPTH = 50, 20  # a query
SMALL_QUERIES = 20_000
_AT_ONCE = 20_000  # queries


def _rows(queries: np.ndarray, places: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Ids of queries and of their documents, of which `places` are wanted; shape (nq, n)."""
    start, step = queries * 7_919 % 10**9, queries % 9_973 + 1
    docs = (start[:, None] + places * step[:, None]).ravel()
    repeated = pa.array(np.repeat(queries, places.shape[1]))
    return repeated.cast(pa.string()), pa.array(docs).cast(pa.string())


def _list(n_queries: int) -> Iterator[pa.Table]:
    rng = np.random.default_rng(1)
    for half in (0, 1):
        for at in range(0, n_queries, _AT_ONCE):
            queries = np.arange(at, min(at + _AT_ONCE, n_queries))
            places = np.arange(half, JUDGED, 2) + np.zeros((len(queries), 1), np.int64)
            query, doc = _rows(queries, places)
            grade = rng.choice(4, len(doc), p=[0.35, 0.2, 0.25, 0.2])
            yield pa.table({"query_id": query, "doc_id": doc, "grade": pa.array(grade, pa.int8())})


def _run(n_queries: int) -> Iterator[pa.Table]:
    rng = np.random.default_rng(2)
    for at in range(0, n_queries, _AT_ONCE):
        queries = np.arange(at, min(at + _AT_ONCE, n_queries))
        queries = queries[queries % 1_000 != 0]  # some are missing
        places = np.argsort(rng.random((len(queries), 2 * JUDGED)), axis=1)[:, :DEPTH]
        query, doc = _rows(queries, places)
        score = np.sort(rng.integers(0, 1_000, places.shape), axis=1)[:, ::-1].ravel() / 10  # ties
        yield pa.table({"query_id": query, "doc_id": doc, "score": pa.array(score)})


def _write(path: Path, tables: Iterator[pa.Table]) -> int:
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        rows = len(first)
        for table in tables:
            writer.write_table(table)
            rows += len(table)
    return rows


def _most_disk(folder: Path, stop: threading.Event, found: list[int]) -> None:
    while not stop.wait(1):
        sizes = [p.stat().st_size for p in folder.glob("relgate-*/**/*") if p.is_file()]
        found[0] = max(found[0], sum(sizes))


def _score(folder: Path, engine: str, memory: str | None) -> tuple[float, float, float, float]:
    """(CPU seconds, wall seconds, peak resident MB, GB of temporary files) of a whole process."""
    command = [sys.executable, "-m", "relgate.eval", "score", "--engine", engine, "--quiet"]
    command += ["--judgments", str(folder / "list.parquet"), "--run", str(folder / "run.parquet")]
    command += ["--out", str(folder / f"{engine}.parquet")]
    command += [] if memory is None else ["--memory", memory]
    stop, most = threading.Event(), [0]
    watch = threading.Thread(target=_most_disk, args=(folder, stop, most))
    watch.start()
    begin = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)})
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    stop.set()
    watch.join()
    if status:
        raise SystemExit(f"relgate score ended with {status}")
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, most[0] / 1e9


def _figures(path: Path) -> np.ndarray:
    table = parquet.read_table(path).sort_by("query_id").drop_columns(["run", "query"])
    columns = [table[name].cast(pa.float64()).to_numpy() for name in table.column_names]
    return np.column_stack(columns)  # the ids of the queries are numbers here


def _size(folder: Path, n_queries: int, engines: list[tuple[str, str | None]]) -> None:
    judgments = _write(folder / "list.parquet", _list(n_queries))
    hits = _write(folder / "run.parquet", _run(n_queries))
    held = sum((folder / f"{name}.parquet").stat().st_size for name in ("list", "run")) / 1e9
    print(f"{judgments:,} judgments, {hits:,} hits of {n_queries:,} queries, {held:.2f} GB")
    for engine, memory in engines:
        cpu, wall, mb, disk = _score(folder, engine, memory)
        rows = parquet.read_metadata(folder / f"{engine}.parquet").num_rows
        print(
            f"  {engine:<6} {'' if memory is None else '--memory ' + memory:<15} peak {mb:8,.0f} MB"
            f"   CPU {cpu:7.1f} s   wall {wall:7.1f} s   temporary {disk:5.2f} GB   "
            f"{rows:,} queries scored",
            flush=True,
        )


def huge(millions: float, memory: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _size(folder, SMALL_QUERIES, [("memory", None), ("disk", "200MB")])
        held, sorted_out = (_figures(folder / f"{name}.parquet") for name in ("memory", "disk"))
        np.testing.assert_allclose(sorted_out, held, rtol=1e-14, atol=0)
        print(f"  the {held.size:,} figures of the queries are the same in both engines")
        _size(folder, int(millions * 1e6 / JUDGED), [("disk", memory)])


if __name__ == "__main__":
    huge(float((sys.argv[1:] or ["100"])[0]), (sys.argv[2:] or ["2GB"])[0])
