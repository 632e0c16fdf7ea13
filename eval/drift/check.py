"""The drift alarm: a current artifact against the baseline. Pure.

Rules are those of the golden-query guide: another golden version is a failure, a move of exactly
its budget passes, strata have budgets of their own, and the top losers are always shown. A
stratum's budget fires plainly, without a test of significance: that is the reviewer's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from relgate.eval.drift.budgets import DEFAULT, Budget, Budgets
from relgate.eval.drift.means import core, means_of, strata_of
from relgate.eval.drift.types import (
    SIGNALS,
    Artifact,
    Finding,
    Level,
    Loser,
    Measured,
    MeasuredQuery,
    Report,
    Signal,
)
from relgate.eval.wording import beside

__all__ = ["TOLERANCE", "check_drift"]

TOLERANCE = 1e-9
"""Float error that a comparison forgives."""

_LOSERS = 10
_NAMED = 5
_ORDER = (Level.MISMATCH, Level.HARD, Level.SOFT)


def check_drift(current: Artifact, baseline: Artifact, budgets: Budgets = DEFAULT) -> Report:
    """Every way in which `current` is worse than `baseline`, or cannot be compared with it."""
    findings = [
        *_mismatches(current, baseline),
        *_unlike(current, baseline),
        *_unresolved(current, baseline),
    ]
    pairs = _pairs(current, baseline)
    for now, was in pairs:
        findings.extend(_not_finite(now, was))
        findings.extend(_drift(now, was, budgets))
        findings.extend(_queries(now, was))
    findings.sort(key=lambda finding: _ORDER.index(finding.level))
    losers = sorted(
        (loser for now, was in pairs for loser in _losers(now, was)),
        key=lambda loser: (-loser.drop, loser.id, loser.stages),
    )
    return Report(tuple(findings), tuple(losers[:_LOSERS]), current, baseline)


def _pairs(current: Artifact, baseline: Artifact) -> list[tuple[Measured, Measured]]:
    by_words = {run.words: run for run in current.runs}
    return [(by_words[was.words], was) for was in baseline.runs if was.words in by_words]


def _mismatches(current: Artifact, baseline: Artifact) -> Iterator[Finding]:
    """What makes a comparison meaningless."""
    if current.golden_version != baseline.golden_version:
        yield Finding(
            "golden-version",
            Level.MISMATCH,
            f"golden version drift: current={current.golden_version} "
            f"baseline={baseline.golden_version}",
        )
    elif _differ(current.golden_sha256, baseline.golden_sha256):
        yield Finding(
            "golden-content",
            Level.MISMATCH,
            f"golden version {current.golden_version} has other content than in the baseline",
        )
    for name in sorted({*current.conventions, *baseline.conventions}):
        now, was = current.conventions.get(name), baseline.conventions.get(name)
        if name == "floor" or not _differ(now, was):
            continue
        yield Finding(f"convention-{name}", Level.MISMATCH, f"{name} is {now}, was {was}")


def _differ(one: str | None, other: str | None) -> bool:
    """Both are known, and not alike: what an artifact does not tell cannot contradict."""
    return one is not None and other is not None and one != other


def _unlike(current: Artifact, baseline: Artifact) -> Iterator[Finding]:
    """Settings and stages that are not those of the baseline: another stack was measured."""
    unlike = {**_changed(current.settings, baseline.settings)}
    if _differ(current.conventions.get("floor"), baseline.conventions.get("floor")):
        unlike["floor"] = (current.conventions["floor"], baseline.conventions["floor"])
    for name, (now, was) in unlike.items():
        yield Finding(f"setting-{name}", Level.HARD, f"{name} is {now}, was {was} in the baseline")
    there = {run.words for run in current.runs}
    for words in (run.words for run in baseline.runs if run.words not in there):
        yield Finding(
            "stages",
            Level.HARD,
            f"the baseline was measured with {words}; this run has "
            f"{' and '.join(sorted(there)) or 'nothing'}: measure the stack that users meet",
            stages=words,
        )


def _unresolved(current: Artifact, baseline: Artifact) -> Iterator[Finding]:
    """Judgments without a live id: they count for nothing, and no mean shows it."""
    texts = {query.id: query.text for run in current.runs for query in run.queries}
    lost: dict[str, list[str]] = {}
    still: dict[str, list[str]] = {}
    for query, keys in current.unresolved.items():
        for key in keys:
            known = key in baseline.unresolved.get(query, ())
            (still if known else lost).setdefault(query, []).append(key)
    for found, kind, level, what in (
        (lost, "unresolved", Level.HARD, "no live id any more: resolve or retire them"),
        (still, "unresolved-open", Level.SOFT, "no live id, as in the baseline"),
    ):
        if found:
            named = [f'{key!r} of "{texts.get(q, q)}"' for q, own in found.items() for key in own]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            yield Finding(
                kind,
                level,
                f"{len(named)} {'judgment has' if len(named) == 1 else 'judgments have'} {what}: "
                f"{', '.join(named[:_NAMED])}{more}",
                queries=tuple(found),
            )


def _changed(
    current: Mapping[str, str], baseline: Mapping[str, str]
) -> Mapping[str, tuple[str, str]]:
    return {
        name: (current.get(name, "not told"), was)
        for name, was in sorted(baseline.items())
        if current.get(name, "not told") != was
    }


def _not_finite(now: Measured, was: Measured) -> Iterator[Finding]:
    for side, run in (("current", now), ("baseline", was)):
        bad = [signal.value for signal, value in run.means.items() if not math.isfinite(value)]
        queries = [q.id for q in run.queries if not _is_finite(q)]
        if bad or queries:
            what = ", ".join(bad) or f"a figure of {', '.join(queries[:_NAMED])}"
            yield Finding(
                "not-finite",
                Level.MISMATCH,
                f"{what} of the {side} artifact is no finite number",
                stages=run.words,
                queries=tuple(queries),
            )


def _is_finite(query: MeasuredQuery) -> bool:
    values = (query.ndcg, query.mrr, query.precision)
    return all(value is None or math.isfinite(value) for value in values)


def _drift(now: Measured, was: Measured, budgets: Budgets) -> Iterator[Finding]:
    yield from _moves(now.means, was.means, budgets, now.words, None)
    strata, before = strata_of(now.queries), strata_of(was.queries)
    for stratum, queries in before.items():
        if stratum not in strata:
            yield Finding(
                "stratum",
                Level.HARD,
                f"stratum {stratum} of the baseline is not in this run",
                stages=now.words,
                stratum=stratum,
            )
            continue
        means = means_of(strata[stratum]), means_of(queries)
        yield from _moves(*means, budgets, now.words, stratum)


def _moves(
    now: Mapping[Signal, float],
    was: Mapping[Signal, float],
    budgets: Budgets,
    stages: str,
    stratum: str | None,
) -> Iterator[Finding]:
    for signal in SIGNALS:
        if signal not in was:
            continue
        if signal not in now:
            yield Finding(
                f"{signal.value}-missing",
                Level.MISMATCH,
                f"the baseline has {signal.value}{_within(stratum)}, this run has not",
                stages=stages,
                stratum=stratum,
            )
            continue
        found = _move(signal, now[signal], was[signal], budgets.of(signal, stratum))
        if found is not None:
            level, limit, message = found
            yield Finding(
                signal.value,
                level,
                message + _within(stratum) + (f" ({stages})" if stages else ""),
                stages=stages,
                stratum=stratum,
                baseline=was[signal],
                current=now[signal],
                budget=limit,
            )


def _within(stratum: str | None) -> str:
    return "" if stratum is None else f" in {stratum}"


def _move(
    signal: Signal, now: float, was: float, budget: Budget
) -> tuple[Level, float, str] | None:
    worse = now - was if signal.rises else was - now
    if not math.isfinite(worse) or worse <= budget.soft + TOLERANCE:
        return None  # what is not finite is a mismatch by itself
    level = Level.HARD if worse > budget.hard + TOLERANCE else Level.SOFT
    limit = budget.hard if level is Level.HARD else budget.soft
    word = "rise" if signal.rises else "drop"
    moved = beside(worse, limit, 4)
    return level, limit, f"{signal.value} {word} {moved} > {limit:g} ({was:.4f} to {now:.4f})"


_Test = Callable[[MeasuredQuery, MeasuredQuery], bool]

_OF_QUERIES: tuple[tuple[str, Level, str, str, _Test], ...] = (
    ("unscored", Level.MISMATCH, "core",
     "had a score in the baseline, no relevant judgment now, and left the mean",
     lambda now, was: now.ndcg is None and was.ndcg is not None),
    ("newly-scored", Level.MISMATCH, "core",
     "had no relevant judgment in the baseline, and came into the mean",
     lambda now, was: now.ndcg is not None and was.ndcg is None),
    ("failed", Level.HARD, "core", "answered in the baseline, now without an answer",
     lambda now, was: now.failed and not was.failed),
    ("expectation", Level.HARD, "core", "without what must come back, which came in the baseline",
     lambda now, was: now.held is False and was.held is not False),
    ("expectation-open", Level.SOFT, "core", "without what must come back, as in the baseline",
     lambda now, was: now.held is False and was.held is False),
    ("shadow-empty", Level.SOFT, "shadow", "in shadow found documents before, and none now",
     lambda now, was: now.empty and not was.empty),
)  # fmt: skip
"""Kind, level, which set, what of it is said, and when: what no mean may hide."""


def _queries(now: Measured, was: Measured) -> Iterator[Finding]:
    before = {query.id: query for query in was.queries}
    both = [(query, before[query.id]) for query in now.queries if query.id in before]
    missing = before.keys() - {query.id for query in now.queries}
    if missing:
        ids = [query_id for query_id in before if query_id in missing]
        what = "of the baseline not in this run"
        yield _of_queries("queries-missing", Level.MISMATCH, what, ids, (now, was))
    for kind, level, name, what, test in _OF_QUERIES:
        ids = [query.id for query, old in both if query.set == name and test(query, old)]
        if ids:
            yield _of_queries(kind, level, what, ids, (now, was))


def _of_queries(
    kind: str, level: Level, what: str, ids: Sequence[str], runs: tuple[Measured, Measured]
) -> Finding:
    texts = {query.id: query.text for run in runs for query in run.queries}
    names = ", ".join(f'"{texts[i]}"' for i in ids[:_NAMED])
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    counted = f"{len(ids)} {'query' if len(ids) == 1 else 'queries'}"
    where = f" ({runs[0].words})" if runs[0].stages else ""
    message = f"{counted} {what}: {names}{more}{where}"
    return Finding(kind, level, message, stages=runs[0].words, queries=tuple(ids))


def _losers(now: Measured, was: Measured) -> Iterator[Loser]:
    before = {query.id: query for query in was.queries}
    for query in core(now.queries):
        old = before.get(query.id)
        if old is None or old.ndcg is None or query.ndcg is None:
            continue
        if old.ndcg - query.ndcg > TOLERANCE:
            yield Loser(query.id, query.text, now.words, old.ndcg, query.ndcg)
