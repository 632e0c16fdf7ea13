"""All checks of one judge, one after the other. I/O through the judge only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relgate.judge.robustness.attacked import check_attacks
from relgate.judge.robustness.attacks import Attack
from relgate.judge.robustness.checks import (
    GradeInOrder,
    check_batch_size,
    check_positions,
    check_repeats,
)
from relgate.judge.robustness.types import Batch, Limits, Robustness
from relgate.judge.types import Judge

__all__ = ["ONE_BY_ONE", "check_robustness"]

ONE_BY_ONE = "the judge grades each text on its own, so neither order nor company can reach it"


async def check_robustness(
    judge: Judge,
    batches: Sequence[Batch],
    attacks: Sequence[Attack],
    *,
    in_order: GradeInOrder | None,
    floor: int,
    limits: Limits | None = None,
    shuffles: int = 5,
    repeats: int = 3,
    seed: int = 0,
    on_step: Callable[[str], None] | None = None,
) -> Robustness:
    """Every check that applies.

    Args:
        judge: the judge, uncached.
        batches: what the checks of order, repetition and size ask about.
        attacks: from `make_attacks`.
        in_order: grades one call in the given order; None for a judge that grades each text on
            its own, to which order and batch size do not apply.
        floor: the least grade that counts as relevant.
        limits: the greatest rates that pass.
        shuffles: orders of each batch.
        repeats: askings of each batch.
        seed: of the orders.
        on_step: told the name of each check as it begins.
    """
    limits = limits or Limits()
    say = on_step or _silent
    company = in_order is not None and all(len(b.candidates) > 1 for b in batches)
    positions = size = None
    if in_order is not None and company:
        say("positions")
        positions = await check_positions(
            in_order, batches, shuffles=shuffles, seed=seed, limit=limits.positions
        )
        say("batch_size")
        size = await check_batch_size(in_order, batches, limit=limits.batch_size)
    say("repeats")
    repeated = await check_repeats(
        in_order or judge.grade, batches, repeats=repeats, limit=limits.repeats
    )
    say("attacks")
    attacked = await check_attacks(judge, attacks, floor=floor, limit=limits.attacks)
    return Robustness(
        version=judge.version,
        fingerprint=judge.fingerprint,
        model=judge.model,
        positions=positions,
        repeats=repeated,
        batch_size=size,
        attacks=attacked,
        not_applied={} if company else dict.fromkeys(("positions", "batch_size"), ONE_BY_ONE),
        seed=seed,
    )


def _silent(_step: str) -> None:
    pass
