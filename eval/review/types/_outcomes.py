"""What a rule says: findings, outcomes and the verdict they add up to. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

__all__ = [
    "Finding",
    "RuleOutcome",
    "RuleState",
    "Verdict",
]


class Verdict(IntEnum):
    """Worst last. REFUSE is not a worse BLOCK: no verdict can be given."""

    APPROVE = 0
    NEEDS_WORK = 1
    BLOCK = 2
    REFUSE = 3

    @property
    def word(self) -> str:
        """How reports write it: `NEEDS-WORK`."""
        return self.name.replace("_", "-")

    @property
    def exit_code(self) -> int:
        """What the command line returns: 0, 1, 3, 4."""
        return {0: 0, 1: 1, 2: 3, 3: 4}[int(self)]


class RuleState(StrEnum):
    """What became of a rule. A rule without its input is shown, never silent."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    Attributes:
        rule: the rule's id, `R5`.
        severity: the verdict that this finding alone would mean.
        message: one sentence with its figures and threshold.
        figures: the numbers, for machines.
        advice: what to do about it, or None.
        queries: ids of the queries it names.
    """

    rule: str
    severity: Verdict
    message: str
    figures: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    advice: str | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What a rule came to.

    Attributes:
        rule: the rule's id.
        state: passed, failed or not checked.
        summary: one line: what was measured, or which input was absent.
        findings: at least one when failed; notes when passed.
        cap: the best verdict still possible, where an unchecked rule limits it.
    """

    rule: str
    state: RuleState
    summary: str
    findings: tuple[Finding, ...] = ()
    cap: Verdict | None = None
