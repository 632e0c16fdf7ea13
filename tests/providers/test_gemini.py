"""The Gemini adapter, with the real SDK over a real socket."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import time

import pytest
from google.genai import errors
from provider_errors import everything_of, failed
from shared_cases import shared_case

from relgate.judge.providers.gemini import gemini_generate
from relgate.judge.providers.gemini_reply import failure_of
from relgate.judge.types import CallError, GradeError, Usage
from relgate.rubrics.errors import ProviderUnavailableError, UsageError


@pytest.fixture
def ask(peer, wire):
    """Asks once, in a loop of its own, as `grade_sync` does."""

    def ask(*, generate=None, timeout_s=5.0, api_version=None, thinking_budget=None, **request):
        generate = generate or make(
            timeout_s=timeout_s, api_version=api_version, thinking_budget=thinking_budget
        )
        return asyncio.run(generate(wire.request(model="gemini-x", **request)))

    def make(**settings):
        return gemini_generate(api_key=wire.gemini_key, base_url=peer.url, **settings)

    ask.make = make
    return ask


# --- what goes out


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_system_prompt_and_schema_go_out_untouched(peer, wire, ask, version):
    peer.says(wire.gemini("{}"))
    ask(api_version=version, temperature=0.0, max_output_tokens=400, thinking_budget=0)
    (seen,) = peer.seen
    assert seen.path == f"/{version}/models/gemini-x:generateContent"
    assert seen.headers["x-goog-api-key"] == wire.gemini_key
    assert seen.headers["x-server-timeout"] == "5"
    assert seen.body["systemInstruction"]["parts"] == [{"text": "You are a strict judge."}]
    assert seen.body["contents"] == [
        {"role": "user", "parts": [{"text": "Shopper query: red shoe"}]}
    ]
    assert seen.body["generationConfig"] == {
        "temperature": 0.0,
        "maxOutputTokens": 400,
        "responseMimeType": "application/json",
        "responseJsonSchema": wire.schema,
        "thinkingConfig": {"thinking_budget": 0},  # as the SDK writes it; proto3 JSON reads both
    }


def test_what_is_not_asked_for_is_not_sent(peer, wire, ask):
    peer.says(wire.gemini("{}"))
    ask()
    sent = peer.bodies[0]["generationConfig"]
    assert sorted(sent) == ["responseJsonSchema", "responseMimeType"]


def test_the_version_may_come_from_the_environment(peer, wire, ask, monkeypatch):
    peer.says(wire.gemini("{}"))
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1beta")
    ask()
    assert peer.seen[0].path.startswith("/v1beta/")


def test_the_environment_cannot_send_the_key_to_another_service(peer, wire, ask, monkeypatch):
    peer.says(wire.gemini("{}"))
    monkeypatch.setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
    assert ask().finish_reason == "stop"
    assert peer.seen[0].path == "/v1/models/gemini-x:generateContent"


@pytest.mark.parametrize("name", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
def test_the_key_may_come_from_either_variable(peer, wire, monkeypatch, name):
    peer.says(wire.gemini("{}"))
    monkeypatch.setenv(name, wire.gemini_key)
    asyncio.run(gemini_generate(base_url=peer.url)(wire.request()))
    assert peer.seen[0].headers["x-goog-api-key"] == wire.gemini_key


def test_a_missing_key_is_an_error_that_names_both_variables():
    with pytest.raises(ProviderUnavailableError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        gemini_generate()


@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan")])
def test_a_call_cannot_be_allowed_to_wait_for_ever(wire, timeout_s):
    with pytest.raises(UsageError, match="timeout_s"):
        gemini_generate(api_key=wire.gemini_key, timeout_s=timeout_s)


def test_no_model_named_is_fatal_and_nothing_is_sent(peer, wire):
    generate = gemini_generate(api_key=wire.gemini_key, base_url=peer.url)
    with pytest.raises(CallError) as caught:
        asyncio.run(generate(wire.request(model=None)))
    assert caught.value.fatal
    assert peer.seen == []


def test_a_redirect_is_not_followed_key_in_hand(peer, wire, ask):
    peer.says(wire.say(307, body={}, headers={"location": "http://127.0.0.1:9/elsewhere"}))
    error = failed(ask)
    assert (error.kind, error.fatal) == (GradeError.PROVIDER, True)
    assert len(peer.seen) == 1


# --- what comes back


def test_text_usage_and_the_answering_model_are_recorded(peer, wire, ask):
    peer.says(wire.gemini('{"grades":', "[]}"))
    reply = ask()
    assert reply.text == '{"grades":[]}'
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(prompt_tokens=90, completion_tokens=25)  # 5 of them thoughts
    assert reply.model == "g-1-001"


def test_thoughts_are_no_part_of_the_answer(peer, wire, ask):
    say = wire.gemini("{}")
    say.body["candidates"][0]["content"]["parts"].insert(0, {"text": "hmm E", "thought": True})
    peer.says(say)
    assert ask().text == "{}"


def test_usage_that_the_endpoint_does_not_count_is_unknown_not_zero(peer, wire, ask):
    peer.says(wire.gemini("{}", usageMetadata=None))
    assert ask().usage == Usage(None, None)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "blocked"),
        ("RECITATION", "blocked"),
        ("BLOCKLIST", "blocked"),
        ("PROHIBITED_CONTENT", "blocked"),
        ("SPII", "blocked"),
        ("OTHER", "other"),
        ("MALFORMED_RESPONSE", "malformed_response"),
        ("FINISH_REASON_UNSPECIFIED", "finish_reason_unspecified"),
        (None, "unknown"),
    ],
)
def test_only_stop_is_stop(peer, wire, ask, word, finish):
    peer.says(wire.gemini("{}", finish=word))
    assert ask().finish_reason == finish


@pytest.mark.filterwarnings("ignore:NEW_REASON is not a valid FinishReason")
def test_a_finish_reason_of_the_future_is_not_stop(peer, wire, ask):
    peer.says(wire.gemini("{}", finish="NEW_REASON"))
    assert ask().finish_reason == "new_reason"


def test_a_continuation_is_reported_and_not_paid_for_unseen(peer, wire, ask):
    say = wire.gemini('{"grades":[', finish="CONTINUATION")
    say.body["candidates"][0]["continuationToken"] = "bW9yZQ=="
    say.body["continuationToken"] = "bW9yZQ=="
    peer.says(say)
    assert ask().finish_reason == "continuation"
    assert len(peer.seen) == 1


def test_p14_thinking_that_used_up_the_budget_is_length_without_text(peer, wire, ask, shared):
    assert shared_case(shared, "P14")["input"]["finish_reason"] == "MAX_TOKENS"
    peer.says(wire.gemini(finish="MAX_TOKENS"))
    reply = ask()
    assert (reply.finish_reason, reply.text, reply.data) == ("length", None, None)


def test_p18_a_blocked_prompt_is_blocked_and_the_next_call_works(peer, wire, ask, shared):
    response = shared_case(shared, "P18")["input"]["response"]
    body = {
        "candidates": response["candidates"],
        "promptFeedback": {"blockReason": response["prompt_feedback"]["block_reason"]},
    }
    peer.says(wire.say(body=body), wire.gemini("{}"))
    generate = ask.make()
    reply = ask(generate=generate)
    assert (reply.finish_reason, reply.text) == ("blocked", None)
    assert ask(generate=generate).finish_reason == "stop"


def test_neither_an_answer_nor_a_reason_is_a_provider_failure(peer, wire, ask):
    peer.says(wire.say(body={}))
    error = failed(ask)
    assert (error.kind, error.retry) == (GradeError.PROVIDER, True)


# --- what fails


def test_p19_the_schema_goes_out_as_the_api_takes_it(peer, wire, ask, shared):
    schema = shared_case(shared, "P19")["input"]["schema"]
    peer.says(wire.gemini("{}"))
    ask(schema=schema)
    sent = peer.bodies[0]["generationConfig"]
    assert sent["responseJsonSchema"] == schema
    assert "responseSchema" not in sent
    assert "additional_properties" not in json.dumps(sent)


def test_p19_a_400_is_not_retried_and_stops_the_run_with_one_clear_message(peer, wire, ask, shared):
    assert shared_case(shared, "P19")["right"]["expect"]["retries_on_400"] == 0
    said = 'Invalid JSON payload received. Unknown name "additional_properties"'
    peer.says(wire.gemini_error(400, "INVALID_ARGUMENT", said))
    error = failed(ask)
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, False, True)
    assert said in error.message
    assert "\n" not in error.message
    assert len(peer.seen) == 1


def test_a_dead_key_is_fatal_although_gemini_says_400(peer, wire, ask):
    peer.says(
        wire.gemini_error(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
        )
    )
    error = failed(ask)
    assert error.fatal
    assert "key refused" in error.message


@pytest.mark.parametrize(
    "case",  # status, word, kind, retry, fatal
    [
        (400, "FAILED_PRECONDITION", GradeError.PROVIDER, False, True),
        (401, "UNAUTHENTICATED", GradeError.PROVIDER, False, True),
        (403, "PERMISSION_DENIED", GradeError.PROVIDER, False, True),
        (404, "NOT_FOUND", GradeError.PROVIDER, False, True),
        (408, "x", GradeError.TIMEOUT, True, False),
        (409, "ABORTED", GradeError.PROVIDER, True, False),
        (429, "RESOURCE_EXHAUSTED", GradeError.RATE_LIMITED, True, False),
        (500, "INTERNAL", GradeError.PROVIDER, True, False),
        (503, "UNAVAILABLE", GradeError.PROVIDER, True, False),
        (504, "DEADLINE_EXCEEDED", GradeError.TIMEOUT, True, False),
    ],
)
def test_each_status_has_its_meaning_and_is_sent_once(peer, wire, ask, case):
    status, word, *means = case
    peer.says(wire.gemini_error(status, word, "the provider says so"))
    error = failed(ask)
    assert [error.kind, error.retry, error.fatal] == means
    assert "the provider says so" in error.message
    assert len(peer.seen) == 1


def test_a_prompt_that_is_too_long_does_not_stop_the_run(peer, wire, ask):
    said = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    peer.says(wire.gemini_error(400, "INVALID_ARGUMENT", said))
    error = failed(ask)
    assert (error.retry, error.fatal) == (False, False)


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def test_a_wait_in_the_body_is_passed_on(peer, wire, ask):
    peer.says(wire.gemini_error(429, "RESOURCE_EXHAUSTED", "slow down", RETRY_INFO))
    assert failed(ask).retry_after_s == 34.5


def test_a_wait_in_the_header_goes_before_the_body(peer, wire, ask):
    say = wire.gemini_error(429, "RESOURCE_EXHAUSTED", "slow", RETRY_INFO, retry_after="7")
    peer.says(say)
    assert failed(ask).retry_after_s == 7


def test_a_spent_daily_quota_is_fatal(peer, wire, ask):
    quota = {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
    }
    peer.says(wire.gemini_error(429, "RESOURCE_EXHAUSTED", "exceeded", quota, RETRY_INFO))
    error = failed(ask)
    assert (error.kind, error.retry, error.fatal) == (GradeError.RATE_LIMITED, False, True)


def test_an_error_that_is_no_json_is_still_an_error(peer, wire, ask):
    peer.says(wire.say(502, body=b"<html>Bad gateway</html>", content_type="text/html"))
    error = failed(ask)
    assert (error.kind, error.retry) == (GradeError.PROVIDER, True)


@pytest.mark.parametrize("how", ["hang", "trickle"])
def test_a_server_that_does_not_finish_is_a_timeout(peer, wire, ask, how):
    peer.says(wire.say(502, body={}), wire.say(body={}, how=how))
    failed(ask)  # loads the SDK, for which a call has no time
    started = time.monotonic()
    error = failed(ask, timeout_s=1.0)
    assert time.monotonic() - started < 20  # the server would hold it for 30
    assert (error.kind, error.retry, error.fatal) == (GradeError.TIMEOUT, True, False)
    assert len(peer.seen) == 2


def test_a_dropped_connection_is_worth_another_try(peer, wire, ask):
    peer.says(wire.say(how="disconnect"))
    error = failed(ask)
    assert (error.kind, error.retry, error.fatal) == (GradeError.PROVIDER, True, False)
    assert len(peer.seen) == 1


def test_nobody_listening_is_worth_another_try_and_names_the_place(wire):
    generate = gemini_generate(api_key=wire.gemini_key, base_url="http://127.0.0.1:9", timeout_s=5)
    with pytest.raises(CallError, match=r"127\.0\.0\.1:9") as caught:
        asyncio.run(generate(wire.request()))
    assert (caught.value.kind, caught.value.retry) == (GradeError.PROVIDER, True)


@pytest.mark.parametrize("body", [b'{"candidates": [{"con', b"\xff\xfe{}"])
def test_broken_json_under_status_200_is_worth_another_try(peer, wire, ask, body):
    peer.says(wire.say(body=body))
    error = failed(ask)
    assert (error.kind, error.retry) == (GradeError.PROVIDER, True)
    assert len(peer.seen) == 1


@pytest.mark.parametrize("body", [[], "x", 3, {"candidates": "x"}, {"candidates": [3]}])
def test_json_that_is_no_reply_is_a_provider_failure(peer, wire, ask, body):
    peer.says(wire.say(body=body))
    assert failed(ask).kind is GradeError.PROVIDER


def test_every_exception_class_of_the_sdk_is_mapped():
    classes = [
        c
        for c in vars(errors).values()
        if inspect.isclass(c) and issubclass(c, Exception) and not issubclass(c, Warning)
    ]
    assert len(classes) >= 8  # a new release may add some, and they are then checked too
    for cls in classes:
        error = cls(503, {"error": {}}) if issubclass(cls, errors.APIError) else cls("m")
        assert failure_of(error, base_url="http://h"), cls


def test_an_exception_that_is_not_the_provider_s_is_not_claimed_as_known():
    assert failure_of(TypeError("ours"), base_url="http://h") is None


# --- keys, loops


@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_a_key_that_the_server_echoes_is_in_no_error(peer, wire, ask, status):
    said = f"bad key {wire.gemini_key} at /v1?key={wire.gemini_key}"
    peer.says(wire.gemini_error(status, "X", said))
    generate = ask.make()
    error = failed(ask, generate=generate)
    assert wire.gemini_key not in everything_of(error)
    assert wire.gemini_key not in repr(generate)
    assert "bad key ***" in error.message


def test_one_instance_serves_loop_after_loop_and_leaves_no_socket_open(peer, wire, ask):
    peer.says(wire.gemini("{}"))
    generate = ask.make()
    for _ in range(3):
        assert ask(generate=generate).finish_reason == "stop"
        gc.collect()  # an unclosed socket or transport would warn here, and warnings are errors
    assert len(peer.seen) == 3


def test_a_closed_instance_is_still_usable(peer, wire, ask):
    peer.says(wire.gemini("{}"))
    generate = ask.make()

    async def twice():
        await generate(wire.request())
        await generate.aclose()
        return await generate(wire.request())

    assert asyncio.run(twice()).finish_reason == "stop"
