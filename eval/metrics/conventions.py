"""Which metric is meant: the metrics' names, and the conventions that make a figure. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relgate.rubrics.errors import UsageError

__all__ = ["Conventions", "Further", "Metric"]


class Metric(StrEnum):
    """A ranking metric, cut at k."""

    NDCG = "ndcg"
    MRR = "mrr"
    PRECISION = "precision"
    RECALL = "recall"
    HIT = "hit"
    JUDGED = "judged"


class Further(StrEnum):
    """Metrics that are scored on demand and gate nothing, cut at k."""

    AP = "ap"
    ERR = "err"
    RBP = "rbp"
    RBP_RESIDUAL = "rbp_residual"


@dataclass(frozen=True, slots=True)
class Conventions:
    """What a figure depends on beside the data. Two figures compare only where these are equal.

    Fixed for all: the ideal comes from all judgments of the query, cut at k; the order given is
    the order scored; a repeated document counts once; P@k divides by k; a judged query that is
    missing or failed counts as 0.

    Attributes:
        k: depth, 1 and up.
        floor: the least grade that counts as relevant (MRR, P, recall, hit), 1 and up.
        gain: `exp2` is 2^grade - 1, `linear` is the grade.
        no_ideal: a judged query without a grade above 0 is left `apart`, out of the mean, or
            counts as `zero`, as trec_eval has it.
        unrated: an unrated document gains nothing and keeps its rank (`zero`); or it is dropped and
            those below move up: in the whole list, before the cut at k (`condensed`, Sakai 2007),
            or among the top k alone, P dividing by what is left (`judged-only`).
        persistence: RBP's p, the chance that a reader goes on to the next rank, above 0, below 1.

    Raises:
        UsageError: a value outside these ranges.
    """

    k: int = 10
    floor: int = 2
    gain: Literal["exp2", "linear"] = "exp2"
    no_ideal: Literal["apart", "zero"] = "apart"
    unrated: Literal["zero", "condensed", "judged-only"] = "zero"
    persistence: float = 0.8

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("floor", self.floor)):
            if type(value) is not int or value < 1:
                raise UsageError(f"{name} is {value!r}; it must be a whole number, 1 or more")
        if self.gain not in ("exp2", "linear"):
            raise UsageError(f"gain is {self.gain!r}; it must be 'exp2' or 'linear'")
        if self.no_ideal not in ("apart", "zero"):
            raise UsageError(f"no_ideal is {self.no_ideal!r}; it must be 'apart' or 'zero'")
        if self.unrated not in ("zero", "condensed", "judged-only"):
            raise UsageError(
                f"unrated is {self.unrated!r}; it must be 'zero', 'condensed' or 'judged-only'"
            )
        if not 0 < self.persistence < 1:
            raise UsageError(f"persistence is {self.persistence!r}; it must lie between 0 and 1")

    @classmethod
    def trec_eval(cls, k: int = 10) -> Conventions:
        """What trec_eval computes, with its option -c: linear gain, floor 1, no ideal is 0."""
        return cls(k=k, floor=1, gain="linear", no_ideal="zero")

    def name(self, metric: Metric | Further) -> str:
        """The metric with its own convention, `nDCG(gain=exp2)@10`."""
        gain, floor, p = f"gain={self.gain}", f"floor={self.floor}", f"p={self.persistence:g}"
        label, settings = {
            Metric.NDCG: ("nDCG", [gain]),
            Metric.MRR: ("RR", [floor]),
            Metric.PRECISION: ("P", [floor]),
            Metric.RECALL: ("R", [floor]),
            Metric.HIT: ("Hit", [floor]),
            Metric.JUDGED: ("Judged", []),
            Further.AP: ("AP", [floor]),
            Further.ERR: ("ERR", ["gain=exp2"]),
            Further.RBP: ("RBP", [p, gain]),
            Further.RBP_RESIDUAL: ("RBP-residual", [p]),
        }[metric]
        if self.unrated != "zero" and metric is not Metric.JUDGED:
            settings = [*settings, f"unrated={self.unrated}"]
        return f"{label}({','.join(settings)})@{self.k}" if settings else f"{label}@{self.k}"

    def gains(self, levels: int) -> NDArray[np.float64]:
        """The gain of each grade 0..levels-1; shape (levels,)."""
        grades = np.arange(levels, dtype=np.float64)
        return np.exp2(grades) - 1.0 if self.gain == "exp2" else grades

    def asdict(self) -> dict[str, Any]:
        """Plain values, for artifacts."""
        return asdict(self)
