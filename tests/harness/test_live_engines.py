"""Real servers: their answers come through as they are, and each fault of theirs is a finding."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

QUERIES = [
    {"id": "q1", "text": "red shoes", "judgments": [{"doc_id": "p1", "grade": 3}]},
    {"id": "q2", "text": "desk lamp", "judgments": [{"doc_id": "p3", "grade": 3}]},
    {
        "id": "q3",
        "text": "red",
        "filters": {"brand": "acme"},
        "judgments": [{"doc_id": "p1", "grade": 2}],
    },
    {"id": "q4", "text": "unicorn", "expect": "empty"},
]


def test_what_the_server_answers_is_what_is_recorded(live):
    live.ready(QUERIES)
    done = live.run()
    assert done.code == 0, done.err
    docs = live.docs()
    assert docs["q1"][0] == "p1"
    assert set(docs["q1"]) == {"p1", "p2", "p3", "p5"}
    assert set(docs["q3"]) == {"p1", "p3"}  # the filter was sent
    assert docs["q4"] == []
    artifact, rows = live.artifact(), live.rows()
    assert (rows["q1"]["ndcg"], rows["q1"]["mrr"], rows["q1"]["p_at_k"]) == (1.0, 1.0, 0.1)
    assert (rows["q4"]["empty"], rows["q4"]["held"]) == (True, True)
    assert artifact["runs"][0]["empty_rate"] == 0  # q4 is meant to be empty
    assert "uuid" in artifact["about"]["index shop"]
    assert artifact["settings"] == {"caches": "bypassed"}
    first = json.loads((live.out / "run-all.jsonl").read_text().splitlines()[0])["docs"][0]
    assert first["title"] == "red running shoes"
    assert first["score"] > 0


def test_an_index_that_is_not_there_fails_each_query_at_once(live):
    live.ready(QUERIES, index="shoes")
    done = live.run()
    assert done.code == 6
    assert "failed: q1 (as is): HTTP 404" in done.out
    assert "no such index [shoes]" in done.out


def test_another_depth_of_the_server_asks_deeper(live):
    live.ready(QUERIES)
    done = live.run("--size", "2")
    assert done.code == 0
    assert len(live.docs()["q1"]) == 2


# --- through the proxy

FAULTS = [
    # what the proxy does to every first try of q2 -> what is said of it
    ("500", "HTTP 500", True),
    ("429", "HTTP 429", True),
    ("reset", "no connection", True),
    ("partial", "partial: 2 of 5 shards failed", True),
    ("timed_out", "partial: the search timed out inside the engine", True),
    ("cut", "no connection", True),
    ("html", "the answer is not JSON", False),
]


@pytest.mark.parametrize(("fault", "said", "again"), FAULTS)
def test_a_fault_that_stays_is_a_failed_query_and_nothing_else(live, fault, said, again):
    live.ready(QUERIES)
    live.proxy.fault = lambda _number, body: fault if "desk lamp" in body else None
    done = live.run("--json")
    assert done.code == 6
    (run,) = done.json["runs"]
    assert list(run["failed"]) == ["q2"]
    assert said in run["failed"]["q2"]
    assert sum("desk lamp" in body for body in live.proxy.searches) == (2 if again else 1)
    rows = live.rows()
    assert (rows["q2"]["failed"], rows["q2"]["ndcg"], rows["q2"]["empty"]) == (True, 0.0, False)


@pytest.mark.parametrize("fault", [fault for fault, _, again in FAULTS if again])
def test_a_fault_that_passes_is_tried_again_and_costs_nothing(live, fault):
    live.ready(QUERIES)
    seen: list[str] = []

    def once(_number, body):
        first = "desk lamp" in body and not seen
        seen.extend([body] if first else [])
        return fault if first else None

    live.proxy.fault = once
    done = live.run("--json")
    assert done.code == 0, done.err
    (run,) = done.json["runs"]
    assert (run["failed"], run["tried_again"]) == ({}, 1)


def test_a_slow_search_is_given_up_at_its_limit_and_others_go_on(live):
    live.ready(QUERIES)
    live.proxy.fault = lambda _number, body: 3.0 if "desk lamp" in body else None
    begin = time.monotonic()
    done = live.run("--json", "--timeout", "0.5")
    assert time.monotonic() - begin < 30
    assert done.code == 6
    (run,) = done.json["runs"]
    assert list(run["failed"]) == ["q2"]
    assert run["failed"]["q2"].startswith(("no answer within 0.5 s", "time-out"))


def test_a_failed_query_sets_off_the_alarm(live):
    live.ready(QUERIES)
    assert live.run("--json").code == 0
    live.call(
        "baseline", "set", "o/relevance.json", "--rationale", "first", "--out", "b/relevance.json"
    )
    live.proxy.fault = lambda _number, body: "500" if "desk lamp" in body else None
    assert live.run("--json").code == 6
    done = live.call("drift", "--current", "o/relevance.json", "--baseline", "b/relevance.json")
    assert done.code == 3
    assert 'hard: 1 query answered in the baseline, now without an answer: "desk lamp"' in done.out


MANY = [{"id": f"q{i}", "text": f"red shoes {i}", "judgments": []} for i in range(120)]


def test_a_server_killed_in_mid_run_is_said_and_the_run_goes_on_later(live):
    live.ready(MANY, "concurrency = 2\nretries = 0")

    def kills(number, _body):
        if number == 40:
            live.server.kill()

    live.proxy.fault = kills
    done = live.run("--json")
    assert done.code == 6
    assert "the engine does not answer (HTTP 502" in done.err
    assert "run the same command to go on" in done.err
    time.sleep(0.3)  # what was in flight has arrived
    asked = len(live.proxy.searches)
    kept = len((live.out / ".journal-all.jsonl").read_text().splitlines()) - 1
    assert kept >= 38
    live.proxy.fault = lambda _number, _body: None
    live.server.start()
    live.server.fill()
    done = live.run("--json")
    assert done.code == 0, done.err
    (run,) = done.json["runs"]
    assert run["resumed"] == kept
    assert len(live.proxy.searches) - asked == len(MANY) - kept
    assert not (live.out / ".journal-all.jsonl").exists()


def test_a_run_killed_in_mid_flight_loses_nothing_that_was_answered(live):
    live.ready(MANY, "concurrency = 2")
    live.proxy.fault = lambda _number, _body: 0.02
    command = [sys.executable, "-m", "relgate.eval", "run", "--golden", "golden.json"]
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [*command, "--engine", "engine.toml", "--out", "o"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while len(live.proxy.searches) < 30 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    asked = len(live.proxy.searches)
    assert 30 <= asked < len(MANY)
    done = live.run("--json")
    assert done.code == 0, done.err
    assert len(live.proxy.searches) <= len(MANY) + 2  # what was in flight at the kill
    assert done.json["runs"][0]["resumed"] >= asked - 2


def test_another_golden_set_or_engine_never_takes_the_old_answers(live):
    live.ready(QUERIES)
    live.proxy.fault = lambda _number, body: "500" if "desk lamp" in body else None
    assert live.run("--json").code == 6
    assert not (live.out / ".journal-all.jsonl").exists()  # written whole: nothing to resume
    before = len(live.proxy.searches)
    live.run("--json")
    assert len(live.proxy.searches) == before + 5
