"""Head and critical marks, traffic weights, and ids that meet."""

from __future__ import annotations

import pytest

from relgate.eval.lists.types import Query
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import RuleState, Verdict

GRADES = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 0, "c": 3}}
GOOD = {"q1": ["a", "b", "c"], "q2": ["c", "a", "b"]}
BAD = {"q1": ["c", "b", "a"], "q2": ["b", "a", "c"]}
NEUTRAL = ChangeDescription(intent="neutral")


# --- marks and weights ---


@pytest.mark.parametrize("name", ["q1", "red shoe"])
def test_heads_meet_by_id_and_by_text(make_list, make_run, reviewed, name):
    q1 = Query("q1", "red shoe")
    judgments = make_list({q1: GRADES["q1"], "q2": GRADES["q2"]})
    done = reviewed(
        judgments, make_run(GOOD), make_run(BAD), heads=frozenset({name}), heads_given=True
    )
    assert [q.head for q in done.evidence.queries] == [True, False]
    assert done.evidence.heads_missing == ()
    assert 'head query "red shoe" dropped' in review_markdown(done)


def test_head_and_critical_queries_that_no_run_has_are_missing(make_list, make_run, reviewed):
    done = reviewed(
        make_list({**GRADES, "listed": {"a": 3}}),
        make_run(BAD),
        make_run(GOOD),
        heads=frozenset({"q1", "typo"}),
        critical=frozenset({"listed"}),
        heads_given=True,
    )
    assert done.evidence.heads_missing == ("listed", "typo")
    assert done.verdict is Verdict.NEEDS_WORK
    assert "typo" in done.headline


def test_a_head_list_that_names_nobody_is_said(make_list, make_run, reviewed, outcome):
    done = reviewed(make_list(GRADES), make_run(BAD), make_run(GOOD), heads_given=True)
    assert outcome(done, "R6").state is RuleState.NOT_CHECKED


def test_traffic_weights_give_a_second_mean_and_the_macro_mean_gates(
    of, make_list, make_run, reviewed
):
    after = {"q1": GOOD["q1"], "q2": BAD["q2"]}
    done = reviewed(
        make_list(GRADES), make_run(GOOD), make_run(after), weights={"q1": 3.0, "q2": 1.0}
    )
    main, q2 = done.evidence.main, of(done, "q2")
    assert main.after == pytest.approx((1 + q2.after) / 2)
    assert main.weighted_after == pytest.approx((3 + q2.after) / 4)
    assert "traffic-weighted" in review_markdown(done)
    assert review_document(done)["aggregate"]["ndcg"]["weighted_after"] == pytest.approx(
        main.weighted_after, abs=1e-6
    )


@pytest.mark.parametrize(
    ("weights", "said", "weighted"),
    [
        ({"q1": 2.0}, "1 of 2 queries have no traffic weight: they weigh 0", True),
        ({"typo": 2.0}, "2 of 2 queries have no traffic weight: no traffic-weighted mean", False),
        ({"q1": 2.0, "q2": 1.0}, None, True),
        ({}, None, False),
    ],
)
def test_queries_without_a_weight_are_said(
    make_list, make_run, reviewed, *, weights, said, weighted
):
    done = reviewed(make_list(GRADES), make_run(BAD), make_run(GOOD), weights=weights)
    assert [w for w in done.evidence.warnings if "weight" in w] == ([said] if said else [])
    assert (done.evidence.main.weighted_after is not None) is weighted


def test_ids_in_nfc_and_nfd_meet(make_list, make_run, reviewed):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    done = reviewed(
        make_list({composed: {f"doc {decomposed}": 3, "b": 0}}),
        make_run({decomposed: ["b", f"doc {composed}"]}),
        make_run({composed: [f"doc {composed}", f"doc {decomposed}", "b"]}),
        heads=frozenset({decomposed}),
        heads_given=True,
    )
    (found,) = done.evidence.queries
    assert found.head
    assert found.after == pytest.approx(1.0)  # the repeat counts once
    assert (found.now.returned, found.now.unrated) == (2, 0)
    assert (found.was.best_rank, found.now.best_rank) == (2, 1)
    assert done.evidence.heads_missing == ()


@pytest.mark.parametrize(("grade", "rank"), [(1, None), (2, 2), (3, 2)])
def test_the_best_document_must_be_relevant(of, make_list, make_run, reviewed, *, grade, rank):
    run = make_run({"q1": ["b", "a"]})
    done = reviewed(make_list({"q1": {"a": grade, "b": 0}}), run, run)
    assert of(done, "q1").now.best_rank == rank


def test_a_repeat_holds_its_rank(of, make_list, make_run, reviewed):
    ranked = ["b", "b", "b", "a"]
    done = reviewed(make_list(GRADES), make_run(GOOD), make_run({**GOOD, "q1": ranked}))
    assert of(done, "q1").now.best_rank == 4
    assert of(done, "q1").now.returned == 2
