"""A team's own trust policy, from a TOML file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from relgate.eval.agreement.policy import POLICIES, TrustPolicy
from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.project import read_project
from relgate.rubrics.errors import InputError, UsageError


def policy(folder: Path, text: str) -> str:
    path = folder / "ours.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_a_preset_by_its_name():
    assert read_policy("seed") is POLICIES["seed"]
    with pytest.raises(UsageError, match=r"no trust policy 'lax'; one of: default, .*toml file"):
        read_policy("lax")


def test_the_seeds_own_terms_are_point_f1_on_five_labels():
    seed = POLICIES["seed"]
    assert (seed.f1_bar, seed.min_labels, seed.by_lower_bound) == (0.80, 5, False)
    assert (seed.quadratic_kappa_bar, seed.beat_constant, seed.min_each_side) == (None, False, 0)


def test_a_file_says_what_differs_from_a_preset(tmp_path: Path):
    text = 'name = "ours"\nmin_labels = 400\nquadratic_kappa_bar = "none"\nf1_bar = 0.7\n'
    ours = replace(
        POLICIES["default"], name="ours", min_labels=400, quadratic_kappa_bar=None, f1_bar=0.7
    )
    assert read_policy(policy(tmp_path, text)) == ours
    lax = read_policy(policy(tmp_path, 'name = "lax"\nbase = "seed"\nf1_bar = 0.7\n'))
    assert lax == replace(POLICIES["seed"], name="lax", f1_bar=0.7)


def test_a_file_can_state_every_term_of_a_policy(tmp_path: Path):
    terms = POLICIES["default"].terms
    said = {
        name: '"none"' if value is None else str(value).lower() for name, value in terms.items()
    }
    stated = "\n".join(f"{name} = {value}" for name, value in said.items())
    same = read_policy(policy(tmp_path, f'name = "ours"\nbase = "seed"\n{stated}\n'))
    assert same == replace(POLICIES["default"], name="ours")
    assert set(terms) == {field.name for field in fields(TrustPolicy)} - {"name"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name = "ours"\nf1_baar = 0.7\n', "did you mean 'f1_bar'"),
        ('name = "ours"\nf1_bar = 1.2\n', "f1_bar"),
        ('name = "ours"\nf1_bar = nan\n', "f1_bar"),
        ('name = "ours"\nf1_bar = true\n', "f1_bar"),
        ('name = "ours"\npeople_margin = 0.6\n', "people_margin"),
        ('name = "ours"\npeople_margin = -0.1\n', "people_margin"),
        ('name = "ours"\nmin_labels = -1\n', "min_labels"),
        ('name = "ours"\nmin_labels = 1.5\n', "min_labels"),
        ('name = "ours"\nby_lower_bound = 1\n', "by_lower_bound"),
        ("min_labels = 7\n", "name"),
        ('name = ""\n', "name"),
        ('name = "seed"\n', "'seed' is that of a preset"),
        ('name = "ours"\nbase = "lax"\n', "no trust policy 'lax'"),
        ("name = \n", "not TOML"),
        (
            'name = "ours"\nbase = "seed"\nf1_bar = "none"\n',
            "asks for no agreement at all",
        ),
    ],
)
def test_a_fault_is_one_line_that_names_the_file(tmp_path: Path, text: str, told: str):
    path = policy(tmp_path, text)
    with pytest.raises(InputError, match=told) as caught:
        read_policy(path)
    assert str(caught.value).startswith(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_policy(str(tmp_path / "none.toml"))


def test_a_path_in_the_settings_is_beside_them(tmp_path: Path):
    policy(tmp_path, 'name = "ours"\nmin_labels = 7\n')
    settings = tmp_path / "relgate.toml"
    settings.write_text('policy = "ours.toml"\ntuning = ["tuned.csv"]\n')
    project = read_project(settings)
    assert read_policy(project.policy).min_labels == 7
    assert project.tuning == (tmp_path / "tuned.csv",)


def test_policies_of_equal_terms_ask_the_same_whatever_their_names():
    default = POLICIES["default"]
    assert replace(default, name="ours").terms == default.terms
    assert replace(default, min_labels=101).terms != default.terms


def test_a_policy_may_ask_for_no_more_than_people_reach(tmp_path: Path):
    text = 'name = "ours"\nbase = "people"\npeople_margin = 0\nbeat_constant = false\n'
    ours = read_policy(policy(tmp_path, text))
    assert (ours.people_margin, ours.f1_bar, ours.quadratic_kappa_bar) == (0, None, None)
    assert POLICIES["people"].people_margin == 0.05
