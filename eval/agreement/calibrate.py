"""Calibrates a judge: from grades that exist, or by asking it first.

Pure but for the judge that `acalibrate_judge` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.asking import IN_FLIGHT, Progress, agrade_pairs
from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.expectation import expectation_of
from relgate.eval.agreement.groups import (
    GroupsOf,
    answered_figures,
    by_grade,
    by_group,
    no_groups,
    tables_of,
)
from relgate.eval.agreement.intervals import RESAMPLES, Figure, figures_with_intervals
from relgate.eval.agreement.outlook import outlook
from relgate.eval.agreement.pairs import (
    GradedPairs,
    JudgeIdentity,
    identity_of,
    in_order,
    label_set_hash,
)
from relgate.eval.agreement.people import JudgeAmongPeople, Votes, people_beside
from relgate.eval.agreement.policy import POLICIES, Evidence, Level, TrustPolicy, level_of
from relgate.eval.agreement.remarks import constant_judges, warnings_of, worst_disagreements
from relgate.eval.agreement.sk import reported_figures
from relgate.eval.agreement.split import NOTHING_DECLARED, Hygiene
from relgate.eval.agreement.undefined import with_reasons
from relgate.eval.lists.types import JudgmentList, Scale
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, Judge
from relgate.rubrics.errors import InputError, UsageError

__all__ = [
    "DEFAULT_TERMS",
    "Terms",
    "acalibrate_judge",
    "calibrate_judge",
    "calibrate_pairs",
    "is_judge_trusted",
]


def is_judge_trusted(result: Calibration) -> bool:
    """Whether the calibration's level is `trusted` under the policy it was made with."""
    return result.level is Level.TRUSTED


def _no_text(_doc_id: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a calibration is made.

    Attributes:
        floor: least grade that counts as relevant, 1..scale.max_grade.
        policy: what makes a judge trusted.
        seed: of the resampling; the same seed gives the same intervals.
        resamples: draws of the resampling.
        groups_of: the stratum and the locale of a query, for figures of their own.
        text_of: document id -> its text, shown beside a disagreement; None where not known.
        hygiene: what was kept apart from the labels, for the record.
        votes: grades by rater of pairs that several people graded: the judge is measured beside
            them where there are any, or the policy asks for it.
    """

    floor: int = 2
    policy: TrustPolicy = POLICIES["default"]
    seed: int = 0
    resamples: int = RESAMPLES
    groups_of: GroupsOf = no_groups
    text_of: Callable[[str], str | None] = _no_text
    hygiene: Hygiene = NOTHING_DECLARED
    votes: Votes = field(default_factory=lambda: MappingProxyType({}))

    def check(self, scale: Scale) -> None:
        """Raises UsageError for a floor off the scale."""
        if not 0 < self.floor <= scale.max_grade:
            raise UsageError(f"floor {self.floor} is not a grade above 0 on the scale {scale.name}")


DEFAULT_TERMS = Terms()
"""Floor 2, the default policy, 2,000 draws with seed 0, no groups."""


def calibrate_pairs(
    pairs: GradedPairs,
    *,
    scale: Scale,
    terms: Terms = DEFAULT_TERMS,
    judge: JudgeIdentity | None = None,
) -> Calibration:
    """Agreement of the judge's grades with the human labels. Their order does not matter.

    Args:
        pairs: what was asked, with failed grades as `UNGRADED`: counted, in no figure.
        scale: the scale of both columns; fixes the label set.
        terms: floor, policy, resampling, groups.
        judge: which judge gave the grades, where known.

    Raises:
        InputError: no pair was asked about, or a grade is off the scale.
        UsageError: a floor off the scale.
    """
    terms.check(scale)
    if not len(pairs):
        raise InputError(
            "no labelled pair to compare: labels and grades do not overlap",
            mend="check that both use the same query and document ids",
        )
    return _calibrated(in_order(pairs), scale, terms, judge or JudgeIdentity())


def _calibrated(
    pairs: GradedPairs, scale: Scale, terms: Terms, judge: JudgeIdentity
) -> Calibration:
    n_grades, floor = scale.max_grade + 1, terms.floor
    seed, resamples = terms.seed, terms.resamples
    tables = tables_of(pairs, n_grades=n_grades)
    table = tables.sum(axis=0)
    beside = _beside_people(pairs, n_grades, terms)
    people: Mapping[str, Figure] = {} if beside is None else beside.figures
    figures = {**_figures(tables, pairs, terms), **people}
    evidence = Evidence(
        figures=figures,
        n=int(table.sum()),
        n_relevant=int(table[floor:].sum()),
        error_rate=1 - int(table.sum()) / len(pairs),
        label_sources=pairs.sources,
        n_people=0 if beside is None else beside.units,
    )
    level, reasons = level_of(evidence, terms.policy)
    draws = {"seed": seed, "resamples": resamples}
    return Calibration(
        judge=judge,
        figures=figures,
        n=evidence.n,
        n_asked=len(pairs),
        n_queries=len(tables),
        errors=pairs.errors,
        without_text=pairs.without_text,
        made_by_judge=pairs.made_by_judge,
        table=tuple(tuple(int(x) for x in row) for row in table.tolist()),
        constants=constant_judges(table, floor=floor),
        level=level,
        reasons=reasons,
        needs=outlook(evidence, terms.policy, tables, floor=floor, **draws),
        n_people=evidence.n_people,
        warnings=warnings_of(table, figures, pairs, n_queries=len(tables), resamples=resamples),
        disagreements=worst_disagreements(pairs, floor=floor, text_of=terms.text_of),
        label_sources=pairs.sources,
        label_set_hash=label_set_hash(pairs),
        floor=floor,
        scale=scale.name,
        policy=terms.policy,
        groups=by_group(pairs, terms.groups_of, n_grades=n_grades, floor=floor, **draws),
        leniency=by_grade(tables, **draws),
        seed=seed,
        resamples=resamples,
        hygiene=terms.hygiene,
        expectation=expectation_of(pairs, n_grades=n_grades, **draws),
    )


def _beside_people(pairs: GradedPairs, n_grades: int, terms: Terms) -> JudgeAmongPeople | None:
    """None where neither the labels nor the policy speak of several raters."""
    if not terms.votes and terms.policy.people_margin is None:
        return None
    return people_beside(
        pairs, terms.votes, n_grades=n_grades, seed=terms.seed, resamples=terms.resamples
    )


def _figures(tables: NDArray[np.int64], pairs: GradedPairs, terms: Terms) -> dict[str, Figure]:
    """All figures with intervals and reasons; the points of kappa and F1 are scikit-learn's."""
    table, floor = tables.sum(axis=0), terms.floor
    draws = {"seed": terms.seed, "resamples": terms.resamples}
    measured = figures_with_intervals(
        tables, floor=floor, reported=reported_figures(table, floor=floor), **draws
    )
    return {**with_reasons(measured, table, floor=floor), **answered_figures(pairs, **draws)}


async def acalibrate_judge(
    judge: Judge,
    human_labels: JudgmentList,
    candidates: Callable[[str], Candidate | None],
    *,
    min_labels: int = 5,
    terms: Terms = DEFAULT_TERMS,
    in_flight: int = IN_FLIGHT,
    on_progress: Progress | None = None,
) -> Calibration:
    """Has the judge grade what people graded, and measures the agreement.

    Args:
        judge: any judge; it is asked with the text that it would see in production.
        human_labels: the labels; those that a judge made are left out, and counted.
        candidates: document id -> its candidate from the catalogue, or None.
        min_labels: fewer labels with a text than this are refused before any call. It is no
            level: what `trusted` takes is in the policy.
        terms: floor, policy, resampling, groups; disagreements show the candidates' texts.
        in_flight: how many queries are with the judge at once.
        on_progress: called after each query.

    Raises:
        InputError: no labelled document is in the catalogue (never kappa 0), fewer than
            `min_labels`, or the judge's grades are off the list's scale.
        RelgateError: what the judge itself raises, such as a family clash.
    """
    terms.check(human_labels.scale)

    def text_of(doc_id: str) -> str | None:
        candidate = candidates(doc_id)
        return None if candidate is None else candidate.text

    pairs = await agrade_pairs(
        judge,
        human_labels,
        candidates,
        min_labels=min_labels,
        in_flight=in_flight,
        on_progress=on_progress,
    )
    return calibrate_pairs(
        pairs,
        scale=human_labels.scale,
        terms=replace(terms, text_of=text_of),
        judge=identity_of(judge),
    )


def calibrate_judge(
    judge: Judge,
    human_labels: JudgmentList,
    candidates: Callable[[str], Candidate | None],
    *,
    min_labels: int = 5,
    terms: Terms = DEFAULT_TERMS,
    in_flight: int = IN_FLIGHT,
    on_progress: Progress | None = None,
) -> Calibration:
    """As `acalibrate_judge`, for callers without an event loop.

    Raises:
        UsageError: an event loop is running; await `acalibrate_judge` there.
    """
    asked = acalibrate_judge(
        judge,
        human_labels,
        candidates,
        min_labels=min_labels,
        terms=terms,
        in_flight=in_flight,
        on_progress=on_progress,
    )
    return run_sync(asked, instead="await acalibrate_judge(...)")
