"""An honesty rule asks every judge of a panel: their names are there."""

from __future__ import annotations

import pytest

from relgate.judge import PanelJudge, family_of, make_llm_judge, members_of, panel_of_shuffles
from relgate.judge.fake import FakeGenerate, grade_lines
from relgate.judge.families import check_family_separation
from relgate.rubrics.errors import FamilySeparationError


def judge(model: str):
    return make_llm_judge(FakeGenerate(grade_lines(lambda _q, _t: "E")), model=model)


def test_a_judge_alone_is_its_own_member():
    alone = judge("gpt-4.1")
    assert members_of(alone) == (alone,)


def test_panels_within_panels_are_opened():
    first, second, third = judge("gpt-4.1"), judge("gemini-2.5-flash"), judge("claude-sonnet-4")
    panel = PanelJudge([PanelJudge([first, second]), third])
    assert members_of(panel) == (first, second, third)


def test_a_judge_in_several_orders_is_known_by_its_own_version_and_family():
    one = judge("gemini-2.5-flash")
    seats = members_of(panel_of_shuffles(one))
    assert seats == (one,)  # also by its fingerprint, which each order has another of
    assert {seat.version for seat in seats} == {one.version}
    assert {seat.family for seat in seats} == {"google"}


def test_the_member_of_the_pipelines_family_is_found_where_the_panel_has_none():
    panel = PanelJudge([judge("gpt-4.1"), judge("gemini-2.5-flash")])
    assert panel.family is None
    refused = []
    for seat in members_of(panel):
        try:
            check_family_separation(
                judge_model=seat.model, family=seat.family, system_models=["gemini-2.0-pro"]
            )
        except FamilySeparationError:
            refused.append(family_of(seat.model))
    assert refused == ["google"]


def test_a_panel_of_one_foreign_family_is_clean():
    panel = PanelJudge([judge("gpt-4.1"), judge("claude-sonnet-4")])
    for seat in members_of(panel):
        assert check_family_separation(
            judge_model=seat.model, family=seat.family, system_models=["gemini-2.0-pro"]
        ) is None  # fmt: skip
    with pytest.raises(FamilySeparationError):  # the panel itself cannot tell: refused, not passed
        check_family_separation(
            judge_model=panel.model, family=panel.family, system_models=["gemini-2.0-pro"]
        )
