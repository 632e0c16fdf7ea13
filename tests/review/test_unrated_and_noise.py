"""What is unrated out of what, and when a delta is noise."""

from __future__ import annotations

import pytest

from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import RuleState, Verdict

GRADES = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 2, "b": 0, "c": 3}}
GOOD = {"q1": ["a", "b", "c"], "q2": ["c", "a", "b"]}
BAD = {"q1": ["c", "b", "a"], "q2": ["b", "a", "c"]}
NEUTRAL = ChangeDescription(intent="neutral")


# --- unrated documents ---


def test_case_g05_three_unrated_of_three_is_all(of, case, rank_eval, reviewed):
    found = case("G05")["input"]
    detail = {
        "metric_score": 0.5,
        "hits": [{"hit": {"_id": doc}, "rating": None} for doc in found["hits"]],
        "unrated_docs": [{"_id": doc} for doc in found["unrated_docs"]],
    }
    done = reviewed(None, rank_eval("b", {"q1": detail}), rank_eval("a", {"q1": detail}))
    now = of(done, "q1").now
    assert now.unrated / now.returned == 1.0
    assert done.verdict is Verdict.REFUSE


def test_three_unrated_of_three_is_all_when_recomputed(make_list, make_run, reviewed):
    run = make_run({"q1": ["u1", "u2", "u3"], "q2": ["u1", "u2", "u3"]})
    done = reviewed(make_list(GRADES), make_run(GOOD), run)
    assert done.evidence.coverage.now.mean_after == 1.0
    assert done.verdict is Verdict.REFUSE


@pytest.mark.parametrize(
    ("detail", "k", "expected"),
    [
        ({"unrated_docs": ["u1", "u2"]}, {}, (10, 2)),  # nothing listed: of k
        ({"unrated_docs": ["u1", "u2"]}, {"metric": "ndcg@20"}, (20, 2)),  # k of the file
        ({"unrated_docs": ["u1", "u1"]}, {}, (10, 1)),  # a repeat is one document
        ({"unrated_docs": [], "hits": []}, {}, (0, 0)),  # zero hits are no hits
        ({"unrated_docs": ["u1", "far"], "hits": [{"hit": {"_id": "u1"}}]}, {}, (1, 1)),
    ],
)
def test_what_is_unrated_out_of_what(of, rank_eval, reviewed, *, detail, k, expected):
    runs = [rank_eval(n, {"q1": {"metric_score": 0.5, **detail}}, **k) for n in ("b", "a")]
    now = of(reviewed(None, *runs), "q1").now
    assert (now.returned, now.unrated) == expected
    assert now.unrated_known


def test_a_file_without_unrated_lists_does_not_tell(rank_eval, reviewed, outcome):
    runs = [rank_eval(n, {"q1": s}, unrated=None) for n, s in (("b", 0.5), ("a", 0.9))]
    done = reviewed(None, *runs)
    assert not done.evidence.coverage.now.known
    assert outcome(done, "R8").state is RuleState.NOT_CHECKED
    assert done.verdict is Verdict.NEEDS_WORK
    assert any(action.startswith("Give R8 its input") for action in done.actions)


# --- noise ---


@pytest.fixture
def replay(make_list, make_run):
    """One configuration replayed: ties fall the other way on 8 of `n` queries, 4 up and 4 down."""

    def build(n: int):
        grades = {f"q{i}": {"a": 3, "b": 2, "c": 1} for i in range(n)}
        straight, swapped = ["a", "b", "c"], ["b", "a", "c"]
        ranked = [
            {f"q{i}": swapped if i in places else straight for i in range(n)}
            for places in (range(4), range(4, 8))
        ]
        return make_list(grades), *map(make_run, ranked)

    return build


def test_case_g01_a_replay_of_one_configuration_is_inside_the_noise(replay, reviewed, outcome):
    done = reviewed(*replay(200), change=NEUTRAL)
    found = outcome(done, "R17")
    assert "inside the noise" in found.summary
    assert "not distinguishable from noise" in done.headline
    assert done.evidence.noise.p == 1.0  # four up, four down, all equal: the mean delta is 0
    assert "preference" in found.findings[0].message
    assert "sort" in found.findings[0].message
    assert "preference" in review_markdown(done)
    claimed = reviewed(*replay(200), change=ChangeDescription(intent="improve"))
    assert claimed.verdict is Verdict.NEEDS_WORK
    assert "inside the noise" in claimed.headline


@pytest.mark.parametrize(("n", "state"), [(29, RuleState.NOT_CHECKED), (30, RuleState.PASSED)])
def test_noise_is_told_from_thirty_queries_on(replay, reviewed, outcome, n, state):
    assert outcome(reviewed(*replay(n), change=NEUTRAL), "R17").state is state


@pytest.mark.parametrize("intent", ["neutral", "improve"])
def test_case_g01_ties_that_another_replica_breaks_otherwise_are_noise_and_that_is_said(
    case, make_list, make_run, reviewed, intent
):
    given = case("G01")
    assert given["input"]["diff"] == "tie order differs on 8 of 200 queries"
    assert given["right"]["expect"]["verdict"] == "not distinguishable from noise"
    queries = [f"q{i}" for i in range(200)]
    graded = {"a": 3, "b": 2, "c": 0}
    one = {q: ["a", "b", "c"] if i % 2 else ["b", "a", "c"] for i, q in enumerate(queries)}
    other = {q: [docs[1], docs[0], docs[2]] if i < 8 else docs  # 4 gain, 4 lose
             for i, (q, docs) in enumerate(one.items())}  # fmt: skip
    done = reviewed(
        make_list(dict.fromkeys(queries, graded)),
        make_run(one),
        make_run(other),
        change=ChangeDescription(intent=intent),
    )
    (said,) = [f.message for f in done.findings if f.rule == "R17"]
    assert "inside the noise" in said
    assert "preference" in said + (done.findings[-1].advice or "") + str(done.actions)
    assert done.verdict is (Verdict.APPROVE if intent == "neutral" else Verdict.NEEDS_WORK)
