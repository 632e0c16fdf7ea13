"""What a fill would cost, before anything is spent. Looks the cache up; calls no judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from relgate.cache.judge import CachedJudge
from relgate.eval.gaps.find import QueryGaps
from relgate.judge.llm import LlmJudge
from relgate.judge.prices import Price, cost_usd
from relgate.judge.tokens import TokenRange, reply_tokens, token_range
from relgate.judge.types import Candidate

__all__ = ["FillPlan", "OpenPlan", "plan_batches", "plan_document", "plan_fill"]


@dataclass(frozen=True, slots=True)
class FillPlan:
    """What a fill would do when every call succeeds.

    Attributes:
        pairs: pairs to grade.
        cached: those of them whose grade is in the cache.
        no_text: pairs without a text; they are not asked.
        calls: calls to the model, exact unless a batch has to be asked for again; 0 for a judge
            that makes none.
        prompt: tokens sent.
        reply: tokens that come back, thinking not included.
        price: what the model costs, or None when unknown.
    """

    pairs: int
    cached: int
    no_text: int
    calls: int
    prompt: TokenRange
    reply: TokenRange
    price: Price | None

    @property
    def cost_usd(self) -> tuple[float, float] | None:
        """Least and most US dollars; None when the price is unknown."""
        if self.price is None:
            return None
        return (
            cost_usd(
                self.price,
                prompt_tokens=self.prompt.least,
                completion_tokens=self.reply.least,
            ),
            cost_usd(self.price, prompt_tokens=self.prompt.most, completion_tokens=self.reply.most),
        )


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """What a verdict-driven fill would do: how far it goes depends on the grades that come.

    Attributes:
        most: everything that it could ask for.
        first: its first wave; None when the verdict is settled without any grade.
        verdict: the settled verdict in that case, and None otherwise.
    """

    most: FillPlan
    first: FillPlan | None
    verdict: str | None


def plan_document(plan: FillPlan) -> dict[str, Any]:
    """A plan as plain values."""
    return {
        "pairs": plan.pairs,
        "cached": plan.cached,
        "no_text": plan.no_text,
        "calls": plan.calls,
        "prompt_tokens": [plan.prompt.least, plan.prompt.most],
        "reply_tokens": [plan.reply.least, plan.reply.most],
        "cost_usd": None if plan.cost_usd is None else list(plan.cost_usd),
    }


def plan_fill(
    gaps: Sequence[QueryGaps],
    candidate_of: Callable[[str], Candidate | None],
    *,
    llm: LlmJudge | None,
    cached: CachedJudge | None,
    price: Price | None,
    votes: int = 1,
) -> FillPlan:
    """Counts what filling `gaps` would ask for.

    Args:
        gaps: from `find_gaps`.
        candidate_of: document id -> what the judge sees, None when unknown.
        llm: the judge over a model; None for one that makes no calls.
        cached: the cache around it, or None.
        price: what the model costs, or None when unknown.
        votes: how often a panel asks each pair.
    """
    asked = [
        (gap.query.shown, [c for doc in gap.doc_ids if (c := candidate_of(doc)) is not None])
        for gap in gaps
    ]
    pairs = sum(len(candidates) for _, candidates in asked)
    no_text = sum(len(gap.doc_ids) for gap in gaps) - pairs
    if llm is None:
        return FillPlan(pairs, 0, no_text, 0, TokenRange(0, 0), TokenRange(0, 0), None)
    batches = [
        (query, batch)
        for query, candidates in asked
        for batch in ([candidates] if cached is None else cached.missing(query, candidates))
        if batch
    ]
    calls, prompt, reply = plan_batches(llm, batches)
    missing = sum(len(batch) for _, batch in batches)
    return FillPlan(
        pairs, pairs - missing, no_text, votes * calls, prompt * votes, reply * votes, price
    )


def plan_batches(
    llm: LlmJudge, batches: Iterable[tuple[str, Sequence[Candidate]]]
) -> tuple[int, TokenRange, TokenRange]:
    """Calls, tokens sent and tokens back for what `llm.grade` would be given."""
    calls = 0
    prompt = reply = TokenRange(0, 0)
    for query, candidates in batches:
        texts = [candidate.text for candidate in candidates]
        for batch in llm.batches(query, texts):
            request = llm.request(query, [texts[i] for i in batch])
            calls += 1
            prompt += token_range(request.system) + token_range(request.prompt)
            reply += reply_tokens(len(batch))
    return calls, prompt, reply
