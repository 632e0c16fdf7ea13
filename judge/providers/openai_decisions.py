"""Probabilities over the openai SDK's `decisions`. I/O; importing it loads the SDK."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from openai.types.decision import Decision

from relgate.judge.decide import DecideReply, DecideRequest
from relgate.judge.providers.answers import rows_by_name
from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.fields import count_of, text_of
from relgate.judge.providers.openai_client import OPENAI, openai_clients
from relgate.judge.providers.openai_reply import failure_of
from relgate.judge.types import CallError, GradeError, Usage

__all__ = ["OpenAIDecide"]


class OpenAIDecide:
    """A `decide` over the openai SDK; see `openai_decide` for its parts."""

    def __init__(self, *, api_key: str, base_url: str | None, timeout_s: float) -> None:
        self._base_url = base_url or OPENAI
        self._clients = openai_clients(
            api_key=api_key, base_url=self._base_url, timeout_s=timeout_s
        )
        self._attempts = Attempts(
            failure_of, base_url=self._base_url, key=api_key, timeout_s=timeout_s
        )

    def __repr__(self) -> str:
        return f"OpenAIDecide(base_url={self._base_url!r})"

    async def __call__(self, request: DecideRequest, /) -> DecideReply:
        """Answers `request`.

        Raises:
            CallError: every failure of the SDK, of the connection, or of the endpoint.
        """
        return await self._attempts.make(partial(self._once, request))

    async def aclose(self) -> None:
        """Closes the running loop's connections; the instance stays usable."""
        await self._clients.aclose()

    async def _once(self, request: DecideRequest) -> DecideReply:
        if request.model is None:
            raise CallError(GradeError.PROVIDER, "no model named; give one", fatal=True)
        client = await self._clients.get()
        choices = [{"value": code, "description": name} for code, name in request.labels]
        questions = [
            {"type": "choice", "name": name, "instructions": text, "choices": choices}
            for name, text in request.named_questions()
        ]
        decision: object = await client.decisions.create(
            model=request.model,
            input=[
                {"type": "message", "role": "system", "content": request.system},
                {"type": "message", "role": "user", "content": request.prompt},
            ],
            questions=cast("Any", questions),
        )
        return _reply_of(decision, request)


def _reply_of(decision: object, request: DecideRequest) -> DecideReply:
    """Nothing in it is checked by the SDK, so that each field is looked at first."""
    answers = getattr(decision, "answers", None)
    if not isinstance(decision, Decision) or not isinstance(answers, list):
        raise CallError(GradeError.PROVIDER, "the endpoint sent no decision", retry=True)
    named = [(getattr(a, "name", None), a) for a in cast("list[object]", answers)]
    rows, unknown = rows_by_name(named, request, pairs_of=_pairs)
    usage: object = getattr(decision, "usage", None)
    return DecideReply(
        rows=rows,
        usage=Usage(
            prompt_tokens=count_of(getattr(usage, "input_tokens", None)),
            completion_tokens=count_of(getattr(usage, "output_tokens", None)),
        ),
        model=text_of(getattr(decision, "model", None)),
        unknown=unknown,
    )


def _pairs(answer: object) -> Sequence[tuple[object, object]]:
    rows = getattr(answer, "probabilities", None)
    return [
        (getattr(row, "value", None), getattr(row, "probability", None))
        for row in (cast("list[object]", rows) if isinstance(rows, list) else [])
    ]
