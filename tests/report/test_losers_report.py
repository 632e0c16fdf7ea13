"""The losers in `review.json`, in Markdown and on the terminal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.report.document import review_document
from relgate.eval.report.losers import loser_lines, loser_sections
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.debug import DebugTools, Splainer
from relgate.eval.review.types import RankedDoc, Side


@pytest.fixture
def done(make_review):
    return make_review()


@pytest.fixture
def losers(done):
    return review_document(done)["losers"]


def test_the_losers_stand_worst_first_with_both_lists(losers):
    assert [x["id"] for x in losers] == ["q3", "q0"]
    fallen = losers[1]
    assert [(d["doc_id"], d["rank_before"], d["rank_after"], d["move"]) for d in
            fallen["before_list"]] == [
        ("doc red shoe", 1, 3, "down"), ("weak", 2, 1, "up"),
    ]  # fmt: skip
    assert [(d["doc_id"], d["grade"], d["source"], d["move"]) for d in fallen["after_list"]] == [
        ("weak", 1, "judge", "up"),
        ("new red shoe", None, None, "entered"),
        ("doc red shoe", 3, "human", "down"),
    ]
    assert fallen["entered"] == ["new red shoe"]
    assert fallen["left"] == []
    assert fallen["look_at"].startswith('Look at "red shoe 0"')


def test_a_failed_query_has_its_error_and_what_it_had(losers):
    assert losers[0]["error"] == "no field red shoe"
    assert losers[0]["left"] == ["doc red shoe", "weak"]
    assert losers[0]["after_list"] == []


def test_nobody_is_named(losers):
    assert "rater" not in json.dumps(losers)


def test_the_markdown_folds_them_side_by_side(done):
    lines = review_markdown(done).splitlines()
    assert "<details><summary>Top losers, side by side (2)</summary>" in lines
    assert '**"red shoe 0"** (head) 1.00 to 0.59 (-0.41)' in lines
    assert ("| 1 | doc red shoe (grade 3) ▼ | weak (grade 1, by a judge) ▲ |") in lines
    assert "| 2 | weak (grade 1, by a judge) ▲ | new red shoe (unrated) new |" in lines
    assert "| 3 |  | doc red shoe (grade 3) ▼ |" in lines


def test_links_stand_in_the_markdown_where_the_project_gives_them(done):
    tools = DebugTools(Splainer("solr", "http://s/select?q={query}"), "https://quepid.example/7")
    linked = replace(done, evidence=replace(done.evidence, tools=tools))
    shown = review_markdown(linked)
    assert "[Splainer](https://splainer.io/#?solr=http%3A%2F%2Fs" in shown
    assert "[Quepid](https://quepid.example/7)" in shown
    assert review_document(linked)["losers"][0]["debug"]["quepid"] == "https://quepid.example/7"
    assert "](http" not in review_markdown(done)


def test_ten_losers_of_long_ids_titles_and_texts_leave_room_in_a_comment(done):
    long = "x_" * 5_000
    docs = tuple(RankedDoc(f"{i}{long}", 3) for i in range(10))
    query = replace(
        done.evidence.queries[0],
        query=Query(long),
        was=Side(value=1.0, returned=10, top=docs),
        now=Side(value=0.5, returned=10, top=docs[::-1]),
    )
    tools = DebugTools(Splainer("solr", "http://s/select?q={query}"))
    titles = {doc.doc_id: long for doc in docs}
    full = replace(done.evidence, queries=(query,) * 10, titles=titles, tools=tools)
    text = "\n\n".join("\n".join(lines) for lines in loser_sections(full, 10))
    assert text.count("| 10 |") == 10
    assert len(text) < 40_000  # GitHub cuts a comment at 65,536 characters


def test_the_terminal_has_one_line_a_loser(done):
    assert [line.count("\n") for line in loser_lines(done.evidence)] == [0, 0]


def test_without_a_loser_there_is_no_section(make_review):
    done = make_review()
    kept = replace(done.evidence, queries=done.evidence.queries[1:3])
    assert "Top losers" not in review_markdown(replace(done, evidence=kept))
    assert review_document(replace(done, evidence=kept))["losers"] == []
