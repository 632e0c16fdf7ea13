"""When a verdict-driven fill stops, what it says then, and what it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from relgate.eval.gaps.fill import Filled, merge_filled
from relgate.eval.gaps.fill_open import OpenFacts, fill_open
from relgate.eval.gaps.find import find_gaps
from relgate.eval.gaps.open import OpenGaps
from relgate.eval.gaps.told import open_fill_lines, with_open_facts
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.report.document import review_document
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Evidence, JudgeUse, Review, RuleState, Verdict
from relgate.eval.review.verdict import review
from relgate.eval.runs.types import Run
from relgate.judge.types import Candidate, GradeError, JudgedHit

NOW = "2026-03-01T12:00:00+00:00"
TRUSTED = JudgeUse("v", "f" * 16, None, "none", 1, None)


@dataclass
class Scripted:
    """Gives every document one grade; stops after `budget` pairs; fails on `broken`."""

    grade_of_all: int = 3
    budget: int = 10_000
    broken: frozenset[str] = frozenset()
    asked: list[tuple[str, str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    version: str = "v"
    fingerprint: str = "f" * 16
    model: str | None = None
    family: str | None = "none"
    batch_size: int = 3

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        self.calls.append(query)
        await asyncio.sleep(0)
        return [self._hit(query, c.id) for c in candidates]

    def _hit(self, query: str, doc: str) -> JudgedHit:
        if len(self.asked) >= self.budget:
            return JudgedHit(
                doc, 0, "I", "judge-error", GradeError.NOT_ASKED, "the budget is spent"
            )
        self.asked.append((query, doc))
        if doc in self.broken:
            return JudgedHit(doc, 0, "I", "judge-error", GradeError.TIMEOUT, "no answer")
        return JudgedHit(doc, self.grade_of_all, "ICSE"[self.grade_of_all], "")

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


def graded(rows: dict[str, dict[str, int]]) -> JudgmentList:
    builder = ListBuilder(SCALES["0-3"])
    for query, docs in rows.items():
        for doc, grade in docs.items():
            builder.add(Query(query), doc, grade, Provenance(Source.HUMAN))
    return builder.build()


def run_of(name: str, docs: dict[str, str]) -> Run:
    return Run(name, tuple(map(Query, docs)), tuple(map(tuple, docs.values())))


@dataclass
class Ended:
    review: Review
    facts: OpenFacts
    filled: Filled


def fill(
    rows: dict[str, dict[str, int]],
    before: dict[str, str],
    after: dict[str, str],
    judge: Scripted,
    *,
    no_text: str = "",
    **budgets: float,
) -> Ended:
    """The chain of a review, without its files; documents are single letters."""
    judgments, runs = graded(rows), (run_of("before", before), run_of("after", after))
    axis, conventions = align(judgments, runs), Conventions()
    settings = ReviewSettings(**budgets)

    def evidence_of(listed: JudgmentList) -> Evidence:
        uses = (TRUSTED,) if len(listed) > len(judgments) else ()
        return build_evidence(listed, *runs, conventions, Extras(judges=uses))

    gaps = OpenGaps(
        judgments,
        runs,
        axis,
        find_gaps(judgments, runs, axis, depth=10),
        has_text=lambda doc: doc not in no_text,
        conventions=conventions,
        settings=settings,
    )
    first = evidence_of(judgments)
    filled, facts = asyncio.run(
        fill_open(
            judge,
            gaps,
            judgments,
            lambda doc: Candidate(doc, doc),
            evidence_of=evidence_of,
            first=first,
            judged_at=NOW,
        )
    )
    evidence = evidence_of(merge_filled(judgments, filled.judgments))
    seen = gaps.as_if_filled(evidence) if facts.settled else evidence

    done = review(seen, settings)
    return Ended(with_open_facts(replace(done, evidence=evidence), facts), facts, filled)


def outcome(done: Review, rule: str):
    return next(o for o in done.outcomes if o.rule == rule)


QUERIES = [f"q{i}" for i in range(20)]
RATED = {q: {"a": 3, "b": 2, "c": 0} for q in QUERIES}


def both(docs: str) -> dict[str, str]:
    return dict.fromkeys(QUERIES, docs)


def test_where_the_bounds_decide_no_grade_is_asked_for() -> None:
    """a is lost everywhere and x cannot make up for it: BLOCK, whatever x is."""
    judge = Scripted()
    done = fill(RATED, both("ab"), both("bx"), judge)
    assert judge.calls == []
    assert (done.facts.waves, done.facts.asked, done.facts.left) == (0, 0, 20)
    assert done.review.verdict is Verdict.BLOCK
    (said, why) = open_fill_lines(done.facts)
    assert said.startswith("no grade was needed: whatever the 20 documents unrated within k")
    assert "20 grades saved against --fill top-k" in said
    assert why == "what makes it BLOCK for every fill: R4"


def test_stale_judgments_do_not_refuse_where_no_grade_can_change_the_verdict() -> None:
    """Half of each after side is unrated, and a third is allowed."""
    done = fill(RATED, both("ab"), both("bx"), Scripted(), mostly_unrated=1 / 3)
    state = outcome(done.review, "R8")
    assert done.facts.left == 20
    assert state.state is RuleState.PASSED
    assert "no grade of theirs can change the verdict" in state.summary


def test_the_report_keeps_the_true_number_of_unrated_documents() -> None:
    done = fill(RATED, both("ab"), both("bx"), Scripted())
    assert all(q.now.unrated == 1 for q in done.review.evidence.queries)
    found = review_document(done.review, done.facts)
    assert {q["unrated"] for q in found["queries"]} == {1}
    told = found["judge"]["open_fill"]
    assert (told["settled"], told["saved"], told["open"]) == (True, 20, [])
    assert told["rules"]["R4"] == {
        "state": "fails for every fill",
        "least": "BLOCK",
        "most": "BLOCK",
    }


def test_a_rule_below_the_verdict_may_stay_open_and_says_so() -> None:
    """x may save single queries from having dropped, never the mean of all."""
    rows = {**RATED, **{f"p{i}": {"a": 3, "b": 3} for i in range(2)}}
    before = {**both("ab"), "p0": "ab", "p1": "ab"}
    after = {**both("b"), "p0": "xb", "p1": "xb"}
    done = fill(rows, before, after, Scripted(), max_dropped_share=20.5 / 22)
    assert done.facts.settled
    assert done.facts.left == 2
    assert "R5" in {s.rule for s in done.facts.standings if s.open}
    assert "could change the rule, not the verdict" in outcome(done.review, "R5").summary


def test_a_spent_budget_leaves_the_verdict_open_and_lists_what_is_left() -> None:
    judge = Scripted(budget=4)
    done = fill(RATED, both("abc"), both("xab"), judge)
    assert len(judge.asked) == 4
    assert not done.facts.settled
    assert done.facts.least < done.facts.most
    assert done.review.verdict >= Verdict.NEEDS_WORK
    assert done.review.headline.startswith("the verdict is open between ")
    left = {(gap.query.id, doc) for gap in done.facts.open for doc in gap.doc_ids}
    assert left == {(q, "x") for q in QUERIES} - set(judge.asked)
    assert done.review.actions[0].startswith("Grade the 16 documents that can still change")
    assert review_document(done.review, done.facts)["judge"]["open_fill"]["open"]


def test_an_open_verdict_is_no_approval_even_where_the_grades_so_far_would_pass() -> None:
    """Zero-fill passes every rule here; x at rank 1 before, if good, was lost."""
    before = {**both("abc"), "q0": "xab"}
    done = fill(RATED, before, both("abc"), Scripted(budget=0), min_improvement=0.0)
    assert done.facts.least is Verdict.APPROVE
    assert done.review.verdict is Verdict.NEEDS_WORK
    state = outcome(done.review, "R8")
    assert (state.state, state.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)


def test_a_pair_that_the_judge_fails_on_is_asked_once_and_stays_unrated() -> None:
    judge = Scripted(broken=frozenset("x"))
    done = fill(RATED, both("abc"), both("xab"), judge)
    assert len(judge.asked) == len(set(judge.asked))
    assert done.filled.errors == {"timeout": len(judge.asked)}
    assert all(q.now.unrated == 1 for q in done.review.evidence.queries)


def test_a_document_without_a_text_is_not_asked_for_and_counts_as_unrated() -> None:
    judge = Scripted()
    done = fill(RATED, both("abccc"), both("xyzab"), judge, no_text="xyz")
    assert (judge.asked, done.facts.pairs, done.filled.no_text) == ([], 0, 60)
    assert done.review.verdict is Verdict.REFUSE  # as a whole fill would end: R8
    assert outcome(done.review, "R8").state is RuleState.FAILED


def test_the_query_with_the_most_at_stake_is_asked_first() -> None:
    """In q7 a first place is open, elsewhere a last one."""
    rows = {q: dict.fromkeys("abcdefgh", 3) for q in QUERIES}
    after = {**both("abcdefghx"), "q7": "xabcdefgh"}
    judge = Scripted()
    fill(rows, both("abcdefghi"), after, judge)
    assert judge.calls[0] == "q7"


def test_progress_counts_towards_all_gaps() -> None:
    seen: list[tuple[int, int]] = []
    judgments, runs = graded(RATED), (run_of("b", both("abc")), run_of("a", both("xab")))
    axis = align(judgments, runs)
    gaps = OpenGaps(
        judgments,
        runs,
        axis,
        find_gaps(judgments, runs, axis, depth=10),
        has_text=lambda _doc: True,
        conventions=Conventions(),
        settings=ReviewSettings(),
    )

    def evidence_of(listed: JudgmentList) -> Evidence:
        return build_evidence(listed, *runs, Conventions(), Extras(judges=(TRUSTED,)))

    _, facts = asyncio.run(
        fill_open(
            Scripted(),
            gaps,
            judgments,
            lambda doc: Candidate(doc, doc),
            evidence_of=evidence_of,
            first=evidence_of(judgments),
            judged_at=NOW,
            on_progress=lambda done, total: seen.append((done, total)),
        )
    )
    assert [done for done, _ in seen] == list(range(1, facts.asked + 1))
    assert {total for _, total in seen} == {20}


@pytest.mark.parametrize("budget", [0, 3, 7])
def test_what_a_stopped_fill_paid_for_is_kept(budget: int) -> None:
    done = fill(RATED, both("abc"), both("xab"), Scripted(budget=budget))
    assert len(done.filled.judgments) == budget
