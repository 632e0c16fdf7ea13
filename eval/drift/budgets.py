"""How far each signal may move: soft warns, hard fails; strata may have budgets of their own. Pure.

Defaults are the starting budgets of the golden-query guide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from relgate.eval.drift.types import Signal
from relgate.rubrics.errors import InputError

__all__ = ["DEFAULT", "GUIDE_KEYS", "Budget", "Budgets", "budgets_of"]

GUIDE_KEYS = MappingProxyType(
    {
        "ndcg_max_drop": Signal.NDCG,
        "mrr_max_drop": Signal.MRR,
        "precision_max_drop": Signal.PRECISION,
        "empty_rate_max_rise": Signal.EMPTY,
        "lt3_rate_max_rise": Signal.LT3,
    }
)
"""The guide's own keys, and one of their kind; they are hard limits."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one signal; a move of exactly the limit passes.

    Attributes:
        soft: more than this is a warning.
        hard: more than this fails.
    """

    soft: float
    hard: float


_STARTING: Mapping[Signal, Budget] = MappingProxyType(
    {
        Signal.NDCG: Budget(0.01, 0.025),
        Signal.MRR: Budget(0.01, 0.03),
        Signal.PRECISION: Budget(0.02, 0.04),
        Signal.EMPTY: Budget(0.005, 0.015),
        Signal.LT3: Budget(0.005, 0.015),
    }
)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Every limit.

    Attributes:
        overall: per signal.
        strata: {stratum: {signal: limits}}; a signal that a stratum does not name has the
            overall limits there.
    """

    overall: Mapping[Signal, Budget] = field(default_factory=lambda: _STARTING)
    strata: Mapping[str, Mapping[Signal, Budget]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def of(self, signal: Signal, stratum: str | None = None) -> Budget:
        """The limits of a signal, in a stratum or over all."""
        own = self.strata.get(stratum) if stratum is not None else None
        return self.overall[signal] if own is None else own.get(signal, self.overall[signal])


DEFAULT = Budgets()


def budgets_of(value: Mapping[str, Any], path: str) -> Budgets:
    """Budgets from a file's values: the guide's own keys, or `hard`, `soft` and `strata`.

        {"ndcg_max_drop": 0.025, "mrr_max_drop": 0.03}
        {"hard": {"ndcg_max_drop": 0.025}, "soft": {"ndcg_max_drop": 0.01},
         "strata": {"billing": {"ndcg_max_drop": 0.01}}}

    A signal that is not named keeps its default. A soft limit that is not named is the default
    one, or the hard limit where that is less.

    Raises:
        InputError: an unknown key, a limit that is no number from 0 up, or a soft limit above
            its hard one.
    """
    top = dict(value)
    strata = _table(top.pop("strata", {}), "strata", path)
    overall = {**_STARTING, **_limits(top, _STARTING, "", path)}
    return Budgets(
        MappingProxyType(overall),
        MappingProxyType(
            {
                name: _limits(
                    _table(part, f"strata.{name}", path), overall, f"strata.{name}.", path
                )
                for name, part in strata.items()
            }
        ),
    )


def _limits(
    value: Mapping[str, Any], base: Mapping[Signal, Budget], where: str, path: str
) -> dict[Signal, Budget]:
    soft = _named(_table(value.get("soft", {}), f"{where}soft", path), f"{where}soft.", path)
    hard = _named(_table(value.get("hard", {}), f"{where}hard", path), f"{where}hard.", path)
    plain = {name: part for name, part in value.items() if name not in {"soft", "hard"}}
    hard |= _named(plain, where, path)
    out: dict[Signal, Budget] = {}
    for signal in dict.fromkeys((*soft, *hard)):
        limit = hard.get(signal, base[signal].hard)
        least = soft.get(signal, min(base[signal].soft, limit))
        if least > limit:
            raise InputError(
                f"{where}{signal.value}: the soft limit {least:g} is above the hard one {limit:g}",
                path=path,
                mend="the soft limit warns before the hard one fails: lower it",
            )
        out[signal] = Budget(least, limit)
    return out


def _named(value: Mapping[str, Any], where: str, path: str) -> dict[Signal, float]:
    out: dict[Signal, float] = {}
    for name, limit in value.items():
        if name not in GUIDE_KEYS:
            raise InputError(
                f"unknown budget {where + name!r}",
                path=path,
                mend=f"known are {', '.join(GUIDE_KEYS)}",
            )
        number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
        if not number or not math.isfinite(limit) or limit < 0:
            raise InputError(
                f"{where}{name} is {limit!r}", path=path, mend="give a number from 0 up"
            )
        out[GUIDE_KEYS[name]] = float(limit)
    return out


def _table(value: Any, where: str, path: str) -> Mapping[str, Any]:  # noqa: ANN401 - a file's value
    if not isinstance(value, dict):
        raise InputError(f"{where} is no table", path=path, mend='write {"ndcg_max_drop": 0.025}')
    return cast("dict[str, Any]", value)
