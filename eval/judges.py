"""Opens the judge that a name stands for, holds it to the honesty rules. I/O."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relgate.cache.base import Store
from relgate.cache.judge import CachedJudge
from relgate.cache.store import open_store
from relgate.eval.agreement.split import few_shot_examples
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.project import Project
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.judge.families import check_circularity, check_family_separation, judge_family
from relgate.judge.llm import LlmJudge, make_llm_judge
from relgate.judge.panel import PanelJudge, members_of, panel_of_shuffles
from relgate.judge.providers.select import (
    JudgeSpec,
    decide_for,
    generate_for,
    parse_judge_spec,
)
from relgate.judge.redact import known_secrets, redact
from relgate.judge.sync import run_sync
from relgate.judge.types import Candidate, Example, Generate, GenerateRequest, Judge, JudgedHit
from relgate.rubrics import Rubric, load_rubric
from relgate.rubrics.errors import InputError, UsageError

__all__ = ["OpenedJudge", "check_honesty", "check_named_family", "check_opened", "open_judge"]

CandidateOf = Callable[[str], Candidate | None]


@dataclass(slots=True)
class OpenedJudge:
    """A judge ready to grade, and what can be told of it.

    Attributes:
        name: as the command line names it.
        judge: the judge, behind the cache where it has one.
        rubric: what its grades mean.
        llm: the judge over a model, or None for the baseline.
        cached: the cache around it, or None.
        store: what the cache keeps its grades in, or None.
        examples: few-shot examples in its prompt; their queries may not calibrate it.
        votes: how often each pair is asked: 1, or the shuffles of a panel.
        members: a panel's members, each of which the honesty rules must hold for.
        notes: what a reader should know.
    """

    name: str
    judge: Judge
    rubric: Rubric
    llm: LlmJudge | None = None
    cached: CachedJudge | None = None
    store: Store | None = None
    examples: tuple[Example, ...] = ()
    votes: int = 1
    members: tuple[Judge, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> int | None:
        """Calls made to the model so far; None for a judge that makes none."""
        return None if self.llm is None else self.llm.engine.stats.calls

    @property
    def cost_usd(self) -> float | None:
        """US dollars spent so far, by the price table; None where no price is known."""
        if self.llm is None or self.llm.engine.policy.price is None:
            return None
        return self.llm.engine.stats.cost_usd

    def spent(self) -> str:
        """Tokens and money so far, for a line of progress; empty for a judge without calls."""
        if self.llm is None:
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

    def close(self) -> None:
        """Gives back the cache's files. May be called twice."""
        if self.store is not None:
            self.store.close()


def open_judge(
    name: str,
    project: Project,
    *,
    labels: JudgmentList | None = None,
    candidate_of: CandidateOf | None = None,
    out_of_fold: bool = False,
    plan_only: bool = False,
    on_error: Callable[[str], None] | None = None,
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

    Raises:
        UsageError: no such judge.
        InputError: the baseline has too few labels, or the rubric is faulty.
        ProviderUnavailableError: no key.
    """
    spec = parse_judge_spec(name)
    rubric = load_rubric(project.rubric)
    if spec.kind == "baseline":
        baseline = _baseline(rubric, labels, candidate_of)
        judge = baseline.out_of_fold() if out_of_fold else baseline
        return OpenedJudge(name, judge, rubric, notes=baseline.notes)
    examples = _examples(project, rubric, labels, candidate_of)
    ask = _never if plan_only and spec.kind in {"openai", "compatible", "gemini"} else None
    llm = _llm(spec, project, rubric, examples=examples, on_error=on_error, ask=ask)
    voting = _panel(llm, project.panel_shuffles)
    keyless = _KeylessJudge(voting or llm, rubric, known_secrets(os.environ))
    store = open_store(project.cache)
    cached = CachedJudge(keyless, store)
    return OpenedJudge(
        name,
        cached,
        rubric,
        llm=llm,
        cached=cached,
        store=store,
        examples=examples,
        votes=project.panel_shuffles,
        members=() if voting is None else members_of(voting),
    )


def _panel(llm: LlmJudge, shuffles: int) -> PanelJudge | None:
    """The judge in several orders, their median; None for a single order."""
    return None if shuffles == 1 else panel_of_shuffles(llm, shuffles=shuffles)


def check_named_family(
    name: str, project: Project, models: Iterable[str] | None, overrides: Iterable[str]
) -> None:
    """Refuses a judge by its name alone, before a key is asked for or a file opened.

    Raises:
        HonestyError: it is, or may be, of the family of one of `models`.
        UsageError: no such judge.
    """
    spec = parse_judge_spec(name)
    if spec.kind == "baseline":
        return
    family = judge_family(spec.model, project.judge_family)
    if models is not None:
        check_family_separation(
            judge_model=spec.model or name,
            family=family,
            system_models=models,
            override="family" in set(overrides),
        )


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
) -> LlmJudge:
    policy = _policy(project, spec)
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
        ask or generate_for(spec, timeout_s=project.timeout_s, api=project.judge_api),
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
            "no labelled document is in the catalogue, so the baseline has nothing to learn from",
            mend="give the catalogue of the index that was labelled",
        )
    return BaselineJudge.fit(pairs, rubric)


def check_opened(
    opened: OpenedJudge,
    *,
    system_models: Iterable[str] | None,
    ranker_judges: Iterable[str],
    overrides: Iterable[str],
) -> tuple[str, ...]:
    """Holds a judge, and each member of a panel, to the honesty rules; see `check_honesty`."""
    own = opened.judge
    members = opened.members or (own,)
    models = None if system_models is None else tuple(system_models)
    rankers, named = tuple(ranker_judges), tuple(overrides)
    panel = check_circularity(
        version=own.version,
        fingerprint=own.fingerprint,
        ranker_judges=rankers,
        override="circular" in named,
    )
    said = () if panel is None or not opened.members else (panel,)
    return said + tuple(
        sentence
        for member in members
        for sentence in check_honesty(
            version=member.version,
            fingerprint=member.fingerprint,
            model=member.model,
            family=member.family,
            system_models=models,
            ranker_judges=rankers,
            overrides=named,
        )
    )


def check_honesty(
    *,
    version: str | None,
    fingerprint: str | None,
    model: str | None,
    family: str | None,
    system_models: Iterable[str] | None,
    ranker_judges: Iterable[str],
    overrides: Iterable[str],
) -> tuple[str, ...]:
    """Refuses a judge of the pipeline's own family, or one that made the ranking.

    Args:
        version: the judge's version.
        fingerprint: its fingerprint.
        model: its model.
        family: its family; None when unknown.
        system_models: the pipeline's models; None when undeclared, which is checked by R16.
        ranker_judges: versions or fingerprints of judges inside the pipeline.
        overrides: rules overridden by name: `family`, `circular`.

    Returns:
        The sentences that every report must show, one an override that was needed.

    Raises:
        HonestyError: exit code 5.
    """
    named = set(overrides)
    said: list[str | None] = []
    if system_models is not None:
        said.append(
            check_family_separation(
                judge_model=model or version,
                family=family,
                system_models=system_models,
                override="family" in named,
            )
        )
    if version is not None:
        said.append(
            check_circularity(
                version=version,
                fingerprint=fingerprint,
                ranker_judges=ranker_judges,
                override="circular" in named,
            )
        )
    return tuple(sentence for sentence in said if sentence is not None)
