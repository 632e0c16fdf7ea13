"""Judges over a model, without a cache: here as on a worker of a cluster. Reads the environment."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relgate.eval.project import Project
from relgate.judge.around import JudgeAround
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.llm import LlmJudge, make_llm_judge
from relgate.judge.panel import PanelJudge, members_of, panel_of_shuffles
from relgate.judge.providers.replay import RequestBook
from relgate.judge.providers.select import JudgeSpec, decide_for, generate_for, parse_judge_spec
from relgate.judge.providers.settings import GEMINI_ENV, OPENAI_ENV
from relgate.judge.redact import known_secrets, redact
from relgate.judge.types import Candidate, Example, Generate, Judge, JudgedHit
from relgate.rubrics import Rubric

__all__ = ["BuiltJudge", "build_judge"]

_INSTALLED = frozenset({"site-packages", "dist-packages"})

_BASE_URLS = {
    "openai": OPENAI_ENV.url,
    "openai-decisions": OPENAI_ENV.url,
    "gemini": GEMINI_ENV.url,
    "gemini-decisions": GEMINI_ENV.url,
}


@dataclass(frozen=True, slots=True)
class BuiltJudge:
    """A judge without a cache.

    Attributes:
        judge: the judge, whose reasons hold no key.
        llm: the judge over a model in it.
        members: a panel's members.
    """

    judge: Judge
    llm: LlmJudge
    members: tuple[Judge, ...] = ()


def build_judge(
    name: str,
    project: Project,
    rubric: Rubric,
    *,
    examples: tuple[Example, ...] = (),
    policy: CallPolicy | None = None,
    on_error: Callable[[str], None] | None = None,
    ask: Generate | None = None,
    book: RequestBook | None = None,
) -> BuiltJudge:
    """The judge over a model that `name` stands for: here as on a worker of a cluster.

    Args:
        name: any but the baseline.
        project: batch size, limits, panel.
        rubric: what the grades mean.
        examples: few-shot examples.
        policy: limits on calls; the project's own by default.
        on_error: told one line for each batch that failed.
        ask: in place of the way to the model.
        book: of requests that are put off for a batch, and of their answers.

    Raises:
        UsageError: no such judge.
        ProviderUnavailableError: no key.
    """
    spec = parse_judge_spec(name)
    limits = policy or _policy(project, spec)
    llm = _llm(
        spec,
        project,
        rubric,
        examples=examples,
        on_error=on_error,
        ask=ask,
        policy=limits if book is None else _reading(limits),
        book=book,
    )
    voting = _panel(llm, project.panel_shuffles)
    judge = _KeylessJudge(voting or llm, rubric, known_secrets(os.environ))
    return BuiltJudge(judge, llm, () if voting is None else members_of(voting))


def _panel(llm: LlmJudge, shuffles: int) -> PanelJudge | None:
    """The judge in several orders, their median; None for a single order."""
    return None if shuffles == 1 else panel_of_shuffles(llm, shuffles=shuffles)


def _llm(
    spec: JudgeSpec,
    project: Project,
    rubric: Rubric,
    *,
    examples: tuple[Example, ...],
    on_error: Callable[[str], None] | None,
    ask: Generate | None,
    policy: CallPolicy,
    book: RequestBook | None,
) -> LlmJudge:
    if spec.kind in {"openai-decisions", "gemini-decisions"}:
        return make_decision_judge(
            decide_for(spec, timeout_s=project.timeout_s),
            model=spec.model,
            family=project.judge_family,
            batch_size=project.batch_size,
            rubric=rubric,
            endpoint=_endpoint(spec),
            on_error=on_error,
            policy=policy,
        )
    return make_llm_judge(
        ask or generate_for(spec, timeout_s=project.timeout_s, api=project.judge_api, book=book),
        model=spec.model,
        family=project.judge_family,
        batch_size=project.batch_size,
        max_output_tokens=project.max_output_tokens,
        rubric=rubric,
        endpoint=_endpoint(spec),
        examples=examples,
        on_error=on_error,
        policy=policy,
    )


def _policy(project: Project, spec: JudgeSpec) -> CallPolicy:
    return CallPolicy(
        concurrency=project.concurrency,
        timeout_s=project.timeout_s,
        deadline_s=2 * project.timeout_s,
        requests_per_minute=project.requests_per_minute,
        tokens_per_minute=project.tokens_per_minute,
        max_calls=project.max_calls,
        max_cost_usd=project.max_cost,
        price=project.price(spec.model),
    )


def _reading(policy: CallPolicy) -> CallPolicy:
    """The policy of a judge that reads its answers from batches.

    The desk keeps the budget, and no failure is a reason to leave the rest unread.
    """
    return replace(
        policy,
        attempts=1,
        stop_after_failures=sys.maxsize,
        requests_per_minute=None,
        tokens_per_minute=None,
        max_calls=None,
        max_cost_usd=None,
        price=None if policy.price is None else policy.price.in_a_batch(),
    )


def _endpoint(spec: JudgeSpec) -> str | None:
    """What answers, beside the model's name: an address, or the user's own code.

    It is in the fingerprint: an edited function, or a model behind another address, must get
    neither the old one's grades from the cache nor its certificate.
    """
    if spec.kind in _BASE_URLS:
        return os.environ.get(_BASE_URLS[spec.kind]) or None
    return f"{spec} {_code_hash(spec)}".rstrip()


def _code_hash(spec: JudgeSpec) -> str:
    """Hash of the user's module and of what it has loaded from its own folder; else empty.

    Code that it loads later, or from elsewhere, is not in it: such a judge says so by another
    function name.
    """
    source = getattr(sys.modules.get(spec.module or ""), "__file__", None)
    if source is None:
        return ""
    home = Path(source).resolve().parent
    files = {
        Path(file).resolve()
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and file.endswith(".py")
    }
    own = sorted(f for f in files if home in f.parents and _INSTALLED.isdisjoint(f.parts))
    digest = hashlib.sha256()
    for file in own:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(home)} {len(content)} ".encode() + content)
    return digest.hexdigest()


class _KeylessJudge(JudgeAround):
    """A judge whose reasons hold no key: a proxy may write what it was sent into its answer."""

    def __init__(self, inner: Judge, rubric: Rubric, secrets: tuple[str, ...]) -> None:
        super().__init__(inner, rubric)
        self._secrets = secrets

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        hits = await self._inner.grade(query, candidates)
        return [replace(hit, reason=redact(hit.reason, self._secrets)) for hit in hits]
