"""Calibrates a judge: from grades that exist, or by asking it first.

Pure but for the judge that `acalibrate_judge` asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np

from relgate.eval.agreement.asking import IN_FLIGHT, Progress, agrade_pairs
from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.confusion import query_tables
from relgate.eval.agreement.expectation import expectation_of
from relgate.eval.agreement.intervals import RESAMPLES, figures_with_intervals
from relgate.eval.agreement.pairs import GradedPairs, JudgeIdentity, label_set_hash
from relgate.eval.agreement.policy import POLICIES, Evidence, Level, TrustPolicy, level_of
from relgate.eval.agreement.remarks import constant_judges, warnings_of, worst_disagreements
from relgate.eval.agreement.sk import reported_figures
from relgate.eval.lists.types import JudgmentList, Scale
from relgate.judge.types import Candidate, Judge
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["acalibrate_judge", "calibrate_judge", "calibrate_pairs", "is_judge_trusted"]


def is_judge_trusted(result: Calibration) -> bool:
    """Whether the calibration's level is `trusted` under the policy it was made with."""
    return result.level is Level.TRUSTED


def calibrate_pairs(
    pairs: GradedPairs,
    *,
    scale: Scale,
    floor: int = 2,
    policy: TrustPolicy = POLICIES["default"],
    seed: int = 0,
    resamples: int = RESAMPLES,
    judge: JudgeIdentity | None = None,
) -> Calibration:
    """Agreement of the judge's grades with the human labels.

    Args:
        pairs: what was asked, with failed grades as `UNGRADED`: counted, in no figure.
        scale: the scale of both columns; fixes the label set.
        floor: least grade that counts as relevant, 1..scale.max_grade.
        policy: what makes a judge trusted.
        seed: of the resampling; the same seed gives the same intervals.
        resamples: draws of the resampling.
        judge: which judge gave the grades, where known.

    Raises:
        InputError: no pair was asked about, or a grade is off the scale.
        UsageError: a floor off the scale.
    """
    if not 0 < floor <= scale.max_grade:
        raise UsageError(f"floor {floor} is not a grade above 0 on the scale {scale.name}")
    if not len(pairs):
        raise InputError(
            "no labelled pair to compare: labels and grades do not overlap",
            mend="check that both use the same query and document ids",
        )
    graded = pairs.graded
    n_grades = scale.max_grade + 1
    human, given = pairs.human[graded], pairs.judge[graded]
    used, query = np.unique(pairs.query[graded], return_inverse=True)
    tables = query_tables(query, human, given, n_queries=len(used), n_grades=n_grades)
    table = tables.sum(axis=0)
    figures = figures_with_intervals(
        tables,
        floor=floor,
        seed=seed,
        resamples=resamples,
        reported=reported_figures(table, floor=floor),
    )
    evidence = Evidence(
        figures=figures,
        n=len(human),
        n_relevant=int((human >= floor).sum()),
        error_rate=1 - len(human) / len(pairs),
        label_sources=pairs.sources,
    )
    level, reasons = level_of(evidence, policy)
    return Calibration(
        judge=judge or JudgeIdentity(),
        figures=figures,
        n=len(human),
        n_asked=len(pairs),
        n_queries=len(used),
        errors=pairs.errors,
        without_text=pairs.without_text,
        made_by_judge=pairs.made_by_judge,
        table=tuple(tuple(int(x) for x in row) for row in table.tolist()),
        constants=constant_judges(table, floor=floor),
        level=level,
        reasons=reasons,
        warnings=warnings_of(table, figures, pairs, n_queries=len(used), resamples=resamples),
        disagreements=worst_disagreements(pairs, floor=floor),
        label_sources=pairs.sources,
        label_set_hash=label_set_hash(pairs),
        floor=floor,
        scale=scale.name,
        policy=policy.name,
        seed=seed,
        resamples=resamples,
        expectation=expectation_of(pairs, n_grades=n_grades, seed=seed, resamples=resamples),
    )


async def acalibrate_judge(
    judge: Judge,
    human_labels: JudgmentList,
    candidates: Callable[[str], Candidate | None],
    *,
    min_labels: int = 5,
    floor: int = 2,
    policy: TrustPolicy = POLICIES["default"],
    seed: int = 0,
    resamples: int = RESAMPLES,
    in_flight: int = IN_FLIGHT,
    on_progress: Progress | None = None,
) -> Calibration:
    """Has the judge grade what people graded, and measures the agreement.

    Args:
        judge: any judge; it is asked with the text that it would see in production.
        human_labels: the labels; those that a judge made are left out, and counted.
        candidates: document id -> its candidate from the catalogue, or None.
        min_labels: fewer labels with a text than this are refused before any call. It is no
            level: what `trusted` takes is in `policy`.
        floor: least grade that counts as relevant.
        policy: what makes a judge trusted.
        seed: of the resampling.
        resamples: draws of the resampling.
        in_flight: how many queries are with the judge at once.
        on_progress: called after each query.

    Raises:
        InputError: no labelled document is in the catalogue (never kappa 0), fewer than
            `min_labels`, or the judge's grades are off the list's scale.
        RelgateError: what the judge itself raises, such as a family clash.
    """
    if not 0 < floor <= human_labels.scale.max_grade:
        raise UsageError(f"floor {floor} is not a grade above 0 on {human_labels.scale.name}")
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
        floor=floor,
        policy=policy,
        seed=seed,
        resamples=resamples,
        judge=JudgeIdentity(judge.version, judge.fingerprint, judge.model, judge.family),
    )


def calibrate_judge(
    judge: Judge,
    human_labels: JudgmentList,
    candidates: Callable[[str], Candidate | None],
    *,
    min_labels: int = 5,
    floor: int = 2,
    policy: TrustPolicy = POLICIES["default"],
    seed: int = 0,
    resamples: int = RESAMPLES,
    in_flight: int = IN_FLIGHT,
    on_progress: Progress | None = None,
) -> Calibration:
    """As `acalibrate_judge`, for callers without an event loop.

    Raises:
        UsageError: an event loop is running; await `acalibrate_judge` there.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(
            acalibrate_judge(
                judge,
                human_labels,
                candidates,
                min_labels=min_labels,
                floor=floor,
                policy=policy,
                seed=seed,
                resamples=resamples,
                in_flight=in_flight,
                on_progress=on_progress,
            )
        )
    raise UsageError("an event loop is running here; await acalibrate_judge instead")
