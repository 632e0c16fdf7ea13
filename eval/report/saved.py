"""A saved review read back, so that every output can be made again from `review.json`.

The outputs of a fresh review are made from its own document too: made again, they are the same to
the byte. What no output shows (settings stated by the files, seconds of a fill) is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from pathlib import Path

from pydantic import ValidationError

from relgate.eval.lists.jsontext import as_object, parse_json
from relgate.eval.lists.types import Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.project import first_problem
from relgate.eval.report.schema import (
    FORMAT,
    CorrectedShape,
    DeltaShape,
    FindingShape,
    ModeShape,
    ReviewFile,
    WithheldShape,
)
from relgate.eval.report.shapes.base import AggregateShape
from relgate.eval.report.shapes.change import FiltersShape, PercentilesShape
from relgate.eval.report.shapes.judge import (
    CertificateShape,
    CoverageShape,
    ExpectedShape,
    FillShape,
    IntervalShape,
    JudgeUseShape,
    UnratedShape,
)
from relgate.eval.report.shapes.queries import QueryShape, SideShape
from relgate.eval.review.change import ChangeDescription, ChangeType, Detected
from relgate.eval.review.debug import DebugTools, Splainer
from relgate.eval.review.filters import CheckedCase
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import (
    FilterCase,
    FilterStrategy,
    GroundTruth,
    Latency,
    Percentiles,
)
from relgate.eval.review.types import (
    Aggregate,
    ApartFigures,
    Basis,
    CertificateFacts,
    Correction,
    Coverage,
    Delta,
    Evidence,
    ExpectedScores,
    FillFacts,
    Finding,
    Interval,
    JudgeUse,
    ModeFigures,
    Noise,
    QueryEvidence,
    RankedDoc,
    Review,
    RuleOutcome,
    RuleState,
    Side,
    Stratum,
    Unrated,
    Verdict,
)
from relgate.rubrics.errors import InputError, RelgateError

__all__ = ["read_review"]

_KIND = FORMAT.partition("/")[0]
_STRATUM = "stratum_budgets."


def read_review(text: str, path: Path | str | None = None) -> Review:
    """The review in a `review.json`.

    Args:
        text: the file's text.
        path: where it stands, for messages.

    Raises:
        InputError: no JSON, another kind of file, the shape of another version, or a value that a
            review cannot have.
    """
    value = as_object(parse_json(text, path or "review.json"), "the file", path)
    kind, _, _number = str(value.get("format")).partition("/")
    if kind != _KIND:
        raise InputError(
            "is no saved review: it has no format that says so",
            path=path,
            mend="name the review.json that `relgate review --out` wrote",
        )
    if value["format"] != FORMAT:
        raise InputError(
            f"is a {value['format']!r:.40} file, and this version reads {FORMAT!r}",
            path=path,
            mend="review again with this version, or use the version that wrote it",
        )
    try:
        return _review(ReviewFile.model_validate(value))
    except ValidationError as error:
        raise first_problem(error, ReviewFile.model_fields, Path(path or "review.json")) from None
    except (RelgateError, AttributeError, ValueError, KeyError) as error:
        raise InputError(
            f"holds what no review can hold: {error}", path=path, mend="review again"
        ) from None


def _review(file: ReviewFile) -> Review:
    return Review(
        verdict=_verdict(file.verdict),
        headline=file.headline,
        outcomes=_outcomes(file),
        actions=file.actions,
        evidence=_evidence(file),
        settings=_settings(file.settings),
    )


def _settings(numbers: Mapping[str, float]) -> ReviewSettings:
    """Those of a stratum are written `stratum_budgets.billing`."""
    defaults = ReviewSettings()
    single = {n: v for n, v in numbers.items() if not n.startswith(_STRATUM)}
    return ReviewSettings(
        **{name: type(getattr(defaults, name))(value) for name, value in single.items()},
        stratum_budgets={
            name.removeprefix(_STRATUM): value
            for name, value in numbers.items()
            if name not in single
        },
    )


def _verdict(word: str) -> Verdict:
    return Verdict[word.replace("-", "_")]


def _outcomes(file: ReviewFile) -> tuple[RuleOutcome, ...]:
    """In the rules' order: the file keeps those apart that could not run."""
    found = [*file.findings, *file.withheld]
    ran = [
        RuleOutcome(
            o.rule,
            RuleState(o.state),
            o.summary,
            tuple(_finding(f) for f in found if f.rule == o.rule),
        )
        for o in file.checked
    ]
    open_ = [
        RuleOutcome(
            o.rule,
            RuleState.NOT_CHECKED,
            o.why,
            cap=Verdict.NEEDS_WORK if o.caps_verdict else None,
        )
        for o in file.not_checked
    ]
    return tuple(sorted([*ran, *open_], key=lambda o: int(o.rule[1:])))


def _finding(found: WithheldShape) -> Finding:
    """What is withheld has no severity; the least stands for it, and no output shows it."""
    severity = _verdict(found.severity) if isinstance(found, FindingShape) else Verdict.APPROVE
    return Finding(found.rule, severity, found.message, found.figures, found.advice, found.queries)


def _evidence(file: ReviewFile) -> Evidence:
    terms = file.conventions
    first = file.primary
    keys = [first, *(key for key in file.aggregate if key != first)]
    return Evidence(
        conventions=Conventions(
            terms.k, terms.floor, terms.gain, terms.no_ideal, terms.unrated, terms.persistence
        ),
        basis=Basis(terms.basis),
        aggregates=tuple(_aggregate(key, file.aggregate[key]) for key in keys),
        queries=tuple(_query(q) for q in file.queries),
        coverage=_coverage(file.coverage),
        change=_change(file),
        cross_checks=file.cross_checks,
        judges=tuple(_judge(use) for use in file.judge.grades),
        fill=None if file.judge.fill is None else _fill(file.judge.fill),
        overrides=file.judge.overrides,
        noise=_noise(file),
        covers_all=terms.covers_all,
        warnings=file.warnings,
        filter_cases=_cases(file.supplied.filters),
        strata=tuple(
            Stratum(s.name, _value(s.before), _value(s.after), s.n, _value(s.p))
            for s in file.strata
        ),
        modes=tuple(_mode(mode) for mode in file.modes),
        apart=tuple(
            ApartFigures(
                one.name,
                one.queries,
                None if one.relevance is None else _aggregate(one.name, one.relevance),
                one.emptied,
            )
            for one in file.apart
        ),
        correction=_correction(file.corrected),
        unfilled=None if file.without_judge is None else _aggregate(first, file.without_judge),
        expected=None if file.expected is None else _expected(file.expected),
        titles={
            doc.doc_id: doc.title
            for loser in file.losers
            for doc in (*loser.before_list, *loser.after_list)
            if doc.title is not None
        },
        tools=_tools(file),
        inputs=file.inputs,
    )


def _correction(found: CorrectedShape | None) -> Correction | None:
    if found is None:
        return None
    return Correction(
        metric=found.metric,
        labelled=found.n,
        unlabelled=found.unlabelled,
        needed=found.needed,
        why=found.why,
        judge=_delta(found.judge),
        people=_delta(found.people),
        corrected=_delta(found.corrected),
        weight=found.weight,
        asked=found.asked,
        notes=found.notes,
    )


def _delta(found: DeltaShape | None) -> Delta | None:
    return None if found is None else Delta(found.delta, found.low, found.high)


def _mode(mode: ModeShape) -> ModeFigures:
    relevance, recall = (
        None if found is None else _aggregate(key, found)
        for key, found in (("relevance", mode.relevance), ("recall", mode.recall))
    )
    return ModeFigures(mode.name, relevance, recall, _value(mode.unrated_after), mode.lacks)


def _expected(found: ExpectedShape) -> ExpectedScores:
    return ExpectedScores(**found.model_dump(exclude={"delta"}))


def _tools(file: ReviewFile) -> DebugTools:
    splainer = file.tools.splainer
    found = None if splainer is None else Splainer(**splainer.model_dump())
    return DebugTools(found, file.tools.quepid)


def _value(number: float | None) -> float:
    return nan if number is None else number


def _aggregate(key: str, a: AggregateShape) -> Aggregate:
    return Aggregate(
        key, a.name, _value(a.before), _value(a.after), a.n, a.weighted_before, a.weighted_after
    )


def _query(q: QueryShape) -> QueryEvidence:
    return QueryEvidence(
        query=Query(q.id, q.text),
        was=_side(q.before_side, q.before),
        now=_side(q.after_side, q.after),
        head=q.head,
        critical=q.critical,
        no_ideal=q.no_ideal,
        unjudged=q.unjudged,
        expects_empty=q.expects_empty,
        strata=q.strata,
    )


def _side(side: SideShape, value: float | None) -> Side:
    return Side(
        value=_value(value),
        error=side.error,
        absent=side.absent,
        listed=side.listed,
        returned=side.returned,
        unrated=side.unrated or 0,
        unrated_known=side.unrated is not None,
        top=tuple(RankedDoc(d.doc_id, d.grade, _source(d.source)) for d in side.top),
        best_rank=side.best_rank,
    )


def _source(word: str | None) -> Source | None:
    return None if word is None else Source(word)


def _coverage(c: CoverageShape) -> Coverage:
    return Coverage(
        queries=c.queries,
        scored=c.scored,
        no_ideal=c.no_ideal,
        unjudged=c.unjudged,
        list_only=c.list_only,
        judgments=c.judgments,
        by_source={Source(word): n for word, n in c.by_source.items()},
        now=_unrated(c.unrated),
        at_first=None if c.unrated_before_fill is None else _unrated(c.unrated_before_fill),
    )


def _unrated(u: UnratedShape) -> Unrated:
    return Unrated(
        known=u.known,
        mean_before=_value(u.mean_share_before),
        mean_after=_value(u.mean_share_after),
        queries=u.queries,
        mostly=u.mostly_unrated,
        empty=u.empty,
    )


def _judge(use: JudgeUseShape) -> JudgeUse:
    return JudgeUse(
        use.version, use.fingerprint, use.model, use.family, use.grades,
        use.certificate_problem, use.policy,
        None if use.certificate is None else _certificate(use.certificate),
    )  # fmt: skip


def _certificate(found: CertificateShape) -> CertificateFacts:
    given = found.model_dump(exclude={"f1", "kappa_quadratic"})
    f1, kappa = (_interval(part) for part in (found.f1, found.kappa_quadratic))
    return CertificateFacts(**given, f1=f1, kappa_quadratic=kappa)


def _interval(found: IntervalShape) -> Interval:
    return Interval(*map(_value, (found.point, found.low, found.high)))


def _fill(fill: FillShape) -> FillFacts:
    given = fill.model_dump(exclude={"error_rate"})
    return FillFacts(**given, seconds=nan)


def _noise(file: ReviewFile) -> Noise | None:
    noise = file.noise
    if noise is None:
        return None
    p, low, high, detectable = map(_value, (noise.p, noise.low, noise.high, noise.detectable))
    return Noise(p, low, high, detectable, noise.n)


def _change(file: ReviewFile) -> ChangeDescription | None:
    change, supplied = file.change, file.supplied
    if change is None:
        return None
    latency, truth, filters = supplied.latency, supplied.ground_truth, supplied.filters
    return ChangeDescription(
        types=tuple(ChangeType(kind) for kind in change.types),
        intent=change.intent,
        description=change.description,
        sha=change.sha,
        system_models=change.system_models,
        latency=(
            None
            if latency is None
            else Latency(_percentiles(latency.before), _percentiles(latency.after))
        ),
        ground_truth=None if truth is None else GroundTruth(**truth.model_dump()),
        filters=None if filters is None else _strategy(filters),
        types_from_diff=change.types_from_diff,
        detected=(
            None
            if change.detected is None
            else tuple(
                Detected(ChangeType(d.type), d.file, d.line, d.key, d.removed)
                for d in change.detected
            )
        ),
    )


def _percentiles(side: PercentilesShape | None) -> Percentiles | None:
    return None if side is None else Percentiles(**side.model_dump())


def _strategy(filters: FiltersShape) -> FilterStrategy:
    cases = tuple(checked.case for checked in _cases(filters))
    return FilterStrategy(filters.before, filters.after, filters.intended, cases)


def _cases(filters: FiltersShape | None) -> tuple[CheckedCase, ...]:
    if filters is None:
        return ()
    return tuple(
        CheckedCase(FilterCase(c.query, c.filter, c.expect), c.held_before, c.held_after)
        for c in filters.cases
    )
