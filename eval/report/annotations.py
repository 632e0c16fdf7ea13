"""The review as GitHub annotations: workflow commands, one a line. Pure.

A workflow command is text on a log line, so data in it is escaped as GitHub's own toolkit does.
"""

from __future__ import annotations

from collections.abc import Iterator

from relgate.eval.report.escape import terminal_text
from relgate.eval.review.rules import RULES
from relgate.eval.review.types import Finding, Review, RuleState, Verdict

__all__ = ["MAX_ANNOTATIONS", "review_annotations"]

MAX_ANNOTATIONS = 10
"""GitHub shows so many errors and so many warnings a step, and drops the rest in silence."""

_NAMES = {rule.id: f"{rule.id} {rule.name}" for rule in RULES}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def review_annotations(review: Review) -> list[str]:
    """`::error` lines for what blocks or refuses, `::warning` lines for what needs work.

    Worst first; what GitHub would drop is counted in the last line of its kind. A rule that could
    not run and so caps the verdict is a warning.
    """
    errors = [f for f in review.deciding if f.severity >= Verdict.BLOCK]
    warnings = [f for f in review.deciding if f.severity is Verdict.NEEDS_WORK]
    return [
        *_capped("error", [_finding("error", f) for f in errors]),
        *_capped("warning", [*(_finding("warning", f) for f in warnings), *_caps(review)]),
    ]


def _finding(level: str, found: Finding) -> str:
    place = {
        name: str(value)
        for name in ("file", "line")
        if (value := found.figures.get(name)) is not None
    }
    return _command(level, _NAMES.get(found.rule, found.rule), found.message, place)


def _caps(review: Review) -> Iterator[str]:
    if review.verdict is Verdict.REFUSE:
        return
    for outcome in review.outcomes:
        if outcome.state is RuleState.NOT_CHECKED and outcome.cap is not None:
            said = f"not checked, which caps the verdict: {outcome.summary}"
            yield _command("warning", _NAMES.get(outcome.rule, outcome.rule), said, {})


def _command(level: str, title: str, message: str, place: dict[str, str]) -> str:
    given = {"title": f"relgate {title}", **place}
    options = ",".join(
        f"{name}={terminal_text(value).translate(_PROPERTY)}" for name, value in given.items()
    )
    return f"::{level} {options}::{terminal_text(message).translate(_DATA)}"


def _capped(level: str, lines: list[str]) -> list[str]:
    if len(lines) <= MAX_ANNOTATIONS:
        return lines
    kept = lines[: MAX_ANNOTATIONS - 1]
    more = f"{len(lines) - len(kept)} more findings in review.json"
    return [*kept, _command(level, "review", more, {})]
