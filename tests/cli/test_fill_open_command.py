"""`relgate review --fill open`: only what can still change the verdict is asked for."""

from __future__ import annotations

import json

import pytest

DECLARED = ("--system-model", "none", "--judge-family", "acme")

PROJECT = 'fill = "open"\nsystem_models = []\njudge_family = "acme"\n'


@pytest.fixture
def opened(shop):
    """The words of a review that fills only what is open."""

    def build(*more: str, judge: str = "grade") -> list[str]:
        words = shop.review(*DECLARED, *more, judge=judge)
        words[words.index("--fill") + 1 : words.index("--fill") + 1] = ["open"]
        return words

    return build


def test_fewer_grades_end_at_the_verdict_of_a_whole_fill(call, shop, opened) -> None:
    whole = call(*shop.review(*DECLARED, "--json", "--cache", "one")).json
    part = call(*opened("--json", "--cache", "two")).json
    assert part["verdict"] == whole["verdict"]
    told = part["judge"]["open_fill"]
    assert told["settled"]
    assert (told["pairs"], whole["judge"]["open_fill"]) == (shop.new, None)
    assert told["asked"] == part["judge"]["fill"]["asked"] <= whole["judge"]["fill"]["asked"]
    assert told["asked"] + told["saved"] == shop.new


def lose(shop) -> None:
    for query, docs in shop.before.items():
        shop.after[query] = [*docs[:9], f"n{query.split()[1]}-0"]
    for query in shop.before:
        shop.before[query] = shop.before[query][::-1]
    shop.write()


def test_a_lost_case_is_blocked_without_a_single_call(call, shop, opened) -> None:
    """The best of each query is gone and nothing unrated came: the bounds alone decide."""
    lose(shop)
    done = call(*opened("--out", "report"))
    assert done.code == 3
    assert shop.calls == 0
    assert "no grade was needed: whatever the 45 documents unrated within k" in done.out
    assert "45 grades saved against --fill top-k" in done.out
    review = json.loads((shop.folder / "report/review.json").read_text("utf-8"))
    assert review["verdict"] == "BLOCK"
    assert review["judge"]["open_fill"]["waves"] == 0
    assert "no grade was needed" in (shop.folder / "report/review.md").read_text("utf-8")


def test_a_spent_budget_lists_what_is_open_and_never_approves(call, opened) -> None:
    done = call(*opened("--max-calls", "3", "--json"))
    assert done.code != 0
    told = done.json["judge"]["open_fill"]
    assert not told["settled"]
    assert told["open_rules"]
    listed = sum(len(query["doc_ids"]) for query in told["open"])
    assert 0 < listed <= told["saved"]
    assert any("the verdict is open between" in note for note in done.json["warnings"])


def test_the_setting_in_the_project_file_is_heeded(call, shop) -> None:
    (shop.folder / "relgate.toml").write_text(PROJECT, "utf-8")
    words = [word for word in shop.review("--json") if word != "--fill"]
    assert call(*words).json["judge"]["open_fill"] is not None


def test_a_fill_without_a_review_grades_within_k(call, shop) -> None:
    """`relgate fill` has no verdict to wait for."""
    (shop.folder / "relgate.toml").write_text(PROJECT, "utf-8")
    done = call(
        "fill", "--judgments", "judgments.csv", "--judgments-source", "human",
        "--run", "before.jsonl", "--run", "after.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--out", "filled.jsonl", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["graded"] == shop.new


def test_a_dry_run_says_the_first_wave_and_the_most(call, shop, opened) -> None:
    done = call(*opened("--dry-run"))
    assert f"{shop.new} pairs to grade" in done.out
    assert "in the first wave" in done.out
    plan = call(*opened("--dry-run", "--json")).json
    assert 0 < plan["first_wave"]["pairs"] < plan["pairs"] == shop.new
    assert plan["settled"] is None
    assert shop.calls == 0


def test_a_dry_run_of_a_lost_case_says_that_no_grade_is_needed(call, shop, opened) -> None:
    lose(shop)
    done = call(*opened("--dry-run"))
    assert "no pair to grade: whatever the 45 unrated within k are worth, the verdict is BLOCK" in (
        done.out
    )
    assert call(*opened("--dry-run", "--json")).json["settled"] == "BLOCK"


def certify(shop, call) -> None:
    """A certificate of the shop's judge, in the project's folder."""
    done = call(
        "calibrate", "--human", "judgments.csv", "--human-source", "human",
        "--judge", shop.judge(), *("--judge-family", "acme"), "--catalogue", "catalogue.jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err


def test_the_verdict_must_stand_for_what_the_judge_may_have_got_wrong(call, shop, opened) -> None:
    certify(shop, call)
    done = call(*opened("--judge-error", "--json"))
    told = done.json["judge"]["open_fill"]["judge_error"]
    assert told["level"] == 0.95
    (judge,) = told["judges"]
    assert set(judge["possible"]) == {"0", "1", "2", "3"}
    assert all(int(own) in kept for own, kept in judge["possible"].items())
    assert any("judge error: where esci-v1@" in note for note in done.json["warnings"])
    strict = call(*opened("--judge-error", "0.5", "--json")).json["judge"]["open_fill"]
    assert strict["judge_error"]["level"] == 0.5


def test_judge_error_without_a_certificate_is_refused(call, shop, opened) -> None:
    done = call(*opened("--judge-error"))
    assert done.code == 2
    assert "no certificate of judge esci-v1@" in done.err
    assert "relgate calibrate" in done.err
    assert shop.calls == 0


@pytest.mark.parametrize("level", ["0", "1", "nan", "2"])
def test_judge_error_takes_a_share(call, opened, level) -> None:
    assert call(*opened("--judge-error", level)).code == 2


def test_judge_error_goes_with_an_open_fill(call, shop) -> None:
    done = call(*shop.review(*DECLARED, "--judge-error"))
    assert done.code == 2
    assert "open fill, and fill is top-k" in done.err
