"""The verdict is the worst finding or cap, and its headline says why in R4's words."""

from __future__ import annotations

import pytest

from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Noise, Verdict
from relgate.eval.review.verdict import review
from relgate.rubrics.errors import UsageError

DEAD = {"error": "timeout", "returned": 0}


@pytest.mark.parametrize(
    ("after", "word", "verdict"),
    [
        (0.52, "improved", Verdict.APPROVE),
        (0.5199, "flat", Verdict.NEEDS_WORK),
        (0.49, "flat", Verdict.NEEDS_WORK),
        (0.4899, "dropped", Verdict.BLOCK),
    ],
)
def test_the_mean_alone(evidence, many, after, word, verdict):
    done = review(evidence(*many(20), mean=(0.5, after)))
    assert done.verdict is verdict
    assert done.headline.startswith(f"aggregate {word}, {after - 0.5:+.4f} (0.5000 to {after:.4f})")
    assert "over 20 queries" in done.headline
    assert done.headline.endswith("every rule that could run passed") is (word == "improved")


def test_an_approval_on_too_few_queries_says_that_chance_was_not_looked_at(evidence, many):
    few = review(evidence(*many(20), mean=(0.5, 0.6)))
    told = Noise(p=0.01, low=0.05, high=0.15, detectable=0.04, n=30)
    enough = review(evidence(*many(30), mean=(0.5, 0.6), noise=told))
    said = "not held against chance (R17: 20 queries scored on both sides; 30 are needed)"
    assert said in few.headline
    assert "chance" not in enough.headline


def test_the_words_follow_the_settings(evidence, many):
    settings = ReviewSettings(max_mean_drop=0.1, min_improvement=0.2)
    for after, word in ((0.45, "flat"), (0.65, "flat"), (0.75, "improved"), (0.35, "dropped")):
        assert (
            f"aggregate {word},"
            in review(evidence(*many(20), mean=(0.5, after)), settings).headline
        )


def test_what_broke_comes_first_and_a_rise_is_no_excuse(evidence, many, query):
    found = evidence(
        *many(10, -0.2, -0.2, -0.2),
        query("head", 0.9, 0.7, head=True),
        query("dead", 0.8, 0.0, now=DEAD),
        mean=(0.5, 0.6),
        has_heads=True,
    )
    done = review(found)
    assert done.verdict is Verdict.BLOCK
    parts = [
        "improved",
        ", but 1 query fails",
        '1 head query regressed ("head" -0.20)',
        "dropped by",
    ]
    places = [done.headline.index(part) for part in parts]
    assert places == sorted(places)


def test_a_fall_is_joined_and_not_opposed(evidence, many):
    fallen = review(evidence(*many(10, -0.2, -0.2), mean=(0.5, 0.45)))
    assert ", and 2 of 10 queries" in fallen.headline
    level = review(evidence(*many(10, -0.2, 0.2), mean=(0.5, 0.5)))
    assert ", but 1 of 10 queries" in level.headline


def test_a_cap_is_the_verdict_when_nothing_fails_and_says_which_rule(evidence, query):
    bare = {"returned": 0, "unrated_known": False}
    done = review(evidence(query("a", 0.5, 0.9, was=bare, now=bare)))
    assert done.verdict is Verdict.NEEDS_WORK
    assert "but R8 could not run:" in done.headline
    assert [a for a in done.actions if a.startswith("Give R8 its input: ")] == list(done.actions)


def test_a_note_is_no_finding_against(evidence, many):
    found = evidence(*many(20), mean=(0.5, 0.6), overrides=("family overridden by name: x",))
    done = review(found)
    assert done.verdict is Verdict.APPROVE
    assert done.headline.endswith("(family overridden by name: x)")
    assert [f.severity for f in done.findings] == [Verdict.APPROVE]


def test_findings_come_worst_first(evidence, many, query):
    done = review(evidence(*many(10, -0.5), query("dead", 0.8, 0.0, now=DEAD)))
    severities = [f.severity for f in done.findings]
    assert severities == sorted(severities, reverse=True)
    assert len(severities) > 2


def test_each_rule_has_one_outcome_in_the_rules_order(evidence, many):
    rules = [o.rule for o in review(evidence(*many(3))).outcomes]
    assert rules == sorted(set(rules), key=lambda rule: int(rule[1:]))


def test_a_refusal_advises_only_what_makes_a_verdict_possible(evidence, query):
    stale = [query(f"q{i}", 0.9, 0.2, now={"unrated": 10}) for i in range(5)]
    done = review(evidence(*stale, change=ChangeDescription(intent="improve")))
    assert done.verdict is Verdict.REFUSE
    assert len(done.actions) == 1
    assert "efresh the judgments" in done.actions[0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, True])
def test_a_threshold_that_is_no_number_is_refused(bad):
    with pytest.raises(UsageError, match="query_drop"):
        ReviewSettings(query_drop=bad)


def test_the_worst_of_several_findings_of_a_rule_stands_for_them(evidence, query):
    leak = query("leak", 0.5, 0.9, was={"returned": 0}, now={"returned": 9}, expects_empty=True)
    gone = query("gone", 0.5, 0.9, now={"returned": 0})
    said = review(evidence(leak, gone)).headline.partition(", but ")[2]
    assert said.startswith("the share of queries with no document rose 0.0 % to 100.0 % of 1")
    assert "(and 2 more)" in said  # the fewer-than-three rate, and the answer where none is wanted
