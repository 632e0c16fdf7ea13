"""The LLM judge: batches, order, regrading in smaller batches, rows in the caller's order.

Importing this module loads no SDK and no event loop; both come with the first grade.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from relgate.judge.families import judge_family
from relgate.judge.parse import parse_reply
from relgate.judge.parts import SAMPLE, PartName, request_parts
from relgate.judge.prompt import judge_schema, references, render_prompt
from relgate.judge.redact import redact
from relgate.judge.suspicion import SUSPICION_VERSION, suspicion
from relgate.judge.sync import run_sync
from relgate.judge.types import (
    ERROR_REASON,
    NO_USAGE,
    CallError,
    Candidate,
    Example,
    Generate,
    GenerateReply,
    GenerateRequest,
    GradeError,
    JudgedHit,
    Usage,
)
from relgate.rubrics import Rubric, load_rubric
from relgate.rubrics.errors import UsageError

if TYPE_CHECKING:
    from relgate.judge.engine import CallEngine, CallPolicy

__all__ = ["LlmJudge", "check_batch_size", "make_llm_judge"]

# What is asked for again, by how often it was asked: in halves after the first time. A block or a
# refusal goes on to single candidates, so that no harmless neighbour shares the fate of the one
# that caused it. Nothing is asked the same way twice, and a cut-off batch costs three times its
# first prompt at most. A call that failed (timeout, provider ...) had its tries in the engine.
_ASK_AGAIN: tuple[frozenset[GradeError], ...] = (
    frozenset(
        {
            GradeError.TRUNCATED,
            GradeError.BLOCKED,
            GradeError.REFUSED,
            GradeError.UNREADABLE,
            GradeError.MISSING,
        }
    ),
    frozenset({GradeError.BLOCKED, GradeError.REFUSED}),
)


def make_llm_judge(
    generate: Generate,
    *,
    model: str | None = None,
    version: str | None = None,
    batch_size: int = 10,
    on_error: Callable[[str], None] | None = None,
    rubric: Rubric | None = None,
    family: str | None = None,
    temperature: float | None = 0.0,
    max_output_tokens: int | None = None,
    endpoint: str | None = None,
    examples: Sequence[Example] = (),
    policy: CallPolicy | None = None,
) -> LlmJudge:
    """A judge over the user's own `generate`.

    Args:
        generate: the way to the model: any callable, sync or async, from `GenerateRequest` to
            text, a dict or a `GenerateReply`.
        model: the model to ask for, passed on as it is; None lets `generate` pick.
        version: the tag of the methodology; the rubric's own tag by default. The judge's
            `version` is `<tag>@<rubric hash>`, so an edited rubric is another judge.
        batch_size: candidates a call, 1 or more.
        on_error: told one line for each batch that failed.
        rubric: what the grades mean; ESCI by default.
        family: the model's family where its name does not tell.
        temperature: None sends none.
        max_output_tokens: None leaves it to the provider.
        endpoint: what else names the model that answers, for example a base URL.
        examples: graded pairs shown before each batch; their queries must not calibrate the judge.
        policy: limits on calls.

    Raises:
        UsageError: a batch size below 1, a tag with `@` in it, or an example with a label that the
            rubric does not have.
    """
    check_batch_size(batch_size)
    rubric = rubric if rubric is not None else load_rubric()
    _check_labels(examples, rubric)
    return LlmJudge(
        generate,
        rubric=rubric if version is None else replace(rubric, tag=_checked_tag(version)),
        model=model,
        family=judge_family(model, family),
        batch_size=batch_size,
        temperature=temperature,
        max_output_tokens=max_output_tokens,
        endpoint=endpoint,
        examples=tuple(examples),
        on_error=on_error,
        policy=policy,
    )


def check_batch_size(size: object) -> None:
    """Refuses what is no whole number of candidates from 1 up.

    Raises:
        UsageError: below 1, a fraction, a truth value, a text.
    """
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise UsageError(f"batch_size is {size!r}; it must be a whole number, 1 or more")


def _checked_tag(tag: str) -> str:
    if "@" in tag or not tag.strip():
        raise UsageError(f"version tag {tag!r} must be non-empty and without '@'")
    return tag


def _check_labels(examples: Sequence[Example], rubric: Rubric) -> None:
    for example in examples:
        if rubric.label_of(example.label) is None:
            raise UsageError(
                f"example {example.query!r} has label {example.label!r}, which rubric "
                f"{rubric.tag} does not have"
            )


class LlmJudge:
    """See `make_llm_judge`, which builds it, and the `Judge` protocol, which it satisfies."""

    def __init__(
        self,
        generate: Generate,
        *,
        rubric: Rubric,
        model: str | None,
        family: str | None,
        batch_size: int,
        temperature: float | None,
        max_output_tokens: int | None,
        endpoint: str | None,
        examples: tuple[Example, ...],
        on_error: Callable[[str], None] | None,
        policy: CallPolicy | None,
    ) -> None:
        self.rubric = rubric
        self.version = rubric.version
        self.model = model
        self.family = family
        self.batch_size = batch_size
        self.fingerprint = _fingerprint(
            rubric,
            examples,
            [
                f"model={model}",
                f"endpoint={endpoint}",
                f"temperature={temperature}",
                f"max_output_tokens={max_output_tokens}",
                f"batch_size={batch_size}",
            ],
        )
        self.examples = examples
        self.generate = generate
        self._schema = judge_schema(rubric)
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._endpoint = endpoint
        self._on_error = on_error
        self._policy = policy
        self._engine: CallEngine | None = None

    @property
    def engine(self) -> CallEngine:
        """The call engine: its `stats`, and `stopped` once no further call can work."""
        if self._engine is None:
            from relgate.judge.engine import CallEngine, CallPolicy  # noqa: PLC0415 - asyncio

            self._engine = CallEngine(self.generate, self._policy or CallPolicy())
        return self._engine

    @property
    def parts(self) -> dict[PartName, str]:
        """A short hash of each part of the fingerprint, for whoever must say what changed."""
        query, texts = SAMPLE
        return request_parts(
            self.request(query, texts), batch_size=self.batch_size, endpoint=self._endpoint
        )

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One row a candidate, in their order; a failed one carries its error.

        Batches are filled in an order derived from the texts, so that the retrieval order, which
        is the thing under test, cannot leak into the prompt.
        """
        import asyncio  # noqa: PLC0415 - costs 80 ms, and an importer may never grade

        if not query.strip():
            return [
                self._failed(c, GradeError.UNREADABLE, "the query is empty") for c in candidates
            ]
        batches = self.batches(query, [c.text for c in candidates])
        rows: dict[int, JudgedHit] = {}
        async with asyncio.TaskGroup() as group:
            for batch in batches:
                group.create_task(self._batch(query, candidates, batch, rows, asked=0))
        return [rows[i] for i in range(len(candidates))]

    def batches(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """Which texts go into one call, as indices; in an order derived from the content.

        A text that talks to the judge (see `suspicion`) goes alone, so that it reaches no other.
        """
        order = sorted(range(len(texts)), key=lambda i: _mix(query, texts[i]))
        alone = [i for i in order if suspicion(texts[i]) is not None]
        apart = set(alone)
        rest = [i for i in order if i not in apart]
        size = self.batch_size
        together = [rest[i : i + size] for i in range(0, len(rest), size)]
        return [*together, *([i] for i in alone)]

    def request(self, query: str, texts: Sequence[str]) -> GenerateRequest:
        """What is asked for one batch, in the given order."""
        return GenerateRequest(
            system=self.rubric.system,
            prompt=render_prompt(query, texts, self.rubric, self.examples),
            schema=self._schema,
            model=self.model,
            temperature=self._temperature,
            max_output_tokens=self._max_output_tokens,
            candidates=len(texts),
        )

    async def grade_in_order(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """One call with the candidates in the given order, nothing asked again.

        For checks of what the order does; production grades with `grade`.
        """
        return await self._ask(query, candidates, list(range(len(candidates))))

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`, for callers without an event loop.

        Raises:
            UsageError: called from inside an event loop.
        """
        return run_sync(self.grade(query, candidates))

    async def _batch(
        self,
        query: str,
        candidates: Sequence[Candidate],
        batch: list[int],
        rows: dict[int, JudgedHit],
        *,
        asked: int,
    ) -> None:
        """Fills `rows` for `batch`, asking again in smaller batches for what that may mend."""
        for i, hit in zip(batch, await self._ask(query, candidates, batch), strict=True):
            paid = rows[i].usage if i in rows else NO_USAGE
            rows[i] = replace(hit, usage=paid + hit.usage)
        if len(batch) == 1 or asked == len(_ASK_AGAIN):
            return
        again = [i for i in batch if rows[i].error in _ASK_AGAIN[asked]]
        size = (len(batch) + 1) // 2 if asked == 0 else 1
        for i in range(0, len(again), size):
            await self._batch(query, candidates, again[i : i + size], rows, asked=asked + 1)

    async def _ask(
        self, query: str, candidates: Sequence[Candidate], batch: list[int]
    ) -> list[JudgedHit]:
        request = self.request(query, [candidates[i].text for i in batch])
        try:
            reply = await self.engine.call(request, len(batch))
        except CallError as error:
            self._tell(f"{len(batch)} candidate(s) ungraded: {error.kind}: {error.message}")
            return [self._failed(candidates[i], error.kind, error.message) for i in batch]
        parsed = parse_reply(reply, references(len(batch)), self.rubric)
        self.engine.stats.unknown_ids += parsed.unknown_ids
        hits: list[JudgedHit] = []
        each = reply.usage.split(len(batch))
        for position, (i, row) in enumerate(zip(batch, parsed.rows, strict=True), start=1):
            usage = each[position - 1]
            if row.label is None:
                kind, detail = row.error or GradeError.UNREADABLE, _hint(row.error, reply)
                hits.append(self._failed(candidates[i], kind, detail, usage))
            else:
                hits.append(
                    JudgedHit(
                        id=candidates[i].id,
                        grade=row.label.grade,
                        esci=row.label.code,
                        reason=row.reason,
                        batch_size=len(batch),
                        position=position,
                        usage=usage,
                    )
                )
        failed = sum(not hit.graded for hit in hits)
        if failed:
            self._tell(f"{failed} of {len(batch)} candidate(s) without a readable grade")
        return hits

    def _failed(
        self, candidate: Candidate, error: GradeError, detail: str, usage: Usage = NO_USAGE
    ) -> JudgedHit:
        worst = self.rubric.worst
        said = redact(detail)
        return JudgedHit(
            candidate.id, worst.grade, worst.code, ERROR_REASON, error, said, usage=usage
        )

    def _tell(self, message: str) -> None:
        if self._on_error is not None:
            self._on_error(redact(message))


def _hint(error: GradeError | None, reply: GenerateReply) -> str:
    if error is GradeError.TRUNCATED:
        return "the reply was cut off: raise max_output_tokens or lower the batch size"
    return f"no readable row (finish reason {reply.finish_reason!r})"


def _mix(query: str, text: str) -> bytes:
    material = f"{len(query)}:{query}{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(material).digest()


def _fingerprint(rubric: Rubric, examples: Sequence[Example], settings: Sequence[str]) -> str:
    """Hash of all that shapes an answer beside the rubric's text and the two texts judged.

    A rendered sample stands for the template, so that an edit to the template's code changes the
    hash without anybody having to remember a number.
    """
    parts = [
        render_prompt("q", ["a" * 10_000, "b"], rubric, examples),
        json.dumps(judge_schema(rubric), sort_keys=True),
        json.dumps([[label.code, label.name, label.grade] for label in rubric.labels]),
        f"suspicion={SUSPICION_VERSION}",
        *settings,
    ]
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]
