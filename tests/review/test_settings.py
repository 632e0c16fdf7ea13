"""Every number of the reviewer is a setting, and none of them is accepted and ignored."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest

from relgate.eval.project import read_project
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.rules import RULES
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.supplied import Latency, Percentiles
from relgate.eval.review.types import Aggregate, FillFacts, ModeFigures, Noise, Stratum
from relgate.rubrics.errors import InputError, UsageError

SLOW = Latency(Percentiles(8, 20, 40), Percentiles(8, 25, 120))
FILL = FillFacts("j", asked=100, graded=95, cached=0, errors={}, no_text=0, calls=1, seconds=1)


@pytest.fixture
def planted(evidence, many, query):
    """For each setting: a rule, evidence with a finding by default, and a value that moves it."""
    second = [Aggregate("mrr", "mrr", 0.5, 0.48, 3)]
    third = [Aggregate("precision", "p", 0.5, 0.47, 3)]
    mode = ModeFigures("m", Aggregate("ndcg", "n", 0.5, 0.4, 3), None, 0.0)
    stale = [query(f"q{i}", 0.5, 0.5, now={"unrated": 6}) for i in range(4)]
    empty = [query("e", 0.5, 0.5, now={"returned": 2}), *many(9)]
    fallen = query("h", 0.7, 0.7, head=True, was={"best_rank": 1}, now={"best_rank": 5})
    slow = {"change": ChangeDescription(latency=SLOW)}
    claimed = {"change": ChangeDescription(intent="improve")}
    noisy = {"noise": Noise(p=0.08, low=-1, high=1, detectable=1, n=40), **claimed}
    thin = Stratum("s", 0.8, 0.7, 30, 0.04)
    return {
        "max_mean_drop": ("R4", evidence(*many(3), mean=(0.5, 0.4)), 0.2),
        "min_improvement": ("R4", evidence(*many(3), mean=(0.5, 0.51)), 0.01),
        "query_drop": ("R5", evidence(*many(10, -0.2)), 0.3),
        "max_dropped_share": ("R5", evidence(*many(10, -0.2)), 0.2),
        "head_drop": ("R6", evidence(query("h", 0.7, 0.5, head=True), has_heads=True), 0.3),
        "top_rank": ("R6", evidence(fallen, has_heads=True), 5),
        "max_masked_share": ("R7", evidence(*many(10, -0.1, -0.1), mean=(0.5, 0.6)), 0.2),
        "mostly_unrated": ("R8", evidence(*stale), 0.7),
        "max_stale_share": ("R8", evidence(*stale), 1.0),
        "max_p95_ratio": ("R9", evidence(*many(3), **slow), 1.5),
        "max_p99_ms": ("R9", evidence(*many(3), **slow), 200.0),
        "empty_soft_rise": ("R13", evidence(*empty), 0.1),
        "empty_hard_rise": ("R13", evidence(*empty), 0.2),
        "stratum_drop": ("R14", evidence(*many(3), strata=(thin,)), 0.2),
        "min_stratum_queries": ("R14", evidence(*many(3), strata=(thin,)), 31),
        "max_stratum_p": ("R14", evidence(*many(3), strata=(thin,)), 0.01),
        "mrr_soft_drop": ("R18", evidence(*many(3), others=second), 0.1),
        "mrr_hard_drop": ("R18", evidence(*many(3), others=second), 0.01),
        "precision_soft_drop": ("R18", evidence(*many(3), others=third), 0.1),
        "precision_hard_drop": ("R18", evidence(*many(3), others=third), 0.01),
        "max_mode_drop": ("R18", evidence(*many(3), modes=(mode,)), 0.2),
        "min_noise_queries": ("R17", evidence(*many(40), **noisy), 50),
        "max_p": ("R17", evidence(*many(40), **noisy), 0.1),
        "max_error_rate": ("R19", evidence(*many(3), fill=FILL), 0.1),
    }


@pytest.mark.parametrize("name", ReviewSettings.names())
def test_every_setting_moves_its_rule(check, planted, name):
    rule, found, value = planted[name]
    usual, moved = check(rule, found), check(rule, found, **{name: value})
    assert usual.findings
    seen = [[(f.severity, f.message) for f in outcome.findings] for outcome in (usual, moved)]
    assert seen[0] != seen[1]


def test_every_setting_is_planted(planted):
    assert planted.keys() == set(ReviewSettings.names())


def test_every_rule_has_a_test_file_of_its_own():
    here = {path.name for path in Path(__file__).parent.iterdir()}
    assert {f"test_r{int(rule.id[1:]):02}.py" for rule in RULES} <= here
    assert [rule.id for rule in RULES] == [f"R{n}" for n in range(1, 20)]


@pytest.mark.parametrize("value", [nan, inf, -0.01, True])
@pytest.mark.parametrize("name", ["max_mean_drop", "max_p", "min_stratum_queries"])
def test_a_setting_that_is_no_number_from_0_up_is_refused(name, value):
    with pytest.raises(UsageError, match=name):
        ReviewSettings(**{name: value})


def test_a_stratum_budget_is_held_to_the_same():
    with pytest.raises(UsageError, match=r"stratum_budgets\.billing"):
        ReviewSettings(stratum_budgets={"billing": nan})


def test_what_a_project_changes_is_told_with_its_default():
    own = ReviewSettings(max_p=0.1, stratum_budgets={"billing": 0.005, "rest": 0.01})
    assert own.changed() == {"max_p": (0.05, 0.1), "stratum_budgets.billing": (0.01, 0.005)}
    assert ReviewSettings().changed() == {}


def test_a_project_sets_them_in_its_file(tmp_path):
    (tmp_path / "relgate.toml").write_text(
        "[budgets]\nmax_mode_drop = 0.05\ntop_rank = 5\n[stratum_budgets]\nbilling = 0.005\n"
    )
    found = read_project(None, folder=tmp_path).review_settings()
    assert (found.max_mode_drop, found.top_rank) == (0.05, 5)
    assert (found.budget_of("billing"), found.budget_of("other")) == (0.005, 0.01)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[budgets]\nmax_mode_dorp = 0.1\n", "did you mean 'max_mode_drop'"),
        ("[budgets]\nstratum_budgets = 0.1\n", "there is no budget 'stratum_budgets'"),
        ("[budgets]\ntop_rank = 2.5\n", "give a whole number"),
        ("[stratum_budgets]\nbilling = -1.0\n", "stratum_budgets.billing"),
        ('[stratum_budgets]\nbilling = "x"\n', "stratum_budgets.billing"),
    ],
)
def test_a_setting_that_does_not_exist_or_fit_is_refused(tmp_path, text, said):
    (tmp_path / "relgate.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_project(None, folder=tmp_path)
    assert said in str(caught.value)
