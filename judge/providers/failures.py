"""What a failed call means: retry it, wait, give the batch up, or stop the run. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx2
import pydantic

from relgate.judge.redact import one_line
from relgate.judge.types import CallError, GradeError

__all__ = ["common_failure", "retry_after_s", "status_failure", "transport_failure"]

# Worth another try in a moment, as is every 5xx.
_RETRIED: Mapping[int, GradeError] = {
    HTTPStatus.REQUEST_TIMEOUT: GradeError.TIMEOUT,
    HTTPStatus.CONFLICT: GradeError.PROVIDER,
    HTTPStatus.TOO_MANY_REQUESTS: GradeError.RATE_LIMITED,
    HTTPStatus.GATEWAY_TIMEOUT: GradeError.TIMEOUT,
}
_DEAD: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "key refused",
    HTTPStatus.FORBIDDEN: "key refused",
    HTTPStatus.NOT_FOUND: "no such model or address",
}
_NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "PerDay")
_TOO_LONG = ("context_length_exceeded", "maximum context length", "input token count")
_FILTERED = ("content_filter", "content_policy_violation", "invalid_prompt", "bio_policy")


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """How long the server asks to wait, seconds; None when it does not say, or says nonsense.

    `retry-after-ms` goes before `retry-after`, which is a number of seconds or an HTTP date.
    Negative numbers, NaN, infinities and dates in the past are passed over (RFC 9110, 10.2.3).

    Args:
        headers: of the reply, looked up by lower-case name.
        now_s: the clock, seconds since the epoch, for dates.
    """
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        raw = headers.get(name)
        if raw is None:
            continue
        wait_s = _seconds(raw, now_s=now_s) / divisor
        if math.isfinite(wait_s) and wait_s >= 0:
            return wait_s
    return None


def _seconds(raw: str, *, now_s: float) -> float:
    try:
        return float(raw)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(raw).timestamp() - now_s
    except (ValueError, TypeError, OverflowError):
        return math.nan


def status_failure(
    status: int,
    *,
    message: str,
    code: str = "",
    wait_s: float | None = None,
    secrets: Iterable[str] = (),
) -> CallError:
    """The failure that an HTTP status stands for.

    401, 402, 403, 404, redirects, and any other 4xx are fatal: no further call of this shape can
    work. Not so a prompt that the provider filtered or found too long, for the next batch has
    another. 408, 409, 429 and 5xx may work in a moment, save a 429 for want of quota.

    Args:
        status: the HTTP status.
        message: what the provider said, keys not yet masked.
        code: the provider's own word for it, such as `insufficient_quota`.
        wait_s: what it asked to wait, seconds.
        secrets: keys to mask.
    """
    head = f"HTTP {status} {code}".strip()
    said = one_line(f"{head}: {message}", secrets=secrets)
    text = f"{code} {message}"
    match status:
        case HTTPStatus.TOO_MANY_REQUESTS if any(word in text for word in _NO_QUOTA):
            return CallError(GradeError.RATE_LIMITED, f"no quota left; {said}", fatal=True)
        case _ if status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            kind = _RETRIED.get(status, GradeError.PROVIDER)
            return CallError(kind, said, retry=True, retry_after_s=wait_s)
        case _ if status in _DEAD:
            return CallError(GradeError.PROVIDER, f"{_DEAD[status]}; {said}", fatal=True)
        case _:
            return _refused_request(status, text=text, said=said)


def _refused_request(status: int, *, text: str, said: str) -> CallError:
    if any(word in text for word in _FILTERED):
        return CallError(GradeError.BLOCKED, said)
    too_long = any(word in text for word in _TOO_LONG)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or too_long:
        return CallError(GradeError.PROVIDER, f"prompt too long; {said}")
    return CallError(GradeError.PROVIDER, said, fatal=True)


def transport_failure(
    error: Exception, *, base_url: str, secrets: Iterable[str] = ()
) -> CallError | None:
    """The failure that an error below HTTP stands for, or None when it is no such error."""
    place = urlsplit(base_url).netloc or base_url
    said = one_line(f"{place}: {type(error).__name__}: {error}".removesuffix(": "), secrets=secrets)
    match error:
        case httpx2.TimeoutException() | TimeoutError():
            return CallError(GradeError.TIMEOUT, f"no answer in time; {said}", retry=True)
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
            return CallError(GradeError.PROVIDER, said, fatal=True)
        case httpx2.HTTPError() | httpx2.StreamError() | httpx2.CookieConflict():
            return CallError(GradeError.PROVIDER, f"connection failed; {said}", retry=True)
        case OSError():
            return CallError(GradeError.PROVIDER, f"connection failed; {said}", retry=True)
        case _:
            return None


def common_failure(
    error: Exception, *, base_url: str, secrets: Iterable[str] = ()
) -> CallError | None:
    """The failure of a call that got no HTTP error: transport, or a body that is no reply.

    None when `error` is neither.
    """
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | pydantic.ValidationError):
        said = one_line(f"{type(error).__name__}: {error}", secrets=secrets)
        return CallError(GradeError.PROVIDER, f"the reply is no valid JSON; {said}", retry=True)
    return transport_failure(error, base_url=base_url, secrets=secrets)
