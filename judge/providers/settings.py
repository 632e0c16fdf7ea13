"""The settings that adapters share, checked before any call. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from relgate.judge.redact import redact
from relgate.rubrics.errors import ProviderUnavailableError, UsageError

__all__ = [
    "GEMINI_KEYS",
    "NO_KEY",
    "OPENAI_KEYS",
    "checked_key",
    "checked_timeout_s",
    "checked_url",
]

NO_KEY = "none"
"""Sent as the key to an endpoint of the user's own that needs none."""

OPENAI_KEYS = ("OPENAI_API_KEY",)
GEMINI_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Environment variables that may hold the key, the first set one counts."""


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


def checked_timeout_s(timeout_s: float) -> float:
    """`timeout_s`, if it is a positive finite number of seconds.

    Raises:
        UsageError: it is not; no call may wait for ever.
    """
    if not (math.isfinite(timeout_s) and timeout_s > 0):
        raise UsageError(f"timeout_s is {timeout_s!r}; give a positive, finite number of seconds")
    return timeout_s
