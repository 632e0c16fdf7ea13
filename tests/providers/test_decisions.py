"""The decisions adapters, with the real SDKs over a real socket to a peer of ours.

No real provider was within reach: the replies have the form that the installed SDKs parse.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import json
import time

import pytest
from provider_errors import everything_of, failed

from relgate.judge import CallError, Candidate, GradeError, Usage
from relgate.judge.decide import DecideRequest
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.providers.decisions import gemini_decide, openai_decide
from relgate.judge.providers.gemini_decisions import decisions_failure_of
from relgate.rubrics.errors import ProviderUnavailableError, UsageError

REQUEST = DecideRequest(
    system="You are a strict judge.",
    prompt="Shopper query: red shoe\n1. a\n2. b",
    questions=("Which is candidate 1?", "Which is candidate 2?"),
    labels=(("E", "Exact"), ("S", "Substitute"), ("C", "Complement"), ("I", "Irrelevant")),
    model="d-1",
)
SURE = (0.7, 0.2, 0.05, 0.05)
NOT = (0.0, 0.1, 0.2, 0.7)
CANDIDATES = [Candidate("p1", "title: Red shoe"), Candidate("p2", "title: Garden hose")]


class Side:
    """One of the two providers: how it is called, and how it answers."""

    def __init__(self, name, peer, wire):
        self.name, self.peer, self.wire = name, peer, wire
        self.key = wire.key if name == "openai" else wire.gemini_key

    def decide(self, **settings):
        if self.name == "openai":
            return openai_decide(api_key=self.key, base_url=f"{self.peer.url}/v1", **settings)
        return gemini_decide(api_key=self.key, base_url=self.peer.url, **settings)

    def ask(self, request=REQUEST, *, timeout_s=5.0):
        return asyncio.run(self.decide(timeout_s=timeout_s)(request))

    def failed(self, request=REQUEST, *, timeout_s=5.0) -> CallError:
        return failed(self.ask, request, timeout_s=timeout_s)

    def judge(self, **settings):
        policy = CallPolicy(backoff_s=0.01, attempts=2)
        return make_decision_judge(self.decide(), model="d-1", policy=policy, **settings)

    def says(self, *answers, **changed):
        return (self.wire.decision if self.name == "openai" else self.wire.gemini_decision)(
            *answers, **changed
        )

    def error(self, status, message, headers=None):
        if self.name == "openai":
            return self.wire.openai_error(status, message, headers=headers or {})
        return self.wire.gemini_error(status, "X", message, **(headers or {}))


@pytest.fixture(params=["openai", "gemini"])
def side(request, peer, wire):
    return Side(request.param, peer, wire)


# --- what goes out


def test_openai_is_sent_the_rubric_as_system_and_a_choice_for_each_candidate(peer, wire):
    side = Side("openai", peer, wire)
    peer.says(wire.decision(wire.choice("candidate_1", *SURE)))
    side.ask()
    (seen,) = peer.seen
    choices = [{"value": code, "description": name} for code, name in REQUEST.labels]
    assert seen.path == "/v1/decisions"
    assert seen.headers["authorization"] == f"Bearer {wire.key}"
    assert seen.body == {
        "model": "d-1",
        "input": [
            {"type": "message", "role": "system", "content": REQUEST.system},
            {"type": "message", "role": "user", "content": REQUEST.prompt},
        ],
        "questions": [
            {
                "type": "choice",
                "name": f"candidate_{n}",
                "instructions": f"Which is candidate {n}?",
                "choices": choices,
            }
            for n in (1, 2)
        ],
    }


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_gemini_is_sent_the_rubric_first_and_a_choice_for_each_candidate(peer, wire, version):
    side = Side("gemini", peer, wire)
    peer.says(wire.gemini_decision(wire.choice("candidate_1", *SURE)))
    asyncio.run(side.decide(api_version=version)(REQUEST))
    (seen,) = peer.seen
    assert seen.path == f"/{version}/decisions"
    assert seen.headers["x-goog-api-key"] == wire.gemini_key
    assert seen.body == {
        "model": "d-1",
        "input": [
            {"type": "text", "text": REQUEST.system},
            {"type": "text", "text": REQUEST.prompt},
        ],
        "questions": {
            f"candidate_{n}": {
                "type": "choice",
                "instructions": f"Which is candidate {n}?",
                "criteria": dict(REQUEST.labels),
            }
            for n in (1, 2)
        },
    }


@pytest.mark.parametrize(
    ("make", "names"), [(openai_decide, "OPENAI_API_KEY"), (gemini_decide, "GEMINI_API_KEY")]
)
def test_a_missing_key_is_an_error_that_names_the_variable(make, names):
    with pytest.raises(ProviderUnavailableError, match=names):
        make()


@pytest.mark.parametrize("make", [openai_decide, gemini_decide])
@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan")])
def test_a_call_cannot_be_allowed_to_wait_for_ever(wire, make, timeout_s):
    with pytest.raises(UsageError, match="timeout_s"):
        make(api_key=wire.key, timeout_s=timeout_s)


def test_no_model_named_is_fatal_and_nothing_is_sent(side, peer):
    peer.says(side.says())
    error = side.failed(DecideRequest("s", "p", ("q",), REQUEST.labels))
    assert error.fatal
    assert peer.seen == []


def test_a_redirect_is_not_followed_key_in_hand(peer, wire):
    side = Side("gemini", peer, wire)
    peer.says(wire.say(307, body={}, headers={"location": "http://127.0.0.1:9/elsewhere"}))
    assert side.failed().kind is GradeError.PROVIDER
    assert len(peer.seen) == 1


# --- what comes back


def test_probabilities_and_usage_come_back_by_question(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_1", *SURE), wire.choice("candidate_2", *NOT)))
    reply = side.ask()
    assert [dict(row) for row in reply.rows] == [
        {"E": 0.7, "S": 0.2, "C": 0.05, "I": 0.05},
        {"E": 0.0, "S": 0.1, "C": 0.2, "I": 0.7},
    ]
    assert reply.usage == Usage(prompt_tokens=90, completion_tokens=20)
    # Gemini's replies name no model
    assert reply.model == ("d-1-2026" if side.name == "openai" else None)
    assert reply.unknown == 0


def test_an_answer_belongs_to_the_question_that_it_names_and_not_to_its_place(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_2", *NOT), wire.choice("candidate_1", *SURE)))
    first, second = side.ask().rows
    assert (first["E"], second["E"]) == (0.7, 0.0)


def test_a_refused_question_leaves_its_neighbour_alone(peer, wire):
    side = Side("openai", peer, wire)  # Gemini's SDK knows no such answer
    refusal = {"type": "refusal", "name": "candidate_1"}
    peer.says(side.says(refusal, wire.choice("candidate_2", *NOT)))
    first, second = side.ask().rows
    assert first is GradeError.REFUSED
    assert second["I"] == 0.7


def test_a_question_without_an_answer_is_missing(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_2", *NOT)))
    first, second = side.ask().rows
    assert first is GradeError.MISSING
    assert second["I"] == 0.7


def test_an_answer_to_a_question_that_nobody_asked_is_counted_and_dropped(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_9", *SURE), wire.choice("candidate_1", *NOT)))
    reply = side.ask()
    assert reply.unknown == 1
    assert reply.rows[0]["I"] == 0.7
    assert reply.rows[1] is GradeError.MISSING


def test_answers_without_a_name_are_bound_to_nothing(peer, wire):
    side = Side("openai", peer, wire)
    peer.says(wire.decision(wire.choice(None, *SURE), wire.choice(None, *NOT)))
    reply = side.ask()
    assert reply.rows == (GradeError.MISSING, GradeError.MISSING)
    assert reply.unknown == 2


def test_two_answers_to_one_question_must_agree(peer, wire):
    side = Side("openai", peer, wire)
    twice = [wire.choice("candidate_1", *SURE), wire.choice("candidate_1", *NOT)]
    peer.says(wire.decision(*twice, *[wire.choice("candidate_2", *SURE)] * 2))
    first, second = side.ask().rows
    assert first is GradeError.UNREADABLE
    assert second["E"] == 0.7


@pytest.mark.parametrize(
    "values", [(0.5, 0.2, 0.1, 0.1), (0.7, 0.3, 0.2, 0.1), (1.5, -0.5, 0, 0), (0, 0, 0, 0)]
)
def test_probabilities_that_do_not_sum_to_one_are_unreadable(side, peer, wire, values):
    peer.says(side.says(wire.choice("candidate_1", *values), wire.choice("candidate_2", *NOT)))
    first, second = side.ask().rows
    assert first is GradeError.UNREADABLE
    assert second["I"] == 0.7


def rows_or_failure(side):
    """The two rows, or the failure in the place of both."""
    try:
        return side.ask().rows
    except CallError as error:
        return (error.kind,) * 2


@pytest.mark.parametrize("bad", ["NaN", "Infinity", '"0.7"', "null", "true", "[1]"])
def test_a_number_that_is_none_is_never_a_grade(side, peer, wire, bad):
    good = side.says(wire.choice("candidate_1", 0.123, 0.677, 0.1, 0.1))
    peer.says(wire.say(body=json.dumps(good.body).replace("0.123", bad).encode()))
    # to one SDK NaN is no JSON at all, to the other a number
    assert rows_or_failure(side)[0] in {GradeError.UNREADABLE, GradeError.PROVIDER}


@pytest.mark.parametrize(
    "changed",
    [
        {"choice": "S"},  # less probable than another
        {"choice": "X"},
        {"choice": True},
        {"choice": None},
        {"probabilities": None},
        {"probabilities": []},
        {"probabilities": "E"},
        {"type": "predicate", "probability": 0.9},
        {"type": "noul", "noul": 0.9},
        {"type": "score", "score": 3},
        {"type": "of the future"},
    ],
)
def test_an_answer_of_another_kind_or_at_odds_with_itself_is_unreadable(side, peer, wire, changed):
    odd = wire.choice("candidate_1", *SURE, **changed)
    peer.says(side.says(odd, wire.choice("candidate_2", *NOT)))
    first, second = side.ask().rows
    assert first is GradeError.UNREADABLE
    assert second["I"] == 0.7


def test_a_label_that_was_not_offered_or_is_not_there_is_unreadable(side, peer, wire):
    odd = wire.choice("candidate_1", *SURE)
    odd["probabilities"][3]["value"] = "X"
    short = wire.choice("candidate_2", 0.7, 0.3, 0.0, 0.0)
    del short["probabilities"][2:]
    peer.says(side.says(odd, short))
    assert side.ask().rows == (GradeError.UNREADABLE, GradeError.UNREADABLE)


def test_usage_that_the_endpoint_does_not_count_is_unknown_not_zero(side, peer, wire):
    peer.says(side.says(wire.choice("candidate_1", *SURE), usage=None))
    assert side.ask().usage == Usage(None, None)


@pytest.mark.parametrize("reason", ["safety", "of the future"])
def test_a_blocked_prompt_blocks_every_row(peer, wire, reason):
    side = Side("gemini", peer, wire)
    body = {"prompt_feedback": {"block_reason": reason}}
    peer.says(wire.say(body=body))
    assert side.ask().rows == (GradeError.BLOCKED, GradeError.BLOCKED)


@pytest.mark.parametrize("body", [{}, {"answers": None}, {"answers": 3}, [], "x", 3, None])
def test_json_that_is_no_decision_is_a_provider_failure(side, peer, wire, body):
    peer.says(wire.say(body=body))
    assert side.failed().kind is GradeError.PROVIDER


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
