"""Opens the judge that a name stands for. I/O."""

from __future__ import annotations

from collections.abc import Callable
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
from relgate.eval.model_judges import BuiltJudge, build_judge
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.rubric_scale import require_scale
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.providers.select import JudgeSpec, check_batchable, parse_judge_spec
from relgate.judge.types import Candidate, Example, GenerateRequest, Judge
from relgate.rubrics import Rubric, load_rubric
from relgate.rubrics.errors import InputError, UsageError

if TYPE_CHECKING:
    from relgate.eval.batch.desk import BatchDesk

__all__ = ["open_judge"]

CandidateOf = Callable[[str], Candidate | None]

_NO_CALLS = "the baseline judge calls no model, so there is nothing for engine ray to do"


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
        return _opened_baseline(name, project, rubric, baseline, out_of_fold=out_of_fold)
    ask = _never if plan_only and spec.kind in {"openai", "compatible", "gemini"} else None
    examples = _examples(project, rubric, labels, candidate_of)
    built = build_judge(
        name, project, rubric, examples=examples, on_error=on_error, ask=ask, book=desk
    )
    cluster = _cluster(built, name, project, examples=examples, tell=on_error)
    store = open_store(project.cache) if store is None else store
    uncached = built.judge if desk is None else desk.around(built.judge, rubric)
    cached = _cached(uncached, cluster, store, project)
    return OpenedJudge(
        name, cached, rubric, llm=built.llm, cached=cached, uncached=uncached, store=store,
        examples=examples, votes=project.panel_shuffles, members=built.members, cluster=cluster,
        price=project.price(spec.model),
    )  # fmt: skip


def _opened_baseline(
    name: str, project: Project, rubric: Rubric, baseline: BaselineJudge, *, out_of_fold: bool
) -> OpenedJudge:
    judge = baseline.out_of_fold() if out_of_fold else baseline
    idle = () if project.engine == "single" else (_NO_CALLS,)
    return OpenedJudge(name, judge, rubric, notes=(*baseline.notes, *idle))


def _cached(
    judge: Judge, cluster: ClusterJudge | None, store: Store, project: Project
) -> CachedJudge:
    """The cache around a judge, or around its bulk work; no grade from before it moved counts."""
    moved = read_alarms(project.certificates).get(judge.fingerprint)
    if cluster is not None:
        return BulkCachedJudge(cluster, store, since=moved)
    return CachedJudge(judge, store, since=moved)


def _never(_request: GenerateRequest) -> str:
    raise AssertionError("a plan asks nothing")


def _check_batches(spec: JudgeSpec, project: Project) -> None:
    check_batchable(spec)
    if project.engine == "ray":
        raise UsageError("engine ray makes live calls; leave it out, or leave out the batches")


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
        examples=examples,
        pool=RayPool(project.ray_address, project.ray_workers),
        tell=tell,
    )


def _baseline(
    rubric: Rubric, labels: JudgmentList | None, candidate_of: CandidateOf | None
) -> BaselineJudge:
    if labels is None or candidate_of is None:
        raise UsageError(
            "the baseline judge learns from labels and their texts: give --judgments and "
            "--catalogue, or set them in relgate.toml"
        )
    require_scale(rubric, labels.scale)
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
