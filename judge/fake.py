"""A scripted model for tests and examples: it answers as it is told and keeps what it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from relgate.judge.types import GenerateReply, GenerateRequest

__all__ = ["FakeGenerate", "grade_lines"]

_LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_QUERY = re.compile(r"^Shopper query: (.*)$", re.MULTILINE)


class FakeGenerate:
    """A `generate` that never leaves the process.

    Args:
        answer: a list of replies to give in turn, or a function from request to reply. An
            exception among them is raised.

    Attributes:
        requests: every request, in order.
    """

    def __init__(
        self,
        answer: Sequence[str | GenerateReply | Exception]
        | Callable[[GenerateRequest], str | GenerateReply],
    ) -> None:
        self.requests: list[GenerateRequest] = []
        self._function = answer if callable(answer) else None
        self._queue: Iterator[str | GenerateReply | Exception] = iter(
            () if callable(answer) else answer
        )

    async def __call__(self, request: GenerateRequest) -> str | GenerateReply:
        """The next reply."""
        self.requests.append(request)
        if self._function is not None:
            return self._function(request)
        reply = next(self._queue, None)
        if reply is None:
            raise AssertionError("the script has no reply left")
        if isinstance(reply, Exception):
            raise reply
        return reply


def grade_lines(grade: Callable[[str, str], str]) -> Callable[[GenerateRequest], str]:
    """A function for `FakeGenerate` that grades each candidate by `grade(query, text) -> label`."""

    def answer(request: GenerateRequest) -> str:
        found = _QUERY.search(request.prompt)
        query = found.group(1) if found else ""
        field = next(
            key
            for key in request.schema["properties"]["grades"]["items"]["required"]
            if key not in {"id", "reason"}
        )
        rows = [
            {"id": ref, field: grade(query, text), "reason": "scripted"}
            for ref, text in _LINE.findall(request.prompt)
        ]
        return json.dumps({"grades": rows})

    return answer
