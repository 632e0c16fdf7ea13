"""What the rules get to look at: where scores come from, which queries count, how they meet."""

from __future__ import annotations

import json
from math import isnan, log2

import pytest

from relgate.eval.metrics.conventions import Conventions
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.evidence import Extras, build_evidence
from relgate.eval.review.types import Basis, Verdict
from relgate.eval.runs.read import read_run
from relgate.rubrics.errors import InputError

GRADES = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 0, "c": 3}}
GOOD = {"q1": ["a", "b", "c"], "q2": ["c", "a", "b"]}
BAD = {"q1": ["c", "b", "a"], "q2": ["b", "a", "c"]}
NEUTRAL = ChangeDescription(intent="neutral")


# --- where the scores come from ---


def test_with_a_list_and_documents_everything_is_recomputed(of, make_list, make_run, reviewed):
    done = reviewed(make_list(GRADES), make_run(BAD), make_run(GOOD))
    assert done.evidence.basis is Basis.RECOMPUTED
    assert done.evidence.main.key == "ndcg"
    # DCG by hand: gains 7, 1, 0 at ranks 3, 2, 1 over the ideal 7, 1, 0 at ranks 1, 2, 3
    by_hand = (1 / log2(3) + 7 / log2(4)) / (7 + 1 / log2(3))
    assert of(done, "q1").before == pytest.approx(by_hand)
    assert of(done, "q1").after == pytest.approx(1.0)
    assert {a.key for a in done.evidence.aggregates} >= {"ndcg", "mrr", "precision"}


def test_binary_labels_gate_on_mrr(make_list, make_run, reviewed):
    grades = {"q1": {"a": 1, "b": 0}}
    done = reviewed(
        make_list(grades, scale="0-1"),
        make_run({"q1": ["b", "a"]}),
        make_run({"q1": ["a", "b"]}),
        conventions=Conventions(floor=1),
    )
    assert done.evidence.main.key == "mrr"
    assert (done.evidence.main.before, done.evidence.main.after) == (0.5, 1.0)


@pytest.mark.parametrize("with_list", [True, False])
def test_without_documents_or_list_the_given_scores_are_used_and_it_is_said(
    make_list, rank_eval, reviewed, *, with_list
):
    done = reviewed(
        make_list(GRADES) if with_list else None,
        rank_eval("before", {"q1": 0.5, "q2": 0.7}),
        rank_eval("after", {"q1": 0.6, "q2": 0.8}),
    )
    assert done.evidence.basis is Basis.GIVEN
    assert done.evidence.main.delta == pytest.approx(0.1)
    assert "recomputation is impossible" in review_markdown(done)
    assert review_document(done)["conventions"]["basis"] == "as given in the files"


def test_one_bare_query_makes_the_whole_review_rest_on_given_scores(
    of, make_list, rank_eval, reviewed
):
    hits = [{"hit": {"_id": "a"}, "rating": 3}]
    full = {"metric_score": 0.5, "unrated_docs": [], "hits": hits}
    done = reviewed(
        make_list(GRADES),
        rank_eval("before", {"q1": full, "q2": full}),
        rank_eval("after", {"q1": full, "q2": 0.9}),
    )
    assert done.evidence.basis is Basis.GIVEN
    assert of(done, "q2").after == 0.9


def test_documents_without_a_list_or_scores_cannot_be_reviewed(make_run, reviewed):
    with pytest.raises(InputError, match=r"no scores of its own.*--judgments"):
        reviewed(None, make_run(BAD), make_run(GOOD))


def test_a_given_aggregate_that_is_not_the_mean_of_the_details_is_told(rank_eval, reviewed):
    few = {"q1": 0.5, "q2": 0.6}
    done = reviewed(
        None,
        rank_eval("before", few, metric_score=0.70),
        rank_eval("after", few, metric_score=0.75),
    )
    assert not done.evidence.covers_all
    assert done.evidence.main.n is None
    assert done.evidence.noise is None
    assert "not all that this mean is over" in review_markdown(done)


def test_the_mean_of_a_few_details_is_not_compared_with_the_mean_of_all(rank_eval, reviewed):
    few = {"q1": 0.9, "q2": 0.9}
    done = reviewed(None, rank_eval("before", few, metric_score=0.70), rank_eval("after", few))
    assert isnan(done.evidence.main.after)
    assert done.verdict is Verdict.REFUSE


# --- which queries count ---


def test_judged_queries_that_no_run_has_are_left_out_and_counted(make_list, make_run, reviewed):
    grades = {**GRADES, "q9": {"a": 3}, "q10": {"a": 3}}
    done = reviewed(make_list(grades), make_run(BAD), make_run(GOOD))
    assert [q.query.id for q in done.evidence.queries] == ["q1", "q2"]
    assert done.evidence.main.n == 2
    assert done.evidence.main.after == pytest.approx(1.0)
    assert done.evidence.coverage.list_only == 2
    assert done.evidence.coverage.judgments == 6
    assert "2 judged queries in neither run, left out" in review_markdown(done)


def test_a_query_without_an_ideal_is_reported_apart(of, make_list, make_run, reviewed):
    grades = {**GRADES, "q3": {"a": 0}}
    runs = [make_run({**ranked, "q3": ["a"]}) for ranked in (BAD, GOOD)]
    apart = reviewed(make_list(grades), *runs)
    assert (apart.evidence.main.n, apart.evidence.coverage.no_ideal) == (2, 1)
    assert of(apart, "q3").no_ideal
    assert "1 without a judgment above grade 0 reported apart" in review_markdown(apart)
    zero = reviewed(make_list(grades), *runs, conventions=Conventions(no_ideal="zero"))
    assert (zero.evidence.main.n, zero.evidence.coverage.no_ideal) == (3, 1)
    assert of(zero, "q3").after == 0.0
    assert "1 without a judgment above grade 0 counted as 0" in review_markdown(zero)


@pytest.mark.parametrize("no_ideal", ["apart", "zero"])
def test_nothing_but_queries_without_an_ideal_is_refused(make_list, make_run, reviewed, no_ideal):
    run = make_run({"q1": ["a"], "q2": ["a"]})
    done = reviewed(
        make_list({"q1": {"a": 0}, "q2": {"a": 0}}),
        run,
        run,
        conventions=Conventions(no_ideal=no_ideal),
        change=NEUTRAL,
    )
    assert done.verdict is Verdict.REFUSE


def test_unjudged_queries_are_counted_and_not_scored(of, make_list, make_run, reviewed):
    runs = [make_run({**ranked, "q3": ["x", "y"]}) for ranked in (BAD, GOOD)]
    done = reviewed(make_list(GRADES), *runs)
    assert done.evidence.coverage.unjudged == 1
    assert done.evidence.main.n == 2
    assert of(done, "q3").now.unrated == 2
    assert "1 query without any judgment" in review_markdown(done)


@pytest.mark.parametrize("score", ["NaN", float("nan"), None, "Infinity"])
def test_a_score_that_is_no_number_is_refused(rank_eval, reviewed, score):
    fine = {f"q{i}": 0.5 for i in range(40)}
    done = reviewed(
        None, rank_eval("before", fine), rank_eval("after", {**fine, "q7": {"metric_score": score}})
    )
    assert done.verdict is Verdict.REFUSE
    assert "q7" in done.headline
    json.dumps(review_document(done), allow_nan=False)


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_query_absent_on_one_side_is_refused(make_list, make_run, reviewed, side):
    cut = {"q1": GOOD["q1"]}
    ranked = {"before": GOOD, "after": GOOD, side: cut}
    done = reviewed(make_list(GRADES), make_run(ranked["before"]), make_run(ranked["after"]))
    assert done.verdict is Verdict.REFUSE
    assert f"the {side} side lacks" in done.headline


def test_case_g02_a_query_that_moved_to_failures_blocks(of, case, tmp_path, reviewed, outcome):
    found = case("G02")
    runs = []
    for side in ("before", "after"):
        path = tmp_path / f"{side}.json"
        path.write_text(json.dumps(found["input"][side]))
        runs.append(read_run(path, name=side))
    done = reviewed(None, *runs)
    assert done.verdict.word.casefold() == found["right"]["expect"]["verdict"]
    assert of(done, "q2").after == 0.0
    assert of(done, "q2").delta == pytest.approx(-0.8)
    # means by hand: (.9 + .8) / 2 and (.95 + 0) / 2
    assert done.evidence.main.before == pytest.approx(0.85)
    assert done.evidence.main.after == pytest.approx(0.475)
    assert "a drop of 0.80: parsing_exception" in outcome(done, "R12").findings[0].message
    markdown = review_markdown(done)
    assert '| "q2" | 0.80 | 0.00 | **-0.80** ✗ |' in markdown
    assert "parsing\\_exception" in markdown


def test_an_aggregate_that_leaves_failed_queries_out_is_not_taken(rank_eval, reviewed):
    # Elasticsearch averages what did not fail: .95 looks better than .85
    done = reviewed(
        None,
        rank_eval("before", {"q1": 0.9, "q2": 0.8}, metric_score=0.85),
        rank_eval("after", {"q1": 0.95}, metric_score=0.95, failures={"q2": {"error": "x"}}),
    )
    assert done.evidence.main.after == pytest.approx(0.475)
    assert done.verdict is Verdict.BLOCK


def test_a_failed_query_counts_as_zero_when_recomputed(of, make_list, make_run, reviewed):
    after = make_run({"q1": ["a", "b", "c"], "q2": None}, failures={"q2": "timeout"})
    done = reviewed(make_list(GRADES), make_run(GOOD), after)
    assert done.evidence.basis is Basis.RECOMPUTED
    assert of(done, "q2").after == 0.0
    assert done.evidence.main.after == pytest.approx(0.5)
    assert done.verdict is Verdict.BLOCK
    assert of(done, "q2").now.error == "timeout"


def test_case_g03_differing_settings_are_refused(case, rank_eval, reviewed):
    found = case("G03")
    scores = {"q1": 0.5, "q2": 0.6}
    done = reviewed(
        None,
        rank_eval("before", scores, **found["input"]["before"]),
        rank_eval("after", {"q1": 0.9, "q2": 0.9}, **found["input"]["after"]),
    )
    assert done.verdict.word.casefold() == found["right"]["expect"]["verdict"]
    assert "k 10 before, 20 after" in done.headline
    assert "normalized False before, True after" in done.headline


def test_what_the_readers_noted_is_in_the_report(make_list, make_run, reviewed):
    after = make_run(GOOD, name="after", notes=("2 documents have equal scores",))
    done = reviewed(make_list(GRADES), make_run(BAD), after, warnings=("said before",))
    said = ["said before", "after: 2 documents have equal scores"]
    assert review_document(done)["warnings"] == said
    assert "after: 2 documents have equal scores" in review_markdown(done)


def test_build_evidence_without_extras_knows_no_head_no_change(make_list, make_run):
    found = build_evidence(make_list(GRADES), make_run(BAD), make_run(GOOD), Conventions())
    assert (found.change, found.has_heads, found.judges) == (None, False, ())
    assert found == build_evidence(
        make_list(GRADES), make_run(BAD), make_run(GOOD), Conventions(), Extras()
    )
