"""The record of a calibration: how far one judge agreed with people on one set of labels. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relgate.eval.agreement.expectation import Expectation
from relgate.eval.agreement.groups import GroupAgreement, Leniency
from relgate.eval.agreement.intervals import Figure
from relgate.eval.agreement.outlook import Need
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.agreement.policy import Level, TrustPolicy
from relgate.eval.agreement.split import NOTHING_DECLARED, Hygiene
from relgate.eval.lists.types import Query

__all__ = ["Calibration", "ConstantJudge", "Disagreement"]


@dataclass(frozen=True, slots=True)
class ConstantJudge:
    """What a judge that always says `grade` would reach on the same labels.

    Attributes:
        name: `always relevant` or `majority grade`.
        grade: what it says.
        accuracy: 0..1, or None.
        f1: at the floor, or None when undefined.
        kappa: 0, or None when people used one grade only.
    """

    name: str
    grade: int
    accuracy: float | None
    f1: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which people and the judge differ.

    Attributes:
        query: its query.
        doc_id: its document.
        human: people's grade.
        judge: the judge's.
        judge_reason: why, as the judge says; None where it does not.
        human_reason: why, as people noted; None where they did not.
        document: the start of the text that was graded; None where it is not known.
    """

    query: Query
    doc_id: str
    human: int
    judge: int
    judge_reason: str | None
    human_reason: str | None
    document: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far a judge agreed with people. Every number says on what it was measured.

    Attributes:
        judge: which judge.
        figures: by the names of `confusion.all_figures`, and `coverage` and `error_rate`; with
            several raters, or a policy that asks for them, those of `JudgeAmongPeople`.
        n: pairs with a human label and a grade; the figures are of these.
        n_asked: pairs that the judge was asked about.
        n_queries: queries among the n pairs; what is resampled.
        errors: failed pairs by kind.
        without_text: labels not asked about, since the catalogue lacks their document.
        made_by_judge: labels not used, since a judge made them.
        table: (K, K) counts, rows human, columns judge.
        constants: constant judges on the same labels.
        level: what `policy` makes of it.
        reasons: why, a sentence each.
        n_people: pairs that two or more people and the judge graded, by the raters' names.
        needs: what would change the level; empty for a trusted judge.
        warnings: what a reader must know, a sentence each.
        disagreements: the worst, up to 20.
        label_sources: who made the asked labels, counts by source.
        label_set_hash: SHA-256 of the asked labels.
        floor: least grade that counts as relevant.
        scale: name of the scale.
        policy: what it was held to.
        groups: agreement by stratum and by locale; empty where no query states any.
        leniency: by people's grade.
        seed: of the resampling.
        resamples: draws of the resampling.
        hygiene: what was kept apart from these labels.
        expectation: of a judge that gives expected grades or spreads; else None.
    """

    judge: JudgeIdentity
    figures: Mapping[str, Figure]
    n: int
    n_asked: int
    n_queries: int
    errors: Mapping[str, int]
    without_text: int
    made_by_judge: int
    table: tuple[tuple[int, ...], ...]
    constants: tuple[ConstantJudge, ...]
    level: Level
    reasons: tuple[str, ...]
    n_people: int
    needs: tuple[Need, ...]
    warnings: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]
    label_sources: Mapping[str, int]
    label_set_hash: str
    floor: int
    scale: str
    policy: TrustPolicy
    groups: tuple[GroupAgreement, ...]
    leniency: tuple[Leniency, ...]
    seed: int
    resamples: int
    hygiene: Hygiene = NOTHING_DECLARED
    expectation: Expectation | None = None

    @property
    def coverage(self) -> float:
        """Share of the asked pairs that got a grade, 0..1."""
        return self.n / self.n_asked

    @property
    def error_rate(self) -> float:
        """Share of the asked pairs that got none, 0..1."""
        return (self.n_asked - self.n) / self.n_asked

    @property
    def human_counts(self) -> tuple[int, ...]:
        """How many compared labels have each grade."""
        return tuple(sum(row) for row in self.table)

    @property
    def judge_counts(self) -> tuple[int, ...]:
        """How often the judge gave each grade."""
        return tuple(sum(column) for column in zip(*self.table, strict=True))
