"""Masks API keys in whatever people or logs will read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["MASK", "known_secrets", "one_line", "redact"]

MASK = "***"
"""What stands where a key stood."""

_MAX_LINE = 300
_MIN_LITERAL = 6  # a shorter "secret" would mask ordinary words
_MIN_ENVIRONMENT = 8
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")

# What a shape cannot do without, in lower case; the shape; what stands in its place. A long report
# is looked through for the first alone, which is fifty times as quick. No marker holds a letter
# whose other case is not its `lower()` (i, s: a pattern that ignores case takes U+0130 and U+017F).
# Order matters: whole keys first, then the places where a key of unknown shape stands.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    # OpenAI and others (sk-..., sk-proj-..., sk-ant-..., also already starred out in part)
    (("sk-",), re.compile(r"\bsk-[\w*-]{8,}"), MASK),
    # Google: API keys, and the newer keys bound to an account
    (("aiza",), re.compile(r"\bAIza[\w-]{10,}"), MASK),
    (("aq.",), re.compile(r"\bAQ\.[\w-]{20,}"), MASK),
    # a key that a server has starred out in part still shows both its ends
    (("****",), re.compile(r"[\w-]+\*{4,}[\w-]*"), MASK),
    (
        ("bearer", "author"),
        re.compile(
            r"""(\bBearer|\bauthorization["']?\s*[:=,]\s*b?["']?Basic)\s+[\w.~+/=-]{6,}""",
            re.IGNORECASE,
        ),
        rf"\1 {MASK}",
    ),
    (
        ("key",),
        re.compile(
            r"""((?<![\w])(?:x-(?:goog-)?)?api[_-]?key["']?\s*(?::|=|["'],)\s*b?["']?)"""
            r"""(?!Bearer\s|Basic\s)[^\s"',;)}&]+""",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    # ?key=... in a URL, and its relatives
    (
        ("key=", "token="),
        re.compile(
            r"""(?<![\w])((?:access[_-]?)?(?:key|token)=["']?)[^\s"'&#<>,;)}]+""", re.IGNORECASE
        ),
        rf"\1{MASK}",
    ),
    # user:password@ in a URL
    (("://",), re.compile(r"(://)[^\s/@\"']+@"), rf"\1{MASK}@"),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with every key masked as `***`.

    Args:
        text: an error message, a URL, a header, anything that leaves the process.
        secrets: keys to mask literally, also where they stand percent-encoded; those under six
            characters are passed over, for they would mask ordinary words.

    Returns:
        The text without the given secrets and without what has the shape of a key: `sk-...`,
        `AIza...`, `Bearer ...`, `key=...` in a URL, `x-api-key: ...`, `user:password@`.
    """
    literal = {s for s in secrets if len(s) >= _MIN_LITERAL}
    literal |= {quote(s, safe="") for s in literal}
    for secret in sorted(literal, key=lambda s: (-len(s), s)):  # a key may contain another
        text = text.replace(secret, MASK)
    for markers, shape, mask in _SHAPES:
        lower = text.lower()  # each time: a mask may make a marker
        if any(marker in lower for marker in markers):
            text = shape.sub(mask, text)
    return text


def one_line(text: str, *, secrets: Iterable[str] = ()) -> str:
    """`text` on one line, keys masked, at most 300 characters.

    Keys are masked before the cut: half a key is a key's half too many.
    """
    line = " ".join(redact(text, secrets).split())
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that hold secrets by their name, sorted, each once.

    A name that contains KEY, TOKEN, SECRET or PASSWORD counts, in any case; values under eight
    characters are passed over.
    """
    return tuple(
        sorted(
            {
                value
                for name, value in environ.items()
                if len(value) >= _MIN_ENVIRONMENT
                and any(word in name.upper() for word in _SECRET_NAMES)
            }
        )
    )
