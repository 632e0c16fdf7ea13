"""Real `_rank_eval` responses of Elasticsearch, reviewed.

Figures: README.md of the data folder `rank_eval_es`: P@k 0.8 in the response of Elasticsearch 7.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.types import Basis, RuleState, Verdict
from relgate.eval.runs.read import read_run


@pytest.fixture(scope="module")
def responses(shared: Path) -> Path:
    return shared / "data/rank_eval_es/responses"


def test_a_response_against_itself_is_flat_and_says_where_its_score_is_from(
    responses, reviewed, outcome
):
    run = read_run(responses / "response_2_es7.json")
    done = reviewed(None, run, run, change=ChangeDescription(intent="neutral"))
    assert done.evidence.basis is Basis.GIVEN
    assert done.evidence.main.before == 0.8
    assert outcome(done, "R4").state is RuleState.PASSED
    assert "same documents in the same order" in outcome(done, "R2").summary


def test_precision_is_no_evidence_for_a_query_template(responses, reviewed, outcome):
    run = read_run(responses / "response_2_es7.json")
    change = ChangeDescription(types=(ChangeType.QUERY_TEMPLATE,))
    done = reviewed(None, run, run, change=change)
    assert done.verdict is Verdict.REFUSE
    assert "what was supplied is precision" in outcome(done, "R1").findings[0].message


@pytest.mark.parametrize(("number", "same"), [(1, True), (3, False), (4, False)])
def test_a_response_of_6x_beside_one_of_7_is_compared_by_its_queries(
    responses, reviewed, outcome, number, same
):
    old = read_run(responses / f"response_{number}_old6x.json")
    new = read_run(responses / "response_2_es7.json")
    done = reviewed(None, old, new)
    alone = {q.id for q in old.queries} ^ {q.id for q in new.queries}
    named = {i for f in outcome(done, "R2").findings for i in f.queries}
    assert alone == named
    assert (not alone) is same
    assert (done.verdict is Verdict.REFUSE) is not same


def test_a_query_that_fails_after_is_blocked_with_the_engines_own_words(
    responses, reviewed, outcome, tmp_path
):
    before = read_run(responses / "response_2_es7.json")
    value = json.loads((responses / "response_2_es7.json").read_text("utf-8"))
    key = next(iter(value["details"]))
    value["details"] = {}
    value["metric_score"] = "NaN"
    value["failures"] = {key: {"error": {"type": "parsing_exception", "reason": "no [match]"}}}
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(value), "utf-8")
    done = reviewed(None, before, read_run(path, name="after"))
    (finding,) = outcome(done, "R12").findings
    assert finding.severity is Verdict.BLOCK
    assert "a drop of 0.80: parsing_exception: no [match]" in finding.message
    assert done.verdict is Verdict.REFUSE  # its mean is no number
