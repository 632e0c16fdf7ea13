"""A fill of only what can change the verdict ends at the verdict of a whole fill."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from relgate.eval.agreement.calibrate import Terms, calibrate_judge
from relgate.eval.agreement.certificate import make_certificate, write_certificate
from relgate.eval.catalogue import Catalogue
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.queries import QueryRow, QueryTable
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import Review, Verdict
from relgate.eval.runs.types import Run
from relgate.eval.workflow import Reviewed, ReviewRequest, review_runs
from relgate.judge.types import Candidate, GradeError, JudgedHit
from relgate.rubrics import load_rubric

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DOCS = "abcdefgh"


@dataclass
class Scripted:
    """A judge that knows every grade; it stops after `budget` pairs and fails on `broken`."""

    grades: dict[tuple[str, str], int]
    budget: int | None = None
    broken: frozenset[tuple[str, str]] = frozenset()
    asked: list[tuple[str, str]] = field(default_factory=list)
    version: str = "esci-v1@0badc0de"
    fingerprint: str = "f" * 16
    model: str | None = "m-1"
    family: str | None = "acme"
    batch_size: int = 2

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        await asyncio.sleep(0)
        return [self._hit(query, candidate.id) for candidate in candidates]

    def _hit(self, query: str, doc: str) -> JudgedHit:
        if self.budget is not None and len(self.asked) >= self.budget:
            return JudgedHit(doc, 0, "I", "judge-error", GradeError.NOT_ASKED, "budget")
        self.asked.append((query, doc))
        if (query, doc) in self.broken:
            return JudgedHit(doc, 0, "I", "judge-error", GradeError.UNREADABLE, "broken")
        grade = self.grades[query, doc]
        return JudgedHit(doc, grade, "ICSE"[grade], "as scripted")

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Per scale and floor, a folder with a trusted certificate of the scripted judge."""
    folder = tmp_path_factory.mktemp("certificates")
    for scale, floors in (("0-3", (1, 2, 3)), ("0-1", (1,))):
        certify(folder, scale, floors)
    return folder


def certify(folder: Path, scale: str, floors: Sequence[int]) -> None:
    builder, grades = ListBuilder(SCALES[scale]), {}
    levels = SCALES[scale].max_grade + 1
    for q in range(30):
        for i in range(8):
            grades[f"q{q}", f"d{i}"] = (q + i) % levels
            builder.add(Query(f"q{q}"), f"d{i}", (q + i) % levels, Provenance(Source.HUMAN))
    judge = Scripted(grades)
    for floor in floors:
        result = calibrate_judge(
            judge, builder.build(), lambda d: Candidate(d, d), terms=Terms(floor=floor)
        )
        certificate = make_certificate(result, now=NOW)
        assert certificate.level == "trusted"
        place = folder / f"{scale}-{floor}"
        place.mkdir()
        write_certificate(certificate, place / "c.json")


@dataclass
class Small:
    """A small review: what people rated, what came back, what the judge would say."""

    rated: dict[str, dict[str, int]]
    before: dict[str, list[str]]
    after: dict[str, list[str]]
    truth: dict[tuple[str, str], int]
    project: dict[str, Any]
    change: ChangeDescription
    no_text: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    strata: dict[str, str] = field(default_factory=dict)

    def judgments(self) -> JudgmentList:
        builder = ListBuilder(SCALES[self.project["scale"]])
        for query, docs in self.rated.items():
            builder.add_query(Query(query))
            for doc, grade in docs.items():
                builder.add(Query(query), doc, grade, Provenance(Source.HUMAN))
        return builder.build()

    def runs(self) -> tuple[Run, Run]:
        before = Run(
            "before", tuple(map(Query, self.before)), tuple(map(tuple, self.before.values()))
        )
        docs = tuple(None if q in self.failed else tuple(d) for q, d in self.after.items())
        failures = dict.fromkeys(self.failed, "timed out")
        return before, Run("after", tuple(map(Query, self.after)), docs, failures)

    def review(self, fill: str, judge: Scripted, certificates: Path) -> Reviewed:
        project = Project(
            **{"system_models": (), **self.project},
            fill=fill,
            certificates=certificates / f"{self.project['scale']}-{self.project['floor']}",
        )
        products = {d: (d, {"title": d}) for d in DOCS if d not in self.no_text}
        rubric = "esci-v1" if self.project["scale"] == "0-3" else "binary-v1"
        request = ReviewRequest(
            project=project,
            moment=NOW,
            change=self.change,
            opened=OpenedJudge("scripted", judge, load_rubric(rubric)),
            catalogue=Catalogue(products, path="-", format="jsonl", id_field="id"),
        )
        rows = tuple(QueryRow(q, stratum=s) for q, s in self.strata.items())
        table = QueryTable(rows, path="-", format="csv", columns=("id", "stratum"))
        return review_runs(self.judgments(), *self.runs(), request, table=table if rows else None)


BUDGETS = {
    "max_mean_drop": st.sampled_from([0.01, 0.1, 0.3]),
    "min_improvement": st.sampled_from([0.0, 0.02, 0.2]),
    "query_drop": st.sampled_from([0.05, 0.3]),
    "max_dropped_share": st.sampled_from([0.05, 0.5, 1.0]),
    "head_drop": st.sampled_from([0.05, 0.5]),
    "max_masked_share": st.sampled_from([0.1, 0.5, 1.0]),
    "mrr_soft_drop": st.sampled_from([0.01, 0.5]),
    "mrr_hard_drop": st.sampled_from([0.03, 0.6]),
    "precision_soft_drop": st.sampled_from([0.02, 0.3]),
    "precision_hard_drop": st.sampled_from([0.04, 0.5]),
    "min_noise_queries": st.sampled_from([2.0, 30.0]),
    "max_stale_share": st.sampled_from([0.3, 1.0]),
    "min_stratum_queries": st.sampled_from([1.0, 30.0]),
    "max_stratum_p": st.sampled_from([0.05, 1.0]),
}


@st.composite
def reviews(draw: st.DrawFn, most_queries: int = 5) -> Small:
    names = [f"q{i}" for i in range(draw(st.integers(1, most_queries)))]
    ranking = st.lists(st.sampled_from(DOCS), min_size=1, max_size=6)
    scale = draw(st.sampled_from(["0-3", "0-3", "0-1"]))
    best = SCALES[scale].max_grade
    grades = st.integers(0, best)
    rated = {q: draw(st.dictionaries(st.sampled_from(DOCS), grades, max_size=6)) for q in names}
    rated[names[0]]["a"] = best
    before = {q: draw(ranking) for q in names}
    before[names[0]].insert(0, "a")  # else the list has nothing to do with the runs
    return Small(
        rated=rated,
        before=before,
        after={q: draw(ranking) for q in names},
        truth={(q, d): draw(grades) for q in names for d in DOCS},
        project={
            "k": draw(st.integers(2, 6)),
            "scale": scale,
            "floor": draw(st.integers(1, best)),
            "gain": draw(st.sampled_from(["exp2", "linear"])),
            "no_ideal": draw(st.sampled_from(["apart", "apart", "zero"])),
            "budgets": {name: draw(values) for name, values in BUDGETS.items()},
        },
        change=ChangeDescription(
            intent=draw(st.sampled_from([None, "neutral", "improve"])),
            head_queries=tuple(draw(st.lists(st.sampled_from(names), max_size=2))),
            critical_queries=tuple(draw(st.lists(st.sampled_from(names), max_size=1))),
        ),
        no_text=frozenset(draw(st.lists(st.sampled_from(DOCS), max_size=1))),
        failed=frozenset(draw(st.sampled_from([(), (), (), names[-1:]]))),
        strata={q: draw(st.sampled_from("uv")) for q in names if draw(st.booleans())},
    )


def equal_verdicts(small: Small, certificates: Path) -> tuple[Reviewed, Reviewed]:
    whole, part = Scripted(small.truth), Scripted(small.truth)
    filled = small.review("top-k", whole, certificates)
    opened = small.review("open", part, certificates)
    assert opened.review.verdict is filled.review.verdict
    assert set(part.asked) <= set(whole.asked)
    assert len(part.asked) == len(set(part.asked))
    facts = opened.open_fill
    assert facts is not None
    assert facts.settled
    assert (facts.pairs, facts.asked) == (len(whole.asked), len(part.asked))
    assert facts.least is filled.review.verdict
    return filled, opened


SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=150, **SLOW)
@given(reviews())
def test_the_verdict_is_that_of_a_whole_fill(certificates: Path, small: Small) -> None:
    filled, opened = equal_verdicts(small, certificates)
    facts = opened.open_fill
    assert facts is not None
    if facts.pairs:
        event(f"{filled.review.verdict.word}: {'some' if facts.left else 'no'} grades saved")


@pytest.mark.soak
@settings(max_examples=4_000, **SLOW)
@given(reviews(most_queries=12))
def test_the_verdict_is_that_of_a_whole_fill_at_length(certificates: Path, small: Small) -> None:
    equal_verdicts(small, certificates)


@settings(max_examples=40, **SLOW)
@given(reviews())
def test_without_a_certificate_only_a_verdict_that_rests_on_no_judge_may_be_milder(
    tmp_path_factory: pytest.TempPathFactory, small: Small
) -> None:
    """R15 caps a verdict that rests on grades nobody calibrated; where none was needed, it rests
    on none.
    """
    nothing = tmp_path_factory.getbasetemp()
    filled = small.review("top-k", Scripted(small.truth), nothing).review.verdict
    part = Scripted(small.truth)
    opened = small.review("open", part, nothing).review.verdict
    if part.asked:
        assert opened is filled
    else:
        assert filled in {opened, max(opened, Verdict.NEEDS_WORK)}


@settings(max_examples=40, **SLOW)
@given(reviews(), st.data())
def test_where_the_judge_fails_now_and_then_the_verdict_is_that_of_a_fill_that_fails_alike(
    certificates: Path, small: Small, data: st.DataObject
) -> None:
    """R19 apart, which looks at how often it failed among those asked."""
    small.project["budgets"]["max_error_rate"] = 1.0
    broken = frozenset(data.draw(st.sets(st.sampled_from(sorted(small.truth)), max_size=8)))
    whole = Scripted(small.truth, broken=broken)
    part = Scripted(small.truth, broken=broken)
    filled = small.review("top-k", whole, certificates)
    opened = small.review("open", part, certificates)
    assert len(part.asked) == len(set(part.asked))
    facts = opened.open_fill
    assert facts is not None
    assert facts.settled
    if broken.isdisjoint(set(whole.asked) - set(part.asked)):  # else R8 sees them unrated
        assert opened.review.verdict is filled.review.verdict


def severity(review: Review, rule: str) -> Verdict:
    outcome = next(o for o in review.outcomes if o.rule == rule)
    found = max((f.severity for f in outcome.findings), default=Verdict.APPROVE)
    return found if outcome.cap is None else max(found, outcome.cap)


@settings(max_examples=40, **SLOW)
@given(reviews(), st.data())
def test_no_fill_leaves_a_rule_outside_its_range(
    certificates: Path, small: Small, data: st.DataObject
) -> None:
    """Every rule, at every stage: whatever the judge says next, the rule ends within its range."""
    budget = data.draw(st.integers(0, 8))
    stopped = small.review("open", Scripted(small.truth, budget=budget), certificates)
    facts = stopped.open_fill
    assert facts is not None
    known = {(row.query.id, row.doc_id): row.grade for row in stopped.judgments.rows()}
    for _ in range(3):
        best = SCALES[small.project["scale"]].max_grade
        other = {pair: data.draw(st.integers(0, best)) for pair in small.truth}
        whole = Scripted({**other, **{p: g for p, g in known.items() if p in other}})
        filled = small.review("top-k", whole, certificates).review
        for standing in facts.standings:
            if standing.rule in {"R15", "R16"}:  # of whom the grades are, not what they are
                continue
            found = severity(filled, standing.rule)
            assert standing.least <= found <= standing.most, standing
        assert facts.least <= filled.verdict <= facts.most
