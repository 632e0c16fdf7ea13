"""The OpenAI adapter where something fails: the provider, the endpoint's abilities, the key."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import time
from email.utils import formatdate

import httpx2
import openai
import pytest
from provider_errors import everything_of, failed

from relgate.judge.providers.openai import openai_generate
from relgate.judge.providers.openai_reply import failure_of
from relgate.judge.types import CallError, GradeError


@pytest.fixture
def ask(openai_ask):
    return openai_ask


# --- what fails


@pytest.mark.parametrize(
    "case",  # status, code, kind, retry, fatal
    [
        (400, None, GradeError.PROVIDER, False, True),
        (400, "context_length_exceeded", GradeError.PROVIDER, False, False),
        (400, "content_filter", GradeError.BLOCKED, False, False),
        (401, "invalid_api_key", GradeError.PROVIDER, False, True),
        (402, None, GradeError.PROVIDER, False, True),
        (403, None, GradeError.PROVIDER, False, True),
        (404, "model_not_found", GradeError.PROVIDER, False, True),
        (408, None, GradeError.TIMEOUT, True, False),
        (409, None, GradeError.PROVIDER, True, False),
        (413, None, GradeError.PROVIDER, False, False),
        (422, None, GradeError.PROVIDER, False, True),
        (429, "rate_limit_exceeded", GradeError.RATE_LIMITED, True, False),
        (429, "insufficient_quota", GradeError.RATE_LIMITED, False, True),
        (500, None, GradeError.PROVIDER, True, False),
        (502, None, GradeError.PROVIDER, True, False),
        (503, None, GradeError.PROVIDER, True, False),
        (504, None, GradeError.TIMEOUT, True, False),
        (529, None, GradeError.PROVIDER, True, False),
    ],
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_each_status_has_its_meaning_and_is_sent_once(peer, wire, ask, api, case):
    status, code, *means = case
    peer.says(wire.openai_error(status, "the provider says so", code=code))
    error = failed(ask, api=api)
    assert [error.kind, error.retry, error.fatal] == means
    assert "the provider says so" in error.message
    assert str(status) in error.message
    assert len(peer.seen) == 1


def test_a_missing_quota_is_fatal_also_where_it_is_the_type_and_the_code_is_the_status(
    peer, wire, ask
):
    peer.says(wire.openai_error(429, "no", code=429, type="insufficient_quota"))
    error = failed(ask)
    assert error.fatal
    assert error.message == "no quota left; HTTP 429 insufficient_quota: no"


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "nan", "retry-after": "9"}, 9.0),
        ({"retry-after": "198300"}, 198300.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_what_the_server_asks_to_wait_is_passed_on(peer, wire, ask, headers, wait_s):
    peer.says(wire.openai_error(429, "slow down", headers=headers))
    assert failed(ask).retry_after_s == wait_s


def test_a_date_to_wait_for_becomes_seconds_from_now(peer, wire, ask):
    date = formatdate(time.time() + 90, usegmt=True)
    peer.says(wire.openai_error(503, "busy", headers={"retry-after": date}))
    assert failed(ask).retry_after_s == pytest.approx(90, abs=5)


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
    generate = openai_generate(api_key=wire.key, base_url="http://127.0.0.1:9/v1", timeout_s=5)
    with pytest.raises(CallError, match=r"127\.0\.0\.1:9") as caught:
        asyncio.run(generate(wire.request()))
    assert (caught.value.kind, caught.value.retry) == (GradeError.PROVIDER, True)


def test_broken_json_under_status_200_is_worth_another_try(peer, wire, ask):
    peer.says(wire.say(body=b'{"choices": [{"mess'))
    error = failed(ask)
    assert (error.kind, error.retry) == (GradeError.PROVIDER, True)
    assert len(peer.seen) == 1


def test_every_exception_class_of_the_sdk_is_mapped():
    request = httpx2.Request("POST", "http://h/v1")
    response = httpx2.Response(500, request=request)
    by_signature = {
        "response": response,
        "request": request,
        "body": None,
        "message": "m",
        "completion": openai.types.chat.ChatCompletion.model_construct(usage=None),
        "unsent_messages": [],
    }
    public = [getattr(openai, name) for name in openai.__all__]
    errors = [c for c in public if inspect.isclass(c) and issubclass(c, Exception)]
    assert len(errors) >= 19  # a new release may add some, and they are then checked too
    for cls in errors:
        ours = "__init__" in vars(cls) or cls.__init__ is not Exception.__init__
        names = list(inspect.signature(cls.__init__).parameters) if ours else []
        error = cls(**{n: by_signature[n] for n in names if n in by_signature})
        assert failure_of(error, base_url="http://h"), cls


def test_every_exception_class_of_the_transport_is_mapped():
    classes = [c for c in vars(httpx2).values() if inspect.isclass(c)]
    errors = [c for c in classes if issubclass(c, Exception)]
    assert len(errors) >= 25
    for cls in errors:
        bare = cls.__new__(cls)
        Exception.__init__(bare, "m")
        assert failure_of(bare, base_url="http://h"), cls


def test_an_exception_that_is_not_the_provider_s_is_not_claimed_as_known():
    assert failure_of(TypeError("ours"), base_url="http://h") is None


# --- what the endpoint refuses

REFUSES_SCHEMA = "Input should be 'text' or 'json_object' (body.response_format.type)"


@pytest.mark.parametrize("status", [400, 422, 500])
def test_an_endpoint_without_json_schema_is_asked_for_json_and_gets_the_schema_in_words(
    peer, wire, ask, status
):
    peer.says(wire.openai_error(status, REFUSES_SCHEMA), wire.chat())
    generate = ask.make()
    assert generate.mode == "json_schema"
    assert ask(generate=generate).text == '{"grades":[]}'
    assert generate.mode == "json_object"
    first, second = peer.bodies
    assert first["response_format"]["type"] == "json_schema"
    assert second["response_format"] == {"type": "json_object", "schema": wire.schema}
    prompt = second["messages"][1]["content"]
    assert prompt.startswith(first["messages"][1]["content"])
    assert json.dumps(wire.schema) in prompt


def test_an_endpoint_that_refuses_every_form_is_asked_for_text(peer, wire, ask):
    refusal = wire.openai_error(400, "response_format is not supported")
    peer.says(refusal, refusal, refusal, wire.chat())
    generate = ask.make()
    ask(generate=generate)
    assert generate.mode == "text"
    forms = [body.get("response_format", {}).get("type") for body in peer.bodies]
    assert forms == ["json_schema", "json_object", "json_object", None]


def test_what_was_refused_once_is_not_asked_again(peer, wire, ask):
    peer.says(wire.openai_error(400, REFUSES_SCHEMA), wire.chat())
    generate = ask.make()
    ask(generate=generate)
    ask(generate=generate)
    assert [b["response_format"]["type"] for b in peer.bodies] == [
        "json_schema",
        "json_object",
        "json_object",
    ]


def test_responses_fall_back_too(peer, wire, ask):
    peer.says(
        wire.openai_error(400, "unsupported: text.format of type json_schema"), wire.response()
    )
    generate = ask.make(api="responses")
    ask(generate=generate)
    assert generate.mode == "json_object"
    assert peer.bodies[1]["text"] == {"format": {"type": "json_object"}}


def test_an_endpoint_that_refuses_everything_ends_in_a_fatal_failure(peer, wire, ask):
    peer.says(wire.openai_error(400, "response_format and temperature are wrong"))
    error = failed(ask, temperature=0.0)
    assert error.fatal
    assert len(peer.seen) == 5  # four reply forms, then without temperature


@pytest.mark.parametrize("status", [401, 429, 503])
def test_another_failure_that_mentions_the_form_changes_nothing(peer, wire, ask, status):
    peer.says(wire.openai_error(status, "json_schema calls are limited"))
    generate = ask.make()
    failed(ask, generate=generate)
    assert generate.mode == "json_schema"
    assert len(peer.seen) == 1


def test_a_model_that_refuses_temperature_is_asked_again_without_and_never_with(peer, wire, ask):
    refusal = wire.openai_error(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model.",
        param="temperature",
        code="unsupported_value",
    )
    peer.says(refusal, wire.chat())
    generate = ask.make()
    assert generate.sends_temperature
    ask(generate=generate, temperature=0.0)
    ask(generate=generate, temperature=0.0)
    assert ["temperature" in body for body in peer.bodies] == [True, False, False]
    assert not generate.sends_temperature
    assert generate.mode == "json_schema"


def test_a_model_that_wants_another_name_for_the_output_limit_gets_it(peer, wire, ask):
    refusal = wire.openai_error(
        400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    )
    peer.says(refusal, wire.chat())
    ask(max_output_tokens=50)
    assert peer.bodies[0]["max_tokens"] == 50
    assert peer.bodies[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in peer.bodies[1]


def test_calls_at_once_agree_on_what_was_refused(peer, wire, ask):
    peer.says(*[wire.openai_error(400, REFUSES_SCHEMA)] * 4, wire.chat())
    generate = ask.make()

    async def together():
        return await asyncio.gather(*(generate(wire.request()) for _ in range(4)))

    assert [r.finish_reason for r in asyncio.run(together())] == ["stop"] * 4
    assert generate.mode == "json_object"


# --- keys, loops


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_that_the_server_echoes_is_in_no_error(peer, wire, ask, status):
    said = f"bad key {wire.key} in Authorization: Bearer {wire.key}, see http://h/?key={wire.key}"
    peer.says(wire.openai_error(status, said))
    error = failed(ask)
    assert wire.key not in everything_of(error)
    assert "bad key ***" in error.message


def test_a_key_of_no_known_shape_is_masked_too(peer, wire):
    key = "plainwords-and-7"
    peer.says(wire.openai_error(401, f"who is {key}?"))
    generate = openai_generate(api_key=key, base_url=f"{peer.url}/v1")
    with pytest.raises(CallError) as caught:
        asyncio.run(generate(wire.request()))
    assert key not in everything_of(caught.value)
    assert key not in repr(generate)


def test_a_key_in_a_broken_body_is_masked(peer, wire, ask):
    peer.says(wire.say(body=f"{wire.key} <html>".encode(), content_type="text/html"))
    assert wire.key not in everything_of(failed(ask))


def test_one_instance_serves_loop_after_loop_and_leaves_no_socket_open(peer, wire, ask):
    peer.says(wire.chat())
    generate = ask.make()
    for _ in range(3):
        assert ask(generate=generate).finish_reason == "stop"
        gc.collect()  # an unclosed socket or transport would warn here, and warnings are errors
    assert len(peer.seen) == 3


def test_connections_are_kept_within_a_loop_until_the_instance_is_closed(peer, wire, ask):
    peer.says(wire.chat())
    generate = ask.make()

    async def calls():
        for _ in range(3):
            await generate(wire.request())
        await generate.aclose()
        await generate(wire.request())  # still usable

    asyncio.run(calls())
    first, second, third, after = [seen.connection for seen in peer.seen]
    assert first == second == third != after


def test_a_cancelled_call_ends_at_once(peer, wire, ask):
    peer.says(wire.say(how="hang"))
    generate = ask.make(timeout_s=20)

    async def cancelled():
        task = asyncio.create_task(generate(wire.request()))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - started < 2
