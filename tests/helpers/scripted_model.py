"""A scripted model behind the protocols of OpenAI's chat and of Gemini, on loopback.

It grades by words in common, which says nothing about any model; it stands in for the paid one.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import Loopback


def grades_of(prompt: str) -> str:
    """The reply to a prompt: E, S or I by how many of the query's words a text has."""
    query = re.search(r"^Shopper query: (.*)$", prompt, re.MULTILINE)
    words = set(re.findall(r"\w+", (query[1] if query else "").casefold()))
    rows = []
    for ref, text in re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE):
        found = len(words & set(re.findall(r"\w+", text.casefold())))
        esci = "E" if found == len(words) else "S" if found else "I"
        rows.append({"id": ref, "esci": esci, "reason": "scripted: words in common"})
    return json.dumps({"grades": rows})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = _openai(body) if "messages" in body else _gemini(body)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Quiet."""


def _openai(body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": grades_of(body["messages"][-1]["content"])}
    usage = {"prompt_tokens": 500, "completion_tokens": 200, "total_tokens": 700}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def _gemini(body: dict[str, Any]) -> dict[str, Any]:
    text = grades_of(body["contents"][-1]["parts"][-1]["text"])
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 500, "candidatesTokenCount": 200},
    }


class ScriptedModel(Loopback):
    """The server; `environ` points both SDKs at it."""

    def __init__(self) -> None:
        super().__init__(_Handler)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": "sk-scripted", "OPENAI_BASE_URL": f"{self.url}/v1",
            "GOOGLE_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": self.url,
        }  # fmt: skip
