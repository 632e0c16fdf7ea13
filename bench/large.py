"""Size L (50,000 queries x 100 documents): each way of scoring in a process of its own.

CPU seconds and MB above the start, medians of interleaved rounds. duckdb is left out when it is
not installed (the extra `bench`): nothing of relgate needs it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from told import apart, peak_mb, tell

from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.score import score_runs
from relgate.eval.runs.read import read_run

ROUNDS = 3
QUERIES, DEPTH, JUDGED = 50_000, 100, 35
MEASURES = {"ndcg_cut_10", "recip_rank", "P_10", "recall_100"}
_SQL = """
with j as (from '{folder}/list.parquet'),
r as (
  select query_id, doc_id, row_number() over (partition by query_id order by score desc) rank
  from '{folder}/run.parquet'),
x as (select r.query_id, rank, grade from r left join j using (query_id, doc_id)),
a as (
  select query_id,
    sum(case when rank <= 10 and grade > 0 then grade / log2(rank + 1) else 0 end) dcg,
    min(case when grade >= 1 then rank end) first,
    count(*) filter (where grade >= 1 and rank <= 10) p,
    count(*) filter (where grade >= 1) hits
  from x group by query_id),
i as (
  select query_id, grade, row_number() over (partition by query_id order by grade desc) rank
  from j),
b as (
  select query_id, sum(case when rank <= 10 then grade / log2(rank + 1) else 0 end) ideal,
    count(*) filter (where grade >= 1) relevant
  from i group by query_id)
select avg(coalesce(dcg / nullif(ideal, 0), 0)), avg(coalesce(1.0 / first, 0)), avg(p / 10.0),
  avg(coalesce(hits / nullif(relevant, 0), 0))
from b left join a using (query_id)
"""


def write_inputs(folder: Path) -> None:
    """The same judgments and run as TREC files and as Parquet."""
    rng = np.random.default_rng(5)
    start, step = rng.integers(0, 10**6, QUERIES), rng.integers(1, 15_000, QUERIES) * 10 + 3

    def columns(places: np.ndarray, n: int) -> tuple[pa.Array, pa.Array]:
        query = np.repeat(np.arange(QUERIES), n)
        doc = (start[query] + places * step[query]) % 10**6  # an odd stride: no document twice
        return names.take(pa.array(query)), docs.take(pa.array(doc))

    names = pa.array([f"q{i:07d}" for i in range(QUERIES)])
    docs = pa.array([f"B0{i:08d}" for i in range(10**6)])
    query, doc = columns(np.tile(np.arange(JUDGED), QUERIES), JUDGED)
    grade = pa.array(rng.choice(4, QUERIES * JUDGED, p=[0.35, 0.2, 0.25, 0.2]))
    _write(folder / "list", {"query_id": query, "i": None, "doc_id": doc, "grade": grade})
    mixed = np.argsort(rng.random((QUERIES, DEPTH)), axis=1).ravel()  # half of them are judged
    places = np.where(mixed < JUDGED, mixed, mixed + JUDGED)
    query, doc = columns(places, DEPTH)
    rank = np.tile(np.arange(1, DEPTH + 1), QUERIES)
    score = (1_000 - rank - rng.random(len(rank))).round(4)
    run = {"query_id": query, "i": None, "doc_id": doc, "rank": pa.array(rank)}
    _write(folder / "run", {**run, "score": pa.array(score), "tag": None})


def _write(path: Path, columns: dict[str, pa.Array | None]) -> None:
    held = {name: c for name, c in columns.items() if c is not None and name != "rank"}
    parquet.write_table(pa.table(held), path.with_suffix(".parquet"))
    n = len(columns["query_id"] or ())
    word = pa.array(["0"] * n)
    table = pa.table({name: word if c is None else c for name, c in columns.items()})
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    csv.write_csv(table, path.with_suffix(".trec"), options)


def _ours(folder: Path, suffix: str) -> object:
    judgments = read_list(folder / f"list.{suffix}", scale=SCALES["0-3"]).judgments
    run = read_run(folder / f"run.{suffix}", name="run")
    return score_runs(judgments, [run], align(judgments, [run]), Conventions.trec_eval(100))


def _peer_trec(folder: Path) -> object:
    import pytrec_eval  # noqa: PLC0415 - not in our own process

    with (folder / "list.trec").open() as a, (folder / "run.trec").open() as b:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(a), MEASURES)
        return evaluator.evaluate(pytrec_eval.parse_run(b))


def _peer_parquet(folder: Path) -> object:
    import pytrec_eval  # noqa: PLC0415

    def dicts(name: str, value: str) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        table = parquet.ParquetFile(folder / name).read(columns=["query_id", "doc_id", value])
        columns = (table[column].to_pylist() for column in ("query_id", "doc_id", value))
        for query, doc, number in zip(*columns, strict=True):
            found.setdefault(query, {})[doc] = number
        return found

    evaluator = pytrec_eval.RelevanceEvaluator(dicts("list.parquet", "grade"), MEASURES)
    return evaluator.evaluate(dicts("run.parquet", "score"))


def _duckdb(folder: Path) -> object:
    import duckdb  # type: ignore[import-not-found] # noqa: PLC0415 - may not be installed

    return duckdb.sql(_SQL.format(folder=folder)).fetchall()


WAYS: dict[str, Callable[[Path], object]] = {
    "relgate, TREC": lambda folder: _ours(folder, "trec"),
    "pytrec_eval, TREC": _peer_trec,
    "relgate, Parquet": lambda folder: _ours(folder, "parquet"),
    "pytrec_eval, Parquet": _peer_parquet,
    "duckdb, Parquet": _duckdb,
}


def one(name: str, folder: str) -> None:
    """Scores once, in this process of its own."""
    for module in ("pytrec_eval", "duckdb"):
        if module in name:
            __import__(module)  # loading is measured elsewhere
    before, begin = peak_mb(), time.process_time()
    WAYS[name](Path(folder))
    print(time.process_time() - begin, peak_mb() - before)


def large() -> None:
    """Prints goals G2 and G3 at size L."""
    names = [n for n in WAYS if not n.startswith("duckdb") or find_spec("duckdb") is not None]
    middle = apart(__file__, names, write_inputs, rounds=ROUNDS)
    (trec, trec_mb), (peer, peer_mb) = middle["relgate, TREC"], middle["pytrec_eval, TREC"]
    tell("G2 TREC files to scores, L (50,000 x 100)", trec, peer, "pytrec_eval", 4)
    share = trec_mb / peer_mb
    print(
        f"G2 its peak memory: {trec_mb:.0f} MB, pytrec_eval {peer_mb:.0f} MB, {share:.2f}x  "
        f"goal 0.45x: {'reached' if share <= 0.45 else 'NOT reached'}"  # noqa: PLR2004
    )
    table = middle["relgate, Parquet"][0]
    tell("G3 Parquet to scores, L", table, middle["pytrec_eval, Parquet"][0], "pytrec_eval", 2.5)
    if "duckdb, Parquet" in middle:
        tell("G3 Parquet to scores, L", table, middle["duckdb, Parquet"][0], "duckdb", 1.4)
    else:
        print("duckdb is not installed: goal G3 is not measured against it here")


if __name__ == "__main__":
    if len(sys.argv) == 3:  # noqa: PLR2004 - a way and a folder
        one(*sys.argv[1:])
    else:
        large()
