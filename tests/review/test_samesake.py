"""Real evaluations of a fashion search by an LLM judge: another prompt, a regression, a swap.

Figures: README.md of the data folder `samesake_runs`. Per-document grades are not in it, so the
scores of its files are reviewed as given; a file has the shape of a `_rank_eval` response.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.types import RuleState, Verdict
from relgate.eval.runs.read import read_run


@pytest.fixture(scope="module")
def rows(shared: Path):
    with (shared / "data/samesake_runs/per_query.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture
def evaluation(rows, tmp_path):
    """One evaluation as a file, by the end of its name; `top` stands beside the details."""

    def build(phase: str, **top):
        own = [row for row in rows if row["run"].endswith(f"-search-{phase}")]
        details = {
            row["query_id"]: {
                "metric_score": float(row["ndcg"]),
                "hits": [{"hit": {"_id": d}} for d in row["top_ids"].split("|") if d],
            }
            for row in own
        }
        mean = sum(float(row["ndcg"]) for row in own) / len(own)
        value = {"metric": "ndcg@5", "metric_score": mean, "details": details, **top}
        path = tmp_path / f"{phase}.json"
        path.write_text(json.dumps(value), "utf-8")
        return read_run(path, name=phase)

    return build


@pytest.fixture
def judged_anew(evaluation):
    return evaluation("grounded-main-mi"), evaluation("grounded-main-judge-v2")


def test_a_gain_that_only_another_judge_prompt_made_is_refused(judged_anew, reviewed, outcome):
    """98.7 % of the queries list the same five documents, and NDCG rises 0.837 to 0.887."""
    done = reviewed(None, *judged_anew, change=ChangeDescription(types=(ChangeType.ANALYZER,)))
    main = done.evidence.main
    assert (round(main.before, 3), round(main.after, 3)) == (0.837, 0.887)
    assert done.verdict is Verdict.REFUSE
    (finding,) = outcome(done, "R2").findings
    share = finding.figures["queries"] / len(done.evidence.queries)
    assert round(100 * share, 1) == 98.7
    assert "different lists or judges" in done.headline
    assert outcome(done, "R4").state is RuleState.PASSED  # the mean alone would have let it pass


def test_judge_versions_that_the_files_state_are_compared(evaluation, reviewed, outcome):
    before = evaluation("tier0post", judge_version="gemini-3.1-flash-lite")
    after = evaluation("p0honesty", judge_version="gpt-4.1-mini")
    done = reviewed(None, before, after)
    assert done.verdict is Verdict.REFUSE
    said = " ".join(f.message for f in outcome(done, "R2").findings)
    assert "judge_version 'gemini-3.1-flash-lite' before, 'gpt-4.1-mini' after" in said


def test_a_real_regression_is_blocked(evaluation, reviewed, outcome):
    """aspects on: NDCG 0.870 to 0.830, 10.4 % of the queries drop by more than 0.10."""
    done = reviewed(
        None,
        evaluation("aspects-baseline"),
        evaluation("aspects-on"),
        change=ChangeDescription(types=(ChangeType.QUERY_TEMPLATE,), intent="improve"),
    )
    main = done.evidence.main
    assert (round(main.before, 3), round(main.after, 3)) == (0.87, 0.83)
    assert "10.4 %" in outcome(done, "R5").summary
    assert outcome(done, "R5").state is RuleState.FAILED
    assert outcome(done, "R4").findings[0].severity is Verdict.BLOCK
