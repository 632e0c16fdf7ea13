"""The settings that adapters share, checked before any call. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from relgate.judge.redact import redact
from relgate.rubrics.errors import ProviderUnavailableError, UsageError

__all__ = [
    "GEMINI_ENV",
    "NO_KEY",
    "OPENAI_ENV",
    "Access",
    "Variables",
    "access",
    "checked_key",
    "checked_url",
]

NO_KEY = "none"
"""Sent as the key to an endpoint of the user's own that needs none."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The environment variables that say how a provider is reached.

    Attributes:
        keys: those that may hold the key; the first set one counts.
        url: that of another endpoint of the same protocol.
    """

    keys: tuple[str, ...]
    url: str


OPENAI_ENV = Variables(("OPENAI_API_KEY",), "OPENAI_BASE_URL")
GEMINI_ENV = Variables(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL")


@dataclass(frozen=True, slots=True)
class Access:
    """How an endpoint is reached, every part checked.

    Attributes:
        key: the API key, or `NO_KEY`.
        url: the endpoint; None for the provider's own.
        timeout_s: the limit of one call, seconds.
    """

    key: str = field(repr=False)
    url: str | None
    timeout_s: float


def access(
    variables: Variables,
    environ: Mapping[str, str],
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_s: float,
) -> Access:
    """How the endpoint is reached that the arguments name, else the environment.

    Args:
        variables: where in the environment it is said.
        environ: the environment.
        api_key: the caller's own key; an endpoint that is named may need none.
        base_url: the caller's own endpoint.
        timeout_s: the limit of one call, seconds.

    Raises:
        ProviderUnavailableError: no key, or an impossible one.
        UsageError: the address or `timeout_s` cannot be meant.
    """
    url = base_url or environ.get(variables.url) or None
    return Access(
        key=checked_key(api_key, names=variables.keys, environ=environ, optional=url is not None),
        url=None if url is None else checked_url(url),
        timeout_s=_checked_timeout_s(timeout_s),
    )


def checked_key(
    given: str | None, *, names: Sequence[str], environ: Mapping[str, str], optional: bool
) -> str:
    """The API key: the one given, else the first variable of `names` that is set.

    Args:
        given: the caller's own key.
        names: environment variables, the most telling first.
        environ: the environment.
        optional: whether the endpoint may need none; then `NO_KEY` is returned.

    Raises:
        ProviderUnavailableError: no key, or one with characters that no header can carry. The
            message names the variable, never its value.
    """
    found = given or next((environ[name] for name in names if environ.get(name)), "")
    key = found.strip()
    if not key and optional:
        return NO_KEY
    if not key:
        raise ProviderUnavailableError(f"no API key; set {' or '.join(names)}")
    if not (key.isascii() and key.isprintable()) or any(c.isspace() for c in key):
        raise ProviderUnavailableError(
            f"the API key holds a blank, a control or a non-ASCII character; set {names[0]} anew"
        )
    return key


def checked_url(url: str) -> str:
    """`url`, if it can be the base of an API and hides no credentials.

    Raises:
        UsageError: not http(s), no host, a bad port, a user name or password, a query, or a
            fragment.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise UsageError(f"{redact(url)!r} is no URL; write http(s)://HOST[:PORT]/PATH") from None
    if not usable or any(c.isspace() for c in url):
        raise UsageError(f"{redact(url)!r} is no URL; write http(s)://HOST[:PORT]/PATH")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            f"a judge's URL carries no credentials, query or fragment: {redact(url)!r}; "
            "put the key into the environment"
        )
    return url


def _checked_timeout_s(timeout_s: float) -> float:
    """`timeout_s`, if it is a positive finite number of seconds.

    Raises:
        UsageError: it is not; no call may wait for ever.
    """
    if not (math.isfinite(timeout_s) and timeout_s > 0):
        raise UsageError(f"timeout_s is {timeout_s!r}; give a positive, finite number of seconds")
    return timeout_s
