"""A judge over an API that gives each label a probability in place of an answer in words.

One question a candidate, the rubric's labels as choices. The grade is the most probable label's;
the whole distribution stays beside it as an expected grade and a spread. Such an API gives no
reason, so none is shown. Importing this module loads no SDK and no event loop.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from relgate.judge.decide import (
    Decide,
    DecideReply,
    DecideRequest,
    checked_probabilities,
)
from relgate.judge.families import judge_family
from relgate.judge.llm import LlmJudge, check_batch_size
from relgate.judge.prompt import MAX_QUERY_CHARS, MAX_TEXT_CHARS, one_line, references
from relgate.judge.suspicion import SUSPICION_VERSION
from relgate.judge.types import (
    CallError,
    Candidate,
    GenerateReply,
    GenerateRequest,
    GradeError,
    JudgedHit,
    Usage,
)
from relgate.rubrics import Label, Rubric, load_rubric

if TYPE_CHECKING:
    from relgate.judge.engine import CallPolicy

__all__ = ["DecisionJudge", "make_decision_judge"]


def make_decision_judge(
    decide: Decide,
    *,
    model: str | None = None,
    batch_size: int = 10,
    on_error: Callable[[str], None] | None = None,
    rubric: Rubric | None = None,
    family: str | None = None,
    endpoint: str | None = None,
    policy: CallPolicy | None = None,
) -> DecisionJudge:
    """A judge over a `decide`, for example `openai_decide` or `gemini_decide`.

    Args:
        decide: the way to the model.
        model: the model to ask for, passed on as it is.
        batch_size: candidates a call, 1 or more.
        on_error: told one line for each batch that failed.
        rubric: what the grades mean; ESCI by default.
        family: the model's family where its name does not tell.
        endpoint: what else names the model that answers, for example a base URL.
        policy: limits on calls.

    Raises:
        UsageError: a batch size below 1.
    """
    check_batch_size(batch_size)
    return DecisionJudge(
        decide,
        rubric=rubric if rubric is not None else load_rubric(),
        model=model,
        family=judge_family(model, family),
        batch_size=batch_size,
        endpoint=endpoint,
        on_error=on_error,
        policy=policy,
    )


@dataclass(frozen=True, slots=True)
class _Asked(GenerateRequest):
    """A request in the form that the call engine counts, with the one that is really made."""

    decide: DecideRequest = field(kw_only=True)


class DecisionJudge(LlmJudge):
    """See `make_decision_judge`. Batches, order and asking again are those of the LLM judge.

    A grade is that of the most probable label, of two equals the lower. `expected_grade` is the
    mean grade under the probabilities, `spread` its standard deviation, `probabilities` the share
    of each grade.
    """

    def __init__(
        self,
        decide: Decide,
        *,
        rubric: Rubric,
        model: str | None,
        family: str | None,
        batch_size: int,
        endpoint: str | None,
        on_error: Callable[[str], None] | None,
        policy: CallPolicy | None,
    ) -> None:
        super().__init__(
            self._carry,
            rubric=rubric,
            model=model,
            family=family,
            batch_size=batch_size,
            temperature=None,
            max_output_tokens=None,
            endpoint=endpoint,
            examples=(),
            on_error=on_error,
            policy=policy,
        )
        self.fingerprint = _fingerprint(
            rubric, [f"model={model}", f"endpoint={endpoint}", f"batch_size={batch_size}"]
        )
        self._decide = decide

    def request(self, query: str, texts: Sequence[str]) -> GenerateRequest:
        """What is asked for one batch, in the given order; all its text is in the prompt."""
        asked = _decide_request(query, texts, self.rubric, self.model)
        return _Asked(
            system=asked.system,
            prompt="\n".join((asked.prompt, *asked.questions)),
            schema={},
            model=self.model,
            decide=asked,
        )

    async def _carry(self, request: GenerateRequest, /) -> GenerateReply:
        """Takes a question through the call engine, which knows prompts and replies alone.

        Rows are checked here, for a user's own `decide` may return anything: what this raises is
        a failed call, and grading never raises.
        """
        reply = await self._decide(cast("_Asked", request).decide)
        rows = tuple(self._checked(row) for row in reply.rows)
        return GenerateReply(data=replace(reply, rows=rows), usage=reply.usage, model=reply.model)

    def _checked(self, row: Mapping[str, float] | GradeError) -> Mapping[str, float] | GradeError:
        if isinstance(row, GradeError):
            return row
        codes = [label.code for label in self.rubric.labels]
        return checked_probabilities(row.items(), codes=codes) or GradeError.UNREADABLE

    async def _ask(
        self, query: str, candidates: Sequence[Candidate], batch: list[int]
    ) -> list[JudgedHit]:
        request = self.request(query, [candidates[i].text for i in batch])
        try:
            carried = await self.engine.call(request, len(batch))
        except CallError as error:
            self._tell(f"{len(batch)} candidate(s) ungraded: {error.kind}: {error.message}")
            return [self._failed(candidates[i], error.kind, error.message) for i in batch]
        reply: DecideReply = carried.data
        self.engine.stats.unknown_ids += reply.unknown
        # a reply that is short of rows leaves the last ones missing, and none is shifted
        rows = [*reply.rows, *[GradeError.MISSING] * len(batch)][: len(batch)]
        hits = [
            self._hit(candidates[i], row, position=position, size=len(batch), usage=usage)
            for position, (i, row, usage) in enumerate(
                zip(batch, rows, carried.usage.split(len(batch)), strict=True), start=1
            )
        ]
        failed = sum(not hit.graded for hit in hits)
        if failed:
            self._tell(f"{failed} of {len(batch)} candidate(s) without readable probabilities")
        return hits

    def _hit(
        self,
        candidate: Candidate,
        row: Mapping[str, float] | GradeError,
        *,
        position: int,
        size: int,
        usage: Usage,
    ) -> JudgedHit:
        if isinstance(row, GradeError):
            detail = f"no probabilities for this candidate ({row})"
            return self._failed(candidate, row, detail, usage)
        labels = self.rubric.labels
        best = max(labels, key=lambda label: (row[label.code], -label.grade))
        mean = sum(row[label.code] * label.grade for label in labels)
        variance = sum(row[label.code] * (label.grade - mean) ** 2 for label in labels)
        return JudgedHit(
            id=candidate.id,
            grade=best.grade,
            esci=best.code,
            reason=_reason(row, labels),
            batch_size=size,
            position=position,
            expected_grade=mean,
            spread=math.sqrt(variance),
            usage=usage,
            probabilities=tuple(
                sum(row[label.code] for label in labels if label.grade == grade)
                for grade in range(self.rubric.max_grade + 1)
            ),
        )


def _reason(shares: Mapping[str, float], labels: Sequence[Label]) -> str:
    shown = " ".join(f"P({label.code})={shares[label.code]:.2f}" for label in labels)
    return f"no reason given by this API; {shown}"


def _decide_request(
    query: str, texts: Sequence[str], rubric: Rubric, model: str | None
) -> DecideRequest:
    refs = references(len(texts))
    lines = [
        f"Shopper query: {one_line(query, MAX_QUERY_CHARS)}",
        f"Candidate {rubric.candidate_noun}:",
        *(
            f"{ref}. {one_line(text, MAX_TEXT_CHARS)}"
            for ref, text in zip(refs, texts, strict=True)
        ),
    ]
    return DecideRequest(
        system=rubric.system,
        prompt="\n".join(lines),
        questions=tuple(
            f"By the rules at the head of the input: which {rubric.label_noun} has candidate "
            f"{ref} for the shopper's query? Judge candidate {ref} alone."
            for ref in refs
        ),
        labels=tuple((label.code, label.name) for label in rubric.labels),
        model=model,
    )


def _fingerprint(rubric: Rubric, settings: Sequence[str]) -> str:
    """Hash of all that shapes an answer beside the rubric's text and the two texts judged.

    A rendered sample stands for the wording, as in the LLM judge.
    """
    sample = _decide_request("q", ["a" * 10_000, "b"], rubric, None)
    parts = [
        "decisions",
        sample.prompt,
        json.dumps(sample.questions),
        json.dumps([[label.code, label.name, label.grade] for label in rubric.labels]),
        f"suspicion={SUSPICION_VERSION}",
        *settings,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
