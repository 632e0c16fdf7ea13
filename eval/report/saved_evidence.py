"""The evidence in a saved review read back. Pure."""

from __future__ import annotations

from math import nan

from relgate.eval.lists.types import Query, Source
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.report.saved_change import change_of, checked_cases
from relgate.eval.report.schema import CorrectedShape, DeltaShape, ModeShape, ReviewFile
from relgate.eval.report.shapes.base import AggregateShape
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
from relgate.eval.review.debug import DebugTools, Splainer
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
    Interval,
    JudgeUse,
    ModeFigures,
    Noise,
    QueryEvidence,
    RankedDoc,
    Side,
    Stratum,
    Unrated,
)

__all__ = ["evidence_of"]


def evidence_of(file: ReviewFile) -> Evidence:
    """The evidence that the file shows; what it does not keep is NaN or None.

    Raises:
        ValueError: a word that no review can hold, such as an unknown source.
    """
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
        change=change_of(file),
        cross_checks=file.cross_checks,
        judges=tuple(_judge(use) for use in file.judge.grades),
        fill=None if file.judge.fill is None else _fill(file.judge.fill),
        overrides=file.judge.overrides,
        noise=_noise(file),
        covers_all=terms.covers_all,
        warnings=file.warnings,
        filter_cases=checked_cases(file.supplied.filters),
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
