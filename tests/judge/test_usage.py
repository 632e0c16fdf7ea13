"""Tokens of a call, divided over its rows: the sum over the rows is what was paid."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from relgate.judge.fake import FakeGenerate
from relgate.judge.llm import make_llm_judge
from relgate.judge.panel import PanelJudge
from relgate.judge.types import NO_USAGE, CallError, Candidate, GenerateReply, GradeError, Usage

CANDIDATES = [Candidate(str(n), f"text {n}") for n in range(4)]


def reply(*labels: str, usage: Usage, finish: str = "stop") -> GenerateReply:
    rows = [{"id": str(n), "esci": label, "reason": "r"} for n, label in enumerate(labels, 1)]
    return GenerateReply(text=json.dumps({"grades": rows}), finish_reason=finish, usage=usage)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 50))
def test_the_parts_are_even_and_their_sum_is_the_whole(prompt, completion, rows):
    parts = Usage(prompt, completion).split(rows)
    assert sum(parts[1:], start=parts[0]) == Usage(prompt, completion)
    for found in ([p.prompt_tokens for p in parts], [p.completion_tokens for p in parts]):
        assert max(found) - min(found) <= 1


def test_what_was_not_counted_stays_unknown():
    assert Usage(None, 7).split(2) == [Usage(None, 4), Usage(None, 3)]
    assert Usage(3, None) + Usage(1, 1) == Usage(4, None)


def test_a_row_bears_its_part_of_the_call():
    judge = make_llm_judge(FakeGenerate([reply(*"ESCI", usage=Usage(401, 82))]))
    hits = judge.grade_sync("q", CANDIDATES)
    assert sum(hit.usage.prompt_tokens for hit in hits) == 401
    assert sorted(hit.usage.completion_tokens for hit in hits) == [20, 20, 21, 21]


def test_a_row_that_is_asked_again_bears_its_part_of_both_calls():
    first = reply("E", "E", usage=Usage(400, 80))  # two rows are missing
    again = reply("E", "E", usage=Usage(100, 40))
    hits = make_llm_judge(FakeGenerate([first, again])).grade_sync("q", CANDIDATES)
    assert sorted(h.usage.prompt_tokens for h in hits) == [100, 100, 150, 150]
    assert sum(h.usage.completion_tokens for h in hits) == 120


def test_a_reply_without_a_readable_row_was_paid_for_too():
    first = GenerateReply(text="no grades", usage=Usage(40, 8))
    again = reply("E", usage=Usage(20, 4))
    (hit, *_) = make_llm_judge(FakeGenerate([first, again, again])).grade_sync("q", CANDIDATES[:2])
    assert hit.usage == Usage(40, 8)  # 20 + 20 and 4 + 4


def test_a_call_without_a_reply_counts_nothing():
    failed = CallError(GradeError.BLOCKED, "blocked")
    replies = [failed, reply("E", usage=Usage(20, 4)), reply("E", usage=Usage(30, 6))]
    hits = make_llm_judge(FakeGenerate(replies)).grade_sync("q", CANDIDATES[:2])
    assert sorted(h.usage.prompt_tokens for h in hits) == [20, 30]


def test_where_one_of_two_calls_was_not_counted_the_row_is_unknown():
    first = GenerateReply(text="no grades")
    again = reply("E", usage=Usage(20, 4))
    hits = make_llm_judge(FakeGenerate([first, again, again])).grade_sync("q", CANDIDATES[:2])
    assert {hit.usage for hit in hits} == {Usage(None, None)}


def test_a_panel_pays_for_each_vote():
    judges = [
        make_llm_judge(FakeGenerate([reply("E", usage=Usage(10 * n, n))]), model=f"m{n}")
        for n in (1, 2, 3)
    ]
    (hit,) = PanelJudge(judges).grade_sync("q", CANDIDATES[:1])
    assert hit.usage == Usage(60, 6)


def test_tokens_of_a_batch_stay_those_of_a_batch_when_split_and_added():
    paid = Usage(7, 3, batch=True)
    assert all(part.batch for part in paid.split(2))
    assert NO_USAGE + paid == paid
    assert not (Usage(1, 1) + NO_USAGE).batch
