"""Values as `review.json` holds them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import isfinite
from typing import Any

__all__ = ["moved", "number", "picked", "plain"]

_DIGITS = 6


def number(value: float | None) -> float | None:
    """Six decimals; null for what is not finite."""
    return round(value, _DIGITS) if value is not None and isfinite(value) else None


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """A value as JSON holds it, all the way down."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return {plain(k): plain(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def picked(thing: object, *names: str) -> dict[str, Any]:
    """These attributes by their own names."""
    return {name: plain(getattr(thing, name)) for name in names}


def moved(before: float, after: float) -> dict[str, float | None]:
    """Both sides and their delta, which is that of the two numbers beside it."""
    was, now = number(before), number(after)
    delta = None if was is None or now is None else number(now - was)
    return {"before": was, "after": now, "delta": delta}
