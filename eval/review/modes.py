"""Relevance and recall of each mode of a hybrid search, before and after. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from relgate.eval.lists.types import JudgmentList
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.review.aggregates import query_keys, recomputed_aggregates
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.scored import Scored, score_sides
from relgate.eval.review.supplied import ModeRuns
from relgate.eval.review.types import ModeFigures, QueryEvidence
from relgate.rubrics.errors import InputError

__all__ = ["mode_warnings", "modes_of"]


def modes_of(
    judgments: JudgmentList | None,
    change: ChangeDescription | None,
    queries: Sequence[QueryEvidence],
    conventions: Conventions,
    texts: Mapping[str, str],
) -> tuple[ModeFigures, ...]:
    """Each mode's runs scored on the list, as the reviewed runs are.

    Args:
        judgments: the list; None leaves every figure out.
        change: its modes; none without it.
        queries: those under review: a mode must have them all.
        conventions: depth, floor, gain.
        texts: {query id: text} for files without texts.

    Raises:
        InputError: queries that cannot be matched.
    """
    modes = () if change is None else change.modes
    return tuple(_figures(judgments, mode, queries, conventions, texts) for mode in modes)


def _figures(
    judgments: JudgmentList | None,
    mode: ModeRuns,
    queries: Sequence[QueryEvidence],
    conventions: Conventions,
    texts: Mapping[str, str],
) -> ModeFigures:
    runs = (mode.before, mode.after)
    listed = all(
        docs is not None or q.id in run.failures
        for run in runs
        for q, docs in zip(run.queries, run.docs, strict=True)
    )
    if judgments is None or not listed:
        why = "no judgment list was given" if judgments is None else "its files list no documents"
        return ModeFigures(mode.name, None, None, nan, lacks=why)
    try:
        scored = score_sides(judgments, runs, conventions, texts)
    except InputError as error:
        raise InputError(
            f"mode {mode.name}: {error.what}", path=error.path, mend=error.mend
        ) from error
    gate = scored.gate or Metric.NDCG
    unweighted = np.full(len(scored.axis), nan)
    found = {a.key: a for a in recomputed_aggregates(scored.scores, gate, unweighted)}
    return ModeFigures(
        mode.name,
        found.get(gate.value),
        found.get(Metric.RECALL.value),
        _unrated(scored),
        lacks=_missing(scored, queries),
    )


def _missing(scored: Scored, queries: Sequence[QueryEvidence]) -> str | None:
    """What the mode lacks of the queries under review, or None."""
    both = np.logical_and.reduce([index >= 0 for index in scored.axis.run_index])
    rows = zip(scored.axis.queries, both.tolist(), strict=True)
    present = {key for query, here in rows if here for key in query_keys(query)}
    gone = [q for q in queries if not query_keys(q.query) & present]
    if not gone:
        return None
    return f"it lacks {len(gone)} of the {len(queries)} queries under review on one side or both"


def _unrated(scored: Scored) -> float:
    shares = scored.scores[-1].unrated_share
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else nan


def mode_warnings(change: ChangeDescription | None, modes: Sequence[ModeFigures]) -> list[str]:
    """What the readers say of the modes' runs, and how much of them nobody graded."""
    runs = [run for m in (change.modes if change else ()) for run in (m.before, m.after)]
    return [
        *(f"mode {run.name}: {note}" for run in runs for note in run.notes),
        *(
            f"mode {mode.name}: {100 * mode.unrated_after:.0f} % of its documents are unrated on "
            "average, after side; they count as not relevant, and a fill does not grade them"
            for mode in modes
            if mode.unrated_after > 0
        ),
    ]
