"""The decisions adapters where something fails, the whole judge over them, keys and loops."""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import time

import pytest
from decision_sides import CANDIDATES, NOT, REQUEST, SURE, Side
from provider_errors import everything_of

from relgate.judge import CallError, GradeError
from relgate.judge.providers.decisions import gemini_decide, openai_decide
from relgate.judge.providers.gemini_decisions import decisions_failure_of

# --- what fails


@pytest.mark.parametrize(
    "case",  # status, kind, retry, fatal
    [
        (400, GradeError.PROVIDER, False, True),
        (401, GradeError.PROVIDER, False, True),
        (403, GradeError.PROVIDER, False, True),
        (404, GradeError.PROVIDER, False, True),
        (408, GradeError.TIMEOUT, True, False),
        (409, GradeError.PROVIDER, True, False),
        (422, GradeError.PROVIDER, False, True),
        (429, GradeError.RATE_LIMITED, True, False),
        (500, GradeError.PROVIDER, True, False),
        (503, GradeError.PROVIDER, True, False),
        (504, GradeError.TIMEOUT, True, False),
    ],
)
def test_each_status_has_its_meaning_and_is_sent_once(side, peer, case):
    status, *means = case
    peer.says(side.error(status, "the provider says so"))
    error = side.failed()
    assert [error.kind, error.retry, error.fatal] == means
    assert "the provider says so" in error.message
    assert len(peer.seen) == 1  # google-genai would try these five times


def test_a_missing_model_says_so(side, peer):
    peer.says(side.error(404, "model d-1 does not exist"))
    error = side.failed()
    assert error.fatal
    assert error.message.startswith("no such model or address; HTTP 404")


def test_what_the_server_asks_to_wait_is_passed_on(side, peer):
    name = "retry-after" if side.name == "openai" else "retry_after"
    peer.says(side.error(429, "slow down", headers={name: "7"}))
    assert side.failed().retry_after_s == 7


def test_a_dead_key_is_fatal_although_gemini_says_400(peer, wire):
    side = Side("gemini", peer, wire)
    peer.says(wire.gemini_error(400, "INVALID_ARGUMENT", "API key not valid."))
    assert "key refused" in side.failed().message


def test_an_error_that_is_no_json_is_still_an_error(side, peer, wire):
    peer.says(wire.say(502, body=b"<html>Bad gateway</html>", content_type="text/html"))
    error = side.failed()
    assert (error.kind, error.retry) == (GradeError.PROVIDER, True)
    assert "502" in error.message


@pytest.mark.parametrize("body", [b'{"answers": [{"na', b"\xff\xfe{}", b""])
def test_broken_json_under_status_200_is_worth_another_try(side, peer, wire, body):
    peer.says(wire.say(body=body))
    error = side.failed()
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert len(peer.seen) == 1


def test_a_web_page_in_place_of_a_decision_is_a_provider_failure(side, peer, wire):
    peer.says(wire.say(body=b"<html>welcome</html>", content_type="text/html"))
    assert side.failed().kind is GradeError.PROVIDER


@pytest.mark.parametrize("how", ["hang", "trickle"])
def test_a_server_that_does_not_finish_is_a_timeout(side, peer, wire, how):
    peer.says(wire.say(502, body={}), wire.say(body={}, how=how))
    side.failed()  # loads the SDK, for which a call has no time
    started = time.monotonic()
    error = side.failed(timeout_s=1.0)
    assert time.monotonic() - started < 20  # the server would hold it for 30
    assert (error.kind, error.retry, error.fatal) == (GradeError.TIMEOUT, True, False)
    assert len(peer.seen) == 2


def test_a_dropped_connection_is_worth_another_try(side, peer, wire):
    peer.says(wire.say(how="disconnect"))
    error = side.failed()
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert len(peer.seen) == 1


@pytest.mark.parametrize("make", [openai_decide, gemini_decide])
def test_nobody_listening_is_worth_another_try_and_names_the_place(make):
    decide = make(api_key="sk-0123456789", base_url="http://127.0.0.1:9", timeout_s=5)
    with pytest.raises(CallError, match=r"127\.0\.0\.1:9") as caught:
        asyncio.run(decide(REQUEST))
    assert (caught.value.kind, caught.value.retry) == (GradeError.PROVIDER, True)


def test_every_exception_class_of_this_part_of_the_sdk_is_mapped():
    private = importlib.import_module("google.genai._interactions_errors")
    below = importlib.import_module("httpx2")
    request = below.Request("POST", "http://h/v1")
    parts = {
        "response": below.Response(500, request=request),
        "request": request,
        "body": None,
        "message": "m",
    }
    classes = [
        c for c in vars(private).values() if inspect.isclass(c) and issubclass(c, private.APIError)
    ]
    assert len(classes) >= 12  # a new release may add some, and they are then checked too
    for cls in classes:
        names = inspect.signature(cls.__init__).parameters
        error = cls(**{n: parts[n] for n in names if n in parts})
        assert decisions_failure_of(error, base_url="http://h"), cls


def test_an_exception_that_is_not_the_provider_s_is_not_claimed_as_known():
    assert decisions_failure_of(TypeError("ours"), base_url="http://h") is None


# --- the whole judge


def test_a_judge_grades_by_probability_over_the_wire(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_1", *SURE), wire.choice("candidate_2", *NOT)))
    judge = side.judge()
    hits = judge.grade_sync("red shoe", CANDIDATES)
    assert {hit.position: (hit.esci, hit.grade) for hit in hits} == {1: ("E", 3), 2: ("I", 0)}
    expected = {hit.position: hit.expected_grade for hit in hits}
    assert expected == {1: pytest.approx(2.55), 2: pytest.approx(0.4)}
    stats = judge.engine.stats
    assert (stats.calls, stats.prompt_tokens, stats.completion_tokens) == (1, 90, 20)


def test_a_judge_asks_a_refused_candidate_again_alone_and_keeps_the_other(peer, wire):
    side = Side("openai", peer, wire)
    refusal = {"type": "refusal", "name": "candidate_1"}
    peer.says(side.says(refusal, wire.choice("candidate_2", *SURE)), side.says(refusal))
    hits = side.judge().grade_sync("red shoe", CANDIDATES)
    by_error = {hit.error: hit.esci for hit in hits}
    assert by_error == {None: "E", GradeError.REFUSED: "I"}
    assert [len(body["questions"]) for body in peer.bodies] == [2, 1]


def test_a_judge_splits_a_blocked_prompt_so_that_harmless_neighbours_are_graded(peer, wire):
    side = Side("gemini", peer, wire)
    blocked = wire.say(body={"prompt_feedback": {"block_reason": "safety"}})
    peer.says(blocked, blocked, side.says(wire.choice("candidate_1", *SURE)))
    hits = side.judge().grade_sync("red shoe", CANDIDATES)
    assert sorted(str(hit.error) for hit in hits) == ["None", "blocked"]
    assert [len(body["questions"]) for body in peer.bodies] == [2, 1, 1]


def test_a_judge_gets_over_a_429(side, peer, wire):
    name = "retry-after" if side.name == "openai" else "retry_after"
    peer.says(
        side.error(429, "slow down", headers={name: "0.2"}),
        side.says(wire.choice("candidate_1", *SURE), wire.choice("candidate_2", *SURE)),
    )
    judge = side.judge()
    started = time.monotonic()
    assert all(hit.graded for hit in judge.grade_sync("red shoe", CANDIDATES))
    assert time.monotonic() - started >= 0.2
    assert (judge.engine.stats.calls, judge.engine.stats.failed_calls) == (2, 1)


def test_a_judge_without_its_model_stops_after_one_call(side, peer):
    peer.says(side.error(404, "model d-1 does not exist"))
    judge = side.judge()
    hits = judge.grade_sync("red shoe", CANDIDATES)
    assert {hit.error for hit in hits} == {GradeError.PROVIDER}
    later = judge.grade_sync("blue shoe", CANDIDATES)
    assert {hit.error for hit in later} == {GradeError.NOT_ASKED}
    assert len(peer.seen) == 1


# --- keys, loops


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_that_the_server_echoes_is_in_no_error(side, peer, status):
    peer.says(side.error(status, f"bad key {side.key} at /v1?key={side.key}"))
    error = side.failed()
    assert side.key not in everything_of(error)
    assert side.key not in repr(side.decide())
    assert "bad key ***" in error.message


def test_a_key_in_a_broken_body_is_masked(side, peer, wire):
    peer.says(wire.say(body=f"{side.key} <html>".encode()))
    assert side.key not in everything_of(side.failed())


def test_one_instance_serves_loop_after_loop_and_leaves_no_socket_open(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_1", *SURE)))
    decide = side.decide()
    for _ in range(3):
        assert asyncio.run(decide(REQUEST)).rows[0]["E"] == 0.7
        gc.collect()  # an unclosed socket or transport would warn here, and warnings are errors
    assert len(peer.seen) == 3


def test_a_closed_instance_is_still_usable(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_1", *SURE)))
    decide = side.decide()

    async def twice():
        await decide(REQUEST)
        await decide.aclose()
        return await decide(REQUEST)

    assert asyncio.run(twice()).rows[0]["E"] == 0.7
