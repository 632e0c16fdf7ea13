"""What a search engine is asked, what it answers, and the protocol of all engines. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from relgate.rubrics.errors import RelgateError

__all__ = ["Answer", "Call", "Engine", "EngineError", "Hit", "Reply"]


@dataclass(frozen=True, slots=True)
class Call:
    """One search.

    Attributes:
        query_id: its id in the golden set.
        text: what the shopper types.
        size: how many documents are wanted.
        filters: what is filtered by; empty for none.
        locale, surface: as in the golden set, or None.
        stages: the combination of stages, {stage: setting}.
        seed: for engines that draw lots.
    """

    query_id: str
    text: str
    size: int
    filters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    locale: str | None = None
    surface: str | None = None
    stages: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that came back: its id, and its score and title where the engine tells."""

    doc_id: str
    score: float | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine answered.

    Attributes:
        hits: best first.
        about: what explains odd differences later: index generation, versions of models.
    """

    hits: tuple[Hit, ...]
    about: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class EngineError(RelgateError):
    """The engine could not answer one search; its text says why in a line.

    Args:
        message: why.
        again: whether trying once more may help (overload, a reset), or cannot (a bad request).
    """

    exit_code = 6

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class Engine(Protocol):
    """A search. `search` may be called from several threads at once."""

    def search(self, call: Call) -> Reply:
        """The documents for one call.

        Raises:
            EngineError: it could not answer.
        """
        ...

    def about(self) -> Mapping[str, str]:
        """What it can say of itself once: index generation and the like; empty for nothing."""
        ...

    def close(self) -> None:
        """Lets go of what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """How one search ended.

    Attributes:
        query_id: which query.
        hits: best first; empty where it failed.
        latency_ms: of the try that answered, or of the last.
        tries: how many there were.
        failure: why it failed, in a line; None where it answered.
        about: see `Reply`.
    """

    query_id: str
    hits: tuple[Hit, ...]
    latency_ms: float
    tries: int = 1
    failure: str | None = None
    about: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
