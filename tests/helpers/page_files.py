"""Files that a page of the documentation speaks of, beside the bundled example. Example data."""

from __future__ import annotations

import csv
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from relgate.eval.inputs import align_inputs
from relgate.eval.project import Project
from relgate.eval.runs.read import read_run
from relgate.eval.sidebyside.match import left_of, match_runs
from relgate.eval.sidebyside.types import Preference, Vote
from relgate.eval.sidebyside.votes import VoteFile, head_of


def _rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "judgments.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow(header)
        writer.writerows(rows)


def _lines(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _near(rng: random.Random, grade: str) -> int:
    """A grade that mostly agrees."""
    return int(grade) if rng.random() < 0.8 else rng.randrange(4)


def _graded(folder: Path, path: Path, fingerprint: str) -> None:
    """What a judge gave, in a file of relgate's own."""
    rng = random.Random(fingerprint)  # noqa: S311 - example data
    _lines(
        path,
        (
            {
                "query_id": r["query_id"], "query": r["query"], "doc_id": r["doc_id"],
                "grade": _near(rng, r["grade"]), "source": "judge", "model": fingerprint,
                "judge_version": "esci-v1@7fc78491", "fingerprint": fingerprint * 8,
                "judged_at": "2026-11-01T00:00:00Z",
            }
            for r in _rows(folder)
        ),
    )  # fmt: skip


_FEW = 300  # rows: a calibration's time goes with them


def calibration(folder: Path) -> None:
    rows = _rows(folder)[:_FEW]
    rng = random.Random(7)  # noqa: S311 - example data
    shutil.copy(folder / "catalogue.jsonl", folder / "products.jsonl")
    for name in ("judgments", "labels"):
        _table(folder / f"{name}.csv", list(rows[0]), (list(r.values()) for r in rows))
    for name, fingerprint in (("grades", "deadbeef"), ("old", "feedface"), ("judge", "cafebabe")):
        _graded(folder, folder / f"{name}.jsonl", fingerprint)
    pairs = [(r["query"], r["doc_id"], r["grade"]) for r in rows]
    _table(
        folder / "judgments.csv",
        ("query", "doc_id", "grade", "rater", "source"),
        (
            (query, doc, _near(rng, grade), rater, "human")
            for query, doc, grade in pairs
            for rater in ("ann", "bob")
        ),
    )
    _table(
        folder / "labels.tsv",
        ("query", "doc_id", "human", "a", "b"),
        ((q, d, g, _near(rng, g), _near(rng, g)) for q, d, g in pairs),
    )
    _table(
        folder / "votes.tsv",
        ("query", "doc_id", "worker", "label"),
        ((q, d, w, round(rng.random(), 2)) for q, d, _ in pairs for w in ("w1", "w2", "w3")),
    )
    _table(
        folder / "study.tsv",
        ("query", "doc_id", "track", "human", "gpt-a", "gpt-b"),
        ((q, d, q[0] < "m", g, _near(rng, g), _near(rng, g)) for q, d, g in pairs),
    )


def change(folder: Path) -> None:
    shutil.copy(folder / "catalogue.jsonl", folder / "products.jsonl")
    (folder / "latency_after.csv").write_text("latency_ms\n8.1\n22.0\n", "utf-8")
    for side, run in (("old", "before"), ("new", "after")):
        for name in ("blend", "lexical", "vector"):
            shutil.copy(folder / f"{run}.jsonl", folder / f"{name}_{side}.json")
    case = {"query": "red shoe", "filter": "brand:acme", "expect": "non-empty", "after": ["d1"]}
    _lines(folder / "filter_cases.jsonl", [case])


def ci(folder: Path) -> None:
    """A change that is better everywhere, fully rated: the example test of the page passes."""
    queries = [f"query {i}" for i in range(40)]
    docs = {q: [f"{q}-{j}" for j in range(10)] for q in queries}
    _table(
        folder / "judgments.csv",
        ("query", "doc_id", "grade", "source"),
        ((q, d, j % 4, "human") for q in queries for j, d in enumerate(docs[q])),
    )
    best = {q: sorted(docs[q], key=lambda d: -(int(d.rpartition("-")[2]) % 4)) for q in queries}
    (folder / "before.json").write_text(json.dumps(docs), "utf-8")
    (folder / "after.json").write_text(json.dumps(best), "utf-8")
    (folder / "pr.diff").write_text(
        "diff --git a/config/synonyms.txt b/config/synonyms.txt\n"
        "--- a/config/synonyms.txt\n+++ b/config/synonyms.txt\n"
        "@@ -1 +1,2 @@\n tv, television\n+sofa, couch\n",
        "utf-8",
    )


def drift(folder: Path) -> None:
    """The example repository, whose engine is inside relgate."""
    shop = Path(__file__).resolve().parents[2] / "examples" / "shop_ci"
    for name in ("catalogue.jsonl", "budgets.json"):
        shutil.copy(shop / name, folder / name)
    (folder / "engine.toml").write_text(
        '[engine]\nkind = "embedded"\ncatalogue = "catalogue.jsonl"\n', "utf-8"
    )
    (folder / "golden").mkdir()
    shutil.copy(shop / "golden.json", folder / "golden" / "queries.json")


def formats(folder: Path) -> None:
    grades = {"0": 0, "1": 1, "2": 10, "3": 100}
    rows = [
        {"query": r["query"], "doc_id": r["doc_id"], "grade": grades[r["grade"]]}
        for r in _rows(folder)
    ]
    (folder / "judgments.json").write_text(json.dumps(rows), "utf-8")


def judge(folder: Path) -> None:
    shutil.copy(folder / "catalogue.jsonl", folder / "products.jsonl")
    shutil.copy(folder / "judgments.csv", folder / "labels.csv")


def refresh(folder: Path) -> None:
    """A list of a judge's grades and of old grades by people."""
    _graded(folder, folder / "old.jsonl", "deadbeef")
    old = "2020-01-01T00:00:00Z"
    people = [
        {
            "query_id": r["query_id"], "query": r["query"], "doc_id": r["doc_id"],
            "grade": int(r["grade"]), "source": "human", "rater": "ann", "judged_at": old,
        }
        for r in _rows(folder)[::3]
    ]  # fmt: skip
    rows = [json.loads(line) for line in (folder / "old.jsonl").read_text("utf-8").splitlines()]
    asked = {(r["query_id"], r["doc_id"]) for r in people}
    rest = [r for r in rows if (r["query_id"], r["doc_id"]) not in asked]
    _lines(folder / "old.jsonl", [*people, *rest])


def scale(folder: Path) -> None:
    """The list and the run as Parquet, written by `relgate convert`."""
    for name, words in (("list", ["judgments.csv"]), ("run", ["before.jsonl", "--run"])):
        relgate = [sys.executable, "-m", "relgate.eval", "convert", *words, "--to", "parquet"]
        subprocess.run(  # noqa: S603 - our own command
            [*relgate, "--out", f"{name}.parquet"], cwd=folder, check=True, capture_output=True
        )


def sxs(folder: Path) -> None:
    """What two raters answered on the page."""
    runs = [read_run(folder / f"{name}.json", name=name) for name in ("before", "after")]
    matches = match_runs(align_inputs(None, runs, Project()), k=10)
    with VoteFile(
        folder / "votes.jsonl", head_of(matches, before="before.json", after="after.json")
    ) as votes:
        for rater, prefers in (("ann", Preference.AFTER), ("bob", Preference.SAME)):
            for match in matches.matches[:20]:
                side = left_of(matches, rater, match.query.id)
                votes.add(Vote(rater, match.query.id, match.query.shown, prefers, side, ""))


def vector(folder: Path) -> None:
    rng = np.random.default_rng(5)
    documents, queries = rng.normal(size=(300, 8)), rng.normal(size=(40, 8))
    np.save(folder / "documents.npy", documents)
    np.save(folder / "queries.npy", queries)
    unit = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    order = np.argsort(-(queries @ unit.T), axis=1)[:, :12]
    for name, first in (("old", 1), ("new", 0)):  # the old index misses the nearest one
        _lines(
            folder / f"ann_{name}.jsonl",
            (
                {"query_id": str(q), "query": f"vector {q}", "docs": [str(d) for d in row[first:]]}
                for q, row in enumerate(order)
            ),
        )
    (folder / "change.toml").write_text(
        'type = "hnsw-params"\nintent = "improve"\n[latency]\n'
        "before = { p50 = 8.0, p95 = 21.0, p99 = 40.0 }\n"
        "after = { p50 = 8.0, p95 = 21.0, p99 = 40.0 }\n",
        "utf-8",
    )


FILES: dict[str, Callable[[Path], None]] = {
    "docs/calibration.md": calibration,
    "docs/change.md": change,
    "docs/ci.md": ci,
    "docs/drift.md": drift,
    "docs/formats.md": formats,
    "docs/judge.md": judge,
    "docs/refresh.md": refresh,
    "docs/scale.md": scale,
    "docs/sxs.md": sxs,
    "docs/vector.md": vector,
}
