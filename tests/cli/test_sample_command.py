"""`relgate sample`: a blind sheet for people, and beside it how it was drawn."""

from __future__ import annotations

import csv
import hashlib
import json

import pytest

from relgate.cache.keys import text_hash
from relgate.eval.agreement.split import split_hash, split_of
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, Source

COLUMNS = {
    "query_id", "query", "doc_id", "text", "part", "grade", "rater", "judged_at", "reason",
    "source", "text_hash",
}  # fmt: skip


def words(*more, out="sheet.csv", runs=("before.jsonl", "after.jsonl")):
    return [
        "sample", *(word for run in runs for word in ("--run", run)),
        "--catalogue", "catalogue.jsonl", "--out", out, *more,
    ]  # fmt: skip


def sheet(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs(path):
    return [(row["query"], row["doc_id"]) for row in sheet(path)]


def test_the_sheet_has_every_pair_of_the_pool_once_and_nothing_of_rank_or_system(call, shop):
    done = call(*words("--json"))
    assert done.code == 0, done.err
    rows = sheet(shop.folder / "sheet.csv")
    assert set(rows[0]) == COLUMNS
    expected = {
        (q, d) for run in (shop.before, shop.after) for q, docs in run.items() for d in docs
    }
    assert sorted(pairs(shop.folder / "sheet.csv")) == sorted(expected)
    assert {row["grade"] for row in rows} == {""}
    text = (shop.folder / "sheet.csv").read_text("utf-8")
    assert "before" not in text
    assert "after" not in text
    assert (done.json["pool"], done.json["sampled"]) == (len(expected), len(expected))


def test_the_order_of_runs_changes_nothing_and_a_second_time_gives_the_same(call, shop):
    call(*words("--budget", "50"))
    call(*words("--budget", "50", out="again.csv"))
    call(*words("--budget", "50", out="swapped.csv", runs=("after.jsonl", "before.jsonl")))
    first = (shop.folder / "sheet.csv").read_bytes()
    assert (shop.folder / "again.csv").read_bytes() == first
    assert (shop.folder / "swapped.csv").read_bytes() == first
    call(*words("--budget", "50", "--seed", "2", out="other.csv"))
    assert (shop.folder / "other.csv").read_bytes() != first


def test_the_order_of_a_run_is_not_the_order_of_the_sheet(call, shop):
    call(*words(runs=("before.jsonl",)))
    by_query = {}
    for query, doc in pairs(shop.folder / "sheet.csv"):
        by_query.setdefault(query, []).append(doc)
    assert by_query != shop.before
    assert {q: sorted(d) for q, d in by_query.items()} == {
        q: sorted(d) for q, d in shop.before.items()
    }
    same = sum(docs[0] == shop.before[q][0] for q, docs in by_query.items())
    assert same < shop.n / 3  # a tenth by chance


def test_what_people_graded_is_left_out(call, shop):
    done = call(*words("--judgments", "judgments.csv", "--judgments-source", "human", "--json"))
    drawn = pairs(shop.folder / "sheet.csv")
    assert {doc[0] for _, doc in drawn} == {"n"}
    assert len(drawn) == shop.new
    assert done.json["left_out"]["human_rated"] == 10 * shop.n


def test_good_documents_of_an_older_list_join(call, shop):
    call(*words("--known", "judgments.csv", runs=("after.jsonl",)))
    drawn = set(pairs(shop.folder / "sheet.csv"))
    good = {(q, d) for q, d, grade in shop.human if grade >= 2}
    returned = {(q, d) for q, docs in shop.after.items() for d in docs}
    assert drawn == good | returned
    assert good - returned


def test_a_budget_is_kept_and_shared_between_strata(call, shop):
    table = [
        {"query": f"query {i}", "stratum": "rare" if i < 2 else "usual", "head": i == 44}
        for i in range(shop.n)
    ]
    (shop.folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in table))
    done = call(*words("--queries", "queries.jsonl", "--budget", "30", "--json"))
    assert [(s["stratum"], s["head"], s["queries"], s["pool"], s["sampled"])
            for s in done.json["strata"]] == [
        ("rare", False, 2, 32, 10), ("usual", False, 42, 42 * 16, 10), ("usual", True, 1, 16, 10),
    ]  # fmt: skip
    assert len(sheet(shop.folder / "sheet.csv")) == 30
    assert done.json["left_out"]["over_budget"] == 45 * 16 - 30


def test_the_split_is_by_query_and_its_hash_is_in_the_side_file(call, shop):
    call(*words())
    rows = sheet(shop.folder / "sheet.csv")
    side = json.loads((shop.folder / "sheet.sample.json").read_text("utf-8"))
    parts = {}
    for row in rows:
        parts.setdefault(row["query"], set()).add(row["part"])
    assert parts == {query: {split_of(query)} for query in shop.before}
    assert side["split"]["hash"] == split_hash(shop.before)
    counts = [side["split"][f"{part}_queries"] for part in ("tuning", "calibration")]
    assert counts == [list(map(split_of, shop.before)).count(p) for p in ("tuning", "calibration")]
    assert min(counts) > 0
    blank = (shop.folder / "sheet.csv").read_bytes()
    assert side["blank_sheet_sha256"] == hashlib.sha256(blank).hexdigest()


def test_a_filled_sheet_is_a_list_that_a_calibration_takes(call, shop):
    call(*words(out="sheet.jsonl"))
    path = shop.folder / "sheet.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    letters = {letter: grade for grade, letter in enumerate("ICSE")}
    for row in rows:
        row |= {"grade": letters[row["text"][-1]], "rater": "r1"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = read_list(path, scale=SCALES["0-3"]).judgments
    assert found.counts_by_source() == {Source.HUMAN: len(rows)}
    assert found.text_hash == tuple(text_hash(row["text"]) for row in rows)
    done = call(
        "calibrate", "--human", "sheet.jsonl", "--judge", shop.judge(), "--catalogue",
        "catalogue.jsonl", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err


def test_a_sheet_with_grades_in_it_is_never_written_over(call, shop):
    call(*words())
    path = shop.folder / "sheet.csv"
    side = (shop.folder / "sheet.sample.json").read_bytes()
    path.write_text(path.read_text("utf-8").replace(",,,,human", ",3,,,human"), "utf-8")
    filled = path.read_bytes()
    done = call(*words("--seed", "3", "--quiet"))
    assert done.code == 2
    assert "may hold people's grades; name another --out" in done.complaint
    assert path.read_bytes() == filled
    assert (shop.folder / "sheet.sample.json").read_bytes() == side


def test_documents_without_a_text_are_left_out_and_counted(call, shop):
    for i in range(shop.n):
        del shop.texts[f"n{i}-0"]
    shop.write()
    done = call(*words("--json"))
    assert done.json["left_out"]["no_text"] == shop.n
    assert not any(
        doc.endswith("-0") and doc[0] == "n" for _, doc in pairs(shop.folder / "sheet.csv")
    )


def test_nothing_to_label_is_said(call, shop):
    done = call(
        *words("--judgments", "judgments.csv", "--judgments-source", "human", "--quiet",
               runs=("before.jsonl",))
    )  # fmt: skip
    assert done.code == 2
    assert f"nothing to label: of {10 * shop.n} pairs, {10 * shop.n} are graded" in done.complaint
    assert not (shop.folder / "sheet.csv").exists()


@pytest.mark.parametrize("out", ["sheet.xlsx", "before.jsonl"])
@pytest.mark.usefixtures("shop")
def test_a_wrong_place_is_refused(call, out):
    done = call(*words("--quiet", out=out))
    assert done.code == 2
    assert "end it in" in done.complaint or "it is an input" in done.complaint


def test_the_depth_cuts_each_run(call, shop):
    call(*words("--depth", "3"))
    assert len(sheet(shop.folder / "sheet.csv")) == 6 * shop.n


def test_people_read_what_happened(call, shop):
    done = call(*words("--budget", "10"))
    assert f"10 of {16 * shop.n} pairs of 10 queries on sheet.csv" in done.out
    assert "over the budget" in done.out
