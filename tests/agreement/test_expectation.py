"""What expected grades and spreads are worth, measured; planted faults show at their size."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

from relgate.cache.judge import CachedJudge
from relgate.cache.store import open_store
from relgate.eval.agreement.calibrate import acalibrate_judge, calibrate_judge, calibrate_pairs
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.expectation import expectation_of, rounded_grades
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.agreement.pairs import UNGRADED, GradedPairs
from relgate.eval.lists.types import SCALES
from relgate.judge import PanelJudge, make_llm_judge
from relgate.judge.decide import DecideReply, DecideRequest
from relgate.judge.decisions import make_decision_judge
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.types import Candidate, GradeError, JudgedHit
from relgate.rubrics.errors import InputError

ESCI = SCALES["0-3"]


def with_numbers(pairs: GradedPairs, expected=None, spread=None) -> GradedPairs:
    def column(values):
        return None if values is None else np.array(values, float)

    return replace(pairs, expected=column(expected), spread=column(spread))


def found(pairs: GradedPairs, resamples: int = 200):
    return expectation_of(pairs, n_grades=4, seed=0, resamples=resamples)


def points(pairs: GradedPairs) -> dict[str, float | None]:
    result = found(pairs)
    assert result is not None
    return {name: figure.point for name, figure in result.figures.items()}


def test_a_judge_without_them_is_reported_as_before(make):
    result = calibrate_pairs(make.pairs([0, 1, 2, 3], [0, 1, 3, 3]), scale=ESCI)
    assert result.expectation is None
    assert "expectation" not in calibration_json(result)
    assert "Expected grades" not in calibration_markdown(result)


def test_the_figures_are_those_worked_out_by_hand(make):
    pairs = with_numbers(
        make.pairs([3, 2, 0, 1], [3, 3, 0, 0]), [2.5, 2.5, 0.25, 0.5], [0.5, 0.5, 0.0, 0.2]
    )
    # distances .5 .5 .25 .5; of the grades 0 1 0 1; within one spread: the first two
    # .2 * 2 < .5, and .25 > 0; squares .25 .25 .0625 .25 over .25 .25 0 .04
    assert points(pairs) == {
        "expected_mae": pytest.approx(1.75 / 4),
        "grade_mae": pytest.approx(2 / 4),
        "mae_gain": pytest.approx(0.25 / 4),
        "expected_kappa_quadratic": pytest.approx(
            cohen_kappa_score([3, 2, 0, 1], [3, 3, 0, 1], weights="quadratic", labels=[0, 1, 2, 3])
        ),
        "within_1_spread": 0.5,
        "within_2_spreads": 0.5,
        "spread_ratio": pytest.approx(math.sqrt(0.8125 / 0.54)),
    }


def test_halves_are_rounded_up_and_the_scale_is_kept():
    given = np.array([-1e-7, 0.49, 0.5, 1.5, 2.5, 3.0000001])
    assert rounded_grades(given, n_grades=4).tolist() == [0, 0, 1, 2, 3, 3]


def test_the_figures_agree_with_scikit_learn(make):
    rng = np.random.default_rng(4)
    human, judge = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    expected = rng.uniform(0, 3, 300)
    pairs = with_numbers(make.pairs(human, judge, query=rng.integers(0, 40, 300)), expected)
    got = points(pairs)
    assert got["expected_mae"] == pytest.approx(mean_absolute_error(human, expected))
    assert got["grade_mae"] == pytest.approx(mean_absolute_error(human, judge))
    rounded = np.floor(expected + 0.5).astype(int)
    assert got["expected_kappa_quadratic"] == pytest.approx(
        cohen_kappa_score(human, rounded, weights="quadratic", labels=[0, 1, 2, 3])
    )
    assert "spread_ratio" not in got


def drawn(make, *, n: int, sharpen: float = 1.0):
    """People who draw their grade from the judge's own distribution; spreads are divided."""
    rng = np.random.default_rng(11)
    shares = rng.dirichlet([0.6] * 4, n)
    grades = np.arange(4)
    human = np.array([rng.choice(4, p=row) for row in shares])
    mean = shares @ grades
    spread = np.sqrt((shares * (grades - mean[:, None]) ** 2).sum(axis=1))
    pairs = make.pairs(human, shares.argmax(axis=1), query=np.arange(n) // 4)
    return with_numbers(pairs, mean, spread / sharpen)


def test_an_honest_distribution_is_as_sure_as_it_should_be(make):
    result = found(drawn(make, n=2000))
    ratio, within = result.figures["spread_ratio"], result.figures["within_2_spreads"]
    assert ratio.low < 1 < ratio.high
    assert ratio.high - ratio.low < 0.15
    assert within.low > 0.75  # Chebyshev
    assert result.figures["mae_gain"].point != 0


@pytest.mark.parametrize("times", [2.0, 5.0])
def test_a_judge_too_sure_by_a_factor_shows_that_factor(make, times: float):
    ratio = found(drawn(make, n=2000, sharpen=times)).figures["spread_ratio"]
    assert ratio.low < times < ratio.high
    assert ratio.low > 1


def test_failed_grades_and_pairs_without_numbers_are_in_no_figure(make):
    pairs = with_numbers(
        make.pairs([3, 0, 3], [3, UNGRADED, 0]), [2.0, 0.0, math.nan], [1.0, 1.0, math.nan]
    )
    result = found(pairs)
    assert (result.n_expected, result.n_spread, result.n_queries) == (1, 1, 1)
    assert result.figures["expected_mae"].point == 1.0


def test_spreads_without_expected_grades_are_held_to_the_grade(make):
    got = points(with_numbers(make.pairs([3, 1], [3, 2]), None, [0.0, 0.5]))
    assert got == {
        "within_1_spread": 0.5,
        "within_2_spreads": 1.0,
        "spread_ratio": pytest.approx(2.0),
    }


def test_unanimous_votes_leave_the_ratio_undefined_never_infinite(make):
    got = points(with_numbers(make.pairs([3, 1], [3, 2]), None, [0.0, 0.0]))
    assert got["spread_ratio"] is None
    assert got["within_1_spread"] == 0.5


# Through real judges.

LABELS = [(f"q{i % 12}", f"d{i}", i % 4) for i in range(48)]


def sure_of(grades: Mapping[str, int], share: float):
    async def decide(request: DecideRequest) -> DecideReply:
        texts = [line.split(". ", 1)[1] for line in request.prompt.splitlines()[2:]]
        return DecideReply(tuple(
            {code: share if grade == grades[text] else (1 - share) / 3
             for grade, (code, _) in zip((3, 2, 1, 0), request.labels, strict=True)}
            for text in texts
        ))  # fmt: skip

    return make_decision_judge(decide, model="m")


def test_class_probabilities_reach_the_calibration_also_through_the_cache(make, tmp_path):
    judge = sure_of({d: g for _, d, g in LABELS}, 0.7)

    def candidates(doc: str) -> Candidate:
        return Candidate(doc, doc)

    plain = calibrate_judge(judge, make.labels(LABELS), candidates)
    assert plain.expectation.n_expected == plain.expectation.n_spread == 48
    # by hand: 0.7 on the right grade, 0.1 on each other: the mean is g + .1 * (6 - 4 g)
    assert plain.expectation.figures["expected_mae"].point == pytest.approx(0.4)
    assert plain.expectation.figures["grade_mae"].point == 0
    with closing(open_store(tmp_path)) as store:
        for _ in range(2):
            cached = asyncio.run(
                acalibrate_judge(CachedJudge(judge, store), make.labels(LABELS), candidates)
            )
            assert cached.expectation == plain.expectation


def test_a_panels_votes_reach_the_calibration(make):
    def says(label: str):
        return make_llm_judge(FakeGenerate(grade_lines(lambda _q, _t: label)), model=f"m-{label}")

    panel = PanelJudge([says("E"), says("S"), says("I")])
    result = calibrate_judge(panel, make.labels(LABELS), lambda d: Candidate(d, d))
    assert (result.expectation.n_expected, result.expectation.n_spread) == (0, 48)
    # the median vote is S; the spread of 3, 2, 0 is 1.247: people's 1, 2, 3 are within one of 2
    assert result.expectation.figures["within_1_spread"].point == 0.75
    assert result.expectation.figures["within_2_spreads"].point == 1.0


@pytest.mark.parametrize(
    ("expected", "spread"), [(math.nan, None), (3.2, None), (-1.0, None), (1.0, math.nan),
                             (1.0, -0.1), (None, 9.0)]
)  # fmt: skip
def test_numbers_that_are_none_on_the_scale_are_refused(make, expected, spread):
    class Odd(make.judge):  # type: ignore[misc, name-defined]
        async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
            rows = await super().grade(query, candidates)
            return [replace(row, expected_grade=expected, spread=spread) for row in rows]

    judge = Odd({d: g for _, d, g in LABELS})
    with pytest.raises(InputError, match=r"labels' scale \(0 to 3\)"):
        calibrate_judge(judge, make.labels(LABELS), lambda d: Candidate(d, d))


def test_a_failed_rows_numbers_are_not_looked_at(make):
    class Failing(make.judge):  # type: ignore[misc, name-defined]
        async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
            rows = await super().grade(query, candidates)
            return [replace(row, expected_grade=math.inf) if not row.graded else row
                    for row in rows]  # fmt: skip

    says = {d: g for _, d, g in LABELS} | {"d0": GradeError.REFUSED}
    result = calibrate_judge(Failing(says), make.labels(LABELS), lambda d: Candidate(d, d))
    assert result.expectation is None
    assert result.n == 47


def test_page_and_json_show_them_and_say_what_is_not_kept(make):
    judge = sure_of({d: g for _, d, g in LABELS}, 0.7)
    result = calibrate_judge(judge, make.labels(LABELS), lambda d: Candidate(d, d))
    page = calibration_markdown(result)
    assert "## Expected grades and spreads" in page
    assert "48 pairs with an expected grade, 48 with a spread, 12 queries" in page
    assert "no Brier score and no expected calibration error" in page
    assert "| distance of the expected grade from people's (mean, grades) | 0.4000 |" in page
    data = json.loads(json.dumps(calibration_json(result), allow_nan=False))["expectation"]
    assert data["n_expected"] == 48
    assert data["figures"]["expected_mae"]["point"] == 0.4
    assert data["figures"]["within_1_spread"]["low"] is not None
    assert "Brier" in data["note"]
