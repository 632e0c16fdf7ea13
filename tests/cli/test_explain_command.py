"""`relgate explain`: every rule in its own words."""

from __future__ import annotations

import pytest

from relgate.eval.report.rule_book import rule_settings
from relgate.eval.review.rules import RULES


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_says_what_it_asks_and_how_to_mend(call, root, rule):
    done = call("explain", rule.id, "--json")
    assert done.code == 0
    said = done.json
    assert (said["rule"], said["asks"], said["not_checked"]) == (rule.id, rule.asks, rule.unchecked)
    page = (root / "docs/rules.md").read_text("utf-8")
    for part in (
        said["asks"],
        said["default"],
        said["severity"],
        said["not_checked"],
        said["mend"],
    ):
        assert part
        assert part in page
    shown = call("explain", rule.id).out
    assert rule.asks in shown
    assert rule.mend in shown


def test_every_number_belongs_to_one_rule():
    by_rule = [s.name for rule in RULES for s in rule_settings(rule.id)]
    assert sorted(by_rule) == sorted(s.name for s in rule_settings())
    assert [s.name for s in rule_settings("R1")] == []  # not those of R10 to R19


@pytest.mark.parametrize("name", ["R7", "r7", "7", "R07", "masked", "MASKED"])
def test_a_rule_goes_by_its_id_or_its_name(call, name):
    assert call("explain", name, "--json").json["rule"] == "R7"


def test_a_name_of_two_words(call):
    assert call("explain", "ground truth", "--json").json["rule"] == "R10"


def test_the_projects_own_numbers_are_shown(call, tmp_path):
    (tmp_path / "relgate.toml").write_text("[budgets]\nmax_masked_share = 0.25\n", "utf-8")
    number = call("explain", "R7", "--json").json["settings"]["max_masked_share"]
    assert (number["default"], number["here"]) == (0.1, 0.25)
    assert "0.25" in call("explain", "R7").out


@pytest.mark.parametrize(
    ("name", "meant"), [("R20", "R2 comparable"), ("maskd", "R7 masked"), ("latncy", "R9 latency")]
)
def test_an_unknown_rule_gives_suggestions(call, name, meant):
    done = call("explain", name)
    assert done.code == 2
    assert f"no rule '{name}'; did you mean " in done.complaint
    assert meant in done.complaint


def test_a_name_like_none_lists_all(call):
    said = call("explain", "zzzzzz").complaint
    assert "did you mean" not in said
    assert all(rule.id in said for rule in RULES)
