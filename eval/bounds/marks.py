"""What the rules know of the queries beside their scores, as columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relgate.eval.review.types import Evidence

__all__ = ["Marks", "marks_of"]

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the rules know of the queries beside their scores; shape (n,).

    Attributes:
        head: head queries.
        critical: critical queries.
        missing: some head or critical query is in neither run.
        neutral: no change was wanted.
        improve: an improvement is claimed.
        graded_cases: some filter case asks for a grade.
        contradicted: a file contradicts itself.
        modes: runs of single modes are scored too, on grades that a fill may change.
        strata: by name, the queries of each group.
        seed: of the tests against chance.
    """

    head: _Bools
    critical: _Bools
    missing: bool = False
    neutral: bool = False
    improve: bool = False
    graded_cases: bool = False
    contradicted: bool = False
    modes: bool = False
    strata: Mapping[str, _Bools] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0


def marks_of(evidence: Evidence, *, seed: int) -> Marks:
    """What the rules know of the queries, out of the evidence; the seed is the review's."""
    intent = None if evidence.change is None else evidence.change.intent
    return Marks(
        head=np.array([q.head for q in evidence.queries], np.bool_),
        critical=np.array([q.critical for q in evidence.queries], np.bool_),
        missing=bool(evidence.heads_missing),
        neutral=intent == "neutral",
        improve=intent == "improve",
        graded_cases=any("grade" in checked.case.expect for checked in evidence.filter_cases),
        contradicted=bool(evidence.contradictions),
        modes=bool(evidence.modes),
        strata={
            stratum.name: np.array([stratum.name in q.strata for q in evidence.queries], np.bool_)
            for stratum in evidence.strata
        },
        seed=seed,
    )
