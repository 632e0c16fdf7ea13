"""The typed text out of a `_rank_eval` request: read where there is no choice, else said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relgate.eval.lists.read import read_list
from relgate.eval.lists.search_text import SearchText, search_text, templates_of
from relgate.eval.lists.sink import ListFile
from relgate.eval.lists.types import SCALES

MATCH = {"match": {"title": "red shoes"}}
TERM = {"term": {"brand": "acme"}}


def of_query(query: Any) -> SearchText:
    return search_text({"request": {"query": query, "size": 10}}, {})


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        (MATCH, "match"),
        ({"match": {"title": {"query": "red shoes", "operator": "and"}}}, "match"),
        ({"match_phrase": {"title": "red shoes"}}, "match_phrase"),
        ({"multi_match": {"query": "red shoes", "fields": ["title", "brand"]}}, "multi_match"),
        ({"combined_fields": {"query": "red shoes", "fields": ["title"]}}, "combined_fields"),
        ({"simple_query_string": {"query": "red shoes"}}, "simple_query_string"),
        ({"query_string": {"query": "red shoes"}}, "query_string"),
        ({"neural": {"vector": {"query_text": "red shoes", "model_id": "m"}}}, "neural"),
        ({"bool": {"must": MATCH, "filter": TERM}}, "match"),
        ({"bool": {"must": [MATCH], "filter": [{"match": {"brand": "acme"}}]}}, "match"),
        ({"bool": {"must": [MATCH], "must_not": {"match": {"title": "kids"}}}}, "match"),
        ({"function_score": {"query": MATCH, "functions": [{"random_score": {}}]}}, "match"),
    ],
)
def test_a_body_with_one_typed_text_tells_it(query: Any, clause: str) -> None:
    assert of_query(query) == SearchText("red shoes", f"a {clause} clause")


def test_several_clauses_with_one_text_leave_no_choice() -> None:
    again = {"match_phrase": {"title": {"query": "Red shoes", "boost": 2}}}
    assert of_query({"bool": {"must": MATCH, "should": [again]}}).text == "red shoes"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"bool": {"must": [MATCH, {"match": {"brand": "acme"}}]}}, "several texts"),
        ({"query_string": {"query": "title:shoes AND brand:acme"}}, "holds operators"),
        ({"simple_query_string": {"query": "shoes -kids"}}, "holds operators"),
        ({"match": {"title": "{{q}}"}}, "template that cannot be filled"),
    ],
)
def test_a_body_that_leaves_a_choice_gives_no_text_and_says_why(query: Any, why: str) -> None:
    found = of_query(query)
    assert found.text is None
    assert why in (found.unclear or "")


@pytest.mark.parametrize(
    "query",
    [TERM, {"match_all": {}}, {"match": {"in_stock": True}}, {"match": {"year": 2020}}, None],
)
def test_a_body_without_a_typed_text_tells_nothing(query: Any) -> None:
    assert of_query(query) == SearchText()


def test_a_hyphen_inside_a_word_is_no_operator() -> None:
    assert of_query({"simple_query_string": {"query": "t-shirt"}}).text == "t-shirt"


SOURCE = {"query": {"multi_match": {"query": "{{words}}", "fields": ["title"]}}, "size": "{{n}}"}


@pytest.mark.parametrize("source", [SOURCE, json.dumps(SOURCE)])
def test_a_template_in_the_request_says_which_parameter_is_the_text(source: Any) -> None:
    templates = templates_of({"templates": [{"id": "t", "template": {"source": source}}]})
    entry = {"template_id": "t", "params": {"words": "oak desk", "query": "else", "n": 10}}
    assert search_text(entry, templates) == SearchText("oak desk", "the template parameter 'words'")


def test_a_template_that_the_engine_keeps_goes_by_the_name_of_its_parameter() -> None:
    entry = {"template_id": "kept", "params": {"q": "oak desk", "index": "shop", "size": 10}}
    assert search_text(entry, {}) == SearchText("oak desk", "the template parameter 'q'")
    unclear = search_text({"template_id": "kept", "params": {"q": "oak", "text": "desk"}}, {})
    assert unclear.text is None
    assert unclear.unclear == "several of its parameters may be it"
    assert search_text({"params": {"color": "red"}}, {}) == SearchText()


def read(tmp_path: Path, *requests: dict[str, Any]) -> ListFile:
    rated = [{"_index": "i", "_id": "p", "rating": 1}]
    body = {"requests": [{"ratings": rated, **request} for request in requests]}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return read_list(path, scale=SCALES["0-3"])


def test_a_list_says_where_its_texts_were_read_and_where_they_were_not(tmp_path: Path) -> None:
    two = {"bool": {"must": [MATCH, {"match": {"brand": "acme"}}]}}
    file = read(
        tmp_path,
        {"id": "q1", "request": {"query": MATCH}},
        {"id": "q2", "request": {"query": two}},
    )
    assert [query.text for query in file.judgments.queries] == ["red shoes", None]
    taken, left = file.notes
    assert taken == "1 query text(s) read from a match clause of the request (first: 'red shoes')"
    assert left == (
        "1 request(s) whose query text was not read: its clauses hold several texts; "
        "give it with --queries (first: 'q2')"
    )


def test_an_id_that_is_the_text_of_its_body_needs_no_note(tmp_path: Path) -> None:
    file = read(tmp_path, {"id": "red shoes", "request": {"query": MATCH}})
    assert file.judgments.queries[0].text == "red shoes"
    assert file.notes == ()


def test_real_requests_tell_their_texts(shared: Path) -> None:
    folder = shared / "data" / "rank_eval_es" / "requests"
    for number, source in (
        (1, "match clause"),
        (2, "match clause"),
        (3, "query_string"),
        (4, "query_string"),
    ):
        file = read_list(folder / f"demo_request_{number}.json", scale=SCALES["0-3"])
        assert file.judgments.queries[0].text == "JFK"
        assert any(source in note for note in file.notes)
