"""A calibration as people and as machines read it."""

from __future__ import annotations

import json
import re

from relgate.eval.agreement.calibrate import calibrate_judge, calibrate_pairs
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.lists.types import SCALES, Source
from relgate.judge.types import Candidate, GradeError


def test_the_page_names_figures_intervals_table_level_and_constants(make):
    human = [0, 1, 2, 3] * 50
    judge = [0, 1, 3, 3] * 50
    page = calibration_markdown(calibrate_pairs(make.pairs(human, judge), scale=SCALES["0-3"]))
    assert page.startswith("# Calibration: trusted\n")
    # by hand: 1 - .25 / 3
    assert re.search(r"\| kappa, quadratic weights \| 0\.9167 \| 0\.8\d{3} to 0\.9\d{3} \|", page)
    assert "| 2 | 0 | 0 | 0 | 50 | 50 |" in page
    assert "| this judge | 0.7500 | 1.0000 |" in page
    assert "always relevant (always 3)" in page
    assert "majority grade (always 0)" in page
    assert "2,000 draws of the 200 queries, seed 0" in page
    assert "200 by human" in page
    assert "- F1 at the floor 1.000 (95 %: 1.000 to 1.000) is >= 0.80" in page
    assert "## Worst disagreements" in page


def test_undefined_is_written_as_undefined_never_0_or_nan(make):
    result = calibrate_pairs(make.pairs([3] * 6, [3, 2, 1, 0, 3, 3]), scale=SCALES["0-3"])
    page = calibration_markdown(result)
    why = "people used one grade only, 3"
    assert f"| kappa, quadratic weights | undefined ({why}) | undefined |" in page
    assert "nan" not in page.lower()
    kappa = calibration_json(result)["figures"]["kappa"]
    assert (kappa["point"], kappa["why"]) == (None, why)
    assert "people used one grade only, 3: kappa is undefined" in page


def test_labels_made_by_rule_are_named_as_such(make):
    labels = [("q", f"d{i}", i % 4) for i in range(8)]
    judge = make.judge({d: g for _, d, g in labels})
    made = make.labels(labels, source=Source.RULE)
    page = calibration_markdown(calibrate_judge(judge, made, lambda d: Candidate(d, d)))
    assert "8 by rule" in page
    assert "say nothing about agreement with people" in page
    people = calibrate_judge(judge, make.labels(labels), lambda d: Candidate(d, d))
    assert "say nothing about agreement with people" not in calibration_markdown(people)


def test_failures_are_shown_by_kind(make):
    labels = [("q", f"d{i}", i % 4) for i in range(8)]
    judge = make.judge({d: g for _, d, g in labels} | {"d0": GradeError.BLOCKED})
    result = calibrate_judge(judge, make.labels(labels), lambda d: Candidate(d, d))
    assert "Without a grade: 1 of 8 (12.5%): 1 blocked" in calibration_markdown(result)
    assert calibration_json(result)["errors"] == {"blocked": 1}


def test_text_from_data_cannot_act_in_the_page(make):
    evil = "x | `rm` <img src=a> @team [l](u)\n# head"
    labels = [(evil, f"{evil}{i}", 3) for i in range(5)]
    judge = make.judge({d: 0 for _, d, _ in labels})
    result = calibrate_judge(judge, make.labels(labels), lambda d: Candidate(d, d))
    page = calibration_markdown(result)
    rows = [line for line in page.splitlines() if line.startswith("| text of x")]
    assert len(rows) == 5
    assert all(line.count("|") == 7 for line in rows)
    assert "<img" not in page
    assert "@team" not in page
    assert "`rm`" not in page.replace("\\`rm\\`", "")
    assert "\n# head" not in page


def test_the_json_is_plain_data_with_everything_the_page_has(make):
    human = [0, 1, 2, 3] * 50
    result = calibrate_pairs(make.pairs(human, human[::-1]), scale=SCALES["0-3"])
    data = json.loads(json.dumps(calibration_json(result), allow_nan=False))
    assert data["level"] == result.level
    assert data["figures"].keys() == result.figures.keys()
    assert data["table"] == [list(row) for row in result.table]
    assert data["labels"]["hash"] == result.label_set_hash
    assert data["interval"] == {
        "level": 0.95,
        "method": "expanded percentile",
        "resampled": "queries",
        "resamples": 2000,
        "seed": 0,
    }
    assert len(data["disagreements"]) == 20
    assert data["constants"][0]["name"] == "always relevant"
