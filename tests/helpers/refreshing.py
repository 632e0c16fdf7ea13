"""A list in the shop of tests/cli that is refreshed, and what happens to it meanwhile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES

__all__ = ["N", "drop", "now", "read", "renew", "rows_of", "words", "write"]

N = 6  # queries: ten documents each that people graded, six that a judge did


def read(path, source=None):
    return read_list(path, scale=SCALES["0-3"], source=source).judgments


def rows_of(path):
    return list(read(path).rows())


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def now(*, days_ago=0.0):
    return (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="seconds")


def words(shop, *more, out="new.jsonl", judge="grade"):
    return [
        "refresh", "--judgments", "old.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(judge), "--out", out, *more,
    ]  # fmt: skip


def renew(shop, docs, letter="I"):
    """Another text in the catalogue, worth another grade."""
    for doc in docs:
        shop.texts[doc] = f"item {doc} renewed class {letter}"
    shop.write()


def drop(shop, docs):
    for doc in docs:
        del shop.texts[doc]
    shop.write()
