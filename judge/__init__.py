"""Query + candidates -> grades. No files, no metrics, no gates.

`make_llm_judge` builds a judge over any model; `llm_rerank` serves the same judge as a ranker.
Importing this package loads no SDK, no scikit-learn and no event loop.
"""

from relgate.judge.families import check_circularity, check_family_separation, family_of
from relgate.judge.llm import LlmJudge, make_llm_judge
from relgate.judge.panel import PanelJudge, members_of, panel_of_shuffles
from relgate.judge.parse import parse_reply
from relgate.judge.prompt import candidate_summary, judge_schema, render_prompt
from relgate.judge.rerank import llm_rerank, llm_rerank_sync, reciprocal_rank_fusion
from relgate.judge.types import (
    CallError,
    Candidate,
    Generate,
    GenerateReply,
    GenerateRequest,
    GradeError,
    Judge,
    JudgedHit,
    Usage,
)
from relgate.rubrics import ESCI_JUDGE_SYSTEM

__all__ = [
    "ESCI_JUDGE_SYSTEM",
    "CallError",
    "Candidate",
    "Generate",
    "GenerateReply",
    "GenerateRequest",
    "GradeError",
    "Judge",
    "JudgedHit",
    "LlmJudge",
    "PanelJudge",
    "Usage",
    "candidate_summary",
    "check_circularity",
    "check_family_separation",
    "family_of",
    "judge_schema",
    "llm_rerank",
    "llm_rerank_sync",
    "make_llm_judge",
    "members_of",
    "panel_of_shuffles",
    "parse_reply",
    "reciprocal_rank_fusion",
    "render_prompt",
]
