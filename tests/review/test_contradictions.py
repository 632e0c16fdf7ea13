"""A file of scores that contradicts itself, or the other side's, proves nothing."""

from __future__ import annotations

import pytest

from relgate.eval.review.types import Basis, Verdict

HITS = [{"hit": {"_id": "a"}, "rating": 3}]
FINE = {f"q{i}": {"metric_score": 0.5, "unrated_docs": [], "hits": HITS} for i in range(40)}


def _findings(done, rule: str) -> list[str]:
    return [f.message for f in done.findings if f.rule == rule]


def test_sound_files_are_not_held_against_themselves(rank_eval, reviewed):
    done = reviewed(None, rank_eval("before", FINE), rank_eval("after", FINE))
    assert done.evidence.basis is Basis.GIVEN
    assert _findings(done, "R2") == _findings(done, "R3") == []


def test_a_score_above_zero_on_no_hits_is_refused_by_name(rank_eval, reviewed):
    bad = {**FINE, "q7": {"metric_score": 0.9, "unrated_docs": [], "hits": []}}
    done = reviewed(None, rank_eval("before", FINE), rank_eval("after", bad))
    assert done.verdict is Verdict.REFUSE
    assert '"q7" scores 0.9000 in the after file and returned nothing' in _findings(done, "R3")


def test_zero_on_no_hits_is_no_contradiction(rank_eval, reviewed):
    empty = {**FINE, "q7": {"metric_score": 0.0, "unrated_docs": [], "hits": []}}
    done = reviewed(None, rank_eval("before", FINE), rank_eval("after", empty))
    assert _findings(done, "R3") == []


@pytest.mark.parametrize("word", [float("nan"), float("inf")])
def test_a_given_score_that_is_no_number_counts_even_where_scores_are_recomputed(
    make_list, rank_eval, reviewed, word
):
    bad = {**FINE, "q7": {**FINE["q7"], "metric_score": word}}
    done = reviewed(
        make_list({q: {"a": 3} for q in FINE}),
        rank_eval("before", FINE),
        rank_eval("after", bad),
    )
    assert done.evidence.basis is Basis.RECOMPUTED
    assert done.verdict is Verdict.REFUSE
    assert _findings(done, "R3") == [f'the score of "q7" in the after file is {word}, not a number']


def test_files_rated_by_two_lists_are_not_compared(rank_eval, reviewed):
    other = {**FINE, "q7": {**FINE["q7"], "hits": [{"hit": {"_id": "a"}, "rating": 1}]}}
    done = reviewed(None, rank_eval("before", FINE), rank_eval("after", other))
    assert done.verdict is Verdict.REFUSE
    assert any('a of "q7" is 3 before and 1 after' in said for said in _findings(done, "R2"))


def test_with_a_list_of_our_own_their_ratings_do_not_matter(make_list, rank_eval, reviewed):
    other = {**FINE, "q7": {**FINE["q7"], "hits": [{"hit": {"_id": "a"}, "rating": 1}]}}
    done = reviewed(
        make_list({q: {"a": 3} for q in FINE}),
        rank_eval("before", FINE),
        rank_eval("after", other),
    )
    assert _findings(done, "R2") == []


def test_a_list_that_rates_otherwise_than_the_files_counts_and_that_is_said(
    make_list, rank_eval, reviewed
):
    done = reviewed(
        make_list({q: {"a": 1 if q in {"q7", "q8"} else 3} for q in FINE}),
        rank_eval("before", FINE),
        rank_eval("after", FINE),
    )
    said = [line for line in done.evidence.warnings if "other ratings than the list" in line]
    assert len(said) == 2
    assert said[1].startswith("after: ")
    assert '2 documents: a of "q7" is 3 there and 1 in the list' in said[0]


def test_ratings_of_another_scale_are_not_held_against_the_list(make_list, rank_eval, reviewed):
    hundred = {q: {**FINE[q], "hits": [{"hit": {"_id": "a"}, "rating": 100}]} for q in FINE}
    done = reviewed(
        make_list({q: {"a": 3} for q in FINE}),
        rank_eval("before", hundred),
        rank_eval("after", hundred),
    )
    assert not any("other ratings" in line for line in done.evidence.warnings)


def test_repeated_documents_are_counted_in_the_report(make_list, make_run, reviewed):
    queries = [f"q{i}" for i in range(40)]
    done = reviewed(
        make_list({q: {"a": 3, "b": 0} for q in queries}),
        make_run({q: ["b", "a"] for q in queries}, "before"),
        make_run({q: ["a", "b"] if q != "q3" else ["a", "a"] for q in queries}, "after"),
    )
    assert "after: 1 repeated document counts once, at the first rank" in done.evidence.warnings
