"""The sentences and rows that the Markdown and the terminal view share. Pure."""

from __future__ import annotations

from math import isnan

from relgate.eval.lists.types import Source
from relgate.eval.review.losers import losers, winners
from relgate.eval.review.types import (
    Basis,
    Coverage,
    Delta,
    Evidence,
    ExpectedScores,
    QueryEvidence,
    Review,
    Unrated,
    Verdict,
)
from relgate.eval.wording import counted, tallied

__all__ = [
    "MARKS",
    "SIGNIFICANT_DELTA",
    "change_line",
    "correction_lines",
    "coverage_line",
    "diff_lines",
    "expected_line",
    "fill_line",
    "judge_lines",
    "measured_line",
    "settings_line",
    "significant",
    "unrated_lines",
]

MARKS = {
    Verdict.APPROVE: "✅",
    Verdict.NEEDS_WORK: "🟡",
    Verdict.BLOCK: "❌",
    Verdict.REFUSE: "⛔",
}

SIGNIFICANT_DELTA = 0.05
_SHOWN_A_SIDE = 10
_SHOWN_EMPTY = 5
_SHOWN_PLACES = 5

_SOURCES = {
    Source.HUMAN: "by people",
    Source.RULE: "by rule",
    Source.IMPORT: "of unstated origin",
    Source.JUDGE: "by a judge",
}


def change_line(evidence: Evidence) -> str:
    """What is under review, in its author's words."""
    change = evidence.change
    if change is None:
        return "not described"
    kinds = ", ".join(change.types) or "type not given"
    kinds += ", found in the diff" if change.types_from_diff else ""
    intent = f"; intent: {change.intent}" if change.intent else ""
    return f"{change.description or 'not described'} ({kinds}{intent})"


def diff_lines(evidence: Evidence) -> list[str]:
    """What the diff shows, one line a type with its places; nothing without a diff."""
    shown = None if evidence.change is None else evidence.change.detected
    if shown is None:
        return []
    by_kind: dict[str, list[str]] = {}
    for found in shown:
        key = f"{found.key} in " if found.key else ""
        by_kind.setdefault(found.kind.value, []).append(f"{key}{found.place}")
    return [
        f"{kind}: {', '.join(places[:_SHOWN_PLACES])}"
        + (f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else "")
        for kind, places in by_kind.items()
    ] or ["no search configuration that is known here"]


def expected_line(expected: ExpectedScores) -> str:
    """What the judge's own doubt makes of the delta."""
    return (
        f"{expected.name} by the judge's class probabilities: {expected.before:.4f} to "
        f"{expected.after:.4f}, delta {expected.delta:+.4f}, 95 % of {expected.draws:,} draws in "
        f"[{expected.low:+.4f}, {expected.high:+.4f}] (seed {expected.seed}); {expected.pairs} of "
        f"{expected.filled} filled grades have them, each drawn by itself. The judge's own doubt, "
        "not its error against people; no part of the verdict"
    )


def coverage_line(coverage: Coverage) -> str:
    """Queries, judgments and who made them, and how much is unrated."""
    shares = ", ".join(
        f"{100 * n / coverage.judgments:.0f} % {_SOURCES[source]}"
        for source, n in coverage.by_source.items()
        if coverage.judgments
    )
    parts = [
        counted(coverage.queries, "query", "queries"),
        counted(coverage.judgments, "judgment"),
    ]
    if shares:
        parts[-1] += f" ({shares})"
    now, first = coverage.now, coverage.at_first
    if now.known and not isnan(now.mean_after):
        before_fill = (
            ""
            if first is None or isnan(first.mean_after)
            else f" ({100 * first.mean_after:.0f} % before the fill)"
        )
        parts.append(f"{100 * now.mean_after:.0f} % unrated on average, after side{before_fill}")
    if coverage.list_only:
        alone = counted(coverage.list_only, "judged query", "judged queries")
        parts.append(f"{alone} in neither run, left out")
    if coverage.unjudged:
        bare = counted(coverage.unjudged, "query", "queries")
        parts.append(f"{bare} without any judgment")
    return ", ".join(parts)


def measured_line(evidence: Evidence) -> str:
    """What was measured, by which convention, and where the figures come from."""
    main = evidence.main
    over = "" if main.n is None else f" over {counted(main.n, 'query', 'queries')}"
    if evidence.basis is Basis.GIVEN:
        return (
            f"{main.name}{over}; recomputation is impossible (the files list no documents, or no "
            f"judgment list was given), so their own scores are used{_partial(evidence)}"
            f"{_unsaid(evidence)}"
        )
    apart = evidence.coverage.no_ideal
    how = "reported apart" if evidence.conventions.no_ideal == "apart" else "counted as 0"
    tail = f"; {apart} without a judgment above grade 0 {how}" if apart else ""
    return f"{main.name}{over}, {evidence.basis}{tail}"


def _unsaid(evidence: Evidence) -> str:
    """What the files leave open of the scores that they hold: by which metric, at which k."""
    sides = {"before": evidence.settings_before, "after": evidence.settings_after}
    lines: list[str] = []
    for name, words in (("metric", "by which metric"), ("k", "at which k")):
        silent = [side for side, stated in sides.items() if name not in stated]
        if len(silent) == len(sides):
            lines.append(f"; the files do not say {words}")
        elif silent:
            lines.append(f"; the {silent[0]} file does not say {words}")
    return "".join(lines)


def _partial(evidence: Evidence) -> str:
    if evidence.covers_all:
        return ""
    listed = len(evidence.queries)
    are = "query they list is" if listed == 1 else "queries they list are"
    return f"; the {listed:,} {are} not all that this mean is over"


def settings_line(review: Review) -> str | None:
    """The reviewer's numbers that are not the defaults, or None."""
    own = review.settings.changed()
    if not own:
        return None
    return "; ".join(f"{name} {value:g} instead of {was:g}" for name, (was, value) in own.items())


def unrated_lines(review: Review) -> list[str]:
    """How many queries still have enough of their results graded, against R8's limit."""
    evidence = review.evidence
    now, first = evidence.coverage.now, evidence.coverage.at_first
    if not now.known:
        return ["the files do not say which documents are unrated"]
    lines: list[str] = []
    rated = f"{100 * (1 - review.settings.mostly_unrated):.0f} %"
    if first is not None:
        lines.append(
            f"before the fill: {_rated(first)} had at least {rated} of their documents rated"
        )
    limit = review.settings.max_stale_share
    share = now.mostly / now.queries if now.queries else 0.0
    mark = "✓" if now.queries and share <= limit else "✗"
    lines.append(
        f"{_rated(now)} {'has' if now.queries == 1 else 'have'} at least {rated} rated documents "
        f"({100 * share:.1f} % have not; {100 * limit:.0f} % is the limit) {mark}"
    )
    if now.empty:
        bare = [q.query.shown for q in evidence.queries if _empty(q)]
        names = ", ".join(f'"{text}"' for text in bare[:_SHOWN_EMPTY])
        more = f" and {len(bare) - _SHOWN_EMPTY} more" if len(bare) > _SHOWN_EMPTY else ""
        verb = "returns" if now.empty == 1 else "return"
        lines.append(f"{now.empty} {verb} nothing after the change: {names}{more}")
    return lines


def _rated(unrated: Unrated) -> str:
    """`3/4 queries`: those with enough of their documents rated, of all."""
    noun = "query" if unrated.queries == 1 else "queries"
    return f"{unrated.queries - unrated.mostly}/{unrated.queries} {noun}"


def _empty(query: QueryEvidence) -> bool:
    now = query.now
    return not (now.returned or now.absent or now.error is not None)


def fill_line(evidence: Evidence) -> str | None:
    """What a fill did, or None without one."""
    fill = evidence.fill
    if fill is None:
        return None
    gaps = counted(fill.gaps, "unrated document")
    parts = [f"judge {fill.judge} graded {fill.graded:,} of {gaps}"]
    if fill.cached:
        parts.append(f"{fill.cached:,} of them from the cache")
    if fill.calls is not None:
        parts.append(counted(fill.calls, "call"))
    if fill.asked > fill.graded:
        kinds = tallied(fill.errors)
        parts.append(f"{fill.asked - fill.graded:,} failed ({kinds})")
    if fill.cost_usd is not None:
        parts.append(f"about {fill.cost_usd:.4f} USD")
    if fill.saved_usd is not None:
        parts.append(f"about {fill.saved_usd:.4f} USD saved by the cache")
    if fill.not_asked:
        parts.append(f"{fill.not_asked:,} not asked, since the run stopped")
    if fill.no_text:
        were = "was" if fill.no_text == 1 else "were"
        parts.append(f"{fill.no_text:,} without text in the catalogue {were} not asked")
    return ", ".join(parts)


def judge_lines(evidence: Evidence) -> list[str]:
    """One line a judge whose grades count, and one an override."""
    lines = [
        f"{counted(j.rows, 'grade')} by {j.version or 'a judge of unknown version'}"
        + (f", model {j.model}" if j.model else "")
        + (f": {j.problem}" if j.problem else f": trusted under policy {j.policy}")
        for j in evidence.judges
    ]
    return [*lines, *evidence.overrides]


def significant(evidence: Evidence) -> tuple[list[QueryEvidence], list[QueryEvidence]]:
    """The queries worth a row, biggest changes first on each side, and the rest that moved.

    Head queries that changed at all are always among the first. The rest begins with the losers.
    """
    up = [q for q in winners(evidence) if _notable(q)]
    down = [q for q in losers(evidence) if _notable(q)]
    shown = [*_cut(up), *_cut(down)]
    ids = {q.query.id for q in shown}
    return shown, [q for q in (*down, *up) if q.query.id not in ids]


def _notable(query: QueryEvidence) -> bool:
    return query.head or abs(query.delta) > SIGNIFICANT_DELTA


def _cut(queries: list[QueryEvidence]) -> list[QueryEvidence]:
    first = queries[:_SHOWN_A_SIDE]
    return [*first, *(q for q in queries[_SHOWN_A_SIDE:] if q.head)]


def correction_lines(evidence: Evidence) -> list[str]:
    """The delta as scored, by the judge, by people, and corrected; or why it is not corrected."""
    found = evidence.correction
    if found is None:
        return []
    if found.corrected is None or found.people is None or found.judge is None:
        return [f"not corrected: {found.why}"]
    noise, main = evidence.noise, evidence.main
    plain = Delta(main.delta, *((noise.low, noise.high) if noise else (None, None)))
    n, more = found.labelled, found.unlabelled
    how = f"PPI++, lambda {found.weight:.2f}, n = {n}, N = {more} by the judge alone"
    return [
        f"{found.metric} as scored: {_with_interval(plain)}",
        f"by people's grades alone, n = {n} queries: {_with_interval(found.people)}",
        f"by the judge's grades alone, {n + more} queries: {_with_interval(found.judge)}",
        f"corrected ({how}): {_with_interval(found.corrected)}",
        *found.notes,
    ]


def _with_interval(delta: Delta) -> str:
    if delta.low is None or delta.high is None:
        return f"{delta.point:+.4f} (no interval)"
    return f"{delta.point:+.4f} (95 %: {delta.low:+.4f} to {delta.high:+.4f})"
