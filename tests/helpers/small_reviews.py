"""Small reviews with a judge that knows every grade, drawn or written out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck
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
from relgate.eval.review_request import ReviewRequest
from relgate.eval.runs.types import Run
from relgate.eval.workflow import Reviewed, review_runs
from relgate.judge.types import Candidate, GradeError, JudgedHit
from relgate.rubrics import load_rubric

JUDGE = Provenance(Source.JUDGE, judge_version="esci-v1@0badc0de", fingerprint="f" * 16)
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


def certify(
    folder: Path, scale: str, floors: Sequence[int], table: Sequence[Sequence[int]] | None = None
) -> None:
    """Writes a trusted certificate of the scripted judge a floor; it errs as `table` says."""
    levels = SCALES[scale].max_grade + 1
    counts = table if table is not None else (60 * np.eye(levels, dtype=int)).tolist()
    builder, grades = ListBuilder(SCALES[scale]), {}
    said = [(h, j) for h, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    for i, (people, judge) in enumerate(said):
        grades[f"q{i % 30}", f"d{i}"] = judge
        builder.add(Query(f"q{i % 30}"), f"d{i}", people, Provenance(Source.HUMAN))
    for floor in floors:
        result = calibrate_judge(
            Scripted(grades), builder.build(), lambda d: Candidate(d, d), terms=Terms(floor=floor)
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
    judged: frozenset[tuple[str, str]] = frozenset()
    """Which of the rated pairs the judge graded; people the rest."""

    def judgments(self) -> JudgmentList:
        builder = ListBuilder(SCALES[self.project["scale"]])
        for query, docs in self.rated.items():
            builder.add_query(Query(query))
            for doc, grade in docs.items():
                made = JUDGE if (query, doc) in self.judged else Provenance(Source.HUMAN)
                builder.add(Query(query), doc, grade, made)
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


SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def severity(review: Review, rule: str) -> Verdict:
    outcome = next(o for o in review.outcomes if o.rule == rule)
    found = max((f.severity for f in outcome.findings), default=Verdict.APPROVE)
    return found if outcome.cap is None else max(found, outcome.cap)
