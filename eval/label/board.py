"""Who graded what, and which pair a rater gets next. Pure: the clock is handed in.

A pair is wanted from one rater, one of the dual sample from two. Where two differ, a third is
asked, who is not told so. A pair that is shown to somebody is held for a while, so that two people
do not grade it at once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relgate.eval.label.types import Act, Answer, Task
from relgate.eval.lists.raters import Conflict, Vote

__all__ = ["HOLD_S", "Board", "Progress", "dual_sample"]

HOLD_S = 600
"""How long a pair that was shown is kept for its rater."""

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is.

    Attributes:
        pairs: all.
        graded: with as many grades as are wanted, and no dispute.
        begun: with a grade, but still waiting for a second.
        disputed: where two raters differ and no third has graded.
        dual: how many are wanted twice.
        dual_done: how many of all have two grades or more.
    """

    pairs: int
    graded: int
    begun: int
    disputed: int
    dual: int
    dual_done: int


def dual_sample(tasks: Sequence[Task], share: float, *, seed: int = 0) -> frozenset[_Pair]:
    """The pairs that two raters grade: a share of all, by lot.

    Args:
        tasks: all pairs.
        share: 0..1; rounded up.
        seed: another seed is another lot.
    """

    def lot(pair: _Pair) -> bytes:
        text = "\0".join((str(seed), *pair))
        return hashlib.sha256(
            b"relgate label dual" + text.encode("utf-8", "surrogatepass")
        ).digest()

    ordered = sorted((task.pair for task in tasks), key=lot)
    wanted = math.ceil(round(share * len(ordered), 6))  # 0.07 * 100 is a little over 7
    return frozenset(ordered[:wanted])


class Board:
    """The answers so far.

    Args:
        tasks: in the order in which they are to be graded.
        dual: pairs wanted from two raters.
        third: the one rater who decides where two differ; None takes whoever has not graded.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        dual: frozenset[_Pair] = frozenset(),
        third: str | None = None,
    ) -> None:
        self.tasks = {task.pair: task for task in tasks}
        self.by_key = {task.key: task for task in tasks}
        self._dual = dual
        self._third = None if third is None else third.casefold()
        self._live: dict[_Pair, dict[str, Answer]] = {pair: {} for pair in self.tasks}
        self._ids: dict[str, Answer] = {}
        self._own: dict[str, list[Answer]] = {}
        self._sealed: set[str] = set()
        self._held: dict[_Pair, dict[str, float]] = {}
        self._again: dict[str, list[_Pair]] = {}

    def take(self, answers: Iterable[Answer]) -> None:
        """Counts answers in; those on pairs that are not here are passed over."""
        for answer in answers:
            self._ids[answer.id] = answer
            if answer.pair in self._live:
                self._count(answer)

    def _count(self, answer: Answer) -> None:
        own = self._own.setdefault(answer.rater, [])
        live = self._live[answer.pair]
        match answer.act:
            case Act.GRADE | Act.SKIP:
                live[answer.rater] = answer
                own.append(answer)
                self._held.get(answer.pair, {}).pop(answer.rater, None)
                again = self._again.get(answer.rater, [])
                if answer.pair in again:
                    again.remove(answer.pair)
            case Act.UNDO:
                own[:] = [earlier for earlier in own if earlier.id != answer.of]
                live.pop(answer.rater, None)
                self._again.setdefault(answer.rater, []).append(answer.pair)
            case Act.REVEAL:
                self._sealed.add(answer.of)

    def known(self, answer_id: str) -> Answer | None:
        """The answer that came with this id, whatever became of it."""
        return self._ids.get(answer_id)

    def standing(self, rater: str, task: Task) -> Answer | None:
        """A rater's answer on a pair that was not taken back."""
        return self._live[task.pair].get(rater)

    def last(self, rater: str) -> Answer | None:
        """A rater's last answer that was not taken back."""
        own = self._own.get(rater)
        return own[-1] if own else None

    def sealed(self, answer: Answer) -> bool:
        """Whether the rater has seen the judge's grade of it: then it cannot be taken back."""
        return answer.id in self._sealed

    def named(self, name: str) -> str:
        """How a rater of this name signed before, whatever the case; else the name."""
        return next((rater for rater in self._own if rater.casefold() == name.casefold()), name)

    @property
    def raters(self) -> tuple[str, ...]:
        """Who has answered, in the order of first answers."""
        return tuple(rater for rater, own in self._own.items() if own)

    def answers(self, rater: str) -> tuple[Answer, ...]:
        """A rater's answers that stand, in the order in which they were given."""
        return tuple(self._own.get(rater, ()))

    def next_for(self, rater: str, moment: float) -> Task | None:
        """The pair to show a rater, held for them; None when nothing is left.

        What they took back comes first, then what they were shown and have not answered, then
        pairs in dispute, then the rest in order.

        Args:
            rater: who.
            moment: seconds on any clock that runs on.
        """
        pair = self._pick(rater, moment)
        if pair is None:
            return None
        self._held.setdefault(pair, {})[rater] = moment
        return self.tasks[pair]

    def _pick(self, rater: str, moment: float) -> _Pair | None:
        again = self._again.get(rater)
        if again:
            return again[-1]
        wanted = [pair for pair in self.tasks if self.wanted(pair, rater, moment)]
        mine = (pair for pair in wanted if rater in self._held.get(pair, {}))
        disputed = (pair for pair in wanted if self.disputed(pair))
        return next(mine, None) or next(disputed, None) or next(iter(wanted), None)

    def wanted(self, pair: _Pair, rater: str, moment: float | None = None) -> bool:
        """Whether a pair still wants this rater; with a moment, what others hold counts too."""
        live = self._live[pair]
        if rater in live:
            return False
        holders = (
            set[str]()
            if moment is None
            else {
                who
                for who, since in self._held.get(pair, {}).items()
                if who != rater and who not in live and moment - since < HOLD_S
            }
        )
        if self.disputed(pair):
            return self._third in (None, rater.casefold()) and not holders
        return len(self.grades(pair)) + len(holders) < self._needs(pair)

    def _needs(self, pair: _Pair) -> int:
        return 2 if pair in self._dual else 1

    def grades(self, pair: _Pair) -> dict[str, Answer]:
        """{rater: the grade that stands}; who skipped is left out."""
        return {who: a for who, a in self._live[pair].items() if a.act is Act.GRADE}

    def disputed(self, pair: _Pair) -> bool:
        """Whether exactly two raters graded it, and differ."""
        grades = [answer.grade for answer in self.grades(pair).values()]
        return len(grades) == 2 and grades[0] != grades[1]  # noqa: PLR2004 - the third decides

    def left_for(self, rater: str) -> int:
        """How many pairs still want a rater, what others are at included."""
        again = self._again.get(rater, [])
        return sum(pair in again or self.wanted(pair, rater) for pair in self.tasks)

    def progress(self) -> Progress:
        """How far the work is."""
        counts = {pair: len(self.grades(pair)) for pair in self.tasks}
        disputed = sum(map(self.disputed, self.tasks))
        full = sum(n >= self._needs(pair) for pair, n in counts.items())
        return Progress(
            pairs=len(counts),
            graded=full - disputed,
            begun=sum(0 < n < self._needs(pair) for pair, n in counts.items()),
            disputed=disputed,
            dual=len(self._dual),
            dual_done=sum(n > 1 for n in counts.values()),
        )

    def votes(self) -> list[Conflict]:
        """Every pair with a grade, and who gave which, for agreement figures."""
        return [
            Conflict(
                task.query.id,
                task.query.shown,
                task.doc_id,
                tuple(Vote(who, a.grade) for who, a in grades.items() if a.grade is not None),
            )
            for pair, task in self.tasks.items()
            if (grades := self.grades(pair))
        ]
