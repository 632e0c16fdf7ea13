"""What a rule is, in words: one source for `relgate explain` and the page of rules. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from relgate.eval.review.rules import RULES
from relgate.eval.review.rules.base import Rule
from relgate.eval.review.settings import ReviewSettings
from relgate.rubrics.errors import UsageError

__all__ = ["SOURCES", "STATES", "Setting", "find_rule", "rule_settings"]

SOURCES = {
    "R": "the reviewer document",
    "G": "the golden-query guide",
    "X": "ours",
}
"""What the letters of a source stand for."""

STATES = (
    "A note is shown and changes nothing; a cap means that the verdict can be no better than that, "
    "since the rule could not run."
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A number of the reviewer.

    Attributes:
        name: its key under `[budgets]`.
        default: its default.
        meaning: what it does, with its rule and its source.
    """

    name: str
    default: float
    meaning: str


def rule_settings(rule: str | None = None) -> tuple[Setting, ...]:
    """The numbers of one rule by its id, or of all; none for a rule without numbers."""
    found = (
        Setting(name, value, _meaning(name)) for name, value in ReviewSettings().numbers().items()
    )
    return tuple(s for s in found if rule is None or re.match(rf"{rule}\b", s.meaning))


def _meaning(name: str) -> str:
    """The attribute's line in the docstring of `ReviewSettings`."""
    doc = ReviewSettings.__doc__ or ""
    line = next(x.strip() for x in doc.splitlines() if x.strip().startswith(f"{name}:"))
    return line.partition(":")[2].strip()


def find_rule(name: str) -> Rule:
    """A rule by its id (`R7`, `r7`, `7`) or its name (`masked`).

    Raises:
        UsageError: no such rule; the message has the nearest ones, and all.
    """
    wanted = name.strip().casefold()
    number = re.fullmatch(r"r?0*([1-9][0-9]*)", wanted)
    by_name = {key: rule for rule in RULES for key in (rule.id.casefold(), rule.name)}
    found = by_name.get(f"r{number[1]}" if number else wanted)
    if found is not None:
        return found
    near = [by_name[key] for key in get_close_matches(wanted, by_name, n=3, cutoff=0.6)]
    meant = " or ".join(dict.fromkeys(f"{r.id} {r.name}" for r in near))
    raise UsageError(
        f"no rule {name[:40]!r}"
        + (f"; did you mean {meant}?" if meant else "")
        + f" The rules are {', '.join(f'{r.id} {r.name}' for r in RULES)}"
    )
