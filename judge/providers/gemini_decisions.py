"""Probabilities over the google-genai SDK's `decisions`. I/O; importing it loads the SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from google.genai import errors

from relgate.judge.decide import DecideReply, DecideRequest
from relgate.judge.providers.answers import rows_by_name
from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.fields import count_of
from relgate.judge.providers.gemini_client import GOOGLE, gemini_clients
from relgate.judge.providers.gemini_reply import failure_of
from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GradeError, Usage

__all__ = ["GeminiDecide", "decisions_failure_of"]

_FIRST_ERROR = 400


class GeminiDecide:
    """A `decide` over the google-genai SDK; see `gemini_decide` for its parts."""

    def __init__(
        self, *, api_key: str, base_url: str | None, api_version: str | None, timeout_s: float
    ) -> None:
        self._base_url = base_url or GOOGLE
        self._api_version = api_version
        self._clients = gemini_clients(
            api_key=api_key, base_url=self._base_url, api_version=api_version, timeout_s=timeout_s
        )
        self._attempts = Attempts(
            decisions_failure_of, base_url=self._base_url, key=api_key, timeout_s=timeout_s
        )

    def __repr__(self) -> str:
        return f"GeminiDecide(base_url={self._base_url!r}, api_version={self._api_version!r})"

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
        questions = {
            name: {"type": "choice", "instructions": text, "criteria": dict(request.labels)}
            for name, text in request.named_questions()
        }
        decisions = cast("Any", client.sdk.aio.decisions)  # its own types are unknown in part
        response: object = await decisions.create(
            model=request.model,
            # there is no system message; what stands first is shared by all questions
            input=[{"type": "text", "text": text} for text in (request.system, request.prompt)],
            questions=questions,
        )
        return _reply_of(response, request)


def decisions_failure_of(
    error: Exception, *, base_url: str, secrets: Sequence[str] = ()
) -> CallError | None:
    """The failure that an exception of this part of the SDK stands for; None when it is no such.

    It raises classes of its own, kept private and so told by their names: with a status and a
    body, or with the transport's exception as the cause.
    """
    status: object = getattr(error, "status_code", None)
    response: object = getattr(error, "response", None)
    if isinstance(status, int) and status >= _FIRST_ERROR:
        body: object = getattr(error, "body", None)
        known = cast("Any", body if isinstance(body, dict) else {"message": str(body)})
        as_api_error = errors.APIError(status, known, cast("Any", response))
        return failure_of(as_api_error, base_url=base_url, secrets=secrets)
    if isinstance(status, int):  # a 200 that could not be read
        said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
        return CallError(GradeError.PROVIDER, f"the reply is no valid JSON; {said}", retry=True)
    links = [link for link in (error.__cause__, error) if isinstance(link, Exception)]
    known = (failure_of(link, base_url=base_url, secrets=secrets) for link in links)
    return next(filter(None, known), None) or _by_name(error, secrets)


def _by_name(error: Exception, secrets: Sequence[str]) -> CallError | None:
    names = {c.__name__ for c in type(error).__mro__ if c.__module__.startswith("google.genai.")}
    if "APIError" not in names:
        return None
    said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
    if "APITimeoutError" in names:
        return CallError(GradeError.TIMEOUT, f"no answer in time; {said}", retry=True)
    return CallError(GradeError.PROVIDER, said, retry="APIConnectionError" in names)


def _reply_of(response: object, request: DecideRequest) -> DecideReply:
    """Nothing in it is checked by the SDK, so that each field is looked at first."""
    feedback: object = getattr(response, "prompt_feedback", None)
    answers: object = getattr(response, "answers", None)
    if getattr(feedback, "block_reason", None) is not None:
        blocked = (GradeError.BLOCKED,) * len(request.questions)
        return DecideReply(rows=blocked, usage=_usage(response))
    if not isinstance(answers, dict):
        said = "the endpoint sent neither answers nor a reason why not; is its URL right?"
        raise CallError(GradeError.PROVIDER, said, retry=True)
    named = cast("dict[object, object]", answers).items()
    rows, unknown = rows_by_name(named, request, pairs_of=_pairs)
    return DecideReply(rows=rows, usage=_usage(response), unknown=unknown)


def _usage(response: object) -> Usage:
    """Answer and thoughts together, for both are paid for."""
    usage: object = getattr(response, "usage", None)
    out = [
        n
        for name in ("total_output_tokens", "total_thought_tokens")
        if (n := count_of(getattr(usage, name, None))) is not None
    ]
    return Usage(
        prompt_tokens=count_of(getattr(usage, "total_input_tokens", None)),
        completion_tokens=sum(out) if out else None,
    )


def _pairs(answer: object) -> Sequence[tuple[object, object]]:
    rows: object = getattr(answer, "probabilities", None)
    return list(cast("Mapping[object, object]", rows).items()) if isinstance(rows, dict) else []
