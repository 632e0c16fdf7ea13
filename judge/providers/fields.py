"""A field of a reply, looked at before it is believed: SDKs pass on what they get. Pure."""

from __future__ import annotations

from typing import cast

__all__ = ["count_of", "fields_of", "text_of"]


def fields_of(value: object) -> dict[str, object]:
    """`value` if it is a JSON object, else one without fields."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def text_of(value: object) -> str | None:
    """`value` if it is text."""
    return value if isinstance(value, str) else None


def count_of(value: object) -> int | None:
    """`value` if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
