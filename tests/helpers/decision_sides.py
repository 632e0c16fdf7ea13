"""The two providers of class probabilities: how each is called, and how it answers."""

from __future__ import annotations

import asyncio

from provider_errors import failed

from relgate.judge import CallError, Candidate
from relgate.judge.decide import DecideRequest
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.providers.decisions import gemini_decide, openai_decide

__all__ = ["CANDIDATES", "NOT", "REQUEST", "SURE", "Side"]

REQUEST = DecideRequest(
    system="You are a strict judge.",
    prompt="Shopper query: red shoe\n1. a\n2. b",
    questions=("Which is candidate 1?", "Which is candidate 2?"),
    labels=(("E", "Exact"), ("S", "Substitute"), ("C", "Complement"), ("I", "Irrelevant")),
    model="d-1",
)
SURE = (0.7, 0.2, 0.05, 0.05)
NOT = (0.0, 0.1, 0.2, 0.7)
CANDIDATES = [Candidate("p1", "title: Red shoe"), Candidate("p2", "title: Garden hose")]


class Side:
    """One of the two providers: how it is called, and how it answers."""

    def __init__(self, name, peer, wire):
        self.name, self.peer, self.wire = name, peer, wire
        self.key = wire.key if name == "openai" else wire.gemini_key

    def decide(self, **settings):
        if self.name == "openai":
            return openai_decide(api_key=self.key, base_url=f"{self.peer.url}/v1", **settings)
        return gemini_decide(api_key=self.key, base_url=self.peer.url, **settings)

    def ask(self, request=REQUEST, *, timeout_s=5.0):
        return asyncio.run(self.decide(timeout_s=timeout_s)(request))

    def failed(self, request=REQUEST, *, timeout_s=5.0) -> CallError:
        return failed(self.ask, request, timeout_s=timeout_s)

    def judge(self, **settings):
        policy = CallPolicy(backoff_s=0.01, attempts=2)
        return make_decision_judge(self.decide(), model="d-1", policy=policy, **settings)

    def says(self, *answers, **changed):
        return (self.wire.decision if self.name == "openai" else self.wire.gemini_decision)(
            *answers, **changed
        )

    def error(self, status, message, headers=None):
        if self.name == "openai":
            return self.wire.openai_error(status, message, headers=headers or {})
        return self.wire.gemini_error(status, "X", message, **(headers or {}))
