"""A sample from real snapshots: exactly the pairs that people have not rated and that have a text.

quepid_haystack: two snapshots before and after, the ratings in force, product texts of its book.
Expected pairs are taken from the data's own columns, not from relgate's readers.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    folder = shared / "data" / "quepid_haystack"
    if not folder.is_dir():
        pytest.skip("no quepid_haystack in the shared data")
    return folder


def sample(data: Path, folder: Path, *more: str) -> dict:
    texts = {row["doc_id"]: row["title"] for row in table(data / "book_pairs.tsv")}
    rows = [json.dumps({"id": doc, "title": title}) for doc, title in texts.items()]
    (folder / "catalogue.jsonl").write_text("\n".join(rows), "utf-8")
    native = data / "native"
    words = [
        "sample", "--run", str(native / "quepid_snapshot_no-vector.json"),
        "--run", str(native / "quepid_snapshot_with-vector.json"),
        "--judgments", str(native / "quepid_case.json"), "--judgments-source", "human",
        "--catalogue", "catalogue.jsonl", "--out", "sheet.csv", "--json", "--quiet", *more,
    ]  # fmt: skip
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "relgate.eval", *words],
        cwd=folder, env=dict(os.environ), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_sheet_is_what_people_have_not_rated(data, tmp_path):
    said = sample(data, tmp_path)
    text_of = {row["query_id"]: row["query"] for row in table(data / "queries.tsv")}
    pooled = {
        (text_of[row["query_id"]], row["doc_id"])
        for row in table(data / "snapshot_runs.tsv")
        if row["snapshot"] in {"no-vector", "with-vector"}
    }
    rated = {(row["query"], row["doc_id"]) for row in table(data / "case_ratings.tsv")}
    texts = {row["doc_id"] for row in table(data / "book_pairs.tsv")}
    left = {pair for pair in pooled - rated if pair[1] in texts}
    with (tmp_path / "sheet.csv").open(encoding="utf-8", newline="") as file:
        sheet = [(row["query"], row["doc_id"]) for row in csv.DictReader(file)]
    assert sorted(sheet) == sorted(left)
    assert said["sampled"] == len(left)
    assert said["left_out"]["no_text"] == len(pooled - rated) - len(left)
    assert said["left_out"]["human_rated"] >= len(pooled & rated)
    queries = {query for query, _ in left}
    assert said["split"]["tuning_queries"] + said["split"]["calibration_queries"] == len(queries)


def test_a_budget_reaches_every_query_before_any_gets_a_second_pair(data, tmp_path):
    whole = sample(data, tmp_path)
    (tmp_path / "sheet.csv").unlink()
    said = sample(data, tmp_path, "--budget", str(whole["queries"]))
    assert (said["queries"], said["sampled"]) == (whole["queries"], whole["queries"])
