"""Family separation and circularity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relgate.judge import check_circularity, check_family_separation, family_of
from relgate.judge.families import judge_family
from relgate.rubrics.errors import CircularityError, FamilySeparationError, UsageError


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openrouter/google/gemini-2.5-flash", "google"),
        ("models/gemini-2.0-flash", "google"),
        ("publishers/google/models/gemini-2.5-pro", "google"),
        ("us.anthropic.claude-3-haiku-20240307-v1:0", "anthropic"),
        ("bedrock/anthropic.claude-3-haiku", "anthropic"),
        ("anthropic/claude-sonnet-4:beta", "anthropic"),
        ("meta.llama3-70b-instruct-v1:0", "meta"),
        ("ft:gpt-4o-mini:acme::abc", "openai"),
        ("GPT-4.1-mini", "openai"),
        ("o3-mini", "openai"),
        ("openai:gpt-4o", "openai"),
        ("deepseek-r1-distill-llama-70b", "deepseek"),
        ("mixtral-8x7b", "mistral"),
        ("google", "google"),
        ("baseline", "none"),
        ("azure/gpt-4o", None),
        ("my-prod-deployment", None),
        ("oxygen", None),
        ("", None),
        (None, None),
    ],
)
def test_a_name_in_any_dress_tells_its_family_or_nothing(model: str, family: str | None) -> None:
    assert family_of(model) == family


def test_the_published_pairs_are_separated(shared: Path) -> None:
    lines = (shared / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    case = next(c for c in map(json.loads, filter(str.strip, lines)) if c["id"] == "T05")
    for (judge, system), refused in zip(
        case["input"]["pairs"], case["right"]["expect"]["raise"], strict=True
    ):
        if refused:
            with pytest.raises(FamilySeparationError):
                check_family_separation(
                    judge_model=judge, family=family_of(judge), system_models=[system]
                )
        else:
            assert (
                check_family_separation(
                    judge_model=judge, family=family_of(judge), system_models=[system]
                )
                is None
            )


def test_an_unknown_system_model_is_refused_and_says_how_to_declare_it() -> None:
    with pytest.raises(FamilySeparationError, match="declare"):
        check_family_separation(
            judge_model="gpt-4o", family="openai", system_models=["my-deployment"]
        )


def test_an_override_passes_and_leaves_a_sentence_for_every_report() -> None:
    sentence = check_family_separation(
        judge_model="gpt-4o", family="openai", system_models=["gpt-4.1"], override=True
    )
    assert sentence is not None
    assert "overridden" in sentence


def test_a_judge_without_a_model_is_of_no_family() -> None:
    assert (
        check_family_separation(judge_model=None, family="none", system_models=["gemini-2.5-flash"])
        is None
    )


@pytest.mark.parametrize(
    ("model", "declared", "family"),
    [
        ("gpt-4.1", None, "openai"),
        ("gpt-4.1", "OpenAI ", "openai"),
        ("my-deployment", "GPT-4.1", "openai"),
        ("my-deployment", " Our-Rules", "our-rules"),
        ("my-deployment", "  ", None),
        (None, None, None),
    ],
)
def test_a_family_is_told_by_the_name_or_declared(
    model: str | None, declared: str | None, family: str | None
) -> None:
    assert judge_family(model, declared) == family


@pytest.mark.parametrize(("model", "declared"), [("gpt-4.1", "google"), ("x", "none")])
def test_a_declaration_can_neither_contradict_the_name_nor_deny_a_model(
    model: str, declared: str
) -> None:
    with pytest.raises(FamilySeparationError):
        judge_family(model, declared)


def test_two_models_under_one_rubric_are_told_apart_by_fingerprint() -> None:
    own, other = "0123456789abcdef", "fedcba9876543210"
    check_circularity(version="esci-v1@ab12cd34", fingerprint=own, ranker_judges=[other])
    with pytest.raises(CircularityError):
        check_circularity(version="esci-v1@ab12cd34", fingerprint=own, ranker_judges=[own])


def test_a_ranker_that_is_no_judges_id_is_a_mistake_and_not_a_pass() -> None:
    with pytest.raises(UsageError, match="python:slow:judge"):
        check_circularity(
            version="esci-v1@ab12cd34", fingerprint=None, ranker_judges=["python:slow:judge"]
        )


def test_the_same_judge_on_both_sides_is_circular() -> None:
    with pytest.raises(CircularityError):
        check_circularity(
            version="esci-v1@ab12cd34", fingerprint=None, ranker_judges=["esci-v1@ab12cd34"]
        )
    check_circularity(
        version="esci-v1@ab12cd34", fingerprint=None, ranker_judges=["esci-v1@00000000"]
    )


@pytest.mark.parametrize("word", ["Google", " google ", "Gemini", "gemini-2.5-pro"])
def test_a_family_in_any_case_or_by_its_models_name_is_that_family(word: str) -> None:
    with pytest.raises(FamilySeparationError, match="'google'"):
        check_family_separation(judge_model="my-dep", family=word, system_models=["gemini-2"])


def test_what_the_models_name_tells_cannot_be_talked_away() -> None:
    with pytest.raises(FamilySeparationError, match="by its name"):
        check_family_separation(
            judge_model="gemini-2.5", family="openai", system_models=["gemini-2"]
        )
    with pytest.raises(FamilySeparationError, match="of family 'google'"):
        check_family_separation(judge_model="gemini-2.5", system_models=["gemma-3"])
    assert check_family_separation(judge_model="gemini-2.5", system_models=["gpt-4o"]) is None
