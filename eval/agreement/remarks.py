"""What stands beside the figures: constant judges, disagreements, warnings. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.calibration import ConstantJudge, Disagreement
from relgate.eval.agreement.confusion import accuracy, constant_table, f1, floor_table, kappa
from relgate.eval.agreement.intervals import Figure
from relgate.eval.agreement.pairs import GradedPairs

__all__ = ["constant_judges", "warnings_of", "worst_disagreements"]

_WORST = 20
_TEXT_CHARS = 300  # of a document: enough to see what it is
_HIGH_PREVALENCE = 0.6  # statistics: Byrt, Bishop & Carlin 1993; kappa is hard to read above it
_FEW_QUERIES = 30  # percentile intervals of so few clusters cover less than they say
_MANY_UNDEFINED = 0.05


def constant_judges(table: NDArray[np.int64], *, floor: int) -> tuple[ConstantJudge, ...]:
    """What the judge that calls all relevant, and that of the majority grade, would reach."""
    best = len(table) - 1
    majority = int(table.sum(axis=1).argmax())
    return tuple(
        _constant(name, grade, table, floor=floor)
        for name, grade in (("always relevant", best), ("majority grade", majority))
    )


def _constant(name: str, grade: int, table: NDArray[np.int64], *, floor: int) -> ConstantJudge:
    said = constant_table(table, grade=grade)
    shares = (accuracy(said), f1(floor_table(said, floor=floor)), kappa(said))
    return ConstantJudge(name, grade, *(None if np.isnan(x) else float(x) for x in shares))


def worst_disagreements(
    pairs: GradedPairs, *, floor: int, text_of: Callable[[str], str | None]
) -> tuple[Disagreement, ...]:
    """The largest gaps first; among equals those across the floor, then by query and document.

    Args:
        pairs: failed grades are no disagreement.
        floor: least grade that counts as relevant.
        text_of: document id -> the text that was graded, or None.
    """
    gap = np.abs(pairs.human - pairs.judge)
    across = (pairs.human >= floor) != (pairs.judge >= floor)

    def order(i: int) -> tuple[int, bool, str, str]:
        query = pairs.queries[int(pairs.query[i])]
        return -int(gap[i]), not bool(across[i]), query.id, pairs.doc_ids[i]

    index = sorted((int(i) for i in np.flatnonzero(pairs.graded & (gap > 0))), key=order)
    return tuple(
        Disagreement(
            query=pairs.queries[int(pairs.query[i])],
            doc_id=pairs.doc_ids[i],
            human=int(pairs.human[i]),
            judge=int(pairs.judge[i]),
            judge_reason=None if pairs.judge_reasons is None else pairs.judge_reasons[i],
            human_reason=None if pairs.human_reasons is None else pairs.human_reasons[i],
            document=_start(text_of(pairs.doc_ids[i])),
        )
        for i in index[:_WORST]
    )


def _start(text: str | None) -> str | None:
    if text is None or len(text) <= _TEXT_CHARS:
        return text
    return text[:_TEXT_CHARS].rstrip() + " …"


def warnings_of(
    table: NDArray[np.int64],
    figures: Mapping[str, Figure],
    pairs: GradedPairs,
    *,
    n_queries: int,
    resamples: int,
) -> tuple[str, ...]:
    """What a reader of the figures must know, a sentence each."""
    return (
        *_pair_warnings(pairs),
        *_class_warnings(table, figures),
        *_interval_warnings(figures, n_queries=n_queries, resamples=resamples),
    )


def _pair_warnings(pairs: GradedPairs) -> list[str]:
    out: list[str] = []
    failed = int((~pairs.graded).sum())
    if failed:
        out.append(f"{failed} of {len(pairs)} pairs got no grade; they are in no figure")
    if pairs.without_text:
        out.append(f"{pairs.without_text} labels were not asked about: no text for their document")
    if pairs.made_by_judge:
        out.append(f"{pairs.made_by_judge} labels were not used: a judge made them")
    return out


def _class_warnings(table: NDArray[np.int64], figures: Mapping[str, Figure]) -> list[str]:
    out: list[str] = []
    for who, axis in (("people", 1), ("the judge", 0)):
        used = np.flatnonzero(table.sum(axis=axis)).tolist()
        if len(used) == 1:
            out.append(
                f"{who} used one grade only, {used[0]}: "
                + ("kappa is undefined" if axis else "kappa is 0 whatever the agreement")
            )
    prevalence = figures["prevalence_index"].point
    if prevalence is not None and prevalence > _HIGH_PREVALENCE:
        out.append(
            f"prevalence index {prevalence:.2f} is above {_HIGH_PREVALENCE}: nearly all labels are "
            "on one side of the floor, so kappa and accuracy part ways; read AC1 and PABAK too"
        )
    return out


def _interval_warnings(
    figures: Mapping[str, Figure], *, n_queries: int, resamples: int
) -> list[str]:
    if n_queries < 2:  # noqa: PLR2004 - nothing to resample
        return [f"no intervals: {n_queries} query, and queries are what is resampled"]
    out: list[str] = []
    if n_queries < _FEW_QUERIES:
        out.append(f"intervals from {n_queries} queries are likely too narrow")
    often = [k for k, f in figures.items() if f.undefined_draws > _MANY_UNDEFINED * resamples]
    if often:
        out.append(
            f"undefined in more than {_MANY_UNDEFINED:.0%} of the draws, which their intervals "
            f"leave out: {', '.join(often)}"
        )
    return out
