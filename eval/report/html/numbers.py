"""Figures as text and as cells. A figure that is not known is a dash, never 0. Pure."""

from __future__ import annotations

from relgate.eval.report.html.parts import Cell, Tone

__all__ = [
    "ABSENT",
    "chance",
    "change_cell",
    "change_tone",
    "count",
    "number",
    "number_cell",
    "share",
    "signed",
]

ABSENT = "–"  # noqa: RUF001 - a dash is what is meant

_TOLERANCE = 1e-9
_LEAST_P = 0.0005


def number(value: float | None, digits: int = 4) -> str:
    """`0.7018`."""
    return ABSENT if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 4) -> str:
    """`+0.0171`; no change is `0.0000` without a sign."""
    if value is None:
        return ABSENT
    return f"{value:+.{digits}f}" if abs(value) > _TOLERANCE else f"{0:.{digits}f}"


def chance(value: float | None) -> str:
    """A p; one that would round to nothing is `below 0.001`."""
    return "below 0.001" if value is not None and value < _LEAST_P else number(value, 3)


def share(value: float | None) -> str:
    """A share 0..1 as `53.7 %`."""
    return ABSENT if value is None else f"{100 * value:.1f} %"


def count(value: int | None) -> str:
    """`1,650`."""
    return ABSENT if value is None else f"{value:,}"


def number_cell(value: float | None, digits: int = 4) -> Cell:
    """A figure that sorts by itself; what is not known sorts below every figure."""
    return Cell(number(value, digits), sort=_key(value))


def change_tone(value: float | None) -> Tone:
    """Up is good, down is bad, for every metric here."""
    if value is None or abs(value) <= _TOLERANCE:
        return ""
    return "good" if value > 0 else "bad"


def change_cell(value: float | None, digits: int = 4) -> Cell:
    """A change: the sign says which way, the colour says it again."""
    return Cell(signed(value, digits), tone=change_tone(value), sort=_key(value))


def _key(value: float | None) -> float:
    return -1e9 if value is None else value
