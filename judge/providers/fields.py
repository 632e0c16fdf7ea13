"""A field of a reply, looked at before it is believed: SDKs pass on what they get. Pure."""

from __future__ import annotations

__all__ = ["count_of", "text_of"]


def text_of(value: object) -> str | None:
    """`value` if it is text."""
    return value if isinstance(value, str) else None


def count_of(value: object) -> int | None:
    """`value` if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
