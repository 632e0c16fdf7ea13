"""The example service, as a real process over a socket, with a scripted judge as another."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HITS = [{"id": f"d{i}", "text": f"plain text {i}"} for i in range(1, 6)]


@dataclass
class Process:
    """A started server."""

    process: subprocess.Popen[str]
    port: int

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body=raw if method == "POST" else None)
            with connection.getresponse() as response:
                return response.status, json.loads(response.read())

    def rerank(self, query: str, hits: list[dict[str, str]], **more: Any) -> Any:
        status, answer = self.ask("POST", "/rerank", {"query": query, "hits": hits, **more})
        assert status == 200, answer
        return answer

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def started(*command: object) -> Iterator[Process]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "RELGATE_"))}
    with subprocess.Popen(  # noqa: S603 - our own scripts
        [sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        text=True,
        env={**environ, "PYTHONWARNINGS": "error"},
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
            assert found, "it did not start"
            yield Process(process, int(found.group(1)))
        finally:
            process.kill()


@pytest.fixture
def judge() -> Iterator[Process]:
    with started(Path(__file__).with_name("scripted_judge.py"), 0) as process:
        yield process


@pytest.fixture
def start(root: Path, tmp_path: Path, judge: Process):
    def start_service(*more: object, cache: str = "cache"):
        return started(
            root / "examples" / "rerank_service" / "service.py",
            "--judge", f"compatible:scripted@http://127.0.0.1:{judge.port}/v1",
            "--judge-family", "openai", "--cache", tmp_path / cache, "--port", 0, *more,
        )  # fmt: skip

    return start_service


def ids(answer: Any) -> list[str]:
    return [hit["id"] for hit in answer["hits"]]


def seen(judge: Process) -> dict[str, int]:
    status, counts = judge.ask("GET", "/")
    assert status == 200
    return counts


def test_many_ask_at_once_and_each_gets_its_own_order(judge: Process, start):
    def hits(n: int) -> list[dict[str, str]]:
        good = 2 + n % 4
        return [{"id": f"d{i}", "text": f"{n} {'good' if i == good else 'plain'} {i}"}
                for i in range(1, 6)]  # fmt: skip

    with start() as service:
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda n: service.rerank(f"q{n}", hits(n)), range(40)))
        for n, answer in enumerate(answers):
            good = f"d{2 + n % 4}"
            scores = {hit["id"]: hit["score"] for hit in answer["hits"]}
            assert scores == {f"d{i}": float(f"d{i}" == good) for i in range(1, 6)}
            # by hand: d1 keeps .75; good ones get .625, .5, .55, .52; the best other is d2's .375
            assert ids(answer)[:2] == ["d1", good]
            assert answer["first_stage_order"] is None
        assert seen(judge)["most"] > 1
        assert seen(judge)["calls"] == 40


def test_a_second_request_is_answered_from_the_cache(judge: Process, start):
    hits = [*HITS, {"id": "d6", "text": "good"}]
    with start() as service:
        first = service.rerank("q", hits)
        calls = seen(judge)["calls"]
        again = service.rerank("q", hits)
        assert again == first
        assert ids(first) != [hit["id"] for hit in hits]
        assert seen(judge)["calls"] == calls == 1
        status, health = service.ask("GET", "/health")
        assert status == 200
        assert (health["cached"], health["stored"], health["calls"]) == (6, 6, 1)


def test_the_same_new_query_asked_many_times_at_once_is_paid_for_once(judge: Process, start):
    hits = [*HITS, {"id": "g", "text": "good"}]
    with start("--deadline", 10) as service, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: service.rerank("q", hits, deadline_s=9), range(8)))
        assert all(answer["graded"] == 6 for answer in answers)
        assert all(answer == answers[0] for answer in answers)
        assert seen(judge)["calls"] == 1


def test_a_passed_deadline_returns_the_first_stages_order_and_keeps_what_was_graded(
    judge: Process, start
):
    hits = [*HITS, {"id": "s", "text": "good but slow"}, {"id": "g", "text": "good"}]
    with start("--batch-size", 1, "--deadline", 10) as service:
        begin = time.monotonic()
        answer = service.rerank("q", hits, deadline_s=2)
        assert time.monotonic() - begin < 8
        assert ids(answer) == [hit["id"] for hit in hits]
        assert answer["graded"] == 0
        assert answer["first_stage_order"] == "first-stage order kept: 2 s passed"
        before = seen(judge)["calls"]
        quick = service.rerank("q", [hit for hit in hits if hit["id"] != "s"])
        assert quick["graded"] == 6
        assert seen(judge)["calls"] == before == 7  # the six quick ones were stored


def test_a_killed_judge_leaves_the_first_stages_order_and_a_living_service(judge: Process, start):
    good = [*HITS, {"id": "g", "text": "good"}]
    with start("--deadline", 10, "--batch-size", 1) as service:
        before = service.rerank("known", good)
        assert before["graded"] == 6
        judge.kill()
        for n in range(5):  # 30 failed calls: a batch job would have stopped for good
            answer = service.rerank(f"new {n}", good, deadline_s=0.5)
            assert ids(answer) == [hit["id"] for hit in good]
            assert answer["first_stage_order"] is not None
        assert service.rerank("known", good) == before  # the cache needs no judge
        script = Path(__file__).with_name("scripted_judge.py")
        with started(script, judge.port):
            answer = service.rerank("new 9", good)
            assert answer["graded"] == 6
            assert ids(answer) == ids(before)
        assert service.ask("GET", "/health")[1]["first_stage_order_kept"] == 5


def test_a_stopped_service_finishes_and_the_next_one_finds_its_grades(judge: Process, start):
    hits = [*HITS, {"id": "g", "text": "good"}]
    with start() as service:
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(service.rerank, "q", [{"id": "s", "text": "slow"}], deadline_s=1)
            first = service.rerank("q", hits)
            service.process.send_signal(signal.SIGTERM)
            assert slow.result()["first_stage_order"] == "first-stage order kept: 1 s passed"
        assert service.process.wait(10) == 0
    judge.kill()
    with start() as service:
        assert service.rerank("q", hits) == first


@pytest.fixture(scope="module")
def idle(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    service = root / "examples" / "rerank_service" / "service.py"
    cache = tmp_path_factory.mktemp("idle")
    with started(service, "--judge", "compatible:m@http://127.0.0.1:9/v1",
                 "--cache", cache, "--port", 0) as process:  # fmt: skip
        yield process


BAD = [
    ("POST", "/rerank", b"{", 422),
    ("POST", "/rerank", {"query": "q"}, 422),
    ("POST", "/rerank", {"query": "q", "hits": [{"id": "a", "text": ""}]}, 422),
    ("POST", "/rerank", {"query": "q", "hits": [], "deadline_s": -1}, 422),
    ("POST", "/rerank", {"query": "q", "hits": [], "other": 1}, 422),
    ("POST", "/rerank", b" " * 2_000_001, 413),
    ("POST", "/other", {}, 404),
    ("GET", "/rerank", None, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), BAD)
def test_a_bad_request_is_told_so(idle: Process, method: str, path: str, body: Any, status: int):
    got, answer = idle.ask(method, path, body)
    assert got == status
    assert answer["error"]


def test_what_is_no_http_is_told_so_and_hurts_nobody(idle: Process):
    with socket.create_connection(("127.0.0.1", idle.port), timeout=10) as connection:
        connection.sendall(b"hello\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
    assert idle.ask("GET", "/health")[0] == 200


def test_a_connection_takes_many_requests_also_before_the_first_is_answered(idle: Process):
    body = json.dumps({"query": "q", "hits": []}).encode()
    ask = b"POST /rerank HTTP/1.1\r\nhost: h\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    last = b"GET /health HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", idle.port), timeout=10) as connection:
        connection.sendall(ask + ask)
        connection.sendall(last)
        said = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert said.count(b"HTTP/1.1 200 ") == 3
    assert said.count(b'"hits": []') == 2
    assert said.endswith(b"}")


def test_a_caller_that_hangs_up_hurts_nobody(idle: Process):
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", idle.port), timeout=10) as connection:
            connection.sendall(b"POST /rerank HTTP/1.1\r\nhost: h\r\ncontent-length: 99\r\n\r\n{")
    assert idle.ask("GET", "/health")[0] == 200


def test_no_hits_are_no_error(idle: Process):
    assert idle.rerank("q", [])["hits"] == []


def test_a_judge_that_cannot_be_named_is_one_line_and_exit_code_2(root: Path, tmp_path: Path):
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, root / "examples" / "rerank_service" / "service.py", "--judge", "oracle",
         "--cache", tmp_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "names no judge" in done.stderr
    assert "Traceback" not in done.stderr
