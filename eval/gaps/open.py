"""A review's gaps under their bounds, as grades come in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from relgate.eval.bounds.marks import Marks, marks_of
from relgate.eval.bounds.order import next_documents, open_rules, stakes
from relgate.eval.bounds.pool import Pool, make_pool
from relgate.eval.bounds.rules import Standing, standings
from relgate.eval.bounds.table import BoundsTable, QueryBounds, bound_query, tabulate
from relgate.eval.gaps.doubt import JudgeError
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.gaps.seen import SeenQuery, seen_queries
from relgate.eval.lists.types import Judgment, JudgmentList, Query, match_key
from relgate.eval.metrics.align import Axis
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.review.rules import RULES
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence
from relgate.eval.runs.types import Run

__all__ = ["OpenGaps"]

_WAVES = 16  # a wave is this part of all pairs, at the least
_LEAST_WAVE = 4


@dataclass(slots=True)
class _Row:
    """One query: what is rated and how surely, what came back, what could still be asked for."""

    seen: SeenQuery
    doubts: dict[str, tuple[int, ...]]
    gap: QueryGaps | None
    asked_by_key: dict[str, str]


class OpenGaps:
    """The queries of a review, what is unrated in them, and what that can still do.

    Args:
        judgments: the list that `axis` was made of.
        runs: before and after.
        axis: of these; queries that neither run has come last and are left out.
        gaps: from `find_gaps`, within k.
        has_text: whether the judge can see a document; the others will get no grade.
        conventions: depth, floor, gain.
        settings: the reviewer's thresholds.
        judge_error: what the judges may have got wrong; None takes their grades as they are.
        seed: of the tests against chance, as the review has it.
    """

    def __init__(
        self,
        judgments: JudgmentList,
        runs: Sequence[Run],
        axis: Axis,
        gaps: Iterable[QueryGaps],
        *,
        has_text: Callable[[str], bool],
        conventions: Conventions,
        settings: ReviewSettings,
        judge_error: JudgeError | None = None,
        seed: int = 0,
    ) -> None:
        self._max_grade = judgments.scale.max_grade
        self._conventions, self._settings = conventions, settings
        self.judge_error, self._seed = judge_error, seed
        doubted = [] if judge_error is None else judge_error.doubts(judgments)
        self._rows = _rows(seen_queries(judgments, runs, axis), gaps, has_text, doubted)
        self._at = {row.gap.query.id: at for at, row in enumerate(self._rows) if row.gap}
        self._pools = [self._pool(row) for row in self._rows]
        self._bounds = [self._bound(pool) for pool in self._pools]
        self._table: BoundsTable | None = None
        self.pairs = self.left
        self.no_text = sum(len(row.gap.doc_ids) for row in self._rows if row.gap) - self.pairs

    @property
    def left(self) -> int:
        """Documents whose grade is open."""
        return sum(len(pool.docs) for pool in self._pools)

    @property
    def doubted(self) -> int:
        """Judged documents that the judge may have got wrong."""
        return sum(len(pool.doubted) for pool in self._pools)

    @property
    def table(self) -> BoundsTable:
        """The queries' bounds."""
        if self._table is None:
            self._table = tabulate(self._pools, self._bounds, self._conventions)
        return self._table

    def standings(self, evidence: Evidence) -> tuple[Standing, ...]:
        """Every rule over all grades of the open documents, and of those in doubt.

        Args:
            evidence: of this review, on any of its grades so far; of the last ones when nothing
                is open any more.
        """
        filled = self.as_if_filled(evidence)
        outcomes = [rule.check(filled, self._settings) for rule in RULES]
        return standings(self.table, self._marks(evidence), self._settings, outcomes)

    def _marks(self, evidence: Evidence) -> Marks:
        return marks_of(evidence, seed=self._seed)

    def as_if_filled(self, evidence: Evidence) -> Evidence:
        """The evidence for rules that ask how much is unrated, and whether a fill was finished.

        The open documents count as rated, and nothing as left, as a whole fill leaves them.
        """
        queries = tuple(
            replace(q, now=replace(q.now, unrated=self._never_rated(at)))
            for at, q in enumerate(evidence.queries)
        )
        fill = None if evidence.fill is None else replace(evidence.fill, not_asked=0)
        return replace(evidence, queries=queries, fill=fill)

    def _never_rated(self, at: int) -> int:
        row, pool = self._rows[at], self._pools[at]
        top = {match_key(doc) for doc in row.seen.after[: self._conventions.k]}
        return len(top - row.seen.grades.keys() - set(pool.docs))

    def next_wave(self, evidence: Evidence, ranges: Sequence[Standing]) -> list[QueryGaps]:
        """The pairs to ask for next."""
        weight = stakes(self.table, self._marks(evidence), self._settings, open_rules(ranges))
        size = max(_LEAST_WAVE, -(-self.pairs // _WAVES))
        wave = next_documents(self._pools, weight, size=size, k=self._conventions.k)
        return [self._gap(at, docs) for at, docs in wave.items()]

    def still_open(self, evidence: Evidence, ranges: Sequence[Standing]) -> tuple[QueryGaps, ...]:
        """The ungraded pairs that can still change the verdict, the most at stake first."""
        order = self._by_stake(evidence, ranges)
        return tuple(self._gap(at, docs) for at in order if (docs := self._pools[at].docs))

    def still_doubted(
        self, evidence: Evidence, ranges: Sequence[Standing]
    ) -> tuple[tuple[Query, tuple[str, ...]], ...]:
        """Judged documents within k whose true grade can still change the verdict, by query."""
        found = [(at, self._shown_doubts(at)) for at in self._by_stake(evidence, ranges)]
        return tuple((self._rows[at].seen.query, docs) for at, docs in found if docs)

    def _shown_doubts(self, at: int) -> tuple[str, ...]:
        row, pool = self._rows[at], self._pools[at]
        k = self._conventions.k
        shown = {match_key(doc): doc for doc in (*row.seen.before[:k], *row.seen.after[:k])}
        return tuple(shown[doc] for doc in pool.doubted if doc in shown)

    def _by_stake(self, evidence: Evidence, ranges: Sequence[Standing]) -> list[int]:
        """The queries that can still change the verdict, those with the most at stake first."""
        rules = open_rules(ranges)
        if not rules or not self.table.moving.any():
            return []
        weight = stakes(self.table, self._marks(evidence), self._settings, rules)
        order: list[int] = (-weight).argsort(kind="stable").tolist()
        return [at for at in order if weight[at] > 0]

    def _gap(self, at: int, docs: Iterable[str]) -> QueryGaps:
        row = self._rows[at]
        assert row.gap is not None  # noqa: S101 - only a query with gaps has open documents
        return replace(row.gap, doc_ids=tuple(row.asked_by_key[doc] for doc in docs))

    def take(self, judgments: Iterable[Judgment]) -> None:
        """Learns grades."""
        changed: set[int] = set()
        for row in judgments:
            at = self._at[row.query.id]
            self._rows[at].seen.grades[match_key(row.doc_id)] = row.grade
            if self.judge_error is not None:
                possible = self.judge_error.possible(row.provenance, row.grade)
                self._rows[at].doubts[match_key(row.doc_id)] = possible
            changed.add(at)
        self._refresh(changed)

    def close(self, gaps: Iterable[QueryGaps]) -> None:
        """Gives up on pairs: the judge failed on those of them that have no grade by now."""
        changed: set[int] = set()
        for gap in gaps:
            at = self._at[gap.query.id]
            for doc in gap.doc_ids:
                self._rows[at].asked_by_key.pop(match_key(doc), None)
            changed.add(at)
        self._refresh(changed)

    def _refresh(self, changed: Iterable[int]) -> None:
        for at in changed:
            self._pools[at] = self._pool(self._rows[at])
            self._bounds[at] = self._bound(self._pools[at])
        self._table = None

    def _bound(self, pool: Pool) -> QueryBounds:
        return bound_query(pool, self._conventions, top_rank=self._settings.top_rank)

    def _pool(self, row: _Row) -> Pool:
        return make_pool(
            row.seen.grades,
            row.seen.before,
            row.seen.after,
            self._conventions,
            max_grade=self._max_grade,
            askable=tuple(row.asked_by_key),
            doubts=row.doubts,
        )


def _rows(
    seen: Sequence[SeenQuery],
    gaps: Iterable[QueryGaps],
    has_text: Callable[[str], bool],
    doubted: Sequence[dict[str, tuple[int, ...]]],
) -> list[_Row]:
    by_id = {gap.query.id: gap for gap in gaps}
    out: list[_Row] = []
    for one in seen:
        gap = by_id.get(one.query.id)
        docs = gap.doc_ids if gap is not None else ()
        out.append(
            _Row(
                seen=one,
                doubts=dict(doubted[one.listed]) if doubted and one.listed >= 0 else {},
                gap=gap,
                asked_by_key={match_key(doc): doc for doc in docs if has_text(doc)},
            )
        )
    return out
