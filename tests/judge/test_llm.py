"""The judge: order, batches, regrading, failures, versions."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable
from typing import Any

import pytest

from relgate.judge import CallError, Candidate, GenerateReply, GradeError, make_llm_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.types import GenerateRequest
from relgate.rubrics.errors import UsageError

FAST = CallPolicy(backoff_s=0.0, deadline_s=5.0)


def by_word(query: str, text: str) -> str:
    return "E" if query in text else "I"


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(f"d{i}", text) for i, text in enumerate(texts)]


def test_rows_come_back_in_the_callers_order() -> None:
    judge = make_llm_judge(FakeGenerate(grade_lines(by_word)), batch_size=3)
    texts = ["red shoe", "sock", "red hat", "tie", "red bag", "belt", "red cap"]
    hits = judge.grade_sync("red", candidates(*texts))
    assert [hit.id for hit in hits] == [f"d{i}" for i in range(7)]
    assert [hit.esci for hit in hits] == ["E", "I", "E", "I", "E", "I", "E"]
    assert [hit.grade for hit in hits] == [3, 0, 3, 0, 3, 0, 3]


def test_ids_that_look_like_ordinals_do_not_swap_grades() -> None:
    # Case P22: the document named "2" stands first.
    judge = make_llm_judge(FakeGenerate(grade_lines(lambda _, t: "E" if "red" in t else "I")))
    hits = judge.grade_sync("red shoe", [Candidate("2", "red shoe"), Candidate("1", "blue sock")])
    assert {hit.id: hit.esci for hit in hits} == {"2": "E", "1": "I"}


def test_product_ids_never_enter_the_prompt() -> None:
    fake = FakeGenerate(grade_lines(by_word))
    make_llm_judge(fake).grade_sync("red", [Candidate("sku-4711", "red shoe")])
    assert "4711" not in fake.requests[0].prompt + fake.requests[0].system


def test_retrieval_order_does_not_leak_into_the_prompt() -> None:
    prompts: list[set[str]] = []
    texts = [f"product {i}" for i in range(25)]
    for order in (texts, list(reversed(texts))):
        fake = FakeGenerate(grade_lines(by_word))
        make_llm_judge(fake, batch_size=10).grade_sync("q", candidates(*order))
        prompts.append({request.prompt for request in fake.requests})
    assert prompts[0] == prompts[1]


def test_one_call_a_batch() -> None:
    fake = FakeGenerate(grade_lines(by_word))
    make_llm_judge(fake, batch_size=10).grade_sync("q", candidates(*map(str, range(25))))
    assert len(fake.requests) == 3


def test_no_candidates_no_call() -> None:
    fake = FakeGenerate([])
    assert make_llm_judge(fake).grade_sync("q", []) == []
    assert fake.requests == []


def test_an_empty_query_is_a_failure_and_not_irrelevant() -> None:
    hits = make_llm_judge(FakeGenerate([])).grade_sync("  ", candidates("a"))
    assert hits[0].error is GradeError.UNREADABLE


def test_a_failed_row_shows_irrelevant_and_says_that_it_is_none() -> None:
    judge = make_llm_judge(FakeGenerate([RuntimeError("boom")]), policy=FAST)
    (hit,) = judge.grade_sync("q", candidates("a"))
    assert (hit.grade, hit.esci, hit.reason) == (0, "I", "judge-error")
    assert hit.error is GradeError.PROVIDER
    assert not hit.graded


def test_a_row_left_out_is_asked_for_again_in_a_smaller_batch() -> None:
    full = grade_lines(by_word)

    def forgets(request: GenerateRequest) -> str:
        reply = json.loads(full(request))
        if len(reply["grades"]) == 4:
            reply["grades"].pop()
        return json.dumps(reply)

    fake = FakeGenerate(forgets)
    hits = make_llm_judge(fake).grade_sync("q", candidates("a", "b", "c", "d"))
    assert all(hit.graded for hit in hits)
    assert [len(re.findall(r"^\d+\. ", r.prompt, re.MULTILINE)) for r in fake.requests] == [4, 1]


def test_truncation_is_retried_once_in_halves_and_never_grows_the_prompt() -> None:
    # Cases P13 and P16: at most 3 attempts a candidate and 3x the first prompt.
    fake = FakeGenerate(lambda _: GenerateReply('{"grades":[{"id":"1', finish_reason="length"))
    texts = [f"candidate number {i} with a text of ordinary length" for i in range(10)]
    hits = make_llm_judge(fake).grade_sync("q", candidates(*texts))
    assert {hit.error for hit in hits} == {GradeError.TRUNCATED}
    sizes = [len(request.prompt) for request in fake.requests]
    assert max(sizes[1:]) < sizes[0]
    assert sum(sizes) <= 3 * sizes[0]
    for text in texts:
        assert sum(text in request.prompt for request in fake.requests) <= 3
    assert "max_output_tokens" in (hits[0].detail or "")


def test_a_blocked_candidate_does_not_take_its_neighbours_along() -> None:
    # Case P18.
    full = grade_lines(by_word)

    def blocks(request: GenerateRequest) -> str | GenerateReply:
        bad = "forbidden" in request.prompt
        return GenerateReply(finish_reason="blocked") if bad else full(request)

    texts = ["a", "b", "c", "forbidden", "e", "f", "g", "h"]
    hits = make_llm_judge(FakeGenerate(blocks)).grade_sync("q", candidates(*texts))
    assert [hit.id for hit in hits if not hit.graded] == ["d3"]
    assert hits[3].error is GradeError.BLOCKED


def test_a_passing_error_is_retried_and_a_lasting_one_is_not() -> None:
    good = grade_lines(by_word)
    failures = iter([CallError(GradeError.RATE_LIMITED, "429", retry=True)])

    def flaky(request: GenerateRequest) -> str:
        for error in failures:
            raise error
        return good(request)

    fake = FakeGenerate(flaky)
    assert make_llm_judge(fake, policy=FAST).grade_sync("a", candidates("a"))[0].graded
    assert len(fake.requests) == 2

    fake = FakeGenerate([CallError(GradeError.PROVIDER, "400")])
    assert not make_llm_judge(fake, policy=FAST).grade_sync("a", candidates("a"))[0].graded
    assert len(fake.requests) == 1


def test_a_dead_key_stops_the_run_after_the_calls_under_way() -> None:
    def dead(_: GenerateRequest) -> str:
        raise CallError(GradeError.PROVIDER, "401: no such key", fatal=True)

    fake = FakeGenerate(dead)
    judge = make_llm_judge(fake, batch_size=1, policy=CallPolicy(concurrency=4))
    hits = judge.grade_sync("q", candidates(*map(str, range(100))))
    asked = [hit for hit in hits if hit.error is GradeError.PROVIDER]
    left = [hit for hit in hits if hit.error is GradeError.NOT_ASKED]
    assert len(asked) + len(left) == 100
    assert len(asked) == len(fake.requests) <= 4
    assert "401" in (left[0].detail or "")
    assert judge.engine.stopped is not None


def test_twenty_failures_in_a_row_stop_the_run() -> None:
    def down(_: GenerateRequest) -> str:
        raise CallError(GradeError.PROVIDER, "503", retry=False)

    fake = FakeGenerate(down)
    judge = make_llm_judge(fake, batch_size=1, policy=CallPolicy(concurrency=1))
    judge.grade_sync("q", candidates(*map(str, range(100))))
    assert len(fake.requests) == 20


def test_a_hung_call_ends_at_its_deadline() -> None:
    async def hangs(_: GenerateRequest) -> str:
        await asyncio.sleep(3600)
        return ""

    begin = time.monotonic()
    judge = make_llm_judge(hangs, policy=CallPolicy(deadline_s=0.2))
    (hit,) = judge.grade_sync("q", candidates("a"))
    assert hit.error is GradeError.TIMEOUT
    assert time.monotonic() - begin < 20  # hang guard


def test_a_hung_blocking_call_ends_at_its_deadline_too() -> None:
    def hangs(_: GenerateRequest) -> str:
        time.sleep(30)
        return ""

    begin = time.monotonic()
    judge = make_llm_judge(hangs, policy=CallPolicy(deadline_s=0.2))
    (hit,) = judge.grade_sync("q", candidates("a"))
    assert hit.error is GradeError.TIMEOUT
    assert time.monotonic() - begin < 20  # hang guard


def test_a_wait_longer_than_the_cap_is_not_slept() -> None:
    # Case R03: Retry-After of 55 hours.
    error = CallError(GradeError.RATE_LIMITED, "429", retry=True, retry_after_s=198_300.0)
    judge = make_llm_judge(FakeGenerate([error]), policy=FAST)
    (hit,) = judge.grade_sync("q", candidates("a"))
    assert hit.error is GradeError.RATE_LIMITED
    assert "198300" in (hit.detail or "")
    assert judge.engine.stopped is not None


@pytest.mark.parametrize("kind", ["sync", "async", "dict", "awaitable"])
def test_any_callable_will_do(kind: str) -> None:
    answer = grade_lines(by_word)

    def sync(request: GenerateRequest) -> str:
        return answer(request)

    async def aio(request: GenerateRequest) -> str:
        return answer(request)

    def awaitable(request: GenerateRequest) -> Awaitable[str]:
        return aio(request)

    def as_dict(request: GenerateRequest) -> dict[str, Any]:
        return json.loads(answer(request))

    generate = {"sync": sync, "async": aio, "dict": as_dict, "awaitable": awaitable}[kind]
    assert make_llm_judge(generate).grade_sync("a", candidates("a"))[0].esci == "E"


def test_a_foreign_return_value_is_a_failed_grade() -> None:
    hit = make_llm_judge(lambda _: 42).grade_sync("a", candidates("a"))[0]  # type: ignore[arg-type]
    assert hit.error is GradeError.PROVIDER


def test_the_version_pins_the_rubric_and_the_fingerprint_the_rest() -> None:
    base = make_llm_judge(FakeGenerate([]), model="m")
    assert re.fullmatch(r"esci-v1@[0-9a-f]{8}", base.version)
    assert make_llm_judge(FakeGenerate([]), version="mine").version == "mine@" + base.version[8:]
    for other in (
        make_llm_judge(FakeGenerate([]), model="other"),
        make_llm_judge(FakeGenerate([]), model="m", temperature=1.0),
        make_llm_judge(FakeGenerate([]), model="m", max_output_tokens=100),
        make_llm_judge(FakeGenerate([]), model="m", batch_size=5),
        make_llm_judge(FakeGenerate([]), model="m", endpoint="http://localhost:1"),
    ):
        assert other.version == base.version
        assert other.fingerprint != base.fingerprint
    assert make_llm_judge(FakeGenerate([]), model="m").fingerprint == base.fingerprint


def test_no_model_name_is_built_in() -> None:
    fake = FakeGenerate(grade_lines(by_word))
    make_llm_judge(fake).grade_sync("a", candidates("a"))
    assert fake.requests[0].model is None


def test_on_error_is_told_once_a_failed_batch() -> None:
    told: list[str] = []
    judge = make_llm_judge(FakeGenerate([RuntimeError("boom")]), on_error=told.append, policy=FAST)
    judge.grade_sync("q", candidates("a", "b"))
    assert len(told) == 1
    assert "boom" in told[0]


def test_grade_sync_inside_an_event_loop_says_what_to_do() -> None:
    async def inside() -> None:
        make_llm_judge(FakeGenerate([])).grade_sync("q", candidates("a"))

    with pytest.raises(UsageError, match="await"):
        asyncio.run(inside())


@pytest.mark.parametrize(
    "bad",
    [
        {"batch_size": 0},
        {"batch_size": 1.5},
        {"batch_size": True},
        {"batch_size": "3"},
        {"version": "a@b"},
        {"version": ""},
    ],
)
def test_a_judge_that_cannot_work_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        make_llm_judge(FakeGenerate([]), **bad)


def test_a_key_in_a_failure_reaches_neither_the_hits_nor_on_error() -> None:
    key = "sk-proj-" + "a1b2" * 8
    told: list[str] = []

    def leaky(_request: GenerateRequest) -> str:
        raise RuntimeError(f"401: key {key} refused, Authorization: Bearer {key}")

    judge = make_llm_judge(leaky, policy=FAST, on_error=told.append)
    (hit,) = judge.grade_sync("red", candidates("red shoe"))
    assert hit.error is GradeError.PROVIDER
    assert "401" in (hit.detail or "")
    assert key not in f"{hit} {told}"
