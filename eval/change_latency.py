"""Reads the latency that a change description gives. I/O.

A side is its percentiles in ms, a list of samples, or a file, its path relative to the description:
JSON (percentiles, a list, or samples by query), or CSV with one column `latency_ms`, `took_ms`,
`ms`, `latency` or `took`, or with one column of numbers and no header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictFloat

from relgate.eval.change_values import Strict, checked
from relgate.eval.files import load_content
from relgate.eval.lists.columns import fold
from relgate.eval.lists.jsontext import Content, Json
from relgate.eval.lists.table import open_table
from relgate.eval.review.supplied import Latency, Percentiles, percentiles_of
from relgate.rubrics.errors import InputError

__all__ = ["read_latency"]

_COLUMNS = ("latency_ms", "took_ms", "ms", "latency", "took")
_PERCENTILES = frozenset({"p50", "p95", "p99"})


def _not_negative(value: float) -> float:
    if value < 0:  # a NaN passes: the rule refuses it
        raise ValueError("below 0")
    return value


_Ms = Annotated[StrictFloat, AfterValidator(_not_negative)]


class _LatencyTable(Strict):
    before: Any = None
    after: Any = None


class _PercentileTable(Strict):
    p50: _Ms | None = None
    p95: _Ms | None = None
    p99: _Ms | None = None


class _Samples(Strict):
    samples: Annotated[tuple[_Ms, ...], Field(min_length=1)]


def read_latency(data: Mapping[str, Any], path: Path) -> Latency:
    """Latency of both sides; what a side lacks stays None.

    Args:
        data: the table `latency` of the description.
        path: the description.

    Raises:
        InputError: an unknown key, no number, a number below 0, percentiles that fall, or a fault
            of a file that is named.
    """
    table = checked(_LatencyTable, data, key="latency", path=path)
    sides = {"before": table.before, "after": table.after}
    before, after = (
        None if value is None else _side(value, f"latency.{name}", path)
        for name, value in sides.items()
    )
    return Latency(before, after)


def _side(value: object, key: str, path: Path) -> Percentiles:
    if isinstance(value, str):
        return _of_file(path.parent / value)
    if not isinstance(value, dict | list):
        raise InputError(
            f"{key} is {value!r:.60}", path=path, mend="give { p50, p95, p99 }, samples or a file"
        )
    return _of_values(value, key, path)  # pyright: ignore[reportUnknownArgumentType] - checked there


def _of_file(path: Path) -> Percentiles:
    content = load_content(path)
    if content.kind == "text":
        return percentiles_of(_csv_samples(content))
    if content.kind == "jsonl" or not isinstance(content.value, dict | list):
        raise InputError(
            "neither a list nor an object of latencies", path=path, mend="write [12.5, 9.1, ...]"
        )
    value = content.value
    if isinstance(value, dict) and not _PERCENTILES.intersection(value):
        value = [sample for part in value.values() for sample in _as_samples(part)]
    return _of_values(value, "", path)


def _as_samples(part: Json) -> Sequence[Json]:
    return part if isinstance(part, list) else [part]


def _of_values(value: Mapping[str, Any] | Sequence[Any], key: str, path: Path) -> Percentiles:
    if not isinstance(value, Mapping):
        return percentiles_of(checked(_Samples, {"samples": value}, key=key, path=path).samples)
    table = checked(_PercentileTable, value, key=key, path=path)
    given = [
        (name, ms)
        for name, ms in (("p50", table.p50), ("p95", table.p95), ("p99", table.p99))
        if ms is not None
    ]
    for (low, low_ms), (high, high_ms) in pairwise(given):
        if low_ms > high_ms:
            raise InputError(
                f"{key or 'the file'}: {low} {low_ms:g} is above {high} {high_ms:g}",
                path=path,
                mend="look at how they were measured",
            )
    return Percentiles(table.p50, table.p95, table.p99)


def _csv_samples(content: Content) -> list[float]:
    table = open_table(
        content.text, content.path, fits=lambda names: any(fold(n) in _COLUMNS for n in names)
    )
    columns = [i for i, name in enumerate(table.header) if fold(name) in _COLUMNS]
    headless = not columns and len(table.header) == 1 and _number(table.header[0]) is not None
    if len(columns) != 1 and not headless:
        raise InputError(
            f"no single column of latencies ({'|'.join(_COLUMNS)}); found "
            f"{', '.join(map(repr, table.header[:12]))}",
            path=content.path,
            line=table.line,
            mend="rename the column",
        )
    at = 0 if headless else columns[0]
    cells: list[tuple[int, str]] = [(table.line, table.header[0])] if headless else []
    cells += [(line, row[at]) for line, row in table.rows()]
    if not cells:
        raise InputError("no sample in it", path=content.path, mend="measure again")
    return list(_numbers(cells, content.path))


def _numbers(cells: Sequence[tuple[int, str]], path: str) -> Iterator[float]:
    for line, cell in cells:
        value = _number(cell)
        if value is None or value < 0:
            raise InputError(
                f"latency {cell[:40]!r} is no number from 0 up",
                path=path,
                line=line,
                mend="mend or drop it",
            )
        yield value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
