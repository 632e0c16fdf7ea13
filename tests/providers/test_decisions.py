"""The decisions adapters, with the real SDKs over a real socket to a peer of ours.

No real provider was within reach: the replies have the form that the installed SDKs parse.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from decision_sides import NOT, REQUEST, SURE, Side

from relgate.judge import CallError, GradeError, Usage
from relgate.judge.decide import DecideRequest
from relgate.judge.providers.decisions import gemini_decide, openai_decide
from relgate.rubrics.errors import ProviderUnavailableError, UsageError

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
