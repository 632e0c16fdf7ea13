"""Plans before spending, budgets, few-shot and panels, through the commands."""

from __future__ import annotations

import re

import pytest


def test_a_dry_run_counts_what_the_run_then_does(call, shop):
    plan = call(*shop.fill("--dry-run", "--json")).json
    assert shop.calls == 0
    assert not (shop.folder / "filled.jsonl").exists()
    assert plan["pairs"] == shop.new
    assert plan["cached"] == 0
    assert plan["cost_usd"] is None  # nobody knows the price of a user's own function
    done = call(*shop.fill("--json")).json
    assert shop.calls == plan["calls"] == done["calls"]
    again = call(*shop.fill("--dry-run", "--json", "--out", "other.jsonl")).json
    assert (again["cached"], again["calls"]) == (shop.new, 0)


def test_a_review_plans_too(call, shop):
    plan = call(*shop.review("--dry-run", "--json")).json
    assert plan["pairs"] > 0
    assert shop.calls == 0


def test_a_calibration_plans_what_people_labelled(call, shop):
    plan = call(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge("grade"), "--dry-run", "--json",
    ).json  # fmt: skip
    assert plan["pairs"] == len(shop.human)
    assert shop.calls == 0


def test_a_known_price_gives_a_range_of_money(call, shop, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    words = shop.fill("--dry-run", "--json")
    words[words.index("--judge") + 1] = "openai:gpt-4.1-mini"
    low, high = call(*words).json["cost_usd"]
    assert 0 < low < high


def test_the_call_limit_stops_resumably(call, shop):
    first = call(*shop.fill("--max-calls", "3", "--json")).json
    assert shop.calls == first["calls"] == 3
    assert first["errors"] == {}
    assert first["not_asked"] == shop.new - first["graded"] > 0
    second = call(*shop.fill("--json")).json
    assert second["graded"] == shop.new
    assert second["cached"] == first["graded"]


def test_a_cost_limit_without_a_price_is_refused_before_any_call(call, shop):
    done = call(*shop.fill("--max-cost", "1", "--quiet"))
    assert done.code == 2
    assert "price" in done.complaint
    assert shop.calls == 0


def test_few_shot_examples_never_calibrate(call, shop):
    (shop.folder / "relgate.toml").write_text("few_shot = 1\n")
    plan = call(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge("grade"), "--dry-run", "--json",
    ).json  # fmt: skip
    assert 0 < plan["pairs"] < len(shop.human)  # the tuning part is left out


def test_a_panel_asks_each_pair_in_several_orders_and_is_another_judge(call, shop, read_jsonl):
    plain = call(*shop.fill("--json")).json
    calls = shop.calls
    (shop.folder / "relgate.toml").write_text("panel_shuffles = 3\n")
    plan = call(*shop.fill("--dry-run", "--json", "--out", "p.jsonl")).json
    assert plan["cached"] == 0  # a panel's grade is no single vote's
    assert plan["calls"] == 3 * plain["calls"]
    done = call(*shop.fill("--json", "--out", "p.jsonl")).json
    assert shop.calls - calls == plan["calls"]
    assert done["graded"] == shop.new
    versions = {r.get("judge_version", "") for r in read_jsonl(shop.folder / "p.jsonl")}
    assert any(re.match(r"panel-v1@[0-9a-f]{8}", v) for v in versions)


@pytest.mark.parametrize("models", [["claude-3-haiku"], ["gemini-2.5-flash"]])
def test_a_panel_is_held_to_the_family_of_its_members(call, shop, models):
    (shop.folder / "relgate.toml").write_text("panel_shuffles = 3\n")
    flags = [x for m in models for x in ("--system-model", m)]
    done = call(*shop.fill("--judge-family", "google", "--quiet", *flags))
    assert done.code == (5 if "gemini" in models[0] else 0)


def test_a_panel_that_reranks_may_not_evaluate(call, shop):
    (shop.folder / "relgate.toml").write_text("panel_shuffles = 3\n")
    words = ["--run", "before.jsonl", "--catalogue", "catalogue.jsonl", "--judge", shop.judge()]
    named = call("rerank", *words, "--out", "reranked.jsonl", "--json").json["judge_version"]
    calls = shop.calls
    (shop.folder / "change.toml").write_text(f'ranker_judges = ["{named}"]\n')
    done = call(*shop.review("--quiet", "--change", "change.toml"))
    assert (done.code, shop.calls) == (5, calls)
