"""The scores that come in the files are checked against ours, and every difference is said."""

from __future__ import annotations

import math

import pytest
from small_reviews import NOW, Scripted

from relgate.eval.catalogue import Catalogue
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.eval.report.phrases import measured_line
from relgate.eval.review_request import ReviewRequest
from relgate.eval.workflow import review_runs
from relgate.rubrics import load_rubric

GRADES = {f"q{i}": {"a": 3, "b": 0} for i in range(8)}
HITS = [{"hit": {"_id": "a"}, "rating": 3}, {"hit": {"_id": "b"}, "rating": 0}]


@pytest.fixture
def checks(make_list, rank_eval, reviewed):
    """The cross-checks of an after file with these scores; every ranking in it is perfect."""

    def run(scores: dict[str, float], **top: object) -> list[str]:
        def side(name: str, values: dict[str, float], **more: object):
            details = {
                q: {"metric_score": v, "unrated_docs": [], "hits": HITS} for q, v in values.items()
            }
            return rank_eval(name, details, **more)

        top = {"metric": "ndcg@10", **top}
        perfect = dict.fromkeys(scores, 1.0)
        done = reviewed(
            make_list(GRADES),
            side("before", perfect, metric="ndcg@10", metric_score=1.0),
            side("after", scores, **top),
        )
        assert "before: all" in done.evidence.cross_checks[0]
        return [said for said in done.evidence.cross_checks if said.startswith("after")]

    return run


def test_scores_that_are_ours_are_said_to_be(checks):
    assert checks({"q0": 1.0, "q1": 1.0}, metric_score=1.0) == [
        "after: all 3 scores in the file are reproduced"
    ]


def test_a_score_that_is_not_ours_is_named_with_both_figures(checks):
    said = checks({"q0": 1.0, "q1": 0.25}, metric_score=0.625)
    assert said[0].startswith('after: "q1" is 0.2500 in the file and 1.0000 here: unexplained')
    assert said[1].startswith("after: the aggregate is 0.6250 in the file and 1.0000 here")
    assert len(said) == 2


def test_many_are_counted(checks):
    said = checks(dict.fromkeys(GRADES, 0.25), metric_score=0.25)
    assert len(said) == 6
    assert said[-1] == "after: 4 more scores differ"  # 8 queries and the aggregate, 5 shown


def test_just_five_are_all_shown(checks):
    said = checks({f"q{i}": 0.25 if i < 4 else 1.0 for i in range(8)}, metric_score=0.625)
    assert len(said) == 5
    assert not any("more scores" in line for line in said)


def test_what_was_not_checked_is_said(checks):
    assert checks({"q0": 1.0}) == [
        "after: the file holds no aggregate",
        "after: all 1 scores in the file are reproduced",
    ]
    (said,) = checks({"q0": 1.0}, metric="expected_reciprocal_rank")
    assert "were not recomputed" in said


def test_a_run_without_scores_has_nothing_to_check(make_list, make_run, reviewed):
    run = make_run({"q0": ["a"]})
    assert reviewed(make_list(GRADES), run, run).evidence.cross_checks == ()


@pytest.mark.parametrize("fill", ["top-k", "all"])
def test_the_engine_is_held_to_the_list_that_it_had_not_to_the_filled_one(
    make_list, rank_eval, fill
):
    """A perfect second place once the judge has graded `x`: the engine could not know."""
    hits = [{"hit": {"_id": "x"}}, {"hit": {"_id": "a"}, "rating": 3}]
    score = 1 / math.log2(3)
    details = {"q0": {"metric_score": score, "unrated_docs": [{"_id": "x"}], "hits": hits}}
    sides = [
        rank_eval(name, details, metric="ndcg@10", metric_score=score)
        for name in ("before", "after")
    ]
    judge = Scripted({("q0", "x"): 3})
    request = ReviewRequest(
        Project(fill=fill, system_models=()),
        NOW,
        opened=OpenedJudge("scripted", judge, load_rubric("esci-v1")),
        catalogue=Catalogue({"x": ("x", {"title": "x"})}, path="-", format="jsonl", id_field="id"),
    )
    done = review_runs(make_list({"q0": {"a": 3}}), *sides, request)
    assert judge.asked == [("q0", "x")]
    assert done.review.evidence.main.after == 1.0
    assert done.review.evidence.cross_checks == (
        "before: all 2 scores in the file are reproduced",
        "after: all 2 scores in the file are reproduced",
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {}, ["the files do not say by which metric", "the files do not say at which k"]),
        ({"metric": "ndcg@10"}, {"metric": "ndcg@10"}, []),
        ({"metric": "ndcg@10"}, {"metric": "ndcg"}, ["the after file does not say at which k"]),
    ],
)
def test_scores_as_given_say_which_convention_the_file_leaves_open(
    rank_eval, reviewed, before, after, said
):
    scores = {"q0": 1.0, "q1": 0.5}
    sides = [
        rank_eval(name, scores, metric_score=0.75, **top)
        for name, top in (("before", before), ("after", after))
    ]
    line = measured_line(reviewed(None, *sides).evidence)
    assert "their own scores are used" in line
    assert [part for part in line.split("; ") if "not say" in part] == said
