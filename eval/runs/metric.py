"""Which metric a `_rank_eval` file was scored with, as far as the file tells. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import InputError

__all__ = ["Setting", "metric_of_details", "stated_further", "stated_metric"]

_NAMES = (
    "precision",
    "recall",
    "mean_reciprocal_rank",
    "dcg",
    "expected_reciprocal_rank",
)
_ALIASES = {
    "ndcg": "dcg",
    "p": "precision",
    "mrr": "mean_reciprocal_rank",
    "err": "expected_reciprocal_rank",
}
# Up to Elasticsearch 6.x the figures of `metric_details` stand without the metric's name.
_FLAT = (
    ("docs_retrieved", "precision"),
    ("relevant_docs", "recall"),
    ("first_relevant", "mean_reciprocal_rank"),
)
_READ = frozenset({"k", "normalize"})
_FURTHER = (
    "gain", "floor", "no_ideal", "judgments_sha256", "judge_version", "golden_version",
)  # fmt: skip
_STATED = re.compile(r"([a-z_]+)(?:@([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Setting:
    """A metric's name, cut-off and, for dcg, whether it is divided by the ideal; None = untold."""

    metric: str | None = None
    k: int | None = None
    normalized: bool | None = None


def stated_metric(top: Mapping[str, Json], path: str) -> Setting | None:
    """The metric that a file states: `"recall@10"`, or a request's `{"dcg": {"k": 10}}`.

    `k` and `normalize` beside it are read too.

    Raises:
        InputError: it is stated in another way.
    """
    stated = top.get("metric")
    options: Mapping[str, Json] = top
    if isinstance(stated, dict) and len(stated) == 1:
        stated, inner = next(iter(stated.items()))
        options = inner if isinstance(inner, dict) else {}
    if stated is None:
        return None
    match = _STATED.fullmatch(stated.strip().casefold()) if isinstance(stated, str) else None
    if match is None:
        raise InputError(
            f"metric is {str(stated)[:40]!r}", path=path, mend='write it as "recall@10"'
        )
    word, cut = match.groups()
    k = int(cut) if cut else options.get("k")
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise InputError(f"k is {str(k)[:40]!r}", path=path, mend="give a whole number above 0")
    return Setting(_ALIASES.get(word, word), k, _normalized(word, options.get("normalize"), path))


def stated_further(top: Mapping[str, Json], path: str) -> dict[str, str | float | bool]:
    """What else a file says of how it was measured; two files that differ in it do not compare.

    The options of a metric that is stated as a request states it, but for those that
    `stated_metric` reads, and the keys `gain`, `floor`, `no_ideal`, `judgments_sha256`,
    `judge_version` and `golden_version` at the top.

    Raises:
        InputError: one of them is neither text nor a number.
    """
    stated = top.get("metric")
    inner = next(iter(stated.values())) if isinstance(stated, dict) and len(stated) == 1 else None
    options = inner if isinstance(inner, dict) else {}
    found = {name: value for name, value in options.items() if name not in _READ}
    found |= {name: top[name] for name in _FURTHER if name in top}
    out: dict[str, str | float | bool] = {}
    for name, value in found.items():
        if value is None:
            continue
        if not isinstance(value, str | int | float | bool):
            raise InputError(f"{name} is {str(value)[:40]!r}", path=path, mend="give one value")
        out[name] = value
    return out


def _normalized(word: str, stated: Json, path: str) -> bool | None:
    if stated is not None and not isinstance(stated, bool):
        raise InputError(f"normalize is {str(stated)[:40]!r}", path=path, mend="use true or false")
    return True if word == "ndcg" else stated if word == "dcg" else None


def metric_of_details(details: Sequence[Json], path: str) -> Setting:
    """The metric that the `metric_details` of all queries tell; the cut-off is never among them.

    Raises:
        InputError: they tell of several metrics.
    """
    told = [found for found in map(_named, details) if found is not None]
    names = {name for name, _ in told}
    if len(names) > 1:
        raise InputError(
            f"metric_details tell of several metrics: {', '.join(sorted(names))}",
            path=path,
            mend="run each metric into a file of its own",
        )
    if not names:
        return Setting()
    name = names.pop()
    figures = [part for _, part in told]
    return Setting(name, None, _is_divided(figures) if name == "dcg" else None)


def _named(detail: Json) -> tuple[str, Mapping[str, Json]] | None:
    if not isinstance(detail, dict):
        return None
    for name in _NAMES:
        part = detail.get(name)
        if isinstance(part, dict):
            return name, part
    if "dcg" in detail:
        return "dcg", detail
    return next(((name, detail) for mark, name in _FLAT if mark in detail), None)


def _is_divided(figures: Sequence[Mapping[str, Json]]) -> bool | None:
    """Elasticsearch leaves `normalized_dcg` out when the ideal is 0: then dcg is 0 too."""
    if any("normalized_dcg" in part for part in figures):
        return True
    gains = [part.get("dcg") for part in figures]
    return False if any(isinstance(gain, (int, float)) and gain > 0 for gain in gains) else None
