"""The OpenAI adapter, with the real SDK over a real socket: what goes out and comes back."""

from __future__ import annotations

import asyncio

import pytest
from provider_errors import failed

from relgate.judge.providers.openai import openai_generate
from relgate.judge.types import GradeError, Usage
from relgate.rubrics.errors import ProviderUnavailableError, UsageError


@pytest.fixture
def ask(openai_ask):
    return openai_ask


# --- what goes out


def test_chat_sends_system_prompt_and_the_strict_schema(peer, wire, ask):
    peer.says(wire.chat())
    ask(temperature=0.0, max_output_tokens=400)
    (seen,) = peer.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {wire.key}"
    assert seen.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "You are a strict judge."},
            {"role": "user", "content": "Shopper query: red shoe"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "relgate_reply", "strict": True, "schema": wire.schema},
        },
        "temperature": 0.0,
        "max_tokens": 400,
    }


def test_responses_sends_instructions_input_and_the_strict_schema_and_asks_not_to_store(
    peer, wire, ask
):
    peer.says(wire.response())
    ask(api="responses", max_output_tokens=400)
    (seen,) = peer.seen
    assert seen.path == "/v1/responses"
    assert seen.body == {
        "model": "m-1",
        "instructions": "You are a strict judge.",
        "input": "Shopper query: red shoe",
        "text": {
            "format": {
                "type": "json_schema",
                "name": "relgate_reply",
                "strict": True,
                "schema": wire.schema,
            }
        },
        "max_output_tokens": 400,
        "store": False,
    }


def test_an_endpoint_of_ones_own_without_a_key_gets_a_placeholder(peer, wire):
    peer.says(wire.chat())
    generate = openai_generate(base_url=f"{peer.url}/v1")
    asyncio.run(generate(wire.request()))
    assert peer.seen[0].headers["authorization"] == "Bearer none"


def test_the_endpoint_and_the_key_may_come_from_the_environment(peer, wire, monkeypatch):
    peer.says(wire.chat())
    monkeypatch.setenv("OPENAI_BASE_URL", f"{peer.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", f"{wire.key}\n")
    asyncio.run(openai_generate()(wire.request()))
    assert peer.seen[0].headers["authorization"] == f"Bearer {wire.key}"


def test_a_missing_key_is_an_error_that_names_the_variable():
    with pytest.raises(ProviderUnavailableError, match="OPENAI_API_KEY"):
        openai_generate()


def test_an_impossible_key_is_refused_before_any_call_and_not_shown(wire):
    with pytest.raises(ProviderUnavailableError) as caught:
        openai_generate(api_key=f"{wire.key}\u201d")
    assert wire.key not in repr(caught.value)


@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan")])
def test_a_call_cannot_be_allowed_to_wait_for_ever(wire, timeout_s):
    with pytest.raises(UsageError, match="timeout_s"):
        openai_generate(api_key=wire.key, timeout_s=timeout_s)


@pytest.mark.parametrize("url", ["localhost:8080/v1", "ftp://h/v1", "http://", "http://h:x/"])
def test_a_base_url_that_is_none_is_refused(wire, url):
    with pytest.raises(UsageError, match="no URL"):
        openai_generate(api_key=wire.key, base_url=url)


def test_no_model_named_is_fatal_and_nothing_is_sent(peer, wire, ask):
    peer.says(wire.chat())
    assert failed(ask, model=None).fatal
    assert peer.seen == []


# --- what comes back


def test_chat_usage_and_the_answering_model_are_recorded(peer, wire, ask):
    peer.says(wire.chat('{"grades":[]}'))
    reply = ask()
    assert reply.text == '{"grades":[]}'
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(prompt_tokens=90, completion_tokens=20)
    assert reply.model == "m-1-2026-01-01"


def test_responses_usage_and_the_answering_model_are_recorded(peer, wire, ask):
    peer.says(wire.response())
    reply = ask(api="responses")
    assert reply.text == '{"grades":[]}'
    assert reply.finish_reason == "stop"
    assert reply.usage == Usage(prompt_tokens=90, completion_tokens=20)
    assert reply.model == "m-1-2026-01-01"


def test_usage_that_the_endpoint_does_not_count_is_unknown_not_zero(peer, wire, ask):
    peer.says(wire.chat(usage=None))
    assert ask().usage == Usage(None, None)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "blocked"),
        ("tool_calls", "tool_calls"),
        (None, "unknown"),
    ],
)
def test_chat_finish_reasons_in_our_terms(peer, wire, ask, word, finish):
    peer.says(wire.chat("x", finish_reason=word))
    assert ask().finish_reason == finish


@pytest.mark.parametrize(
    "case",  # status, reason, finish
    [
        ("incomplete", "max_output_tokens", "length"),
        ("incomplete", "content_filter", "blocked"),
        ("incomplete", "steered", "steered"),
        ("cancelled", None, "cancelled"),
    ],
)
def test_responses_finish_reasons_in_our_terms(peer, wire, ask, case):
    status, reason, finish = case
    details = None if reason is None else {"reason": reason}
    peer.says(wire.response(status=status, incomplete_details=details))
    assert ask(api="responses").finish_reason == finish


def test_a_chat_refusal_is_refused_although_the_model_stopped(peer, wire, ask):
    peer.says(wire.chat(None, refusal="I cannot help with that."))
    reply = ask()
    assert (reply.finish_reason, reply.text) == ("refused", "I cannot help with that.")


def test_a_refusal_part_of_a_response_is_refused(peer, wire, ask):
    peer.says(wire.response({"type": "refusal", "refusal": "No."}))
    reply = ask(api="responses")
    assert (reply.finish_reason, reply.text) == ("refused", "No.")


def test_a_cut_reply_without_text_is_length_and_no_text(peer, wire, ask):
    peer.says(wire.chat(None, finish_reason="length"))
    reply = ask()
    assert (reply.finish_reason, reply.text) == ("length", None)


@pytest.mark.parametrize(
    "case",  # code, kind, retry
    [
        ("server_error", GradeError.PROVIDER, True),
        ("rate_limit_exceeded", GradeError.RATE_LIMITED, True),
        ("invalid_prompt", GradeError.BLOCKED, False),
        ("bio_policy", GradeError.BLOCKED, False),
        ("data_residency_mismatch", GradeError.PROVIDER, False),
    ],
)
def test_a_failed_response_is_a_failure_although_http_says_200(peer, wire, ask, case):
    code, kind, retry = case
    peer.says(wire.response(status="failed", output=[], error={"code": code, "message": "no luck"}))
    error = failed(ask, api="responses")
    assert (error.kind, error.retry, error.fatal) == (kind, retry, False)
    assert "no luck" in error.message


def test_an_error_object_under_status_200_is_a_failure(peer, wire, ask):
    peer.says(wire.say(body={"error": {"code": 429, "message": "slow down"}}))
    error = failed(ask)
    assert (error.kind, error.retry) == (GradeError.RATE_LIMITED, True)


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": None}, [], "x", 3, None])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_json_that_is_no_reply_is_a_provider_failure(peer, wire, ask, api, body):
    peer.says(wire.say(body=body))
    assert failed(ask, api=api).kind is GradeError.PROVIDER


def test_a_web_page_in_place_of_a_reply_asks_whether_the_url_is_right(peer, wire, ask):
    peer.says(wire.say(body=b"<html>welcome</html>", content_type="text/html"))
    error = failed(ask)
    assert error.kind is GradeError.PROVIDER
    assert "URL" in error.message
