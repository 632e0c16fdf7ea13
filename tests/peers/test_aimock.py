"""The real SDKs, through our adapters, against aimock: OpenAI chat and responses, Gemini."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from relgate.judge import CallError, GenerateRequest, GradeError, Usage
from relgate.judge.prompt import judge_schema
from relgate.rubrics import load_rubric


def rows(*labels: str) -> str:
    return json.dumps(
        {
            "grades": [
                {"id": str(i), "esci": label, "reason": f"row {i}"}
                for i, label in enumerate(labels, start=1)
            ]
        }
    )


SERVED_BY = "m-1-2026-10-01"
FIXTURES = [
    {
        "match": {"userMessage": "Shopper query: red shoe"},
        "response": {
            "content": rows("E", "I"),
            "model": SERVED_BY,
            "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
        },
    },
    {
        "match": {"userMessage": "Shopper query: cut off"},
        "response": {
            "content": '{"grades":[{"id":"1","esci":"S","reason":"near"},{"id":"2","es',
            "finishReason": "length",
        },
    },
    {
        "match": {"userMessage": "Shopper query: filtered"},
        "response": {"content": "-", "finishReason": "content_filter"},
    },
    {
        "match": {"userMessage": "Shopper query: no quota"},
        "response": {
            "error": {
                "message": "You exceeded your current quota",
                "type": "insufficient_quota",
                "code": "insufficient_quota",
            },
            "status": 429,
        },
    },
    {
        "match": {"userMessage": "Shopper query: dead key"},
        "response": {"error": {"message": "Incorrect API key", "type": "auth"}, "status": 401},
    },
    {
        "match": {"userMessage": "Shopper query: fenced"},
        "response": {"content": f"Sure!\n```json\n{rows('C', 'S')}\n```\nAnything else?"},
    },
]


@pytest.fixture(scope="module")
def server(
    aimock_command: list[str], tools: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("aimock")
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}), "utf-8")
    server = tools.aimock([*aimock_command, "-f", str(fixtures)], folder / "log")
    yield server
    server.stop()


@pytest.fixture
def aimock(server: Any) -> Iterator[Any]:
    """The server, well and with an empty memory."""
    server.heals()
    yield server
    server.heals()


@pytest.fixture(params=["chat", "responses", "gemini"])
def way(request: pytest.FixtureRequest, aimock: Any, tools: Any) -> Any:
    return tools.way(request.param, aimock.url)


def request_of(query: str = "red shoe", model: str = "m-1") -> GenerateRequest:
    rubric = load_rubric()
    return GenerateRequest(
        system=rubric.system,
        prompt=f"Shopper query: {query}",
        schema=judge_schema(rubric),
        model=model,
    )


def failure(way: Any, *, timeout_s: float = 5.0, query: str = "red shoe") -> CallError:
    with pytest.raises(CallError) as caught:
        asyncio.run(way.generate(timeout_s=timeout_s)(request_of(query)))
    return caught.value


# --- it works


def test_the_adapter_gives_text_usage_and_the_snapshot_that_answered(way: Any) -> None:
    reply = asyncio.run(way.generate()(request_of()))
    assert reply.text == rows("E", "I")
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(prompt_tokens=120, completion_tokens=30)
    # aimock's Gemini replies name no modelVersion at all: unknown, not the model asked for
    assert reply.model == (None if way.name == "gemini" else SERVED_BY)


def test_a_judge_grades_each_candidate_by_its_place_in_the_prompt(
    way: Any, aimock: Any, tools: Any
) -> None:
    judge = way.judge()
    hits = judge.grade_sync("red shoe", tools.candidates)
    (asked,) = aimock.journal()
    prompt = asked["body"]["messages"][-1]["content"]
    first = next(c.id for c in tools.candidates if f"1. {c.text}" in prompt)
    assert [hit.id for hit in hits] == ["p1", "p2"]
    assert {hit.id: hit.esci for hit in hits} == {
        c.id: "E" if c.id == first else "I" for c in tools.candidates
    }
    assert all(hit.graded for hit in hits)
    assert asked["body"]["messages"][0] == {"role": "system", "content": load_rubric().system}


def test_a_judge_counts_what_it_spent_and_who_answered(way: Any, tools: Any) -> None:
    judge = way.judge(model="m-1")
    judge.grade_sync("red shoe", tools.candidates)
    stats = judge.engine.stats
    assert (stats.calls, stats.failed_calls, stats.uncounted) == (1, 0, 0)
    assert (stats.prompt_tokens, stats.completion_tokens) == (120, 30)
    assert stats.models == (set() if way.name == "gemini" else {SERVED_BY})


def test_chat_sends_the_strict_schema(aimock: Any, tools: Any) -> None:
    tools.way("chat", aimock.url).judge().grade_sync("red shoe", tools.candidates)
    (asked,) = aimock.journal()
    form = asked["body"]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"] == judge_schema(load_rubric())


def test_prose_and_a_fence_around_the_rows_do_no_harm(way: Any, tools: Any) -> None:
    hits = way.judge().grade_sync("fenced", tools.candidates)
    assert sorted(hit.esci for hit in hits) == ["C", "S"]


# --- it fails


def test_429_is_rate_limited_and_retry_after_is_passed_on(way: Any, aimock: Any) -> None:
    aimock.fails(rateLimitRate=1)
    error = failure(way)
    assert (error.kind, error.retry, error.fatal) == (GradeError.RATE_LIMITED, True, False)
    assert error.retry_after_s == 1
    assert len(aimock.journal()) == 1  # the SDK's own retries are off


def test_500_is_worth_another_try(way: Any, aimock: Any) -> None:
    aimock.fails(dropRate=1)
    error = failure(way)
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert len(aimock.journal()) == 1


def test_malformed_json_under_200_is_worth_another_try(way: Any, aimock: Any) -> None:
    aimock.fails(malformedRate=1)
    error = failure(way)
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert "no valid JSON" in error.message
    assert len(aimock.journal()) == 1


def test_a_disconnect_is_worth_another_try(way: Any, aimock: Any) -> None:
    aimock.fails(disconnectRate=1)
    error = failure(way)
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert "connection" in error.message
    assert len(aimock.journal()) == 1


def test_a_slow_server_is_a_timeout_in_time(way: Any, aimock: Any) -> None:
    aimock.fails(latencyMs=30_000)
    started = time.monotonic()
    error = failure(way, timeout_s=0.3)
    assert time.monotonic() - started < 15, "it waited for the server"
    assert (error.kind, error.retry, error.fatal) == (GradeError.TIMEOUT, True, False)


def stopped_by(way: Any, aimock: Any, tools: Any, *, query: str) -> GradeError:
    """Which error stopped the run: the first call's, with no further call made."""
    judge = way.judge()
    (kind,) = {hit.error for hit in judge.grade_sync(query, tools.candidates)}
    later = judge.grade_sync("red shoe", tools.candidates)
    assert {hit.error for hit in later} == {GradeError.NOT_ASKED}
    assert len(aimock.journal()) == 1
    return kind


def test_a_dead_key_stops_the_run_after_one_call(way: Any, aimock: Any, tools: Any) -> None:
    assert stopped_by(way, aimock, tools, query="dead key") is GradeError.PROVIDER


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_a_spent_quota_stops_the_run_although_it_is_a_429(
    aimock: Any, tools: Any, name: str
) -> None:
    way = tools.way(name, aimock.url)
    assert stopped_by(way, aimock, tools, query="no quota") is GradeError.RATE_LIMITED


def test_a_judge_gets_over_a_429_and_waits_as_long_as_asked(
    way: Any, aimock: Any, tools: Any
) -> None:
    aimock.fails_once(429)
    judge = way.judge()
    started = time.monotonic()
    hits = judge.grade_sync("red shoe", tools.candidates)
    assert time.monotonic() - started >= 1  # aimock says Retry-After: 1
    assert all(hit.graded for hit in hits)
    assert (judge.engine.stats.calls, judge.engine.stats.failed_calls) == (2, 1)


@pytest.mark.parametrize(
    ("chaos", "kind"),
    [
        ({"dropRate": 1}, GradeError.PROVIDER),
        ({"malformedRate": 1}, GradeError.PROVIDER),
        ({"disconnectRate": 1}, GradeError.PROVIDER),
    ],
)
def test_a_fault_that_stays_leaves_each_row_ungraded_with_its_reason(
    way: Any, aimock: Any, tools: Any, chaos: dict[str, float], kind: GradeError
) -> None:
    aimock.fails(**chaos)
    judge = way.judge(attempts=2)
    hits = judge.grade_sync("red shoe", tools.candidates)
    assert [(hit.id, hit.error, hit.reason) for hit in hits] == [
        ("p1", kind, "judge-error"),
        ("p2", kind, "judge-error"),
    ]
    assert judge.engine.stats.calls == judge.engine.stats.failed_calls == 2


def test_a_cut_off_reply_keeps_its_whole_row_and_asks_again_for_the_other(
    way: Any, aimock: Any, tools: Any
) -> None:
    judge = way.judge()
    hits = judge.grade_sync("cut off", tools.candidates)
    # asked again, alone, the second candidate is number 1, which the cut reply does answer
    assert [(hit.esci, hit.error) for hit in hits] == [("S", None)] * 2
    prompts = [asked["body"]["messages"][-1]["content"] for asked in aimock.journal()]
    assert ["2. title" in prompt for prompt in prompts] == [True, False]


def test_cut_off_and_filtered_are_told_apart(way: Any) -> None:
    cut = asyncio.run(way.generate()(request_of("cut off")))
    # aimock's responses lack the incomplete_details that say why, so that is not claimed
    assert cut.finish_reason == ("incomplete" if way.name == "responses" else "length")
    if way.name == "responses":  # and a filtered one is `failed` without an error
        assert failure(way, query="filtered").kind is GradeError.PROVIDER
    else:
        filtered = asyncio.run(way.generate()(request_of("filtered")))
        assert filtered.finish_reason == "blocked"


def test_a_filtered_reply_is_blocked_in_every_row(aimock: Any, tools: Any) -> None:
    for name in ("chat", "gemini"):
        hits = tools.way(name, aimock.url).judge().grade_sync("filtered", tools.candidates)
        assert {hit.error for hit in hits} == {GradeError.BLOCKED}


def test_a_version_that_the_server_lacks_is_fatal(aimock: Any, tools: Any) -> None:
    error = failure(tools.way("gemini-v1", aimock.url))
    assert (error.kind, error.fatal) == (GradeError.PROVIDER, True)


# --- it ends


def test_a_stopped_server_leaves_no_process_and_no_port(
    aimock_command: list[str], tools: Any, tmp_path: Path
) -> None:
    fixtures = tmp_path / "one.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES[:1]}), "utf-8")
    # under a shell, as npx would be: the server is then a child, which its parent does not end
    line = [*aimock_command, "-f", str(fixtures)]
    server = tools.server(["/bin/sh", "-c", '"$@"; exit 0', "sh", *line], tmp_path / "log")
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=2):
        assert server.alive()
    server.stop()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((place.hostname or "", place.port or 0), timeout=2)
    with pytest.raises(ProcessLookupError):
        os.killpg(server.process.pid, 0)


def test_a_server_that_cannot_start_is_an_error_and_no_hang(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not start: oh no"):
        tools.server(["/bin/sh", "-c", "echo oh no"], tmp_path / "log")
