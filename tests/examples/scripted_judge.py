"""A scripted model behind the OpenAI chat protocol, as a process of its own: `python FILE PORT`.

Texts with "good" are Exact, others Irrelevant; a call with a "slow" text takes 30 seconds. GET
tells how many calls came, and how many were under way at once.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SEEN = {"calls": 0, "now": 0, "most": 0}
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(SEEN)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"]
        with LOCK:
            SEEN["calls"] += 1
            SEEN["now"] += 1
            SEEN["most"] = max(SEEN["most"], SEEN["now"])
        time.sleep(30 if "slow" in prompt else 0.05)
        with LOCK:
            SEEN["now"] -= 1
        grades = [
            {"id": ref, "esci": "E" if "good" in text else "I", "reason": "scripted"}
            for ref, text in re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)
        ]
        message = {"role": "assistant", "content": json.dumps({"grades": grades})}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.reply({"id": "c", "object": "chat.completion", "created": 0,
                    "model": body["model"], "choices": [choice], "usage": usage})  # fmt: skip

    def reply(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: object) -> None:
        """A caller that gave up is no error."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)  # noqa: T201 - its parent reads the port
    server.serve_forever()
