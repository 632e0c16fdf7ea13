"""What a run over a golden set measured, stage by stage, and what the alarm makes of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

__all__ = [
    "FEW",
    "NO_STAGES",
    "SIGNALS",
    "Artifact",
    "Finding",
    "Level",
    "Loser",
    "Measured",
    "MeasuredQuery",
    "Outcome",
    "Report",
    "Signal",
    "stages_words",
]

FEW = 3
"""A result list shorter than this is near-empty ("lt3")."""

NO_STAGES = "as is"

Outcome: TypeAlias = Literal["pass", "warn", "fail", "mismatch"]
"""What a check comes to."""


class Signal(StrEnum):
    """What is held to a budget. The first three may drop, the last two may rise."""

    NDCG = "ndcg"
    MRR = "mrr"
    PRECISION = "precision_at_k"
    EMPTY = "empty_rate"
    LT3 = "lt3_rate"

    @property
    def rises(self) -> bool:
        """A rise of it is the bad direction."""
        return self in {Signal.EMPTY, Signal.LT3}


SIGNALS = tuple(Signal)


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """One query of one run.

    Attributes:
        id: its id in the golden set.
        text: what the shopper types; the id where the artifact does not tell.
        ndcg, mrr, precision: 0..1; None where undefined (no ideal, not judged).
        returned: documents that came back; None where the artifact does not tell.
        empty: nothing came back.
        failed: the engine gave an error or no answer in time; its figures count as 0.
        set: core, challenge or shadow.
        stratum: the group it is reported in, or None.
        filtered: it was sent with filters.
        expect: what must come back, or None.
        held: whether that came back; None without an expectation.
        weight: its traffic, or None.
    """

    id: str
    text: str
    ndcg: float | None
    mrr: float | None
    precision: float | None
    returned: int | None = None
    empty: bool = False
    failed: bool = False
    set: str = "core"
    stratum: str | None = None
    filtered: bool = False
    expect: str | None = None
    held: bool | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One combination of stages, run over the whole set.

    Attributes:
        stages: {stage: setting}, for example {"rewriter": "on"}; empty where there are none.
        queries: every query of the set.
        means: the means over the core queries, as the artifact says or as we measured; lt3_rate
            only where the artifact tells how many documents came back.
        latency_ms: percentiles by name, or None.
    """

    stages: Mapping[str, str]
    queries: tuple[MeasuredQuery, ...]
    means: Mapping[Signal, float]
    latency_ms: Mapping[str, float] | None = None

    @property
    def words(self) -> str:
        """The combination in words, `reranker=off, rewriter=on`."""
        return stages_words(self.stages)


def stages_words(stages: Mapping[str, str]) -> str:
    """A combination of stages in words, in order of their names."""
    return ", ".join(f"{k}={v}" for k, v in sorted(stages.items())) or NO_STAGES


@dataclass(frozen=True, slots=True)
class Artifact:
    """What one `relgate run` measured, or a guide-style relevance.json.

    Attributes:
        golden_version: the set that was run.
        golden_sha256: its content, or None where the artifact does not tell.
        conventions: what the figures depend on by name (k, floor, gain, no_ideal); empty where
            the artifact does not tell.
        settings: what must be alike on both sides: cache bypass and the like, by name.
        about: what explains odd differences later: index generation, versions of models.
        runs: one a combination of stages, no combination twice.
        unresolved: {query id: locators} of judgments that had no live id: they counted for
            nothing, as if the documents were not judged.
        path: the file.
    """

    golden_version: str
    runs: tuple[Measured, ...]
    golden_sha256: str | None = None
    conventions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    about: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unresolved: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    path: str | None = None


class Level(StrEnum):
    """How bad a finding is."""

    SOFT = "soft"
    HARD = "hard"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the alarm says.

    Attributes:
        kind: its name for machines: a signal's name, `failed`, `expectation`, `stages` ...
        level: soft warns, hard fails (exit code 3), mismatch means that no comparison can be
            made (exit code 4).
        message: one line for people, with the figures.
        stages: which combination, in words; empty where it is about the whole.
        stratum: which stratum, or None for all.
        baseline, current: the figures, where there are any.
        budget: the limit that was passed, where there is one.
        queries: ids of the queries that it is about.
    """

    kind: str
    level: Level
    message: str
    stages: str = ""
    stratum: str | None = None
    baseline: float | None = None
    current: float | None = None
    budget: float | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loser:
    """A core query whose NDCG fell."""

    id: str
    text: str
    stages: str
    baseline: float
    current: float

    @property
    def drop(self) -> float:
        """How far it fell, above 0."""
        return self.baseline - self.current


@dataclass(frozen=True, slots=True)
class Report:
    """What the alarm found.

    Attributes:
        findings: worst first.
        losers: the ten core queries that fell most, over all combinations.
        current, baseline: what was compared.
    """

    findings: tuple[Finding, ...]
    losers: tuple[Loser, ...]
    current: Artifact
    baseline: Artifact

    @property
    def exit_code(self) -> int:
        """0 pass or soft warning, 3 hard failure, 4 mismatch or NaN."""
        levels = {finding.level for finding in self.findings}
        if Level.MISMATCH in levels:
            return 4
        return 3 if Level.HARD in levels else 0
