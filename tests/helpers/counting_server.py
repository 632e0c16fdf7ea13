"""An OpenAI-compatible server, as vLLM has one, that counts how often each pair is asked."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_QUERY = re.compile(r"^Shopper query: (.*)$", re.MULTILINE)
_LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def grade_of(query: str, text: str) -> str:
    """A label that depends on the pair alone."""
    return "ESCI"[hashlib.sha256(f"{query}\n{text}".encode()).digest()[0] % 4]


class CountingServer(ThreadingHTTPServer):
    """Counts pairs when they are asked, before it answers: an answer that is lost was paid for."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, latency_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.latency_s = latency_s
        self.asked: Counter[tuple[str, str]] = Counter()
        self.calls = 0
        self.most_at_once = 0
        self.at_once = 0
        self.keys: set[str] = set()
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A worker that is killed hangs up: no fault of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: CountingServer

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"]
        query = _QUERY.search(prompt)
        assert query is not None
        rows = _LINE.findall(prompt)
        server = self.server
        with server.turn:
            server.calls += 1
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            server.keys.add(self.headers.get("authorization", ""))
            server.asked.update((query[1], text) for _, text in rows)
        time.sleep(server.latency_s)
        with server.turn:
            server.at_once -= 1
        grades = [
            {"id": ref, "esci": grade_of(query[1], text), "reason": f"as said of {text[-12:]}"}
            for ref, text in rows
        ]
        self._send(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {
                            "role": "assistant",
                            "content": json.dumps({"grades": grades}),
                        },
                    }
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
            }
        )

    def _send(self, document: object) -> None:
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
