"""Writes the bundled example as a team would hold it: files, nothing else. I/O.

The shop is searched twice by a real engine, without and with a synonym file. The judgment list is
what a team has after a while: the top of the old results was rated, a part of that is gone, and
nobody has seen what the change brings in. Verdict and figures follow from these files alone.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relgate.eval.demo.data_files import DATA, DemoQuery, read_products, read_queries
from relgate.eval.demo.draws import draw
from relgate.eval.demo.engine import Engine, Synonyms, parse_synonyms
from relgate.eval.demo.labels import grade
from relgate.eval.files import read_text, write_text_atomic

__all__ = ["Example", "write_example"]

_RUN_DEPTH = 20
_POOL_DEPTH = 15  # of the old results: what raters were shown
_KNOWN_GOOD = 4  # products that the team knew to be right, whatever the engine returned
_DISTRACTORS = 4  # products from anywhere, mixed in so that raters stay awake
_LOST_SHARE = 0.3  # of all that: never finished, or gone
_LEAST = 3  # labels that every query keeps
_RELEVANT = 2

_Product = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """Where the files of the example are.

    Attributes:
        catalogue: the products, JSONL.
        queries: `query_id,query,head,stratum,weight`.
        judgments: `query_id,query,doc_id,grade,source`; the source is always `rule`.
        before: run without the synonyms, JSONL of `query_id`, `query`, `docs`.
        after: run with them.
        change: the change description, TOML.
    """

    catalogue: Path
    queries: Path
    judgments: Path
    before: Path
    after: Path
    change: Path


def _known_good(query: DemoQuery, products: Mapping[str, _Product], seed: int) -> list[str]:
    good = [d for d, product in products.items() if grade(query.need, product) >= _RELEVANT]
    return sorted(good, key=lambda d: draw(seed, query.id, d, "known"))[:_KNOWN_GOOD]


def _labelled(
    query: DemoQuery, before: Sequence[str], products: Mapping[str, _Product], seed: int
) -> list[str]:
    """The ids that the stale list holds for one query, sorted.

    The pool is the old top, a few products known to be good and a few distractors; `_LOST_SHARE`
    of it is gone, but at least `_LEAST` are kept.
    """
    distractors = sorted(products, key=lambda d: draw(seed, query.id, d, "distractor"))
    pool = {*before[:_POOL_DEPTH], *_known_good(query, products, seed), *distractors[:_DISTRACTORS]}
    lot = {d: draw(seed, query.id, d, "lost") for d in pool}
    kept = sum(lot[d] >= _LOST_SHARE for d in pool)
    luckiest = sorted(pool, key=lambda d: (-lot[d], d))
    return sorted(luckiest[: max(kept, _LEAST)])


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return _write(path, text.getvalue())


def _write_run(path: Path, queries: Sequence[DemoQuery], docs: Sequence[Sequence[str]]) -> Path:
    lines = (
        json.dumps({"query_id": q.id, "query": q.text, "docs": list(found)}, ensure_ascii=False)
        for q, found in zip(queries, docs, strict=True)
    )
    return _write(path, "".join(f"{line}\n" for line in lines))


def _write(path: Path, text: str) -> Path:
    write_text_atomic(path, text)
    return path


def _change_text(synonyms: Path | None) -> str:
    """The change description; a file of the caller's own is named instead of described."""
    text = read_text(DATA / "change.toml")
    if synonyms is None:
        return text
    described = json.dumps(f"Synonym file {synonyms.name}", ensure_ascii=False)
    return re.sub(r"(?m)^description = .*$", lambda _: f"description = {described}", text)


def _read_synonyms(path: Path) -> Synonyms:
    if path.is_file() and not path.stat().st_size:
        return {}  # no synonyms is a change like any other; elsewhere an empty file is a fault
    return parse_synonyms(read_text(path), path=path)


def write_example(folder: Path, *, synonyms: Path | None = None, label_seed: int = 7) -> Example:
    """Searches the shop before and after the change, and writes all files of a review.

    Args:
        folder: where the files go; made if absent, files of these names are overwritten.
        synonyms: the synonym file that is the change; the bundled one by default.
        label_seed: which part of the labels the team still holds.

    Raises:
        InputError: the synonym file is absent, unreadable, or has an entry that is not one word.
        PlatformError: SQLite has no full-text index, or `folder` cannot be written.
    """
    words = _read_synonyms(synonyms or DATA / "synonyms.txt")
    queries, rows = read_queries(), read_products()
    products = {str(row["id"]): row for row in rows}
    with Engine(rows) as engine:
        before = [engine.search(q.text, _RUN_DEPTH) for q in queries]
        after = [engine.search(q.text, _RUN_DEPTH, synonyms=words) for q in queries]
    judgments = (
        (q.id, q.text, doc_id, grade(q.need, products[doc_id]), "rule")
        for q, found in zip(queries, before, strict=True)
        for doc_id in _labelled(q, found, products, label_seed)
    )
    return Example(
        catalogue=_write(folder / "catalogue.jsonl", read_text(DATA / "products.jsonl")),
        queries=_write_csv(
            folder / "queries.csv",
            ("query_id", "query", "head", "stratum", "weight"),
            ((q.id, q.text, str(q.head).lower(), q.stratum, q.weight) for q in queries),
        ),
        judgments=_write_csv(
            folder / "judgments.csv", ("query_id", "query", "doc_id", "grade", "source"), judgments
        ),
        before=_write_run(folder / "before.jsonl", queries, before),
        after=_write_run(folder / "after.jsonl", queries, after),
        change=_write(folder / "change.toml", _change_text(synonyms)),
    )
