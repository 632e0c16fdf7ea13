"""How far the same configuration moves from run to run, and the budgets that follow. Pure.

The guide: a soft warning near one times the noise floor, a hard failure at two to three times it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relgate.eval.drift.budgets import DEFAULT, GUIDE_KEYS, Budget
from relgate.eval.drift.types import SIGNALS, Artifact, Signal
from relgate.rubrics.errors import GoldenVersionError, UsageError

__all__ = ["HARD_FACTOR", "NoiseFloor", "budget_values", "noise_floor"]

HARD_FACTOR = 3.0
_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What replays of one configuration say.

    Attributes:
        replays: how many there were.
        floor: per signal, the greatest move between any two replays of one combination of stages.
        proposed: per signal, limits from the floor, rounded up to 0.0001; the defaults where
            nothing moved: no noise is no reason for a limit of 0.
    """

    replays: int
    floor: Mapping[Signal, float]
    proposed: Mapping[Signal, Budget]


def noise_floor(replays: Sequence[Artifact], *, hard_factor: float = HARD_FACTOR) -> NoiseFloor:
    """The noise floor of at least two replays.

    Args:
        replays: artifacts of one golden set and one configuration, run again and again.
        hard_factor: the hard limit in noise floors, 2 to 3.

    Raises:
        UsageError: fewer than two replays, other settings or stages, a figure that is not finite,
            or a factor outside 2..3.
        GoldenVersionError: replays of different golden sets.
    """
    if not 2 <= hard_factor <= 3:  # noqa: PLR2004 - the guide's range
        raise UsageError(f"a factor of {hard_factor:g}; the hard limit is two to three times noise")
    _alike(replays)
    floor: dict[Signal, float] = {}
    for signal in SIGNALS:
        by_stages: dict[str, list[float]] = {}
        for run in (run for replay in replays for run in replay.runs):
            if signal in run.means:
                by_stages.setdefault(run.words, []).append(run.means[signal])
        if by_stages:
            floor[signal] = max(max(values) - min(values) for values in by_stages.values())
    return NoiseFloor(
        len(replays),
        floor,
        {signal: _limits(signal, floor[signal], hard_factor) for signal in floor},
    )


def budget_values(found: NoiseFloor) -> dict[str, dict[str, float]]:
    """The proposed limits as a budgets file has them."""
    names = {signal: key for key, signal in GUIDE_KEYS.items()}
    return {
        "soft": {names[signal]: budget.soft for signal, budget in found.proposed.items()},
        "hard": {names[signal]: budget.hard for signal, budget in found.proposed.items()},
    }


def _limits(signal: Signal, floor: float, factor: float) -> Budget:
    if floor <= 0:
        return DEFAULT.of(signal)
    return Budget(_up(floor), _up(factor * floor))


def _up(value: float) -> float:
    return round(math.ceil(value / _STEP - 1e-6) * _STEP, 4)


def _alike(replays: Sequence[Artifact]) -> None:
    if len(replays) < 2:  # noqa: PLR2004 - a move needs two
        raise UsageError("one replay has no noise; measure the same configuration at least twice")
    first = replays[0]
    for other in replays[1:]:
        if (other.golden_version, other.golden_sha256) != (
            first.golden_version,
            first.golden_sha256,
        ):
            raise GoldenVersionError(
                f"golden versions {first.golden_version} and {other.golden_version} differ, or "
                "their contents do; replay one set"
            )
        alike = (
            (other.settings, first.settings),
            (other.conventions, first.conventions),
            ({run.words for run in other.runs}, {run.words for run in first.runs}),
        )
        if any(one != two for one, two in alike):
            raise UsageError("the replays differ in settings, conventions or stages; replay one")
    values = [v for replay in replays for run in replay.runs for v in run.means.values()]
    if not all(map(math.isfinite, values)):
        raise UsageError("a figure of the replays is no finite number")
