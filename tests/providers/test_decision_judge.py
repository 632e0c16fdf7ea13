"""The judge over class probabilities: what it makes of them, and what it refuses to believe."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from relgate.cache import CachedJudge, open_store
from relgate.judge import Candidate, GradeError, Judge, Usage, make_llm_judge
from relgate.judge.decide import DecideReply, checked_probabilities
from relgate.judge.decisions import make_decision_judge
from relgate.judge.engine import CallPolicy
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import UsageError

ESCI = ("E", "S", "C", "I")
NAN, INF = math.nan, math.inf


def shares(*values):
    return dict(zip(ESCI, values, strict=True))


def judge_of(*rows, **settings):
    """A judge whose model always answers these rows, as many as were asked for."""
    asked = []

    async def decide(request):
        asked.append(request)
        return DecideReply(rows=rows[: len(request.questions)], usage=Usage(7, 3), model="d-1")

    judge = make_decision_judge(decide, **settings)
    judge.asked = asked
    return judge


def one(*rows, **settings):
    (hit,) = judge_of(*rows, **settings).grade_sync("red shoe", [Candidate("p", "a red shoe")])
    return hit


# --- what is believed


@pytest.mark.parametrize("values", [(0.7, 0.2, 0.05, 0.05), (1, 0, 0, 0), (0.25, 0.25, 0.25, 0.25)])
def test_probabilities_that_sum_to_one_are_taken_as_they_are(values):
    assert checked_probabilities(shares(*values).items(), codes=ESCI) == shares(*values)


def test_a_sum_that_rounding_explains_is_set_to_one():
    found = checked_probabilities(shares(0.33, 0.33, 0.33, 0.0).items(), codes=ESCI)
    assert found == pytest.approx(shares(1 / 3, 1 / 3, 1 / 3, 0))
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        shares(0.5, 0.2, 0.1, 0.1).items(),
        shares(0.7, 0.2, 0.1, 0.1).items(),
        shares(0, 0, 0, 0).items(),
        shares(NAN, 0.5, 0.25, 0.25).items(),
        shares(INF, 0, 0, 0).items(),
        shares(1.2, -0.2, 0, 0).items(),
        [("E", True), ("S", 0), ("C", 0), ("I", 0)],
        shares("1", 0, 0, 0).items(),
        shares(None, 0.5, 0.25, 0.25).items(),
        [("E", 0.7), ("S", 0.2), ("C", 0.1)],
        [*shares(0.7, 0.1, 0.1, 0.1).items(), ("X", 0.0)],
        [*shares(0.5, 0.1, 0.1, 0.1).items(), ("E", 0.2)],
        [*shares(1, 0, 0, 0).items(), (None, 0.0)],
        [("e", 1), ("s", 0), ("c", 0), ("i", 0)],
    ],
)
def test_anything_else_is_no_probabilities(pairs):
    assert checked_probabilities(pairs, codes=ESCI) is None


@pytest.mark.parametrize(("chosen", "good"), [("E", True), ("S", True), ("C", False), ("X", False)])
def test_a_choice_that_is_not_a_most_probable_label_contradicts_the_rest(chosen, good):
    pairs = shares(0.4, 0.4, 0.1, 0.1).items()
    assert (checked_probabilities(pairs, codes=ESCI, chosen=chosen) is not None) is good


# --- what it makes of them


def test_it_is_a_judge():
    assert isinstance(judge_of(), Judge)


@pytest.mark.parametrize(
    ("values", "esci", "grade"),
    [
        ((0.7, 0.2, 0.05, 0.05), "E", 3),
        ((0.1, 0.2, 0.3, 0.4), "I", 0),
        ((0.1, 0.5, 0.3, 0.1), "S", 2),
        ((0.4, 0.4, 0.1, 0.1), "S", 2),
        ((0.25, 0.25, 0.25, 0.25), "I", 0),
    ],
)
def test_the_grade_is_the_most_probable_label_s_and_of_equals_the_lower(values, esci, grade):
    hit = one(shares(*values))
    assert (hit.esci, hit.grade, hit.error) == (esci, grade, None)


@pytest.mark.parametrize(
    "case",  # probabilities, mean and variance by hand: E 3, S 2, C 1, I 0
    [
        ((0.7, 0.2, 0.05, 0.05), Fraction(255, 100), Fraction(6475, 10000)),
        ((0.25, 0.25, 0.25, 0.25), Fraction(3, 2), Fraction(5, 4)),
        ((1, 0, 0, 0), Fraction(3), Fraction(0)),
        ((0.5, 0, 0, 0.5), Fraction(3, 2), Fraction(9, 4)),
    ],
)
def test_expected_grade_and_spread_are_mean_and_deviation_under_the_probabilities(case):
    values, mean, variance = case
    hit = one(shares(*values))
    assert hit.expected_grade == pytest.approx(float(mean), abs=1e-12)
    assert hit.spread == pytest.approx(math.sqrt(variance), abs=1e-7)


def test_the_reason_says_that_there_is_none():
    hit = one(shares(0.71, 0.2, 0.05, 0.04))
    assert hit.reason == "no reason given by this API; P(E)=0.71 P(S)=0.20 P(C)=0.05 P(I)=0.04"


@pytest.mark.parametrize(
    "error", [GradeError.REFUSED, GradeError.BLOCKED, GradeError.UNREADABLE, GradeError.MISSING]
)
def test_a_row_without_probabilities_is_no_grade_and_has_no_expectation(error):
    hit = one(error)
    assert (hit.error, hit.reason, hit.grade) == (error, "judge-error", 0)
    assert (hit.expected_grade, hit.spread) == (None, None)


def test_what_is_asked_is_the_rubric_the_numbered_candidates_and_a_question_each():
    judge = judge_of(*[shares(1, 0, 0, 0)] * 2, model="m-1")
    judge.grade_sync("red  shoe", [Candidate("SKU-77", "a\nb"), Candidate("SKU-78", "c")])
    (asked,) = judge.asked
    rubric = load_rubric()
    assert asked.system == rubric.system
    assert asked.model == "m-1"
    head, noun, *lines = asked.prompt.split("\n")
    assert (head, noun) == ("Shopper query: red shoe", "Candidate products:")
    assert sorted(line[3:] for line in lines) == ["a b", "c"]
    assert [line[:3] for line in lines] == ["1. ", "2. "]
    assert asked.labels == (("E", "Exact"), ("S", "Substitute"), ("C", "Complement"),
                            ("I", "Irrelevant"))  # fmt: skip
    assert len(asked.questions) == 2
    assert [name for name, _ in asked.named_questions()] == ["candidate_1", "candidate_2"]
    assert "SKU" not in repr(asked)


def test_rows_come_back_in_the_caller_s_order_whatever_the_order_asked():
    async def decide(request):
        lines = request.prompt.split("\n")[2:]
        exact = [line.endswith("red shoe") for line in lines]
        return DecideReply(tuple(shares(1, 0, 0, 0) if e else shares(0, 0, 0, 1) for e in exact))

    judge = make_decision_judge(decide, batch_size=3)
    candidates = [Candidate(f"p{i}", f"{i} red shoe" if i % 2 else f"{i} hose") for i in range(10)]
    hits = judge.grade_sync("red shoe", candidates)
    assert [hit.id for hit in hits] == [c.id for c in candidates]
    assert [hit.esci for hit in hits] == ["E" if i % 2 else "I" for i in range(10)]


# --- versions


def test_the_version_is_the_rubric_s_and_the_fingerprint_is_not_the_llm_judge_s():
    rubric = load_rubric()
    judge = judge_of(model="gpt-x")
    assert judge.version == rubric.version
    assert judge.family == "openai"
    llm = make_llm_judge(lambda _: "", model="gpt-x", temperature=None)
    assert judge.fingerprint != llm.fingerprint


def test_what_shapes_an_answer_changes_the_fingerprint_and_nothing_else_does():
    rubric = load_rubric()
    other = replace(rubric, labels=tuple(replace(x, name=x.name.upper()) for x in rubric.labels))
    prints = [
        judge_of(**settings).fingerprint
        for settings in (
            {},
            {"model": "m-2"},
            {"batch_size": 5},
            {"endpoint": "http://h/v1"},
            {"rubric": other},
            {"rubric": replace(rubric, label_noun="class")},
        )
    ]
    assert len(set(prints)) == len(prints)
    assert judge_of(on_error=print, policy=CallPolicy(concurrency=1)).fingerprint == prints[0]


def test_a_batch_size_below_one_is_refused():
    with pytest.raises(UsageError, match="batch_size"):
        judge_of(batch_size=0)


# --- limits, and a way to the model that misbehaves


def test_calls_go_through_the_engine_with_its_counts_and_limits():
    judge = judge_of(*[shares(1, 0, 0, 0)] * 2, batch_size=2, policy=CallPolicy(max_calls=1))
    hits = judge.grade_sync("q", [Candidate(f"p{i}", f"t{i}") for i in range(4)])
    assert sorted(str(hit.error) for hit in hits) == ["None", "None", "not-asked", "not-asked"]
    stats = judge.engine.stats
    assert (stats.calls, stats.prompt_tokens, stats.completion_tokens) == (1, 7, 3)
    assert stats.models == {"d-1"}


def test_everything_that_is_sent_is_in_the_prompt_that_budgets_count():
    judge = judge_of()
    request = judge.request("q", ["a", "b"])
    assert "1. a\n2. b" in request.prompt
    assert "Judge candidate 2 alone" in request.prompt


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        DecideReply(rows=(None,)),
        DecideReply(rows=None),
        DecideReply(rows=({"E": 1.0},)),
        DecideReply(rows=({"E": 0.9, "S": 0.0, "C": 0.0, "I": 0.0},)),
        DecideReply(rows=()),
        RuntimeError("boom"),
    ],
)
def test_a_decide_of_one_s_own_may_return_anything_and_grading_never_raises(answer):
    async def decide(_):
        if isinstance(answer, Exception):
            raise answer
        return answer

    told = []
    judge = make_decision_judge(decide, on_error=told.append, policy=CallPolicy(backoff_s=0))
    (hit,) = judge.grade_sync("q", [Candidate("p", "t")])
    assert hit.error in {GradeError.PROVIDER, GradeError.UNREADABLE, GradeError.MISSING}
    assert told


def test_a_short_reply_leaves_the_last_ones_missing_and_shifts_none():
    asked = []

    async def decide(request):
        asked.append(request)
        return DecideReply(rows=(shares(0, 1, 0, 0),))

    judge = make_decision_judge(decide)
    hits = judge.grade_sync("q", [Candidate("a", "ta"), Candidate("b", "tb")])
    # the one left out is asked again alone
    assert [len(request.questions) for request in asked] == [2, 1]
    assert [hit.esci for hit in hits] == ["S", "S"]


def test_a_cached_row_keeps_expectation_and_spread_and_is_not_paid_for_again(tmp_path):
    judge = judge_of(shares(0.7, 0.2, 0.05, 0.05))
    store = open_store(tmp_path / "cache")
    try:
        first = CachedJudge(judge, store).grade_sync("q", [Candidate("p", "t")])
        again = CachedJudge(judge, store).grade_sync("q", [Candidate("p", "t")])
    finally:
        store.close()
    assert len(judge.asked) == 1
    assert (again[0].expected_grade, again[0].spread) == (first[0].expected_grade, first[0].spread)
    assert again[0].expected_grade == pytest.approx(2.55)
