"""What would change a judge's level: how many labels, on which side of the floor, or none. Pure.

A bar that the point passes and the lower bound does not can be reached by labels: the interval
narrows with the root of their number. A bar that the point does not pass cannot be promised by
any number. The estimate assumes that further labels agree as these do and come from as many
queries a label; it is asked to hold in four cases of five.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relgate.eval.agreement.confusion import all_figures
from relgate.eval.agreement.intervals import Figure, resampled_tables
from relgate.eval.agreement.policy import OVER_PEOPLE, Bar, Evidence, TrustPolicy, bars_of

__all__ = ["Need", "outlook"]

_LOWER = 1.96  # half a 95 % interval in standard errors
_WITH_POWER = 2.80  # 1.96 + 0.84: the lower bound clears the bar in 80 % of the draws
_MOST = 1_000_000
_BY_TWO = "pairs that two people or more and the judge grade"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that stands between a judge and `trusted`, and what labels can do about it.

    Attributes:
        what: what falls short.
        by_labels: whether any number of labels can be expected to mend it.
        labels: further labels needed, at today's mix of grades; None when none will do or the
            number cannot be told.
        relevant: those of them at or above the floor; below it are the others.
        queries: about how many further queries that is, at today's labels a query.
        text: the sentence for people.
    """

    what: str
    by_labels: bool
    labels: int | None
    relevant: int | None
    queries: int | None
    text: str


@dataclass(frozen=True, slots=True)
class _Mix:
    """Today's labels."""

    n: int
    n_relevant: int | None
    n_queries: int | None
    what: str = "labels"

    def need(self, what: str, labels: int, text: str) -> Need:
        share = None if self.n_relevant is None or not self.n else self.n_relevant / self.n
        each = None if self.n_queries is None or not self.n else self.n_queries / self.n
        relevant = None if share is None else round(labels * share)
        queries = None if each is None else math.ceil(labels * each)
        mix = (
            ""
            if relevant is None or queries is None
            else f" ({relevant:,} at or above the floor and {labels - relevant:,} below it at "
            f"today's mix, of about {queries:,} more queries)"
        )
        return Need(
            what=what,
            by_labels=True,
            labels=labels,
            relevant=relevant,
            queries=queries,
            text=text.format(labels=f"{labels:,} more {self.what}{mix}"),
        )


def outlook(
    evidence: Evidence,
    policy: TrustPolicy,
    tables: NDArray[np.int64],
    *,
    floor: int,
    seed: int,
    resamples: int,
) -> tuple[Need, ...]:
    """What would change the level; nothing for a judge that every bar trusts.

    Args:
        evidence: as for `level_of`.
        policy: the bars.
        tables: (Q, K, K), one table a query.
        floor: least grade that counts as relevant.
        seed: of the resampling.
        resamples: draws of the resampling.
    """
    mix = _Mix(evidence.n, evidence.n_relevant, len(tables))
    found = [*_too_few(evidence, policy, mix), *_no_labels_help(evidence, policy)]
    for bar in bars_of(policy):
        figure = evidence.figures[bar.figure]
        if figure.point is None:
            found.append(_fixed(bar.label, f"{bar.label} is undefined: {figure.why}", mend=True))
        elif not bar.passed_by(figure.point):
            found.append(_below(bar, figure))
        elif policy.by_lower_bound and not bar.passed_by(figure.low):
            side = _side(tables, bar.figure, floor=floor, seed=seed, resamples=resamples)
            by_two = _Mix(evidence.n_people, None, None, _BY_TWO)
            of = by_two if bar.figure == OVER_PEOPLE else mix
            found.append(_narrower(bar, figure, of, side))
    return tuple(found)


def _fixed(what: str, text: str, *, mend: bool) -> Need:
    return Need(what=what, by_labels=mend, labels=None, relevant=None, queries=None, text=text)


def _too_few(evidence: Evidence, policy: TrustPolicy, mix: _Mix) -> Iterator[Need]:
    lacking = policy.min_labels - evidence.n
    if lacking > 0:
        text = f"{evidence.n:,} labels of {policy.min_labels:,} needed: {{labels}}"
        yield mix.need("labels", lacking, text)
    if policy.people_margin is not None and evidence.n_people < policy.min_labels:
        short = policy.min_labels - evidence.n_people
        yield _fixed(_BY_TWO, f"{short:,} more {_BY_TWO}", mend=True)
    sides = (
        ("at or above", evidence.n_relevant),
        ("below", evidence.n - evidence.n_relevant),
    )
    for side, count in sides:
        short = policy.min_each_side - count
        if short > 0:
            yield _one_side(f"labels {side} the floor", short, count, mix)


def _one_side(what: str, short: int, count: int, mix: _Mix) -> Need:
    if not count:
        return _fixed(what, f"{short:,} {what}; so far there is none, so draw for them", mend=True)
    labels = math.ceil(short * mix.n / count)
    return mix.need(what, labels, f"{short:,} more {what}: about {{labels}}")


def _no_labels_help(evidence: Evidence, policy: TrustPolicy) -> Iterator[Need]:
    most = policy.max_error_rate
    if most is not None and not evidence.error_rate <= most:
        yield _fixed(
            "failed grades",
            f"no number of labels: {evidence.error_rate:.1%} of the pairs got no grade, at most "
            f"{most:.1%} allowed; mend the judge's calls",
            mend=False,
        )
    if policy.people_only and any(n for s, n in evidence.label_sources.items() if s != "human"):
        yield _fixed(
            "labels by people",
            "labels made by people, in place of those made by rule or import",
            mend=True,
        )


def _below(bar: Bar, figure: Figure) -> Need:
    reach = (
        f"; the interval up to {figure.high:.3f} still holds the bar, so more labels could show "
        "a better judge, and cannot be expected to"
        if bar.passed_by(figure.high)
        else ""
    )
    return _fixed(
        bar.label,
        f"no number of labels: {bar.label} is {figure.point:.3f}, the bar {bar.text}; a better "
        f"judge, prompt or rubric is needed{reach}",
        mend=False,
    )


def _narrower(bar: Bar, figure: Figure, mix: _Mix, side: float | None) -> Need:
    """How many labels bring the lower bound over the bar, if they agree as these do."""
    if figure.point is None or figure.low is None:
        text = f"labels of more queries: {bar.label} has no interval ({figure.why})"
        return _fixed(bar.label, text, mend=True)
    margin = figure.point - bar.least
    if margin <= 0:
        return _fixed(
            bar.label,
            f"no number of labels: {bar.label} stands at the bar itself, and a lower bound is "
            "below its point",
            mend=False,
        )
    times = ((figure.point - figure.low) / _LOWER * _WITH_POWER / margin) ** 2
    labels = max(1, math.ceil(mix.n * (times - 1)))
    if labels > _MOST:
        return _fixed(
            bar.label,
            f"no reachable number of labels: {bar.label} is {figure.point:.4f}, hardly over the "
            f"bar {bar.text}; over {_MOST:,} labels would be needed",
            mend=False,
        )
    from_where = (
        ""
        if side is None
        else f"; {side:.0%} of the uncertainty comes from the labels at or above the floor"
    )
    return mix.need(
        bar.label,
        labels,
        f"the lower bound of {bar.label} is {figure.low:.3f}, the bar {bar.text}: about {{labels}} "
        f"bring it over in four cases of five, if they agree as these do{from_where}",
    )


def _side(
    tables: NDArray[np.int64], name: str, *, floor: int, seed: int, resamples: int
) -> float | None:
    """The share of a figure's variance that comes from the labels at or above the floor.

    Each side is resampled with the other held at what it is; None where neither moves it, or for
    a figure that is not of the confusion table alone.
    """
    if name not in all_figures(tables.sum(axis=0), floor=floor):
        return None
    drawn = resampled_tables(tables, seed=seed, resamples=resamples)
    whole = tables.sum(axis=0).astype(float)
    variances: list[float] = []
    for rows in (slice(floor, None), slice(None, floor)):
        mixed = np.broadcast_to(whole, drawn.shape).copy()
        mixed[:, rows] = drawn[:, rows]
        values = all_figures(mixed, floor=floor)[name]
        defined = values[np.isfinite(values)]
        variances.append(float(defined.var()) if len(defined) else 0.0)
    both = sum(variances)
    return variances[0] / both if both else None
