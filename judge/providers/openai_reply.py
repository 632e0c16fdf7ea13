"""What the openai SDK returned or raised, in the judge's terms. Pure but for the clock."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, cast

import openai
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from relgate.judge.providers.failures import (
    common_failure,
    retry_after_s,
    status_failure,
)
from relgate.judge.providers.fields import count_of, text_of
from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GenerateReply, GradeError, Usage

__all__ = ["chat_reply", "failure_of", "responses_reply"]

_FINISH = {"stop": "stop", "length": "length", "content_filter": "blocked"}
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "blocked"}
_RAISED_FINISH: dict[type[Exception], GradeError] = {
    openai.LengthFinishReasonError: GradeError.TRUNCATED,
    openai.ContentFilterFinishReasonError: GradeError.BLOCKED,
}
_FAILED_STATUS = {"rate_limit_exceeded": 429, "server_error": 500, "vector_store_timeout": 504}


def failure_of(error: Exception, *, base_url: str, secrets: Iterable[str] = ()) -> CallError | None:
    """The failure that an exception of the SDK, or of what lies below it, stands for.

    None when it is none of theirs.
    """
    match error:
        case openai.APIStatusError():
            headers = {k.lower(): v for k, v in error.response.headers.items()}
            return status_failure(
                error.status_code,
                message=_message(error),
                code=_code(error),
                wait_s=retry_after_s(headers, now_s=time.time()),
                secrets=secrets,
            )
        case openai.APITimeoutError():
            said = one_line(f"{base_url}: no answer in time", secrets=secrets)
            return CallError(GradeError.TIMEOUT, said, retry=True)
        case openai.APIConnectionError():
            below = error.__cause__ if isinstance(error.__cause__, Exception) else error
            if isinstance(below, CallError):  # of a transport of ours, see `replay`
                return below
            known = common_failure(below, base_url=base_url, secrets=secrets)
            said = one_line(f"connection to {base_url} failed: {below}", secrets=secrets)
            return known or CallError(GradeError.PROVIDER, said, retry=True)
        case openai.OpenAIError() | openai.InvalidWebhookSignatureError():
            said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
            return CallError(_RAISED_FINISH.get(type(error), GradeError.PROVIDER), said)
        case _:
            return common_failure(error, base_url=base_url, secrets=secrets)


def _code(error: openai.APIStatusError) -> str:
    """The provider's word for it; some send the bare status as the code, and the word as type."""
    words = (error.code, cast("Any", error).type)
    return next((str(w) for w in words if w and str(w) != str(error.status_code)), "")


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        message = cast("dict[str, object]", body).get("message")
        if isinstance(message, str):
            return message
    return error.message


def chat_reply(completion: object, *, secrets: Iterable[str] = ()) -> GenerateReply:
    """The judge's reply from a chat completion.

    Compatible endpoints send what they like and the SDK passes it on unchecked, so that every
    field is looked at before it is believed.

    Raises:
        CallError: it is no completion, or an error dressed as one.
    """
    choice = _first_choice(completion, secrets=secrets)
    message = getattr(choice, "message", None)
    text, finish = (
        text_of(getattr(message, "content", None)),
        getattr(choice, "finish_reason", None),
    )
    if refusal := text_of(getattr(message, "refusal", None)):
        text, finish = refusal, "refused"
    word = text_of(finish) or "unknown"
    usage = getattr(completion, "usage", None)
    return GenerateReply(
        text=text,
        finish_reason=_FINISH.get(word, word),
        usage=Usage(
            prompt_tokens=count_of(getattr(usage, "prompt_tokens", None)),
            completion_tokens=count_of(getattr(usage, "completion_tokens", None)),
        ),
        model=text_of(getattr(completion, "model", None)),
    )


def _first_choice(completion: object, *, secrets: Iterable[str]) -> object:
    if isinstance(completion, ChatCompletion):
        choices: object = cast("Any", completion).choices
        if isinstance(choices, list) and choices:
            return cast("list[object]", choices)[0]
        error = (completion.model_extra or {}).get("error")
        if isinstance(error, dict):  # some gateways report a failure under status 200
            raise _error_in_body(cast("dict[str, object]", error), secrets=secrets)
    raise _no_reply("chat completion", completion, secrets=secrets)


def _error_in_body(error: dict[str, object], *, secrets: Iterable[str]) -> CallError:
    code = error.get("code")
    status = code if isinstance(code, int) else _FAILED_STATUS.get(str(code), 0)
    message = str(error.get("message"))
    if status:
        return status_failure(status, message=message, secrets=secrets)
    said = one_line(f"the provider reports an error: {code} {message}", secrets=secrets)
    return CallError(GradeError.PROVIDER, said)


def _no_reply(wanted: str, got: object, *, secrets: Iterable[str]) -> CallError:
    shown = got if isinstance(got, str) else type(got).__name__
    said = one_line(f"the endpoint sent no {wanted} but {shown!r}", secrets=secrets)
    return CallError(GradeError.PROVIDER, f"{said}; is its URL right?", retry=True)


def responses_reply(response: object, *, secrets: Iterable[str] = ()) -> GenerateReply:
    """The judge's reply from a response.

    Raises:
        CallError: it is no response, or one of status `failed`.
    """
    if not isinstance(response, Response) or not isinstance(cast("Any", response).output, list):
        raise _no_reply("response", response, secrets=secrets)
    if response.status == "failed":
        raise _failed(response, secrets=secrets)
    texts, refusals = _parts(response)
    usage = response.usage
    return GenerateReply(
        text=" ".join(refusals) or "".join(texts) or None,
        finish_reason="refused" if refusals else _response_finish(response),
        usage=Usage(
            prompt_tokens=count_of(getattr(usage, "input_tokens", None)),
            completion_tokens=count_of(getattr(usage, "output_tokens", None)),
        ),
        model=text_of(response.model),
    )


def _failed(response: Response, *, secrets: Iterable[str]) -> CallError:
    error = response.error
    code = "" if error is None else error.code
    message = "the response failed" if error is None else error.message
    status = _FAILED_STATUS.get(code)
    if status is not None:
        return status_failure(status, message=message, code=code, secrets=secrets)
    kind = GradeError.BLOCKED if "policy" in code or code == "invalid_prompt" else None
    said = one_line(f"{code}: {message}", secrets=secrets)
    return CallError(kind or GradeError.PROVIDER, said)


def _response_finish(response: Response) -> str:
    if response.status == "completed":
        return "stop"
    if response.status == "incomplete" and response.incomplete_details is not None:
        reason = response.incomplete_details.reason or "incomplete"
        return _INCOMPLETE.get(reason, reason)
    return response.status or "unknown"


def _parts(response: Response) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    refusals: list[str] = []
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    texts.append(part.text)
                else:
                    refusals.append(part.refusal)
    return texts, refusals
