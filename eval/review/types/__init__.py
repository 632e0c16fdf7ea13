"""What a review rests on, and what it says: evidence, findings, outcomes, the verdict. Pure.

Import from here; the modules below only keep the files short.
"""

from relgate.eval.review.types._evidence import Basis, Evidence, Review
from relgate.eval.review.types._figures import (
    Aggregate,
    ApartFigures,
    CertificateFacts,
    Correction,
    Coverage,
    Delta,
    ExpectedScores,
    FillFacts,
    Interval,
    JudgeUse,
    ModeFigures,
    Noise,
    Stratum,
    Unrated,
)
from relgate.eval.review.types._outcomes import Finding, RuleOutcome, RuleState, Verdict
from relgate.eval.review.types._queries import TOLERANCE, QueryEvidence, RankedDoc, Side

__all__ = [
    "TOLERANCE",
    "Aggregate",
    "ApartFigures",
    "Basis",
    "CertificateFacts",
    "Correction",
    "Coverage",
    "Delta",
    "Evidence",
    "ExpectedScores",
    "FillFacts",
    "Finding",
    "Interval",
    "JudgeUse",
    "ModeFigures",
    "Noise",
    "QueryEvidence",
    "RankedDoc",
    "Review",
    "RuleOutcome",
    "RuleState",
    "Side",
    "Stratum",
    "Unrated",
    "Verdict",
]
