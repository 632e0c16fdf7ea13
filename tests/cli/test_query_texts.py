"""A list that names its queries by id: the table gives the texts, else a remark says so."""

from __future__ import annotations

import csv
import json

import pytest


@pytest.fixture
def by_id(shop):
    """The shop with ids for queries in the list and in the runs; `queries.csv` has the texts."""
    ids = {query: f"q-{i:04d}" for i, query in enumerate(shop.before)}
    shop.human = [(ids[query], doc, grade) for query, doc, grade in shop.human]
    shop.before = {ids[query]: docs for query, docs in shop.before.items()}
    shop.after = {ids[query]: docs for query, docs in shop.after.items()}
    shop.write()
    with (shop.folder / "queries.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query_id", "query"), *((i, q) for q, i in ids.items())])
    (shop.folder / f"{shop.module}_asked.py").write_text(
        f"from {shop.module} import HERE, grade as inner\n\n"
        "def grade(request):\n"
        "    with (HERE / 'asked.txt').open('a') as file:\n"
        "        file.write(request.prompt)\n"
        "    return inner(request)\n"
    )
    shop.module += "_asked"
    return shop


def _seen(shop) -> str:
    return (shop.folder / "asked.txt").read_text(encoding="utf-8")


def test_a_review_asks_with_the_texts_of_the_table(call, by_id):
    done = call(*by_id.review("--queries", "queries.csv"))
    assert "query 1" in _seen(by_id)
    assert "q-0001" not in _seen(by_id)
    assert "look like ids" not in done.err


def test_without_a_table_it_is_said_that_a_judge_sees_ids(call, by_id):
    done = call(*by_id.review())
    assert "q-0001" in done.err
    assert "--queries" in done.err


def test_a_calibration_asks_with_the_texts_of_the_table(call, by_id):
    done = call(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", by_id.judge(), "--queries", "queries.csv", "--json",
    )  # fmt: skip
    assert done.code == 0
    assert "query 1" in _seen(by_id)
    assert "q-0001" not in _seen(by_id)


def test_an_id_of_words_is_asked_with_as_the_text_and_that_is_said(call, by_id):
    ids = {query_id: f"word {'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}"
           for i, query_id in enumerate(by_id.before)}  # fmt: skip
    by_id.before = {ids[query]: docs for query, docs in by_id.before.items()}
    by_id.after = {ids[query]: docs for query, docs in by_id.after.items()}
    rows = [(ids[query], doc, grade) for query, doc, grade in by_id.human]
    with (by_id.folder / "judgments.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query_id", "doc_id", "grade"), *rows])
    for name, run in (("before", by_id.before), ("after", by_id.after)):
        lines = [json.dumps({"query_id": query, "docs": docs}) for query, docs in run.items()]
        (by_id.folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = call(*by_id.review())
    assert "Shopper query: word ab" in _seen(by_id)
    said = " ".join(done.out.split())
    assert "was taken as the text typed" in said
    assert "sees the id" not in said


def test_a_query_table_outranks_the_text_of_the_list_and_that_is_said(call, by_id):
    with (by_id.folder / "judgments.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [(query, f"old {query}", doc, grade) for query, doc, grade in by_id.human]
        csv.writer(file).writerows([("query_id", "query", "doc_id", "grade"), *rows])
    done = call(*by_id.review("--queries", "queries.csv"))
    assert "Shopper query: query 1" in _seen(by_id)
    assert "old q-" not in _seen(by_id)
    assert "another text in the query table than in the list" in done.err


def test_the_texts_of_the_runs_are_asked_where_the_lists_query_column_holds_ids(call, by_id):
    texts = {i: q for q, i in map(reversed, _rows(by_id.folder / "queries.csv"))}
    for name in ("before.jsonl", "after.jsonl"):
        rows = [json.loads(line) for line in (by_id.folder / name).read_text().splitlines()]
        with (by_id.folder / name).open("w") as file:
            for row in rows:
                key = row.get("query_id", row.get("query"))
                file.write(json.dumps({**row, "query_id": key, "query": texts[key]}) + "\n")
    done = call(*by_id.review())
    assert "query 1" in _seen(by_id)
    assert "q-0001" not in _seen(by_id)
    assert "look like ids" not in done.err
    assert "elsewhere" not in done.out


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file)][1:]
