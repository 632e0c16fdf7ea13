"""The baseline judge, which needs no key and no language model. Pure."""

from __future__ import annotations

from relgate.judge.baseline.judge import MIN_LABELS, MIN_QUERIES, BaselineJudge, LabelledPair

__all__ = ["MIN_LABELS", "MIN_QUERIES", "BaselineJudge", "LabelledPair"]
