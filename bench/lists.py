"""Reading a judgment list of a million rows with all checks, each reader in a process of its own.

CPU seconds and MB above the start of reading, medians of three interleaved rounds. The peers check
what we check: grades on the scale, nothing empty, no pair twice. polars is left out when it is not
installed (the extra `bench`): nothing of relgate needs it.
"""

from __future__ import annotations

import csv
import gzip
import random
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from told import apart, peak_mb, tell

ROUNDS = 3
QUERIES, DEPTH = 20_000, 50


def write_inputs(folder: Path) -> None:
    rng = random.Random(1)
    rows = [
        (f"query number {q}", f"B{d:08d}", rng.randrange(4))
        for q in range(QUERIES)
        for d in rng.sample(range(10**7), DEPTH)
    ]
    text = "query,doc_id,grade\n" + "".join(f"{q},{d},{g}\n" for q, d, g in rows)
    (folder / "list.csv").write_text(text)
    qrels = "".join(f"{q.rsplit(' ', 1)[1]} 0 {d} {g}\n" for q, d, g in rows)
    (folder / "list.qrels").write_text(qrels)
    (folder / "list.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    names = ("query", "doc_id", "grade")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pa.table(columns), folder / "list.parquet")


def ours(path: str) -> None:
    from relgate.eval.lists.read import read_list  # noqa: PLC0415 - not in the peers' processes
    from relgate.eval.lists.types import SCALES  # noqa: PLC0415

    if len(read_list(path, scale=SCALES["0-3"]).judgments) != QUERIES * DEPTH:
        raise ValueError(path)


def csv_module(path: str) -> None:
    grades: dict[str, dict[str, int]] = {}
    with Path(path).open(newline="") as file:
        reader = csv.reader(file)
        next(reader)
        for query, doc_id, grade in reader:
            own = grades.setdefault(query, {})
            if not query or not doc_id or doc_id in own or not 0 <= int(grade) <= 3:  # noqa: PLR2004
                raise ValueError(path)
            own[doc_id] = int(grade)


def polars_checked(path: str) -> None:
    import polars as pl  # type: ignore[import-not-found] # noqa: PLC0415 - may not be installed

    frame = pl.read_csv(path, schema_overrides={"query": pl.String, "doc_id": pl.String})
    sound = (
        frame["grade"].is_between(0, 3).all(),
        not frame.select(pl.any_horizontal(pl.all().is_null())).to_series().any(),
        not frame.select("query", "doc_id").is_duplicated().any(),
    )
    if not all(sound):
        raise ValueError(path)


READERS: dict[str, tuple[Callable[[str], None], str]] = {
    "relgate, CSV": (ours, "list.csv"),
    "csv module, dict of dicts": (csv_module, "list.csv"),
    "polars": (polars_checked, "list.csv"),
    "relgate, CSV in gzip": (ours, "list.csv.gz"),
    "relgate, TREC": (ours, "list.qrels"),
    "relgate, Parquet": (ours, "list.parquet"),
}


def one(name: str, folder: str) -> None:
    """Reads once, in this process of its own."""
    read, file = READERS[name]
    path = str(Path(folder) / file)
    if name == "polars":
        __import__("polars")
    if read is ours:
        import relgate.eval.lists.read  # noqa: F401, PLC0415 - loading is measured elsewhere
    before = peak_mb()
    begin = time.process_time()
    read(path)
    print(time.process_time() - begin, peak_mb() - before)


def lists() -> None:
    names = [n for n in READERS if n != "polars" or find_spec("polars") is not None]
    middle = apart(__file__, names, write_inputs, rounds=ROUNDS)
    print("a judgment list of 1,000,000 rows, read with all checks:")
    for name, (seconds, mb) in middle.items():
        print(f"  {name:<28} {seconds:8.3f} s   {mb:7.0f} MB")
    ours_s, ours_mb = middle["relgate, CSV"]
    csv_s, _ = middle["csv module, dict of dicts"]
    tell("G12 a judgment CSV of 1,000,000 rows", ours_s, csv_s, "csv module", 6)
    if "polars" not in names:
        print("polars is not installed: goal G12 is not measured against it here")
        return
    polars_s, polars_mb = middle["polars"]
    tell("G12 a judgment CSV of 1,000,000 rows", ours_s, polars_s, "polars", 2)
    share = ours_mb / polars_mb
    print(
        f"G12 its peak memory: {ours_mb:.0f} MB, polars {polars_mb:.0f} MB, {share:.2f}x  "
        f"goal 0.5x: {'reached' if share <= 0.5 else 'NOT reached'}"  # noqa: PLR2004
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:  # noqa: PLR2004 - a reader and a folder
        one(*sys.argv[1:])
    else:
        lists()
