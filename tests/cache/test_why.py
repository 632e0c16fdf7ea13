"""Which part of a key changed since a grade: over rows, without a judge or a file."""

from __future__ import annotations

import pytest

from relgate.cache.keys import query_hash, text_hash
from relgate.cache.parts import key_parts
from relgate.cache.rows import StoredRow, decode_row, encode_row
from relgate.cache.why import Wanted, explain
from relgate.judge.llm import make_llm_judge
from relgate.judge.types import Example

PARTS = {"rubric": "0" * 8, "template": "1" * 8, "schema": "2" * 8, "parameters": "3" * 8}
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


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"version": "v@0"}, ["rubric"]),
        ({"fingerprint": "f0", "parts": parts(template="9" * 8)}, ["template"]),
        ({"fingerprint": "f0", "parts": parts(schema="9" * 8)}, ["schema"]),
        ({"fingerprint": "f0", "parts": parts(parameters="9" * 8)}, ["parameters"]),
        ({"fingerprint": "f0", "model": "m0"}, ["model"]),
        ({"fingerprint": "f0"}, ["other"]),
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
        return key_parts(make_llm_judge(lambda _: "", model="m", **change))

    def differs(other):
        return {name for name in base if base[name] != other[name]}

    base = judge()
    assert set(base) == {"rubric", "template", "schema", "parameters"}
    assert differs(judge()) == set()
    for change in ({"temperature": 1.0}, {"batch_size": 3}, {"max_output_tokens": 9}):
        assert differs(judge(**change)) == {"parameters"}
    assert differs(judge(examples=[Example("q", "t", "E")])) == {"template"}


def test_a_judge_inside_another_is_found_and_one_that_shows_nothing_has_no_parts(paid):
    class Around:
        def __init__(self, inner):
            self._inner = inner

    llm = make_llm_judge(lambda _: "", model="m")
    assert key_parts(Around(Around(llm))) == key_parts(llm)
    assert key_parts(paid()) is None
    assert key_parts(Around(paid())) is None


def test_a_row_of_format_1_is_read_and_written_again_as_it_was():
    old = row(format=1, parts=None, doc_hash=None)
    text = encode_row(old, key="k")
    assert "parts" not in text
    assert "doc_hash" not in text
    assert decode_row(text, key="k") == old
