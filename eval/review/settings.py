"""Every threshold of the reviewer, with its default and where that comes from. Pure.

Sources: R, the reviewer document; G, the golden-query guide; X, ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType

from relgate.rubrics.errors import UsageError

__all__ = ["ReviewSettings"]


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """The reviewer's numbers. Shares are 0..1; drops are on the metric's own scale.

    Attributes:
        max_mean_drop: R4, a larger mean drop blocks (R).
        min_improvement: R4, from here on the change improves; between is flat (R).
        query_drop: R5, a query that falls by more counts as dropped (R).
        max_dropped_share: R5, this share of dropped queries or more is carnage (R).
        head_drop: R6, a head query may fall by this much (R).
        top_rank: R6, a head query's best document must stay within this rank (G).
        max_masked_share: R7, more queries worse than this, while the mean rises (R).
        mostly_unrated: R8, a query is stale when more of its documents are unrated (R).
        max_stale_share: R8, more stale queries than this refuse (R).
        max_p95_ratio: R9, p95 after may be this many times p95 before (R).
        max_p99_ms: R9, ceiling of p99 after, in ms (R).
        empty_soft_rise: R13, a larger rise of the empty or fewer-than-three rate needs work (G).
        empty_hard_rise: R13, a larger rise blocks (G).
        stratum_drop: R14, a stratum's mean may drop by this much (G).
        min_stratum_queries: R14, a stratum of fewer queries is only watched (X).
        stratum_budgets: R14, {stratum: its own drop, in place of `stratum_drop`} (G).
        max_stratum_p: R14, a drop counts when its Holm-adjusted p is smaller (X).
        mrr_soft_drop: R18 (G).
        mrr_hard_drop: R18 (G).
        precision_soft_drop: R18 (G).
        precision_hard_drop: R18 (G).
        max_mode_drop: R18, relevance or recall of one mode may drop by this much (X).
        min_noise_queries: R17, fewer paired queries say nothing about noise (X).
        max_p: R17, a claimed improvement must have a smaller p (X).
        max_error_rate: R19, a larger share of failed grades refuses (X).
    """

    max_mean_drop: float = 0.01
    min_improvement: float = 0.02
    query_drop: float = 0.10
    max_dropped_share: float = 0.05
    head_drop: float = 0.05
    top_rank: int = 3
    max_masked_share: float = 0.10
    mostly_unrated: float = 0.5
    max_stale_share: float = 0.30
    max_p95_ratio: float = 1.20
    max_p99_ms: float = 100.0
    empty_soft_rise: float = 0.005
    empty_hard_rise: float = 0.015
    stratum_drop: float = 0.01
    min_stratum_queries: int = 30
    max_stratum_p: float = 0.05
    mrr_soft_drop: float = 0.01
    mrr_hard_drop: float = 0.03
    precision_soft_drop: float = 0.02
    precision_hard_drop: float = 0.04
    max_mode_drop: float = 0.01
    min_noise_queries: int = 30
    max_p: float = 0.05
    max_error_rate: float = 0.02
    stratum_budgets: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the single numbers; `stratum_budgets` holds one a stratum."""
        return tuple(name for name in cls.__dataclass_fields__ if name != "stratum_budgets")

    def numbers(self) -> dict[str, float]:
        """{name: value} of every number, a stratum's as `stratum_budgets.billing`."""
        own = {f"stratum_budgets.{name}": drop for name, drop in self.stratum_budgets.items()}
        return {**{name: getattr(self, name) for name in self.names()}, **own}

    def changed(self) -> dict[str, tuple[float, float]]:
        """{name: (default, value)} of the numbers that are not the defaults."""
        defaults = type(self)()
        usual = defaults.numbers()
        pairs = {
            name: (usual.get(name, defaults.stratum_drop), value)
            for name, value in self.numbers().items()
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def budget_of(self, stratum: str) -> float:
        """What the mean of a stratum may drop by."""
        return self.stratum_budgets.get(stratum, self.stratum_drop)

    def __post_init__(self) -> None:
        for name, value in self.numbers().items():
            if isinstance(value, bool) or not isfinite(value) or value < 0:
                raise UsageError(f"{name} is {value!r}; it must be a number, 0 or more")
