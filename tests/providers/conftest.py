"""A loopback server that speaks OpenAI chat, responses and Gemini, scripted a reply at a time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from decision_sides import Side
from loopback import Loopback

from relgate.judge.providers.openai import openai_generate
from relgate.judge.types import GenerateRequest

KEY = "sk-proj-Zx81LqPvTn4dRw7yBc2m"
GEMINI_KEY = "AIzaSyD-9tXq3Lm7vKp2Rw8Yc1Nf5Hb0Jd"


@dataclass
class Say:
    """One scripted answer."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    how: str = "answer"  # or: hang, trickle, disconnect


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    connection: tuple[str, int]


class Peer(Loopback):
    """Answers with the scripted replies in turn; the last one stays."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.script: list[Say] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                headers = {k.lower(): v for k, v in self.headers.items()}
                say = peer.next_say(Seen(self.path, headers, json.loads(raw), self.client_address))
                peer.answer(self, say)

            def log_message(self, *_args: object) -> None:
                """Quiet."""

        super().__init__(Handler)

    @property
    def bodies(self) -> list[Any]:
        return [seen.body for seen in self.seen]

    def says(self, *script: Say) -> None:
        self.script = list(script)

    def next_say(self, seen: Seen) -> Say:
        with self._lock:
            self.seen.append(seen)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def answer(self, handler: BaseHTTPRequestHandler, say: Say) -> None:
        if say.how == "hang":
            self.released.wait(30)
        if say.how in {"hang", "disconnect"}:
            handler.close_connection = True
            return
        body = say.body if isinstance(say.body, bytes) else json.dumps(say.body).encode()
        handler.send_response(say.status)
        for name, value in {"content-type": say.content_type, **say.headers}.items():
            handler.send_header(name, value)
        length = 10_000 if say.how == "trickle" else len(body)
        handler.send_header("content-length", str(length))
        handler.end_headers()
        if say.how == "trickle":  # each byte is in time, the whole never is
            while not self.released.wait(0.05):
                try:
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                except OSError:
                    break
            handler.close_connection = True
            return
        handler.wfile.write(body)

    def close(self) -> None:
        self.released.set()
        super().close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no endpoint and no proxy of whoever runs the tests."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ADMIN_KEY",
        "OPENAI_CUSTOM_HEADERS",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "GOOGLE_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_API_VERSION",
        "GOOGLE_GENAI_HTTP_CLIENT",
        "GOOGLE_GENAI_USE_ENTERPRISE",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "grades": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "esci": {"type": "string", "enum": ["E", "S", "C", "I"]},
                    "reason": {"type": "string"},
                },
                "required": ["id", "esci", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["grades"],
    "additionalProperties": False,
}


def _make_request(**changed: Any) -> GenerateRequest:
    facts: dict[str, Any] = {
        "system": "You are a strict judge.",
        "prompt": "Shopper query: red shoe",
        "schema": SCHEMA,
        "model": "m-1",
    }
    return GenerateRequest(**(facts | changed))


def _chat(content: Any = '{"grades":[]}', **changed: Any) -> Say:
    message = {"role": "assistant", "content": content, "refusal": changed.pop("refusal", None)}
    return Say(
        body={
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m-1-2026-01-01",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": changed.pop("finish_reason", "stop"),
                    "message": message,
                }
            ],
            "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
        }
        | changed
    )


def _response(*parts: dict[str, Any], **changed: Any) -> Say:
    content = list(parts) or [{"type": "output_text", "text": '{"grades":[]}', "annotations": []}]
    return Say(
        body={
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": "m-1-2026-01-01",
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "output": [
                {"type": "reasoning", "id": "t", "summary": []},
                {
                    "type": "message",
                    "id": "a",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                },
            ],
            "usage": {
                "input_tokens": 90,
                "output_tokens": 20,
                "total_tokens": 110,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
        | changed
    )


def _gemini(*texts: str, finish: str | None = "STOP", **changed: Any) -> Say:
    parts = [{"text": text} for text in texts]
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}} if parts else {}
    if finish is not None:
        candidate["finishReason"] = finish
    return Say(
        body={
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": 90,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 115,
            },
            "modelVersion": "g-1-001",
        }
        | changed
    )


ESCI = ("E", "S", "C", "I")


def _choice(name: Any, *shares: Any, **changed: Any) -> dict[str, Any]:
    """An answer of OpenAI's decisions: shares of E, S, C, I."""
    best = ESCI[max(range(len(shares)), key=lambda i: shares[i])]
    rows = [{"value": c, "probability": p} for c, p in zip(ESCI, shares, strict=True)]
    facts = {"type": "choice", "name": name, "choice": best, "confidence": max(shares)}
    return facts | {"probabilities": rows} | changed


def _decision(*answers: Any, **changed: Any) -> Say:
    details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    usage = {"input_tokens": 90, "output_tokens": 20, "total_tokens": 110} | details
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    return Say(body={"answers": list(answers), "model": "d-1-2026", "usage": usage} | changed)


def _gemini_decision(*answers: Any, **changed: Any) -> Say:
    """The same answers in Gemini's form: keyed by name, probabilities keyed by label."""
    keyed: dict[str, Any] = {}
    for answer in answers:
        facts = {k: v for k, v in answer.items() if k != "name"}
        rows = facts.get("probabilities")
        if isinstance(rows, list):
            facts["probabilities"] = {row["value"]: row["probability"] for row in rows}
        keyed[answer["name"]] = facts
    usage = {"total_input_tokens": 90, "total_output_tokens": 15, "total_thought_tokens": 5}
    return Say(body={"answers": keyed, "usage": usage} | changed)


def _openai_error(status: int, message: str, /, **facts: Any) -> Say:
    headers = facts.pop("headers", {})
    error = {"message": message, "type": "e", "param": None, "code": None} | facts
    return Say(status, body={"error": error}, headers=headers)


def _gemini_error(status: int, word: str, message: str, *details: Any, **headers: str) -> Say:
    error = {"code": status, "message": message, "status": word, "details": list(details)}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Say(status, body={"error": error}, headers=named)


@dataclass(frozen=True)
class Wire:
    """What the tests build replies and requests with."""

    key: str = KEY
    gemini_key: str = GEMINI_KEY
    schema: Any = field(default_factory=lambda: SCHEMA)
    say = staticmethod(Say)
    request = staticmethod(_make_request)
    chat = staticmethod(_chat)
    response = staticmethod(_response)
    gemini = staticmethod(_gemini)
    choice = staticmethod(_choice)
    decision = staticmethod(_decision)
    gemini_decision = staticmethod(_gemini_decision)
    openai_error = staticmethod(_openai_error)
    gemini_error = staticmethod(_gemini_error)


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def openai_ask(peer, wire):
    """Asks once, in a loop of its own, as `grade_sync` does."""

    def ask(*, api="chat", timeout_s=5.0, generate=None, **request):
        generate = generate or make(api=api, timeout_s=timeout_s)
        return asyncio.run(generate(wire.request(**request)))

    def make(**settings):
        return openai_generate(api_key=wire.key, base_url=f"{peer.url}/v1", **settings)

    ask.make = make
    return ask


@pytest.fixture(params=["openai", "gemini"])
def side(request, peer, wire):
    return Side(request.param, peer, wire)
