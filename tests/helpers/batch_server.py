"""A local server that speaks both batch protocols, and the live ones beside them.

It grades by what a document's text says (`class E`), keeps count of every request that it was paid
for, and fails on demand at each step.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import Loopback

STEPS = ("upload", "create", "get", "list", "download", "cancel")
TOKENS = {"prompt": 90, "completion": 20}


@dataclass
class Line:
    """One answered request of a batch: a reply, or a failure."""

    key: str
    status: int = 200
    text: str = ""
    finish: str = "stop"
    error: str | None = None  # no response at all, for this reason
    said: str | None = None  # the parameter that an error names


@dataclass
class Outcome:
    """How a batch ends."""

    state: str = "done"
    lines: list[Line] = field(default_factory=list)
    message: str | None = None
    code: str = "invalid_request"
    raw: Callable[[bytes], bytes] = bytes  # what becomes of the results file


@dataclass
class Held:
    """A batch at the server."""

    id: str
    label: str
    requests: dict[str, str]  # key -> prompt
    outcome: Outcome | None = None
    cancelled: bool = False
    results: list[str] = field(default_factory=list)


def graded(prompt: str) -> str:
    """The reply to a prompt: each document's grade stands in its text."""
    found = re.findall(r"^(\d+)\. .*\bclass (E|S|C|I)\b", prompt, flags=re.MULTILINE)
    rows = [{"id": number, "esci": label, "reason": "as its text says"} for number, label in found]
    return json.dumps({"grades": rows})


def documents(prompt: str) -> int:
    """How many documents a prompt asks about."""
    return len(json.loads(graded(prompt))["grades"])


def all_done(requests: dict[str, str]) -> Outcome:
    """Every request answered."""
    return Outcome(lines=[Line(key, text=graded(prompt)) for key, prompt in requests.items()])


class BatchServer(Loopback):
    """See the module.

    Attributes:
        faults: by step, what the next calls get in turn: None for no fault, a status, `reset`
            before anything is done, `reset-after` or `page-after` when it is; `kill` and
            `kill-after` end the client.
        plans: how the next batches end, in the order in which they are looked at; then all is
            answered.
        running: while set, no batch ends.
        asked: how often each request was taken on in a batch that was made.
        calls: calls by step; `live` for single ones.
        client: the process that `kill` ends.
        page: batches on a page of a list.
    """

    def __init__(self) -> None:
        self.faults: dict[str, list[int | str | None]] = {step: [] for step in STEPS}
        self.plans: list[Callable[[dict[str, str]], Outcome]] = []
        self.running = False
        self.asked: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Held] = {}
        self.prompts: list[str] = []
        self.client = 0
        self.page = 2
        self._turn = threading.RLock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.handle(self)

            def do_POST(self) -> None:
                server.handle(self)

            def log_message(self, *_args: object) -> None:
                """Quiet."""

        super().__init__(Handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing is answered meanwhile."""
        with self._turn:
            yield

    # what comes in

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        address = urlsplit(handler.path)
        with self._turn:
            google = "/upload/" in address.path or "x-goog-api-key" in handler.headers
            speak = self._gemini if google else self._openai
            speak(handler, address.path, parse_qs(address.query), body)

    def _openai(
        self, handler: BaseHTTPRequestHandler, path: str, query: dict[str, list[str]], body: bytes
    ) -> None:
        match path.strip("/").split("/"):
            case ["v1", "files"]:
                self._step(handler, "upload", lambda: self._openai_upload(handler, body))
            case ["v1", "files", name, "content"]:
                self._step(handler, "download", lambda: self.files[name], raw=True)
            case ["v1", "batches"] if handler.command == "POST":
                self._step(handler, "create", lambda: self._openai_create(json.loads(body)))
            case ["v1", "batches"]:
                self._step(handler, "list", lambda: self._openai_list(query))
            case ["v1", "batches", name, "cancel"]:
                self._step(handler, "cancel", lambda: self._cancel(name, self._openai_batch))
            case ["v1", "batches", name]:
                self._step(handler, "get", lambda: self._looked(name, self._openai_batch))
            case ["v1", "chat", "completions"]:
                self._live(handler, json.loads(body), self._openai_prompt, self._openai_reply)
            case _:
                _send(handler, 404, {"error": {"message": f"no {path}"}})

    def _gemini(
        self, handler: BaseHTTPRequestHandler, path: str, query: dict[str, list[str]], body: bytes
    ) -> None:
        match re.sub(r"\bv1(beta)?/", "", path).strip("/").split("/"):  # its SDK picks the version
            case ["upload", "files"]:
                self._step(handler, "upload", dict, headers=self._upload_address(handler))
            case ["upload", "here", name]:
                self._gemini_uploaded(handler, name, body)
            case ["models", model] if model.endswith(":batchGenerateContent"):
                self._step(handler, "create", lambda: self._gemini_create(json.loads(body)))
            case ["models", model] if model.endswith(":generateContent"):
                self._live(handler, json.loads(body), self._gemini_prompt, self._gemini_reply)
            case ["batches"]:
                self._step(handler, "list", lambda: self._gemini_list(query))
            case ["batches", name] if name.endswith(":cancel"):
                name = name.removesuffix(":cancel")
                self._step(handler, "cancel", lambda: self._cancel(name, lambda _: {}))
            case ["batches", name]:
                self._step(handler, "get", lambda: self._looked(name, self._gemini_batch))
            case ["files", name]:
                name = name.removesuffix(":download")
                self._step(handler, "download", lambda: self.files[name], raw=True)
            case _:
                _send(handler, 404, {"error": {"code": 404, "message": f"no {path}"}})

    def _step(
        self,
        handler: BaseHTTPRequestHandler,
        step: str,
        work: Callable[[], Any],
        *,
        raw: bool = False,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Does a step, or fails at it."""
        self.calls[step] += 1
        fault = self.faults[step].pop(0) if self.faults[step] else None
        if isinstance(fault, int):
            message = f"scripted {fault}"
            _send(handler, fault, {"error": {"code": fault, "message": message, "status": "X"}})
            return
        if fault == "kill":
            os.kill(self.client, signal.SIGKILL)
        if fault in {"kill", "reset"}:
            handler.close_connection = True
            return
        try:
            answer = work()
        except KeyError as missing:
            _send(handler, 404, {"error": {"code": 404, "message": f"no {missing}"}})
            return
        if fault == "kill-after":
            os.kill(self.client, signal.SIGKILL)
        if fault in {"kill-after", "reset-after"}:
            handler.close_connection = True
            return
        if fault == "page-after":
            _send(handler, 200, b"<html>a proxy's page</html>", raw=True)
            return
        if fault == "truncate":
            _send(handler, 200, answer, cut=len(answer) // 2)
            handler.close_connection = True
            return
        _send(handler, 200, answer, raw=raw, headers=headers)

    def _live(
        self,
        handler: BaseHTTPRequestHandler,
        body: Any,
        prompt_of: Callable[[Any], str],
        reply_of: Callable[[Line], Any],
    ) -> None:
        self.calls["live"] += 1
        prompt = prompt_of(body)
        self.prompts.append(json.dumps(body, sort_keys=True))
        _send(handler, 200, reply_of(Line("", text=graded(prompt))))

    # batches, whoever speaks

    def _made(self, label: str, lines: bytes, read: Callable[[Any], tuple[str, str]]) -> Held:
        rows = [json.loads(line) for line in lines.splitlines()]
        requests = dict(read(row) for row in rows)
        assert len(requests) == len(rows), "one request twice in a batch"
        number = len(self.batches) + 1
        held = Held(f"batch-{number}", label, requests)
        self.batches[held.id] = held
        self.asked.update(requests.keys())
        return held

    def _looked(self, name: str, shown: Callable[[Held], Any]) -> Any:
        held = self.batches[name]
        if held.outcome is None and (held.cancelled or not self.running):
            plan = self.plans.pop(0) if self.plans else all_done
            held.outcome = plan(held.requests)
            if held.cancelled:
                held.outcome.state = "cancelled"
        return shown(held)

    def _cancel(self, name: str, shown: Callable[[Held], Any]) -> Any:
        self.batches[name].cancelled = True
        return shown(self.batches[name])

    # OpenAI

    def _openai_upload(self, handler: BaseHTTPRequestHandler, body: bytes) -> Any:
        head = f"Content-Type: {handler.headers['content-type']}\r\n\r\n".encode()
        parts = BytesParser().parsebytes(head + body).get_payload()
        named = {p.get_param("name", header="content-disposition"): p for p in parts}
        assert named["purpose"].get_payload().strip() == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = named["file"].get_payload(decode=True)
        return {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "x.jsonl",
                "purpose": "batch", "status": "processed"}  # fmt: skip

    def _openai_create(self, asked: Any) -> Any:
        assert asked["completion_window"] == "24h"

        def read(row: Any) -> tuple[str, str]:
            assert (row["method"], row["url"]) == ("POST", asked["endpoint"])
            self.prompts.append(json.dumps(row["body"], sort_keys=True))
            return row["custom_id"], self._openai_prompt(row["body"])

        lines = self.files[asked["input_file_id"]]
        return self._openai_batch(self._made(asked["metadata"]["relgate"], lines, read))

    def _openai_list(self, query: dict[str, list[str]]) -> Any:
        newest = list(reversed(self.batches.values()))
        after = query.get("after", [""])[0]
        begin = next((n + 1 for n, held in enumerate(newest) if held.id == after), 0)
        page = newest[begin : begin + self.page]
        more = begin + self.page < len(newest)
        return {"object": "list", "data": [self._openai_batch(b) for b in page], "has_more": more}

    def _openai_batch(self, held: Held) -> Any:
        outcome = held.outcome
        word = {"done": "completed"}.get(outcome.state, outcome.state) if outcome else "in_progress"
        if outcome and not held.results and outcome.state != "failed":
            good = [line for line in outcome.lines if line.error is None and line.status == 200]
            bad = [line for line in outcome.lines if line not in good]
            held.results = [self._openai_file(good, outcome), self._openai_file(bad, outcome)]
        names = held.results or [None, None]
        errors = {"object": "list", "data": [{"code": outcome.code, "message": outcome.message,
                  "line": 1, "param": None}]} if outcome and outcome.message else None  # fmt: skip
        return {
            "id": held.id, "object": "batch", "endpoint": "/v1/chat/completions", "errors": errors,
            "input_file_id": "file-0", "completion_window": "24h", "status": word,
            "output_file_id": names[0], "error_file_id": names[1], "created_at": 1,
            "metadata": {"relgate": held.label},
            "request_counts": {"total": len(held.requests), "completed": 0, "failed": 0},
        }  # fmt: skip

    def _openai_file(self, lines: list[Line], outcome: Outcome) -> str | None:
        if not lines:
            return None
        rows = [json.dumps(self._openai_line(line)) for line in lines]
        name = f"file-{len(self.files)}"
        self.files[name] = outcome.raw("".join(f"{row}\n" for row in rows).encode())
        return name

    def _openai_line(self, line: Line) -> Any:
        row: dict[str, Any] = {"id": "r", "custom_id": line.key, "response": None, "error": None}
        if line.error is not None:
            return row | {"error": {"code": line.error, "message": "not executed"}}
        failed = {"error": {"message": "scripted", "type": "e", "param": line.said, "code": None}}
        body = self._openai_reply(line) if line.status == 200 else failed
        return row | {"response": {"status_code": line.status, "request_id": "q", "body": body}}

    def _openai_prompt(self, body: Any) -> str:
        return str(body["messages"][1]["content"])

    def _openai_reply(self, line: Line) -> Any:
        message = {"role": "assistant", "content": line.text, "refusal": None}
        return {
            "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4.1-mini",
            "choices": [{"index": 0, "finish_reason": line.finish, "message": message}],
            "usage": {"prompt_tokens": TOKENS["prompt"], "total_tokens": 110,
                      "completion_tokens": TOKENS["completion"]},
        }  # fmt: skip

    # Gemini

    def _upload_address(self, handler: BaseHTTPRequestHandler) -> dict[str, str]:
        assert handler.headers["x-goog-upload-command"] == "start"
        return {"x-goog-upload-url": f"{self.url}/upload/here/up{len(self.files)}"}

    def _gemini_uploaded(self, handler: BaseHTTPRequestHandler, name: str, body: bytes) -> None:
        self.files[name] = body
        answer = {"file": {"name": f"files/{name}", "mimeType": "jsonl"}}
        _send(handler, 200, answer, headers={"x-goog-upload-status": "final"})

    def _gemini_create(self, asked: Any) -> Any:
        def read(row: Any) -> tuple[str, str]:
            self.prompts.append(json.dumps(row["request"], sort_keys=True))
            return row["key"], self._gemini_prompt(row["request"])

        batch = asked["batch"]
        lines = self.files[batch["inputConfig"]["fileName"].removeprefix("files/")]
        return self._gemini_batch(self._made(batch["displayName"], lines, read))

    def _gemini_list(self, query: dict[str, list[str]]) -> Any:
        begin = int(query.get("pageToken", ["0"])[0])
        held = list(self.batches.values())
        page = {"operations": [self._gemini_batch(b) for b in held[begin : begin + self.page]]}
        more = begin + self.page < len(held)
        return page | ({"nextPageToken": str(begin + self.page)} if more else {})

    def _gemini_batch(self, held: Held) -> Any:
        outcome = held.outcome
        word = {"done": "SUCCEEDED"}.get(outcome.state, outcome.state) if outcome else "RUNNING"
        if outcome and not held.results and outcome.state not in {"failed", "expired"}:
            rows = [json.dumps(self._gemini_line(line)) for line in outcome.lines]
            name = f"batch-out-{held.id}"
            self.files[name] = outcome.raw("".join(f"{row}\n" for row in rows).encode())
            held.results = [name]
        output = {"output": {"responsesFile": f"files/{held.results[0]}"}} if held.results else {}
        meta = {"displayName": held.label, "state": f"BATCH_STATE_{word.upper()}", **output}
        return {"name": f"batches/{held.id}", "metadata": meta, "done": outcome is not None}

    def _gemini_line(self, line: Line) -> Any:
        if line.error is not None:
            return {"key": line.key, "error": {"message": line.error}}
        if line.status != 200:
            code = {429: 8, 500: 13, 503: 14}.get(line.status, 3)
            return {"key": line.key, "error": {"code": code, "message": "scripted"}}
        return {"key": line.key, "response": self._gemini_reply(line)}

    def _gemini_prompt(self, body: Any) -> str:
        return str(body["contents"][0]["parts"][0]["text"])

    def _gemini_reply(self, line: Line) -> Any:
        finish = {"stop": "STOP", "length": "MAX_TOKENS"}[line.finish]
        content = {"role": "model", "parts": [{"text": line.text}]}
        return {
            "candidates": [{"content": content, "finishReason": finish}],
            "usageMetadata": {"promptTokenCount": TOKENS["prompt"],
                              "candidatesTokenCount": TOKENS["completion"] - 5,
                              "thoughtsTokenCount": 5},
            "modelVersion": "gemini-2.5-flash",
        }  # fmt: skip


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    answer: Any,
    *,
    raw: bool = False,
    headers: dict[str, str] | None = None,
    cut: int | None = None,
) -> None:
    data = answer if raw or cut is not None else json.dumps(answer).encode()
    handler.send_response(status)
    kind = "application/octet-stream" if raw else "application/json"
    for name, value in {"content-type": kind, **(headers or {})}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[:cut])


@contextmanager
def batch_server() -> Iterator[BatchServer]:
    server = BatchServer()
    try:
        yield server
    finally:
        server.close()
