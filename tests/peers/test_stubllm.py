"""The real SDKs, through our adapters, against stubllm: a second opinion on chat and Gemini."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from relgate.judge import CallError, GenerateRequest, GradeError, Usage
from relgate.judge.prompt import judge_schema
from relgate.rubrics import load_rubric

GRADES = json.dumps(
    {
        "grades": [
            {"id": "2", "esci": "C", "reason": "goes with it"},
            {"id": "1", "esci": "S", "reason": "near"},
        ]
    }
)


def fixture(name: str, **response: Any) -> dict[str, Any]:
    match = {"messages": [{"role": "user", "content": {"contains": f"Shopper query: {name}"}}]}
    return {"name": name, "match": match, "response": response}


FIXTURES = [
    fixture(
        "red shoe",
        content=GRADES,
        usage={"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49},
    ),
    fixture("slow", content=GRADES, latency_ms=30_000),
    fixture("not json", content="I would say the first is Exact."),
    *(
        fixture(f"status {status}", http_status=status, error_message="the provider says so")
        for status in (400, 401, 403, 429, 500, 503)
    ),
]


@pytest.fixture(scope="module")
def server(
    stubllm_command: list[str], tools: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("stubllm")
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps(FIXTURES), "utf-8")
    server = tools.server([*stubllm_command, "--fixture-file", str(fixtures)], folder / "log")
    yield server
    server.stop()


@pytest.fixture(params=["chat", "gemini"])
def way(request: pytest.FixtureRequest, server: Any, tools: Any) -> Any:
    return tools.way(request.param, server.url)


def asked(server_url_way: Any, query: str, *, timeout_s: float = 5.0) -> Any:
    rubric = load_rubric()
    request = GenerateRequest(
        system=rubric.system,
        prompt=f"Shopper query: {query}",
        schema=judge_schema(rubric),
        model="m-1",
    )
    return asyncio.run(server_url_way.generate(timeout_s=timeout_s)(request))


def test_the_adapter_gives_text_usage_and_the_model_that_answered(way: Any) -> None:
    reply = asked(way, "red shoe")
    assert json.loads(reply.text) == json.loads(GRADES)
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(prompt_tokens=40, completion_tokens=9)
    assert reply.model == "m-1"


def test_a_judge_grades_by_reference_whatever_the_order_of_the_rows(way: Any, tools: Any) -> None:
    judge = way.judge()
    hits = judge.grade_sync("red shoe", tools.candidates)
    assert [hit.id for hit in hits] == ["p1", "p2"]
    assert {hit.position: hit.esci for hit in hits} == {1: "S", 2: "C"}
    assert judge.engine.stats.models == {"m-1"}


@pytest.mark.parametrize(
    ("status", "kind", "retry", "fatal"),
    [
        (400, GradeError.PROVIDER, False, True),
        (401, GradeError.PROVIDER, False, True),
        (403, GradeError.PROVIDER, False, True),
        (429, GradeError.RATE_LIMITED, True, False),
        (500, GradeError.PROVIDER, True, False),
        (503, GradeError.PROVIDER, True, False),
    ],
)
def test_each_status_has_its_meaning(
    way: Any, server: Any, status: int, kind: GradeError, *, retry: bool, fatal: bool
) -> None:
    before = calls(server, f"status {status}")
    with pytest.raises(CallError, match="the provider says so") as caught:
        asked(way, f"status {status}")
    error = caught.value
    assert (error.kind, error.retry, error.fatal) == (kind, retry, fatal)
    assert error.retry_after_s is None  # stubllm asks for no wait
    assert calls(server, f"status {status}") == before + 1  # the SDK's own retries are off


def calls(server: Any, name: str) -> int:
    return int(server.ask("GET", "/_stats")["fixture_call_counts"].get(name, 0))


def test_a_slow_server_is_a_timeout_in_time(way: Any) -> None:
    started = time.monotonic()
    with pytest.raises(CallError) as caught:
        asked(way, "slow", timeout_s=0.3)
    assert time.monotonic() - started < 15, "it waited for the server"
    assert (caught.value.kind, caught.value.retry) == (GradeError.TIMEOUT, True)


def test_a_judge_tries_as_often_as_allowed_and_grades_nothing(
    way: Any, server: Any, tools: Any
) -> None:
    before = calls(server, "status 503")
    hits = way.judge(attempts=3).grade_sync("status 503", tools.candidates)
    assert {hit.error for hit in hits} == {GradeError.PROVIDER}
    assert calls(server, "status 503") == before + 3


def test_words_in_place_of_rows_are_unreadable_and_no_grade(way: Any, tools: Any) -> None:
    hits = way.judge().grade_sync("not json", tools.candidates)
    assert {hit.error for hit in hits} == {GradeError.UNREADABLE}
    assert not any(hit.graded for hit in hits)


def test_a_protocol_that_the_server_lacks_is_fatal(server: Any, tools: Any) -> None:
    for name in ("responses", "gemini-v1"):
        with pytest.raises(CallError) as caught:
            asked(tools.way(name, server.url), "red shoe")
        assert (caught.value.kind, caught.value.fatal) == (GradeError.PROVIDER, True)
