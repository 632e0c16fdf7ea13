"""The types that a judge speaks: candidates in, judged hits out, one call to a model. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

__all__ = [
    "ERROR_REASON",
    "NO_USAGE",
    "Ask",
    "BulkJudge",
    "CallError",
    "Candidate",
    "Generate",
    "GenerateReply",
    "GenerateRequest",
    "GradeError",
    "Judge",
    "JudgedHit",
    "Took",
    "Usage",
]

ERROR_REASON = "judge-error"
"""The `reason` of a row that got no grade, as the judge document has it."""


class GradeError(StrEnum):
    """Why a candidate got no grade. An error is not Irrelevant.

    `not-asked` is no failure of the judge's: the run had stopped before (a budget, a dead key).
    """

    TRUNCATED = "truncated"
    REFUSED = "refused"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate-limited"
    UNREADABLE = "unreadable"
    MISSING = "missing"
    PROVIDER = "provider"
    NOT_ASKED = "not-asked"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document shown to the judge.

    Attributes:
        id: the document's id; never enters the prompt.
        text: what the judge sees of it, for example from `candidate_summary`.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A graded pair that is shown to the judge before its own: few-shot.

    Its query may not be among those that calibrate the judge.

    Attributes:
        query: the query.
        text: the candidate's text.
        label: the rubric's code for it.
    """

    query: str
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, of a call or of one row; None where it did not say.

    Attributes:
        prompt_tokens: sent.
        completion_tokens: come back.
        batch: whether they were paid at the lower price of a provider's batch.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    batch: bool = False

    def __add__(self, other: Usage) -> Usage:
        """Both together; unknown where either is."""
        return Usage(
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
            batch=self.batch or other.batch,
        )

    def split(self, rows: int) -> list[Usage]:
        """Even parts in whole tokens, one a row, whose sum is the whole: the first bear the rest.

        Args:
            rows: 1 or more.
        """
        prompts = _even(self.prompt_tokens, rows)
        completions = _even(self.completion_tokens, rows)
        pairs = zip(prompts, completions, strict=True)
        return [Usage(p, c, batch=self.batch) for p, c in pairs]


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _even(tokens: int | None, rows: int) -> list[int | None]:
    if tokens is None:
        return [None] * rows
    each, rest = divmod(tokens, rows)
    return [each + (n < rest) for n in range(rows)]


NO_USAGE = Usage(0, 0)
"""Nothing was paid: no call, or none that brought a reply."""


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """What a judge said of one candidate.

    A failed row is grade 0, the worst label and reason `judge-error`, so that search goes on; it
    also carries `error`, and whoever keeps judgments must ask `graded` first.

    Attributes:
        id: the candidate's id.
        grade: the grade on the rubric's scale, 0 and up.
        esci: the rubric's label, E, S, C or I under ESCI.
        reason: the judge's short reason, or `judge-error`.
        error: None when the judge graded it.
        detail: for a failed row, what went wrong, keys masked.
        batch_size: how many candidates were judged in the same call, if known.
        position: 1-based place within that call, if known.
        judged_at: ISO 8601 time of the grade, where it was kept.
        expected_grade: mean grade under the class probabilities, where the judge gives them.
        spread: standard deviation of the grade, under the probabilities or over a panel's votes.
        usage: the row's even part of the tokens of each call that was made for it and brought a
            reply; unknown where the provider did not count one of them.
        probabilities: share of each grade from 0 up, summing to 1, where the judge gives them.
    """

    id: str
    grade: int
    esci: str
    reason: str
    error: GradeError | None = None
    detail: str | None = None
    batch_size: int | None = None
    position: int | None = None
    judged_at: str | None = None
    expected_grade: float | None = None
    spread: float | None = None
    usage: Usage = Usage()
    probabilities: tuple[float, ...] | None = None

    @property
    def graded(self) -> bool:
        """True when this is a grade and not a failure."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One call to a model.

    Attributes:
        system: the rubric's system text.
        prompt: the user message.
        schema: JSON Schema of the reply.
        model: the model asked for; None lets `generate` pick.
        temperature: None sends none (some models refuse the parameter).
        max_output_tokens: None leaves it to the provider.
        candidates: how many candidates the prompt holds.
    """

    system: str
    prompt: str
    schema: Mapping[str, Any]
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    candidates: int = 1


@dataclass(frozen=True, slots=True)
class GenerateReply:
    """What came back from one call.

    Attributes:
        text: the reply's text, or None.
        data: the reply already decoded from JSON, where the provider does that.
        finish_reason: `stop`, `length`, `blocked`, `refused`, or the provider's own word.
        usage: tokens, where known.
        model: the model snapshot that really answered, where known.
    """

    text: str | None = None
    data: Any = None
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str | None = None


class CallError(Exception):
    """A call failed in a way that its adapter understands.

    Args:
        kind: which error the rows of the call get.
        message: what happened, for people; keys already masked.
        retry: whether the same call may work in a moment.
        fatal: whether no further call can work (dead key, no quota, no such model).
        retry_after_s: what the server asked for, seconds.
    """

    def __init__(
        self,
        kind: GradeError,
        message: str,
        *,
        retry: bool = False,
        fatal: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry = retry
        self.fatal = fatal
        self.retry_after_s = retry_after_s


class Generate(Protocol):
    """The user's own way to a model. A plain function satisfies it, sync or async."""

    def __call__(
        self, request: GenerateRequest, /
    ) -> (
        str | Mapping[str, Any] | GenerateReply | Awaitable[str | Mapping[str, Any] | GenerateReply]
    ):
        """Answer `request`; raise `CallError`, or anything, on failure."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Query + candidates -> grades. An LLM, the baseline, or a cache around either.

    Attributes:
        version: what the grades mean: `<tag>@<hash>`; part of every cache key.
        fingerprint: what else shapes an answer (template, schema, model, parameters), hashed.
        model: the model asked for, or None.
        family: the model's family (`openai`), `none` for a judge without a language model, or
            None when unknown.
        batch_size: how many candidates go into one call.
    """

    version: str
    fingerprint: str
    model: str | None
    family: str | None
    batch_size: int

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order. Never raises for a failed grade."""
        ...

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop."""
        ...


@dataclass(frozen=True, slots=True)
class Ask:
    """One query and what is to be graded for it."""

    query: str
    candidates: tuple[Candidate, ...]


Took = Callable[[Sequence[tuple[int, list[JudgedHit]]]], Awaitable[None]]
"""Told which asks are answered, by their number, each with one row a candidate in their order.

Nothing more is handed over before it returns: that is how a slow reader holds a fast judge back.
"""


@runtime_checkable
class BulkJudge(Judge, Protocol):
    """A judge that is better asked for many queries at once, such as one on a cluster."""

    async def grade_many(self, asks: Iterable[Ask], took: Took) -> None:
        """Grades every ask, and tells each once, in whatever order they are done.

        Never raises for a failed grade.

        Raises:
            RelgateError: nothing can be graded at all.
        """
        ...
