"""What one review is asked to do, and what follows from it before anything is scored. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from relgate.eval.catalogue import Catalogue
from relgate.eval.inputs import Aligned, query_texts
from relgate.eval.judge_honesty import check_honesty, check_opened
from relgate.eval.lists.types import JudgmentList
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.queries import QueryRow
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.evidence import Extras
from relgate.eval.runs.types import Run
from relgate.eval.trust import judges_in_use

__all__ = [
    "ReviewRequest",
    "extras_of",
    "held_honest",
    "ranker_judges",
    "system_models",
    "with_models",
]


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What one review is asked to do.

    Attributes:
        project: settings.
        change: the change description, or None.
        opened: the judge that fills gaps, or None for no fill.
        catalogue: product texts, needed for a fill.
        overrides: honesty rules overridden by name.
        moment: the time that certificates must hold at.
        warnings: what the readers had to say.
        seed: of the resampling.
        inputs: {what: where from and its hash}, for the record.
        people: people's labels kept aside to correct the judge's delta, or None.
        correct: have the judge grade people's pairs within k too, so that it can be corrected.
    """

    project: Project
    moment: datetime
    change: ChangeDescription | None = None
    opened: OpenedJudge | None = None
    catalogue: Catalogue | None = None
    overrides: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int = 0
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    people: JudgmentList | None = None
    correct: bool = False


def system_models(project: Project, change: ChangeDescription | None) -> tuple[str, ...] | None:
    """The pipeline's models: of the change and of the project together; None when undeclared."""
    said = [
        models
        for models in (project.system_models, change.system_models if change else None)
        if models is not None
    ]
    return tuple(dict.fromkeys(m for models in said for m in models)) if said else None


def ranker_judges(project: Project, change: ChangeDescription | None) -> tuple[str, ...]:
    """Versions of the judges inside the pipeline, of the change and of the project together."""
    return (*project.ranker_judges, *(change.ranker_judges if change else ()))


def with_models(request: ReviewRequest) -> ChangeDescription | None:
    """The change with the project's models in it, so that the rules see one declaration."""
    models = system_models(request.project, request.change)
    rankers = ranker_judges(request.project, request.change)
    if request.change is None and models is None and not rankers:
        return None
    base = request.change or ChangeDescription()
    return replace(base, system_models=models, ranker_judges=rankers)


def held_honest(
    judgments: JudgmentList, request: ReviewRequest, change: ChangeDescription | None
) -> tuple[str, ...]:
    """Holds every judge, the filling one and those already in the list, to the honesty rules."""
    models = None if change is None else change.system_models
    rankers = () if change is None else change.ranker_judges
    said: list[str] = []
    if request.opened is not None:
        said += check_opened(
            request.opened,
            system_models=models,
            ranker_judges=rankers,
            overrides=request.overrides,
        )
    for use in judges_in_use(judgments, request.project, now=request.moment):
        said += check_honesty(
            version=use.version,
            fingerprint=use.fingerprint,
            model=use.model,
            family=use.family,
            system_models=models,
            ranker_judges=rankers,
            overrides=request.overrides,
        )
    return tuple(dict.fromkeys(said))


def extras_of(aligned: Aligned, change: ChangeDescription | None, request: ReviewRequest) -> Extras:
    """What the request, the change and the query table say beside the list and the runs."""
    rows = () if aligned.table is None else aligned.table.rows
    columns = () if aligned.table is None else aligned.table.columns
    heads = {row.id for row in rows if row.head}
    critical = {row.id for row in rows if row.critical}
    if change is not None:
        heads |= set(change.head_queries)
        critical |= set(change.critical_queries)
    return Extras(
        change=change,
        heads=frozenset(heads),
        critical=frozenset(critical),
        heads_given=bool(heads or critical or {"head", "critical"} & set(columns)),
        expect_empty=frozenset(row.id for row in rows if row.expect == "empty"),
        strata=_strata(rows),
        texts=query_texts(aligned.table),
        weights={row.id: row.weight for row in rows if row.weight is not None},
        warnings=(*request.warnings, *aligned.warnings, *_table_remarks(aligned)),
        seed=request.seed,
        mostly_unrated=request.project.review_settings().mostly_unrated,
        titles=_titles(aligned.runs, request),
        tools=request.project.debug_tools(),
        inputs=request.inputs,
    )


def _table_remarks(aligned: Aligned) -> tuple[str, ...]:
    if aligned.table is None:
        return ()
    return aligned.table.remarks(q for run in aligned.runs for q in run.queries)


def _titles(runs: Sequence[Run], request: ReviewRequest) -> dict[str, str]:
    """Titles of the documents that a report may name, where a catalogue was read."""
    if request.catalogue is None:
        return {}
    shown = {d for run in runs for docs in run.docs for d in (docs or ())[: request.project.k]}
    found = {doc: request.catalogue.title(doc) for doc in sorted(shown)}
    return {doc: title for doc, title in found.items() if title is not None}


def _strata(rows: Sequence[QueryRow]) -> dict[str, tuple[str, ...]]:
    """{query: its declared stratum or vertical, and the built-in ones where there are several}.

    Built-in: its locale, and whether it is sent with a filter.
    """
    several = len({row.locale for row in rows if row.locale is not None}) > 1
    both = len({row.filters is None for row in rows}) > 1
    return {
        row.id: (
            *((row.stratum,) if row.stratum is not None else ()),
            *((f"locale {row.locale}",) if several and row.locale is not None else ()),
            *((("unfiltered" if row.filters is None else "filtered"),) if both else ()),
        )
        for row in rows
    }
