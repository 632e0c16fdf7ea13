"""Opens the judge that a name stands for. I/O."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from relgate.cache.base import Store
from relgate.cache.bulk import BulkCachedJudge
from relgate.cache.judge import CachedJudge
from relgate.cache.store import open_store
from relgate.eval.agreement.canary_alarm import read_alarms
from relgate.eval.agreement.split import few_shot_examples
from relgate.eval.cluster.judge import ClusterJudge
from relgate.eval.cluster.pool import RayPool, require_ray
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.llm import LlmJudge, make_llm_judge
from relgate.judge.panel import PanelJudge, members_of, panel_of_shuffles
from relgate.judge.parts import PartName, shown_parts
from relgate.judge.providers.replay import RequestBook
from relgate.judge.providers.select import (
    JudgeSpec,
    check_batchable,
    decide_for,
    generate_for,
    parse_judge_spec,
)
from relgate.judge.redact import known_secrets, redact
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, Example, Generate, GenerateRequest, Judge, JudgedHit
from relgate.rubrics import Rubric, load_rubric
from relgate.rubrics.errors import InputError, UsageError

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk

__all__ = ["BuiltJudge", "build_judge", "open_judge"]

CandidateOf = Callable[[str], Candidate | None]


def open_judge(
    name: str,
    project: Project,
    *,
    labels: JudgmentList | None = None,
    candidate_of: CandidateOf | None = None,
    out_of_fold: bool = False,
    plan_only: bool = False,
    on_error: Callable[[str], None] | None = None,
    store: Store | None = None,
    desk: BatchDesk | None = None,
) -> OpenedJudge:
    """The judge that `name` stands for. The caller closes it.

    Args:
        name: one of the forms that a judge's name may have.
        project: rubric, batch size, limits, cache, few-shot.
        labels: what the baseline learns from and few-shot examples are taken from; rows that a
            judge made are left out.
        candidate_of: the text of a labelled document.
        out_of_fold: for the baseline, grade labelled pairs by a model that did not see their
            query, as a calibration must.
        plan_only: it will not be asked, so no key is needed.
        on_error: told one line for each batch that failed.
        store: where its grades are kept; the project's cache by default.
        desk: for a judge that is asked through its provider's batches.

    Grades in the cache from before a canary told that this judge moved are asked for anew.

    Raises:
        UsageError: no such judge.
        InputError: the baseline has too few labels, or the rubric is faulty.
        ProviderUnavailableError: no key.
    """
    spec = parse_judge_spec(name)
    rubric = load_rubric(project.rubric)
    if desk is not None:
        _check_batches(spec, project)
    if spec.kind == "baseline":
        baseline = _baseline(rubric, labels, candidate_of)
        judge = baseline.out_of_fold() if out_of_fold else baseline
        idle = () if project.engine == "single" else (_NO_CALLS,)
        return OpenedJudge(name, judge, rubric, notes=(*baseline.notes, *idle))
    examples = _examples(project, rubric, labels, candidate_of)
    ask = _never if plan_only and spec.kind in {"openai", "compatible", "gemini"} else None
    built = build_judge(
        name, project, rubric, examples=examples, on_error=on_error, ask=ask, book=desk
    )
    cluster = _cluster(built, name, project, examples=examples, tell=on_error)
    store = open_store(project.cache) if store is None else store
    moved = read_alarms(project.certificates).get(built.judge.fingerprint)
    uncached = built.judge if desk is None else desk.around(built.judge, rubric)
    cached = (
        CachedJudge(uncached, store, since=moved)
        if cluster is None
        else BulkCachedJudge(cluster, store, since=moved)
    )
    return OpenedJudge(
        name,
        cached,
        rubric,
        llm=built.llm,
        cached=cached,
        uncached=uncached,
        store=store,
        examples=examples,
        votes=project.panel_shuffles,
        members=built.members,
        cluster=cluster,
        price=project.price(spec.model),
    )


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


def _cluster(
    built: BuiltJudge,
    name: str,
    project: Project,
    *,
    examples: tuple[Example, ...],
    tell: Callable[[str], None] | None,
) -> ClusterJudge | None:
    """The judge on a cluster, where the project asks for one. Nothing is started yet."""
    if project.engine != "ray":
        return None
    require_ray()
    return ClusterJudge(
        built.judge,
        built.llm,
        name=name,
        project=project,
        rubric=built.llm.rubric,
        examples=examples,
        pool=RayPool(project.ray_address, project.ray_workers),
        tell=tell,
    )


_NO_CALLS = "the baseline judge calls no model, so there is nothing for engine ray to do"


def _panel(llm: LlmJudge, shuffles: int) -> PanelJudge | None:
    """The judge in several orders, their median; None for a single order."""
    return None if shuffles == 1 else panel_of_shuffles(llm, shuffles=shuffles)


def _examples(
    project: Project,
    rubric: Rubric,
    labels: JudgmentList | None,
    candidate_of: CandidateOf | None,
) -> tuple[Example, ...]:
    if not project.few_shot:
        return ()
    if labels is None or candidate_of is None:
        raise UsageError("few-shot examples come from labels: give --judgments and --catalogue")
    return few_shot_examples(
        labels, candidate_of, rubric=rubric, per_grade=project.few_shot, seed=0
    )


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


def _never(_request: GenerateRequest) -> str:
    raise AssertionError("a plan asks nothing")


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


def _check_batches(spec: JudgeSpec, project: Project) -> None:
    check_batchable(spec)
    if project.engine == "ray":
        raise UsageError("engine ray makes live calls; leave it out, or leave out the batches")


_INSTALLED = frozenset({"site-packages", "dist-packages"})

_BASE_URLS = {
    "openai": "OPENAI_BASE_URL",
    "openai-decisions": "OPENAI_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "gemini-decisions": "GOOGLE_GEMINI_BASE_URL",
}


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


class _KeylessJudge:
    """A judge whose reasons hold no key: a proxy may write what it was sent into its answer."""

    def __init__(self, inner: Judge, rubric: Rubric, secrets: tuple[str, ...]) -> None:
        self.version = inner.version
        self.fingerprint = inner.fingerprint
        self.model = inner.model
        self.family = inner.family
        self.batch_size = inner.batch_size
        self.rubric = rubric
        self._inner = inner
        self._secrets = secrets

    @property
    def parts(self) -> Mapping[PartName, str] | None:
        return shown_parts(self._inner)

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        hits = await self._inner.grade(query, candidates)
        return [replace(hit, reason=redact(hit.reason, self._secrets)) for hit in hits]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return run_sync(self.grade(query, candidates))


def _baseline(
    rubric: Rubric, labels: JudgmentList | None, candidate_of: CandidateOf | None
) -> BaselineJudge:
    if labels is None or candidate_of is None:
        raise UsageError(
            "the baseline judge learns from labels and their texts: give --judgments and "
            "--catalogue"
        )
    if labels.scale.max_grade != rubric.max_grade:
        raise UsageError(
            f"rubric {rubric.tag} grades 0 to {rubric.max_grade}, the list is on scale "
            f"{labels.scale.name}; take a rubric of that scale"
        )
    pairs = [
        LabelledPair(row.query.shown, candidate.text, row.grade)
        for row in labels.rows()
        if row.provenance.source is not Source.JUDGE
        and (candidate := candidate_of(row.doc_id)) is not None
    ]
    if not pairs and len(labels):
        raise InputError(
            "no labelled document has a text in the catalogue: the baseline cannot learn",
            mend="give that of the index that was labelled, with a title or a text",
        )
    return BaselineJudge.fit(pairs, rubric)
