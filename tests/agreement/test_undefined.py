"""Degenerate inputs say "undefined" and why; nothing becomes 0, NaN or a silence."""

from __future__ import annotations

import json

import pytest

from relgate.eval.agreement.calibrate import calibrate_pairs
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.agreement.pairs import UNGRADED
from relgate.eval.agreement.policy import Level
from relgate.eval.lists.types import SCALES
from relgate.eval.report.html.calibration import calibration_html

FAILED = UNGRADED
CASES = {
    "one class of people, relevant": (
        [3] * 6, [3, 2, 1, 0, 3, 3], None,
        {
            "kappa": "people used one grade only, 3",
            "kappa_quadratic": "people used one grade only, 3",
            "floor_kappa": "people put every label at or above the floor",
            "specificity": "people call everything relevant",
        },
    ),
    "one class of people, not relevant": (
        [0] * 4, [3, 0, 0, 0], None,
        {
            "kappa_linear": "people used one grade only, 0",
            "floor_kappa": "people put every label below the floor",
            "recall": "people call nothing relevant",
        },
    ),
    "a judge that calls nothing relevant": (
        [3, 0, 1, 2], [0, 0, 1, 1], None, {"precision": "the judge calls nothing relevant"},
    ),
    "nobody calls anything relevant": (
        [1, 0, 1, 0], [0, 0, 1, 1], None,
        {
            "f1": "neither people nor the judge call anything relevant",
            "f1_gain": "neither people nor the judge call anything relevant",
        },
    ),
    "every grade failed": (
        [3, 0, 1, 2], [FAILED] * 4, None,
        dict.fromkeys(
            ("kappa", "f1", "accuracy", "ac1", "mean_shift", "prevalence_index"),
            "no pair has both a label and a grade",
        ),
    ),
}  # fmt: skip


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request, make):
    human, judge, query, whys = request.param
    return calibrate_pairs(make.pairs(human, judge, query=query), scale=SCALES["0-3"]), whys


def test_each_undefined_figure_has_its_reason(case):
    result, whys = case
    for name, why in whys.items():
        assert (result.figures[name].point, result.figures[name].why) == (None, why)
    for figure in result.figures.values():
        assert figure.point is not None or figure.why


def test_such_labels_are_insufficient(case):
    assert case[0].level is Level.INSUFFICIENT


def test_the_reasons_stand_on_every_page_and_no_nan(case):
    result, whys = case
    document = calibration_json(result)
    for page in (calibration_markdown(result), calibration_html(document), json.dumps(document)):
        text = page.replace("&#39;", "'")
        assert all(why in text for why in whys.values())
        assert "nan" not in text.lower().replace("finance", "")
    for name in whys:
        assert document["figures"][name]["point"] is None


def test_one_query_has_figures_and_no_interval_and_says_why(make):
    result = calibrate_pairs(
        make.pairs([3, 0, 1, 2], [3, 0, 1, 1], query=[0] * 4), scale=SCALES["0-3"]
    )
    kappa = result.figures["kappa"]
    assert kappa.point is not None
    assert (kappa.low, kappa.why) == (None, "an interval takes two queries or more")
    document = calibration_json(result)
    for page in (calibration_markdown(result), calibration_html(document)):
        assert "an interval takes two queries or more" in page
    assert any("no intervals: 1 query" in warning for warning in result.warnings)


def test_a_constant_judge_has_kappa_0_which_is_measured_and_not_undefined(make):
    result = calibrate_pairs(make.pairs([0, 1, 2, 3] * 40, [2] * 160), scale=SCALES["0-3"])
    assert result.figures["kappa"].point == 0
    assert result.figures["f1_gain"].point == 0
    assert any("kappa is 0 whatever the agreement" in warning for warning in result.warnings)
    assert result.level is Level.UNTRUSTED
