"""Which part of a key changed since a grade: over rows, without a judge or a file."""

from __future__ import annotations

import json

import pytest

from relgate.cache.keys import query_hash, text_hash
from relgate.cache.rows import StoredRow, decode_row, encode_row
from relgate.cache.why import Wanted, explain
from relgate.judge.decisions import make_decision_judge
from relgate.judge.llm import make_llm_judge
from relgate.judge.panel import PanelJudge, panel_of_shuffles
from relgate.judge.parts import PART_NAMES, shown_parts
from relgate.judge.types import Example

PARTS = {
    "rubric": "0" * 8, "template": "1" * 8, "schema": "2" * 8, "parameters": "3" * 8,
    "endpoint": "4" * 8, "suspicion": "5" * 8,
}  # fmt: skip
FEW = {name: PARTS[name] for name in ("rubric", "template", "schema", "parameters")}
WANTED = Wanted("v@1", "f1", "m1", PARTS, "q", "text", "doc")


def row(**change):
    fields = {
        "version": "v@1", "fingerprint": "f1", "model": "m1", "esci": "S", "grade": 2,
        "reason": "r", "judged_at": "2026-01-01T00:00:00+00:00", "parts": PARTS,
        "query_hash": query_hash("q")[:16], "text_hash": text_hash("text")[:16],
        "doc_hash": text_hash("doc")[:16],
    }  # fmt: skip
    return StoredRow(**{**fields, **change})


def parts(**change):
    return {**PARTS, **change}


NINES = {"panel": "9" * 8, "rubric": "9" * 8}


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"version": "v@0"}, ["rubric"]),
        ({"fingerprint": "f0", "parts": parts(template="9" * 8)}, ["template"]),
        ({"fingerprint": "f0", "parts": parts(schema="9" * 8)}, ["schema"]),
        ({"fingerprint": "f0", "parts": parts(parameters="9" * 8)}, ["parameters"]),
        ({"fingerprint": "f0", "model": "m0"}, ["model"]),
        ({"fingerprint": "f0", "parts": parts(endpoint="9" * 8)}, ["endpoint"]),
        ({"fingerprint": "f0", "parts": parts(suspicion="9" * 8)}, ["suspicion"]),
        ({"fingerprint": "f0", "version": "p@1", "parts": parts(panel="9" * 8)}, ["panel"]),
        (
            {"fingerprint": "f0", "version": "p@1", "parts": parts(**NINES)},
            ["rubric", "panel"],
        ),
        ({"fingerprint": "f0"}, ["unrecorded"]),
        ({"fingerprint": "f0", "format": 2, "parts": FEW}, ["unrecorded"]),
        ({"fingerprint": "f0", "format": 2, "parts": {**FEW, "schema": "9" * 8}}, ["schema"]),
        ({"fingerprint": "f0", "parts": None}, ["unrecorded"]),
        ({"text_hash": "9" * 16}, ["text"]),
        ({"text_hash": "9" * 16, "version": "v@0"}, ["rubric", "text"]),
    ],
)
def test_each_part_is_told(change, changed):
    answer = explain([("x", row(**change))], WANTED)
    assert not answer.cached
    assert [str(part) for part in answer.changed] == changed


def test_the_nearest_grade_is_told_and_among_equals_the_newest():
    far = row(version="v@0", fingerprint="f0", model="m0")
    old = row(fingerprint="f0", model="m0")
    new = row(fingerprint="f2", model="m2", judged_at="2026-01-02T00:00:00+02:00")
    for rows in ([far, old, new], [new, old, far]):
        answer = explain([(str(n), r) for n, r in enumerate(rows)], WANTED)
        assert answer.nearest == new


def test_the_grade_itself_is_found_among_others():
    answer = explain([("x", row(version="v@0")), (WANTED.key, row()), ("y", row())], WANTED)
    assert (answer.cached, answer.changed, answer.of_query) == (True, (), 3)


def test_another_document_of_the_query_is_no_grade_of_this_one():
    other = row(text_hash="9" * 16, doc_hash="9" * 16)
    answer = explain([("x", other), ("y", row(query_hash="9" * 16))], WANTED)
    assert (answer.nearest, answer.of_query) == (None, 1)


def test_the_parts_of_a_judge_change_one_by_one():
    def judge(**change):
        return make_llm_judge(lambda _: "", model="m", **change).parts

    def differs(other):
        return {name for name in base if base[name] != other[name]}

    base = judge()
    assert set(base) == set(PART_NAMES) - {"panel"}
    assert differs(judge()) == set()
    for change in ({"temperature": 1.0}, {"batch_size": 3}, {"max_output_tokens": 9}):
        assert differs(judge(**change)) == {"parameters"}
    assert differs(judge(examples=[Example("q", "t", "E")])) == {"template"}
    assert differs(judge(endpoint="https://example.org")) == {"endpoint"}


def test_other_rules_for_suspicious_texts_are_told(monkeypatch):
    judge = make_llm_judge(lambda _: "", model="m")
    before = judge.parts
    monkeypatch.setattr("relgate.judge.parts.SUSPICION_VERSION", "another")
    assert {name for name in before if before[name] != judge.parts[name]} == {"suspicion"}


def test_a_judge_of_probabilities_shows_its_parts():
    async def decide(_):
        raise AssertionError

    one = make_decision_judge(decide, model="m")
    other = make_decision_judge(decide, model="m", endpoint="https://example.org")
    assert {name for name in one.parts if one.parts[name] != other.parts[name]} == {"endpoint"}


def test_a_panel_shows_what_its_members_have_in_common_and_who_votes():
    judge = make_llm_judge(lambda _: "", model="m")
    three, five = panel_of_shuffles(judge, shuffles=3), panel_of_shuffles(judge, shuffles=5)
    assert {k: v for k, v in three.parts.items() if k != "panel"} == judge.parts
    assert three.parts["panel"] != five.parts["panel"]
    other = make_llm_judge(lambda _: "", model="m", temperature=1.0)
    mixed = PanelJudge([judge, other]).parts
    assert {k for k, v in judge.parts.items() if mixed[k] != v} == {"parameters"}


def test_a_judge_that_shows_nothing_has_no_parts_nor_has_a_panel_with_it(paid):
    assert shown_parts(paid()) is None
    assert PanelJudge([paid(), make_llm_judge(lambda _: "", model="m")]).parts is None


@pytest.mark.parametrize(
    ("number", "lacking"),
    [
        (1, {"doc_hash", "parts", "prompt_tokens", "completion_tokens", "probabilities", "batch"}),
        (2, {"prompt_tokens", "completion_tokens", "probabilities", "batch"}),
        (3, {"batch"}),
    ],
)
def test_a_row_of_an_old_format_is_read_and_written_again_as_it_was(number, lacking):
    old = row(format=number, **({"parts": None, "doc_hash": None} if number == 1 else {}))
    text = encode_row(old, key="k")
    assert lacking.isdisjoint(json.loads(text))
    assert set(json.loads(encode_row(row(), key="k"))) - set(json.loads(text)) == lacking
    assert decode_row(text, key="k") == old
