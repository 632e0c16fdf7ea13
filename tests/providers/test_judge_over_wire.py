"""The whole judge over each protocol, with faults that other people's peers cannot inject."""

from __future__ import annotations

import json
import time

import pytest

from relgate.judge import Candidate, GradeError, make_llm_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.prompt import judge_schema
from relgate.judge.providers.gemini import gemini_generate
from relgate.judge.providers.openai import openai_generate
from relgate.rubrics import load_rubric

CANDIDATES = [Candidate(f"p{i}", f"title: Shoe {i}") for i in range(1, 5)]


def rows(*labels):
    return json.dumps(
        {"grades": [{"id": str(i), "esci": x, "reason": "r"} for i, x in enumerate(labels, 1)]}
    )


class Protocol:
    """One protocol: how the judge is made, how the peer answers, and where the prompt is."""

    def __init__(self, name, peer, wire):
        self.name, self.peer, self.wire = name, peer, wire

    def judge(self, *, timeout_s=5.0, batch_size=10, **policy):
        generate = (
            gemini_generate(
                api_key=self.wire.gemini_key, base_url=self.peer.url, timeout_s=timeout_s
            )
            if self.name == "gemini"
            else openai_generate(
                api_key=self.wire.key,
                base_url=f"{self.peer.url}/v1",
                timeout_s=timeout_s,
                api=self.name,
            )
        )
        quick = CallPolicy(**({"backoff_s": 0.01, "attempts": 2, "concurrency": 1} | policy))
        return make_llm_judge(generate, model="m-1", batch_size=batch_size, policy=quick)

    def text(self, text):
        match self.name:
            case "chat":
                return self.wire.chat(text)
            case "responses":
                return self.wire.response(self.part(text))
            case _:
                return self.wire.gemini(text)

    def cut(self, text):
        match self.name:
            case "chat":
                return self.wire.chat(text, finish_reason="length")
            case "responses":
                details = {"reason": "max_output_tokens"}
                return self.wire.response(
                    self.part(text), status="incomplete", incomplete_details=details
                )
            case _:
                return self.wire.gemini(text, finish="MAX_TOKENS")

    def blocked(self):
        match self.name:
            case "chat":
                return self.wire.chat(None, finish_reason="content_filter")
            case "responses":
                details = {"reason": "content_filter"}
                return self.wire.response(
                    self.part(""), status="incomplete", incomplete_details=details
                )
            case _:  # a blocked prompt, as case P18 has it
                body = {"candidates": None, "promptFeedback": {"blockReason": "OTHER"}}
                return self.wire.say(body=body)

    @staticmethod
    def part(text):
        return {"type": "output_text", "text": text, "annotations": []}

    @property
    def prompts(self):
        match self.name:
            case "chat":
                return [body["messages"][-1]["content"] for body in self.peer.bodies]
            case "responses":
                return [body["input"] for body in self.peer.bodies]
            case _:
                return [body["contents"][0]["parts"][0]["text"] for body in self.peer.bodies]

    @property
    def schemas(self):
        match self.name:
            case "chat":
                return [b["response_format"]["json_schema"]["schema"] for b in self.peer.bodies]
            case "responses":
                return [body["text"]["format"]["schema"] for body in self.peer.bodies]
            case _:
                return [b["generationConfig"]["responseJsonSchema"] for b in self.peer.bodies]


@pytest.fixture(params=["chat", "responses", "gemini"])
def protocol(request, peer, wire):
    return Protocol(request.param, peer, wire)


def test_the_rubric_s_schema_is_on_the_wire_and_the_snapshot_in_the_stats(protocol, peer):
    peer.says(protocol.text(rows("E", "S", "C", "I")))
    judge = protocol.judge()
    hits = judge.grade_sync("red shoe", CANDIDATES)
    assert sorted(hit.grade for hit in hits) == [0, 1, 2, 3]
    assert protocol.schemas == [judge_schema(load_rubric())]
    asked, answered = judge.model, judge.engine.stats.models
    assert answered == {"g-1-001" if protocol.name == "gemini" else "m-1-2026-01-01"}
    assert asked not in answered  # so that a report can say so
    stats = judge.engine.stats
    assert (stats.prompt_tokens, stats.uncounted) == (90, 0)


def test_a_refusal_leaves_every_row_refused_after_asking_each_alone(peer, wire):
    refusals = {
        "chat": wire.chat(None, refusal="I cannot help with that."),
        "responses": wire.response({"type": "refusal", "refusal": "No."}),
    }
    for name, refusal in refusals.items():
        peer.seen.clear()
        peer.says(refusal)
        protocol = Protocol(name, peer, wire)
        hits = protocol.judge().grade_sync("red shoe", CANDIDATES[:2])
        assert [(hit.error, hit.reason) for hit in hits] == [
            (GradeError.REFUSED, "judge-error")
        ] * 2
        assert len(peer.seen) == 3


def test_p18_a_blocked_batch_is_split_and_harmless_neighbours_are_graded(protocol, peer):
    peer.says(protocol.blocked(), protocol.blocked(), protocol.text(rows("E")))
    judge = protocol.judge()
    hits = judge.grade_sync("red shoe", CANDIDATES[:2])
    assert sorted(str(hit.error) for hit in hits) == ["None", "blocked"]
    later = judge.grade_sync("blue shoe", CANDIDATES[:1])
    assert later[0].graded  # the run goes on


def test_p16_truncation_without_end_costs_three_asks_and_three_first_prompts_at_most(
    protocol, peer
):
    peer.says(protocol.cut('{"grades":[{"id":"1","es'))
    candidates = [Candidate(f"p{i}", f"title: Shoe number {i} " + "x" * 200) for i in range(10)]
    hits = protocol.judge().grade_sync("red shoe", candidates)
    assert {hit.error for hit in hits} == {GradeError.TRUNCATED}
    first, *rest = protocol.prompts
    assert all(len(prompt) < len(first) for prompt in rest)
    assert sum(map(len, protocol.prompts)) <= 3 * len(first)
    for candidate in candidates:
        assert sum(candidate.text[:20] + " " in p for p in protocol.prompts) <= 3


def test_a_cut_reply_keeps_its_whole_rows_and_the_rest_is_asked_again_in_halves(protocol, peer):
    cut = rows("E", "S", "C", "I")[: len(rows("E", "S")) - 1]  # two whole rows
    peer.says(protocol.cut(cut), protocol.text(rows("C", "I")))
    hits = protocol.judge().grade_sync("red shoe", CANDIDATES)
    assert all(hit.graded for hit in hits)
    assert len(peer.seen) == 2  # the two rows left are one half of four
    assert "3. title" in protocol.prompts[0]
    assert "3. title" not in protocol.prompts[1]


def test_a_malformed_answer_is_asked_again_in_halves_and_its_error_kept(protocol, peer):
    peer.says(protocol.text("no rows here"))
    hits = protocol.judge().grade_sync("red shoe", CANDIDATES)
    assert {hit.error for hit in hits} == {GradeError.UNREADABLE}
    assert len(peer.seen) == 3


@pytest.mark.parametrize("how", ["hang", "trickle"])
def test_r01_a_server_that_never_finishes_ends_at_the_one_deadline(protocol, peer, wire, how):
    # the case's 30 s, in fiftieths
    peer.says(wire.say(body={}, how=how))
    judge = protocol.judge(timeout_s=0.25, attempts=9, deadline_s=0.6)
    started = time.monotonic()
    hits = judge.grade_sync("red shoe", CANDIDATES)
    assert time.monotonic() - started < 1.6
    assert {hit.error for hit in hits} == {GradeError.TIMEOUT}
    assert len(peer.seen) <= 3


def test_r03_a_wait_of_55_hours_is_not_slept_and_stops_the_run(protocol, peer, wire):
    peer.says(
        wire.gemini_error(429, "RESOURCE_EXHAUSTED", "later", retry_after="198300")
        if protocol.name == "gemini"
        else wire.openai_error(429, "later", headers={"retry-after": "198300"})
    )
    judge = protocol.judge()
    started = time.monotonic()
    hits = judge.grade_sync("red shoe", CANDIDATES)
    assert time.monotonic() - started < 1
    assert {hit.error for hit in hits} == {GradeError.RATE_LIMITED}
    assert "198300" in str(hits[0].detail)
    assert judge.grade_sync("q", CANDIDATES[:1])[0].error is GradeError.NOT_ASKED
    assert len(peer.seen) == 1


def test_a_storm_of_faults_is_got_over_by_one_retry_layer(protocol, peer, wire):
    error = wire.gemini_error if protocol.name == "gemini" else wire.openai_error
    faults = [
        error(429, "X", "slow") if protocol.name == "gemini" else error(429, "slow"),
        error(500, "X", "oops") if protocol.name == "gemini" else error(500, "oops"),
        wire.say(how="disconnect"),
        wire.say(body=b'{"broken'),
    ]
    peer.says(*faults, protocol.text(rows("E", "S", "C", "I")))
    judge = protocol.judge(attempts=5)
    assert all(hit.graded for hit in judge.grade_sync("red shoe", CANDIDATES))
    assert (judge.engine.stats.calls, judge.engine.stats.failed_calls) == (5, 4)
    assert len(peer.seen) == 5
