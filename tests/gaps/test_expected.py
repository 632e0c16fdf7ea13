"""A judge's class probabilities become an expected mean, with the spread of its own doubt."""

from __future__ import annotations

import asyncio
from itertools import product
from math import log2

import numpy as np
import pytest
from small_reviews import Small

from relgate.eval.gaps.expected import expected_scores
from relgate.eval.gaps.fill import Filled, fill_gaps
from relgate.eval.gaps.find import QueryGaps
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_runs
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.runs.types import Run
from relgate.judge.types import Candidate, JudgedHit

RATED = {"q": {"a": 3, "b": 0}, "r": {"a": 1}}
RUNS = (
    Run("before", (Query("q"), Query("r")), (("a", "b", "x"), ("x", "a"))),
    Run("after", (Query("q"), Query("r")), (("x", "a", "y"), ("a", "y"))),
)
DOUBT = {
    ("q", "x"): (0.5, 0.2, 0.2, 0.1),
    ("q", "y"): (0.1, 0.0, 0.3, 0.6),
    ("r", "x"): (0.25, 0.25, 0.25, 0.25),
}
FILL = {("q", "x"): 0, ("q", "y"): 3, ("r", "x"): 0}


def listed(fill, scale="0-3"):
    builder = ListBuilder(SCALES[scale])
    for q, docs in RATED.items():
        for doc, grade in docs.items():
            builder.add(
                Query(q), doc, min(grade, SCALES[scale].max_grade), Provenance(Source.HUMAN)
            )
    for (q, doc), grade in fill.items():
        builder.add(Query(q), doc, grade, Provenance(Source.JUDGE))
    return builder.build()


def expected(doubt, conventions=None, fill=None, scale="0-3", **more):
    judgments = listed(FILL if fill is None else fill, scale)
    return expected_scores(
        judgments, RUNS, align(judgments, RUNS), doubt, conventions or Conventions(),
        filled=3, **{"seed": 0, **more},
    )  # fmt: skip


def means(fill, conventions, metric=Metric.NDCG, scale="0-3"):
    judgments = listed(fill, scale)
    scores = score_runs(judgments, RUNS, align(judgments, RUNS), conventions)
    return [s.mean(metric).value for s in scores]


@pytest.mark.parametrize("no_ideal", ["apart", "zero"])
@pytest.mark.parametrize("k", [2, 10])
def test_it_is_the_mean_over_all_fills_weighed_by_their_probability(no_ideal, k) -> None:
    conventions = Conventions(k=k, no_ideal=no_ideal)
    exact = np.zeros(2)
    for grades in product(range(4), repeat=3):
        weight = np.prod([DOUBT[pair][g] for pair, g in zip(DOUBT, grades, strict=True)])
        exact += weight * np.array(means(dict(zip(DOUBT, grades, strict=True)), conventions))
    found = expected(DOUBT, conventions, draws=40_000)
    assert (found.before, found.after) == pytest.approx(exact, abs=0.005)
    assert found.low < found.delta < found.high
    assert (found.pairs, found.filled) == (3, 3)
    assert found.name == f"nDCG(gain=exp2)@{k}"


def test_binary_grades_are_weighed_by_reciprocal_rank() -> None:
    doubt = {("q", "x"): (0.4, 0.6)}
    fill = {("q", "x"): 0, ("r", "x"): 0}
    conventions = Conventions(floor=1)
    ends = [
        np.array(means({**fill, ("q", "x"): g}, conventions, Metric.MRR, "0-1")) for g in (0, 1)
    ]
    found = expected(doubt, conventions, fill, "0-1", draws=40_000)
    assert (found.before, found.after) == pytest.approx(0.4 * ends[0] + 0.6 * ends[1], abs=0.005)


def test_a_judge_that_is_sure_gives_the_plain_mean() -> None:
    sure = {pair: tuple(float(g == grade) for g in range(4)) for pair, grade in FILL.items()}
    found = expected(sure)
    assert (found.before, found.after) == pytest.approx(means(FILL, Conventions()))
    assert found.low == pytest.approx(found.high)


def test_no_probabilities_or_those_of_another_scale_give_nothing() -> None:
    assert expected({}) is None
    assert expected({("q", "x"): (0.5, 0.5)}) is None


def test_the_same_seed_gives_the_same_figures() -> None:
    assert expected(DOUBT) == expected(DOUBT)
    assert expected(DOUBT) != expected(DOUBT, seed=1)


class Doubtful:
    """A judge over class probabilities; for `b...` it gives numbers that are none."""

    version, fingerprint, model, family, batch_size = "esci-v1@0badc0de", "f" * 16, "m", "acme", 2
    shares = (0.1, 0.2, 0.3, 0.4)

    def __init__(self, **odd) -> None:
        self.odd = odd

    async def grade(self, query, candidates):
        assert query
        return [
            JudgedHit(c.id, 3, "E", "", probabilities=self.odd.get(c.id, self.shares))
            for c in candidates
        ]

    def grade_sync(self, query, candidates):
        raise NotImplementedError


def fill(judge) -> Filled:
    gaps = [QueryGaps(Query("q"), doc_ids=("a", "b"), returned=2)]
    at = "2026-03-01T12:00:00Z"
    return asyncio.run(fill_gaps(judge, gaps, lambda d: Candidate(d, d), judged_at=at))


@pytest.mark.parametrize(
    "odd", [(0.5, 0.4), (float("nan"), 1.0), (1.5, -0.5), (), (float("inf"), 0.0)]
)
def test_probabilities_that_are_none_are_not_believed(odd) -> None:
    filled = fill(Doubtful(b=odd))
    assert dict(filled.probabilities) == {("q", "a"): Doubtful.shares}
    assert len(filled.judgments) == 2


@pytest.mark.parametrize("how", ["top-k", "open"])
def test_a_review_shows_the_expected_mean_beside_the_plain_one(tmp_path, how) -> None:
    names = [f"q{i}" for i in range(3)]
    small = Small(
        rated={q: {"a": 3} for q in names},
        before={q: ["a", "b"] for q in names},
        after={q: ["b", "a"] for q in names},
        truth={},
        project={"k": 5, "scale": "0-3", "floor": 2},
        change=ChangeDescription(),
    )
    done = small.review(how, Doubtful(), tmp_path)
    found = done.review.evidence.expected
    assert found is not None
    assert (found.pairs, found.filled) == (3, 3)
    second, gains = 1 / log2(3), (0, 1, 3, 7)
    deltas = [(gain - 7) * (1 - second) / (7 + gain * second) for gain in gains]
    exact = sum(p * delta for p, delta in zip(Doubtful.shares, deltas, strict=True))
    assert found.delta == pytest.approx(exact, abs=0.01)
    told = review_document(done.review, done.open_fill)["expected"]
    assert told["delta"] == pytest.approx(found.delta, abs=1e-6)
    assert "the judge's class probabilities" in review_markdown(done.review)
