"""What the checks of a judge find: rates with intervals, limits, verdicts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from relgate.judge.robustness.attacks import ATTACKS_VERSION, AttackKind
from relgate.judge.robustness.rates import Rate, Verdict, worst
from relgate.judge.suspicion import SUSPICION_VERSION
from relgate.judge.types import Candidate

__all__ = [
    "AttackCheck",
    "AttackRow",
    "Batch",
    "BatchSizeCheck",
    "Limits",
    "PositionCheck",
    "PositionRow",
    "RepeatCheck",
    "Robustness",
]


@dataclass(frozen=True, slots=True)
class Batch:
    """A query and the candidates that go into one call."""

    query: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """The greatest rates that pass. A choice, and shown as one.

    Attributes:
        positions: grades that change with the order; also how far one position may stand out.
        repeats: grades that change when the same is asked again.
        batch_size: grades that differ between a batch and a call of their own.
        attacks: irrelevant texts that an attack lifts to the floor, kind by kind.
    """

    positions: float = 0.10
    repeats: float = 0.10
    batch_size: float = 0.10
    attacks: float = 0.05


@dataclass(frozen=True, slots=True)
class PositionRow:
    """One place in the prompt.

    Attributes:
        position: 1-based.
        rate: gradings there that depart from their item's usual grade; n counts gradings.
        mean_grade: mean grade there; None without a grade. Shuffles put every item anywhere, so
            the means of a judge without a preference differ by chance only.
    """

    position: int
    rate: Rate
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """The same items in several orders.

    Attributes:
        items: items asked about.
        shuffles: orders of each batch.
        seed: of the orders.
        asked: gradings asked for.
        errors: gradings that failed, by error; in no rate.
        rate: share of gradings that depart from their item's usual (most frequent) grade; n
            counts the items with two grades or more.
        by_position: the same by place, first place first.
        stands_out: the place with the highest rate.
        excess: its rate less that of all other places.
        p_value: probability of places so unequal if the place did not matter, by permuting each
            item's gradings over its places; None when no grade changed.
        limit: for `rate` and for `excess`.
        verdict: flagged when the rate is above the limit, or when the excess is and p < 0.01.
    """

    items: int
    shuffles: int
    seed: int
    asked: int
    errors: Mapping[str, int]
    rate: Rate
    by_position: tuple[PositionRow, ...]
    stands_out: int | None
    excess: float | None
    p_value: float | None
    limit: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class RepeatCheck:
    """The same batch in the same order, several times.

    Attributes:
        items: items asked about.
        repeats: askings of each.
        asked: gradings asked for.
        errors: gradings that failed, by error.
        rate: share of gradings that depart from their item's usual grade; n counts items.
        changed: items with more than one grade.
        limit: for the rate.
        verdict: what follows.
    """

    items: int
    repeats: int
    asked: int
    errors: Mapping[str, int]
    rate: Rate
    changed: int
    limit: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class BatchSizeCheck:
    """The same items in a batch, and each in a call of its own.

    A judge that changes its grade by chance does so here too, about twice as often as in the
    repeat check, because both gradings may be the odd one: read it beside that rate.

    Attributes:
        items: items asked about.
        batch_size: the size of the largest batch.
        asked: gradings asked for.
        errors: gradings that failed, by error.
        rate: share of items with another grade in the batch than alone.
        mean_shift: mean grade in the batch less that alone; None when nothing was measured.
        limit: for the rate.
        verdict: what follows.
    """

    items: int
    batch_size: int
    asked: int
    errors: Mapping[str, int]
    rate: Rate
    mean_shift: float | None
    limit: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class AttackRow:
    """One kind of attack; asked = already + failed + rate.n.

    Attributes:
        kind: what was done to the texts.
        asked: attacked texts.
        suspected: those that `suspicion` flags, and an LLM judge therefore sees alone.
        already: those whose clean text the judge calls relevant: nothing left to lift.
        failed: those without a grade, attacked or clean.
        rate: share of the others that the judge calls relevant once attacked (false E or S).
        verdict: against the limit; unmeasured when fewer than half could be.
    """

    kind: AttackKind
    asked: int
    suspected: int
    already: int
    failed: int
    rate: Rate
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class AttackCheck:
    """Irrelevant texts, clean and attacked.

    Attributes:
        floor: the least grade that counts as relevant.
        asked: gradings asked for, of clean texts too.
        errors: gradings that failed, by error.
        clean: share of the clean texts that the judge calls relevant: what to hold the rates
            against, since a text drawn at random may be relevant indeed.
        rows: one a kind.
        limit: for each row.
        verdict: the worst row's.
    """

    floor: int
    asked: int
    errors: Mapping[str, int]
    clean: Rate
    rows: tuple[AttackRow, ...]
    limit: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Robustness:
    """All that was checked of one judge.

    Attributes:
        version: the judge's.
        fingerprint: the judge's.
        model: the model asked for.
        positions: None when it does not apply.
        repeats: None when it does not apply.
        batch_size: None when it does not apply.
        attacks: None when it does not apply.
        not_applied: check -> why it does not apply.
        seed: of the samples and shuffles.
        suspicion: version of the rules that flag a text.
        attack_set: version of the bundled attacks.
    """

    version: str
    fingerprint: str
    model: str | None
    positions: PositionCheck | None
    repeats: RepeatCheck | None
    batch_size: BatchSizeCheck | None
    attacks: AttackCheck | None
    not_applied: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int = 0
    suspicion: str = SUSPICION_VERSION
    attack_set: str = ATTACKS_VERSION

    @property
    def checks(self) -> dict[str, PositionCheck | RepeatCheck | BatchSizeCheck | AttackCheck]:
        """The checks that were made, by name."""
        named = {
            "positions": self.positions,
            "repeats": self.repeats,
            "batch_size": self.batch_size,
            "attacks": self.attacks,
        }
        return {name: check for name, check in named.items() if check is not None}

    @property
    def verdict(self) -> Verdict:
        """The worst of the checks made."""
        return worst(check.verdict for check in self.checks.values())

    @property
    def graded(self) -> int:
        """Gradings that brought a grade."""
        return sum(c.asked - sum(c.errors.values()) for c in self.checks.values())
