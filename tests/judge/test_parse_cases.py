"""Every case of area `llm-output` that a parser can meet, from the shared case list."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_cases import shared_cases

from relgate.judge.parse import parse_reply
from relgate.judge.types import GenerateReply, GradeError
from relgate.rubrics import load_rubric

RUBRIC = load_rubric()
PARSE_CASES = frozenset({f"P{n:02d}" for n in (1, 2, 3, 4, 5, 7, 9, 10, 12, 13, 14, 15, 20, 23)})


def cases(shared: Path) -> dict[str, dict[str, Any]]:
    every = shared_cases(shared)
    return {name: case for name, case in every.items() if case["area"] == "llm-output"}


def reply_of(case: dict[str, Any]) -> GenerateReply:
    given_ = case["input"]
    text = given_.get("reply")
    if "repeat" in given_:
        text += given_["repeat"]["text"] * given_["repeat"]["times"] + given_["tail"]
    if "reply_repeat" in given_:
        text = given_["reply_repeat"]["text"] * given_["reply_repeat"]["times"]
    finish = {"MAX_TOKENS": "length"}.get(given_.get("finish_reason"), given_.get("finish_reason"))
    return GenerateReply(text=text, finish_reason=finish or "stop")


@pytest.mark.parametrize("case_id", sorted(PARSE_CASES))
def test_each_row_gets_what_the_case_says(case_id: str, shared: Path) -> None:
    case = cases(shared)[case_id]
    refs = case["input"]["candidates"]
    parsed = parse_reply(reply_of(case), refs, RUBRIC)
    got = {
        ref: row.label.code if row.label else "judge-error"
        for ref, row in zip(refs, parsed.rows, strict=True)
    }
    expect = dict(case["right"]["expect"])
    for ref in refs:
        assert got[ref] == expect.pop(ref, got[ref]), ref
        assert got[ref] != expect.pop(f"{ref}_not", None)
    errors = {row.error for row in parsed.rows if row.error}
    if "class" in expect:
        assert errors == {GradeError(expect.pop("class"))}
    assert len(parsed.rows) == expect.pop("rows", len(refs)) == len(refs)
    # What only a caller can show: the time (the test of hostile replies below), and what is cached
    # of a truncated reply (tests/cache/test_cached_judge.py).
    assert expect.keys() <= {"max_s", "cached_max"}


def test_case_p07_counts_the_id_that_was_not_asked_for(shared: Path) -> None:
    case = cases(shared)["P07"]
    assert parse_reply(reply_of(case), case["input"]["candidates"], RUBRIC).unknown_ids == 1


def test_the_cases_above_are_all_that_a_parser_can_meet(shared: Path) -> None:
    elsewhere = {
        "P16",  # tests/judge/test_llm.py: spend
        "P18",  # tests/judge/test_llm.py and tests/providers: blocked prompts
        "P19",  # tests/providers: the schema's form on the wire
        "P22",  # tests/judge/test_llm.py: ids that look like ordinals
    }
    assert set(cases(shared)) == PARSE_CASES | elsewhere


def test_a_truncated_reply_keeps_its_complete_rows(shared: Path) -> None:
    case = cases(shared)["P13"]
    rows = parse_reply(reply_of(case), case["input"]["candidates"], RUBRIC).rows
    assert [row.label.code if row.label else None for row in rows] == ["E", None, None]


def test_a_foreign_id_is_counted_and_ignored() -> None:
    reply = GenerateReply('{"grades":[{"id":"1","esci":"E"},{"id":"9","esci":"E"}]}')
    parsed = parse_reply(reply, ["1", "2"], RUBRIC)
    assert parsed.unknown_ids == 1
    assert parsed.rows[1].error is GradeError.MISSING


def test_a_number_is_a_reference_when_its_digits_were_shown() -> None:
    parsed = parse_reply(GenerateReply('[{"id":2,"esci":"C"}]'), ["1", "2"], RUBRIC)
    assert parsed.rows[1].label is not None
    assert parsed.rows[1].label.code == "C"


@pytest.mark.parametrize("ident", ["true", "null", "1.0", "[1]", '{"a":1}'])
def test_no_other_type_is_a_reference(ident: str) -> None:
    parsed = parse_reply(GenerateReply(f'[{{"id":{ident},"esci":"E"}}]'), ["1"], RUBRIC)
    assert parsed.rows[0].error is GradeError.MISSING


def test_two_labels_for_one_reference_leave_it_ungraded() -> None:
    text = (
        '[{"id":"1","esci":"E"},{"id":"1","esci":"I"},{"id":"2","esci":"S"},{"id":"2","esci":"S"}]'
    )
    rows = parse_reply(GenerateReply(text), ["1", "2"], RUBRIC).rows
    assert rows[0].error is GradeError.UNREADABLE
    assert rows[1].label is not None


def test_a_conclusion_cut_off_still_outranks_the_first_thought() -> None:
    text = (
        '{"grades":[{"id":"1","esci":"E"},{"id":"2","esci":"E"}]} On reflection: '
        '{"grades":[{"id":"1","esci":"I"},{"id":"2","es'
    )
    rows = parse_reply(GenerateReply(text, finish_reason="length"), ["1", "2"], RUBRIC).rows
    assert rows[0].label is not None
    assert rows[0].label.code == "I"
    assert rows[1].error is GradeError.TRUNCATED


def test_rows_as_json_lines_inside_prose_are_one_block() -> None:
    text = 'Here:\n{"id":"1","esci":"S","reason":"a"}\n{"id":"2","esci":"I","reason":"b"}\nDone.'
    rows = parse_reply(GenerateReply(text), ["1", "2"], RUBRIC).rows
    assert [row.label.code for row in rows if row.label] == ["S", "I"]


def test_data_decoded_by_the_provider_is_read_like_text() -> None:
    data = {"grades": [{"id": "1", "esci": "Exact", "reason": "x"}]}
    rows = parse_reply(GenerateReply(data=data), ["1"], RUBRIC).rows
    assert rows[0].label is not None
    assert rows[0].label.grade == 3


def test_a_reason_is_one_clean_line() -> None:
    text = json.dumps([{"id": "1", "esci": "E", "reason": "a\n\x1b[2Jb\ud800" + "c" * 999}])
    reason = parse_reply(GenerateReply(text), ["1"], RUBRIC).rows[0].reason
    assert reason.startswith("a \\x1b[2Jb\\ud800ccc")
    assert len(reason) == 240
    reason.encode()


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"a":' * 200_000, '{"grades":[{"id":"1","esci":"E","w":1' + "0" * 200_000,
     '{"id":"1","esci":"E"} ' * 40_000, "{ [ " * 200_000],
)  # fmt: skip
def test_a_hostile_reply_ends_soon_and_small(text: str) -> None:
    tracemalloc.start()
    begin = time.monotonic()
    parse_reply(GenerateReply(text), ["1"], RUBRIC)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - begin < 20  # hang guard; case P15 asks for 1 s, met with room
    assert peak < 100_000_000


@pytest.mark.parametrize(
    "before",
    ["{so " * 2_000, f"[{'1' * 5_000}] " * 30],
    ids=["braces", "numbers that Python does not convert"],
)
def test_an_answer_after_much_that_is_no_json_is_found(before: str) -> None:
    rows = parse_reply(GenerateReply(before + '[{"id":"1","esci":"S"}]'), ["1"], RUBRIC).rows
    assert [row.label.code for row in rows if row.label] == ["S"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["grades", "id", "esci", "reason", "x"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(value=json_values, as_text=st.booleans(), cut=st.integers(0, 200))
def test_the_parser_is_total_on_any_json(value: object, as_text: bool, cut: int) -> None:  # noqa: FBT001
    text = json.dumps(value)
    reply = GenerateReply(text=text[: len(text) - cut]) if as_text else GenerateReply(data=value)
    rows = parse_reply(reply, ["1", "2", "3"], RUBRIC).rows
    assert len(rows) == 3
    assert all((row.label is None) != (row.error is None) for row in rows)


@settings(max_examples=400, deadline=None)
@given(text=st.text(alphabet=st.characters(codec=None), max_size=200))
def test_the_parser_is_total_on_any_text(text: str) -> None:
    assert len(parse_reply(GenerateReply(text), ["1"], RUBRIC).rows) == 1
