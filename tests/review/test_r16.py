"""R16: the judge is of another family than the pipeline, and no part of the ranking."""

from __future__ import annotations

import pytest

from relgate.eval.judge_honesty import check_honesty
from relgate.eval.review.change import ChangeDescription
from relgate.eval.review.types import JudgeUse, RuleState, Verdict
from relgate.judge.families import NO_FAMILY

VERSION = "esci-v1@ab12cd34"


def judge(family: str | None = "google", model: str = "gemini-2.5-flash") -> JudgeUse:
    return JudgeUse(VERSION, "f1", model, family, 7, None)


def change(*models: str, rankers: tuple[str, ...] = ()) -> ChangeDescription:
    return ChangeDescription(system_models=models, ranker_judges=rankers)


def test_without_model_made_grades_it_passes(check, evidence, many):
    for judges in ((), (judge(NO_FAMILY),)):
        assert check("R16", evidence(*many(3), judges=judges)).state is RuleState.PASSED


@pytest.mark.parametrize("described", [None, ChangeDescription()])
def test_undeclared_models_are_not_checked_and_cap(check, evidence, many, described):
    outcome = check("R16", evidence(*many(3), judges=(judge(),), change=described))
    assert (outcome.state, outcome.cap) == (RuleState.NOT_CHECKED, Verdict.NEEDS_WORK)


@pytest.mark.parametrize("models", [(), ("gpt-4.1-mini", "claude-sonnet-4")])
def test_declared_models_of_other_families_pass_and_are_named(check, evidence, many, models):
    outcome = check("R16", evidence(*many(3), judges=(judge(),), change=change(*models)))
    assert outcome.state is RuleState.PASSED
    assert (", ".join(models) or "no models in the pipeline") in outcome.summary
    assert "google" in outcome.summary


@pytest.mark.parametrize(
    ("used", "described"),
    [
        (judge(), change("openrouter/google/gemini-2.0-flash")),
        (judge(None, "our-deployment"), change("gpt-4.1-mini")),
        (judge(), change("our-own-model")),
        (judge(), change(rankers=(VERSION,))),
    ],
    ids=["same family", "unknown judge", "unknown model", "circular"],
)
def test_a_breach_that_nobody_raised_is_refused(check, evidence, many, used, described):
    outcome = check("R16", evidence(*many(3), judges=(used,), change=described))
    assert outcome.state is RuleState.FAILED
    assert outcome.findings[0].severity is Verdict.REFUSE


def test_a_family_that_was_not_stamped_is_told_by_the_models_name(check, evidence, many):
    outcome = check("R16", evidence(*many(3), judges=(judge(None),), change=change("gemini-2.0")))
    assert outcome.state is RuleState.FAILED
    assert "both of family 'google'" in outcome.summary


def test_an_override_by_name_passes_with_its_sentence(check, evidence, many):
    said = check_honesty(
        version=VERSION,
        fingerprint=None,
        model="gemini-2.5-flash",
        family="google",
        system_models=["gemini-2.0-flash"],
        ranker_judges=[],
        overrides=["family"],
    )
    described = change("gemini-2.0-flash")
    outcome = check("R16", evidence(*many(3), judges=(judge(),), change=described, overrides=said))
    assert outcome.state is RuleState.PASSED
    (note,) = outcome.findings
    assert (note.severity, note.message) == (Verdict.APPROVE, said[0])
    assert "overridden by name" in note.message
