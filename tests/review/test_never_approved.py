"""Nothing that is not known is approved, and no honesty rule is passed in silence."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Provenance, Source
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import JudgeUse, RuleState, Verdict
from relgate.judge.families import check_circularity
from relgate.rubrics.errors import CircularityError

GRADES = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 0, "c": 3}}
GOOD = {"q1": ["a", "b", "c"], "q2": ["c", "a", "b"]}
BAD = {"q1": ["c", "b", "a"], "q2": ["b", "a", "c"]}
NEUTRAL = ChangeDescription(intent="neutral")


# --- honesty ---


def test_case_t06_a_judge_that_made_the_ranking_is_refused_or_named(
    case, make_list, make_run, reviewed
):
    found = case("T06")["input"]
    version, rankers = found["eval_judge"], [found["after_config"]["reranker_judge"]]
    with pytest.raises(CircularityError, match="also reranks") as caught:
        check_circularity(version=version, fingerprint=None, ranker_judges=rankers)
    assert caught.value.exit_code == 5
    said = check_circularity(
        version=version, fingerprint=None, ranker_judges=rankers, override=True
    )
    made = Provenance(Source.JUDGE, judge_version=version, fingerprint="f1", model="m")
    done = reviewed(
        make_list(GRADES, provenance=made),
        make_run(BAD),
        make_run(GOOD),
        change=ChangeDescription(system_models=(), ranker_judges=tuple(rankers)),
        judges=(JudgeUse(version, "f1", "m", "google", 6, None),),
        overrides=(said,),
    )
    assert said in done.headline
    verdict = review_markdown(done).partition("### Verdict")[2].partition("###")[0]
    assert "circularity overridden by name" in verdict
    assert review_document(done)["judge"]["overrides"] == [said]


def test_judge_made_grades_without_a_named_judge_never_pass(make_list, make_run, reviewed, outcome):
    made = Provenance(Source.JUDGE, judge_version="esci-v1@ab12cd34")
    done = reviewed(make_list(GRADES, provenance=made), make_run(BAD), make_run(GOOD))
    assert outcome(done, "R15").state is RuleState.FAILED
    assert done.verdict is Verdict.NEEDS_WORK


# --- nothing that is not known is approved ---


def _all_failed(names):
    return dict.fromkeys(names, "connection refused")


def test_a_clean_improvement_is_approved(make_list, make_run, reviewed):
    assert reviewed(make_list(GRADES), make_run(BAD), make_run(GOOD)).verdict is Verdict.APPROVE


def test_a_before_side_that_failed_everywhere_is_refused(make_list, make_run, rank_eval, reviewed):
    dead = make_run(dict.fromkeys(GOOD), failures=_all_failed(GOOD))
    assert reviewed(make_list(GRADES), dead, make_run(GOOD)).verdict is Verdict.REFUSE
    given = rank_eval("before", {}, failures={q: {"error": "x"} for q in GOOD})
    done = reviewed(None, given, rank_eval("after", dict.fromkeys(GOOD, 0.9)))
    assert done.verdict is Verdict.REFUSE


def test_a_before_side_of_empty_lists_is_refused(make_list, make_run, reviewed):
    empty = make_run(dict.fromkeys(GOOD, ()))
    assert reviewed(make_list(GRADES), empty, make_run(GOOD)).verdict is Verdict.REFUSE


def test_a_before_side_that_failed_in_part_is_not_approved(make_list, make_run, reviewed):
    half = make_run({"q1": ["c", "b", "a"], "q2": None}, failures=_all_failed(["q2"]))
    done = reviewed(make_list(GRADES), half, make_run(GOOD))
    assert done.verdict is Verdict.NEEDS_WORK
    assert "1 failed before" in done.headline


def test_an_after_side_that_failed_everywhere_blocks(make_list, make_run, reviewed):
    dead = make_run(dict.fromkeys(GOOD), failures=_all_failed(GOOD))
    assert reviewed(make_list(GRADES), make_run(GOOD), dead).verdict is Verdict.BLOCK


def test_both_sides_failed_everywhere_is_refused(make_list, make_run, reviewed):
    dead = make_run(dict.fromkeys(GOOD), failures=_all_failed(GOOD))
    assert reviewed(make_list(GRADES), dead, dead, change=NEUTRAL).verdict is Verdict.REFUSE


def test_an_empty_judgment_list_is_refused(make_list, make_run, reviewed):
    done = reviewed(make_list({}), make_run(BAD), make_run(GOOD))
    assert done.evidence.coverage.scored == 0
    assert done.verdict is Verdict.REFUSE


def test_one_query_says_that_it_is_one(make_list, make_run, reviewed):
    done = reviewed(
        make_list({"q1": GRADES["q1"]}), make_run({"q1": BAD["q1"]}), make_run({"q1": GOOD["q1"]})
    )
    assert "over 1 query" in done.headline
    assert "over 1 queries" not in review_markdown(done).partition("### Verdict")[2]
