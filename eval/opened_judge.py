"""A judge ready to grade, and what can be told of it. I/O through its store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from relgate.cache.base import Store
from relgate.cache.judge import CachedJudge
from relgate.eval.cluster.judge import ClusterJudge
from relgate.judge.llm import LlmJudge
from relgate.judge.many import QUERIES_AT_ONCE
from relgate.judge.prices import Price
from relgate.judge.types import Example, Judge
from relgate.rubrics import Rubric

__all__ = ["Meter", "OpenedJudge"]


class Meter(Protocol):
    """Counts calls and money where that is not the call engine: in a provider's batches."""

    @property
    def calls(self) -> int:
        """Requests sent so far."""
        ...

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent so far; None where no price is known."""
        ...


@dataclass(slots=True)
class OpenedJudge:
    """A judge ready to grade, and what can be told of it.

    Attributes:
        name: as the command line names it.
        judge: the judge, behind the cache where it has one.
        rubric: what its grades mean.
        llm: the judge over a model, or None for the baseline.
        cached: the cache around it, or None.
        uncached: the judge that the cache is around, or None.
        store: what the cache keeps its grades in, or None.
        examples: few-shot examples in its prompt; their queries may not calibrate it.
        votes: how often each pair is asked: 1, or the shuffles of a panel.
        members: a panel's members, each of which the honesty rules must hold for.
        notes: what a reader should know.
        cluster: the judge's bulk work on a cluster, or None.
        price: of the model in single calls; None when unknown.
        meter: counts in place of the call engine, for a judge that is asked in batches.
    """

    name: str
    judge: Judge
    rubric: Rubric
    llm: LlmJudge | None = None
    cached: CachedJudge | None = None
    uncached: Judge | None = None
    store: Store | None = None
    examples: tuple[Example, ...] = ()
    votes: int = 1
    members: tuple[Judge, ...] = ()
    notes: tuple[str, ...] = ()
    cluster: ClusterJudge | None = None
    price: Price | None = None
    meter: Meter | None = None

    @property
    def queries_at_once(self) -> int:
        """Queries to have under way, so that the limit on calls at once can be reached."""
        calls = 0 if self.llm is None else self.llm.engine.policy.concurrency
        return max(QUERIES_AT_ONCE, calls)

    @property
    def calls(self) -> int | None:
        """Calls made to the model so far; None for a judge that makes none."""
        if self.meter is not None:
            return self.meter.calls
        return None if self.llm is None else self.llm.engine.stats.calls

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent so far, by the price table; None where no price is known."""
        if self.meter is not None:
            return self.meter.cost_usd
        if self.llm is None or self.llm.engine.policy.price is None:
            return None
        return self.llm.engine.stats.cost_usd

    def spent(self) -> str:
        """Tokens and money so far, for a line of progress; empty for a judge without calls."""
        if self.llm is None or self.meter is not None:
            return ""
        stats = self.llm.engine.stats
        tokens = (
            f"; {stats.calls:,} calls, {stats.prompt_tokens + stats.completion_tokens:,} tokens"
        )
        return tokens if self.cost_usd is None else f"{tokens}, {self.cost_usd:.4f} USD"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the calls so far showed: another model answered, a weaker reply mode, a stop."""
        if self.llm is None:
            return ()
        said: list[str] = []
        asked, answered = self.llm.model, self.llm.engine.stats.models
        others = sorted(answered - {asked})
        if asked is not None and others:
            said.append(f"asked for model {asked}, answered by {', '.join(others)}")
        mode = getattr(self.llm.generate, "mode", "json_schema")
        if mode != "json_schema":
            said.append(f"the endpoint takes no strict schema: replies were asked for as {mode}")
        if self.llm.engine.stopped is not None:
            said.append(f"the run stopped: {self.llm.engine.stopped.message}")
        return tuple(said)

    @property
    def hits(self) -> int:
        """Pairs answered from the cache so far."""
        return 0 if self.cached is None else self.cached.hits

    @property
    def saved_usd(self) -> float | None:
        """US dollars that those had cost, by the price table; of the ones that record their tokens.

        None where no price is known or none of them records its tokens.
        """
        return None if self.cached is None else self.cached.saved.usd(self.price)

    def close(self) -> None:
        """Keeps what was saved, gives back the cache's files. May be called twice."""
        if self.cached is not None:
            self.cached.record_saved()
        if self.store is not None:
            self.store.close()
        if self.cluster is not None:
            self.cluster.close()
