"""Which metric is meant: the metrics' names, and the conventions that make a figure. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from relgate.rubrics.errors import UsageError

__all__ = ["Conventions", "Metric"]


class Metric(StrEnum):
    """A ranking metric, cut at k."""

    NDCG = "ndcg"
    MRR = "mrr"
    PRECISION = "precision"
    RECALL = "recall"
    HIT = "hit"
    JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Conventions:
    """What a figure depends on beside the data. Two figures compare only where these are equal.

    Fixed for all: the ideal comes from all judgments of the query, cut at k; the order given is
    the order scored; a repeated document counts once; an unrated document gains nothing and keeps
    its rank; P@k divides by k; a judged query that is missing or failed counts as 0.

    Attributes:
        k: depth, 1 and up.
        floor: the least grade that counts as relevant (MRR, P, recall, hit), 1 and up.
        gain: `exp2` is 2^grade - 1, `linear` is the grade.
        no_ideal: a judged query without a grade above 0 is left `apart`, out of the mean, or
            counts as `zero`, as trec_eval has it.

    Raises:
        UsageError: a value outside these ranges.
    """

    k: int = 10
    floor: int = 2
    gain: Literal["exp2", "linear"] = "exp2"
    no_ideal: Literal["apart", "zero"] = "apart"

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("floor", self.floor)):
            if type(value) is not int or value < 1:
                raise UsageError(f"{name} is {value!r}; it must be a whole number, 1 or more")
        if self.gain not in ("exp2", "linear"):
            raise UsageError(f"gain is {self.gain!r}; it must be 'exp2' or 'linear'")
        if self.no_ideal not in ("apart", "zero"):
            raise UsageError(f"no_ideal is {self.no_ideal!r}; it must be 'apart' or 'zero'")

    @classmethod
    def trec_eval(cls, k: int = 10) -> Conventions:
        """What trec_eval computes, with its option -c: linear gain, floor 1, no ideal is 0."""
        return cls(k=k, floor=1, gain="linear", no_ideal="zero")

    def name(self, metric: Metric) -> str:
        """The metric with its own convention, `nDCG(gain=exp2)@10`."""
        match metric:
            case Metric.NDCG:
                return f"nDCG(gain={self.gain})@{self.k}"
            case Metric.MRR:
                return f"RR(floor={self.floor})@{self.k}"
            case Metric.PRECISION:
                return f"P(floor={self.floor})@{self.k}"
            case Metric.RECALL:
                return f"R(floor={self.floor})@{self.k}"
            case Metric.HIT:
                return f"Hit(floor={self.floor})@{self.k}"
            case Metric.JUDGED:
                return f"Judged@{self.k}"
            case _:
                assert_never(metric)

    def gains(self, levels: int) -> NDArray[np.float64]:
        """The gain of each grade 0..levels-1; shape (levels,)."""
        grades = np.arange(levels, dtype=np.float64)
        return np.exp2(grades) - 1.0 if self.gain == "exp2" else grades

    def asdict(self) -> dict[str, Any]:
        """Plain values, for artifacts."""
        return asdict(self)
