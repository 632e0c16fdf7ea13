"""A certificate holds for one judge, for a time, unless it was changed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path

import pytest

from relgate.eval.agreement.calibrate import calibrate_judge, calibrate_pairs
from relgate.eval.agreement.certificate import (
    Certificate,
    find_certificate,
    make_certificate,
    read_certificate,
    write_certificate,
)
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.agreement.policy import POLICIES
from relgate.eval.agreement.standing import certificate_problem, differing_terms
from relgate.eval.lists.types import SCALES
from relgate.judge.types import Candidate
from relgate.rubrics.errors import InputError, UsageError

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
VERSION, FINGERPRINT = "esci-v1@0123abcd", "f" * 16


@pytest.fixture
def trusted(make) -> Certificate:
    labels = [(f"q{q}", f"d{q}-{i}", (q + i) % 4) for q in range(30) for i in range(8)]
    judge = make.judge({d: g for _, d, g in labels}, version=VERSION, fingerprint=FINGERPRINT)
    result = calibrate_judge(judge, make.labels(labels), lambda d: Candidate(d, d))
    return make_certificate(result, now=NOW)


def ask(certificate: Certificate | None, **changes: object) -> str | None:
    now = changes.pop("now", NOW + timedelta(days=1))
    asked = {"fingerprint": FINGERPRINT, "version": VERSION, "model": "scripted-1"}
    return certificate_problem(certificate, JudgeIdentity(**(asked | changes)), now=now)


def test_it_names_judge_labels_figures_and_dates(trusted: Certificate):
    assert (trusted.judge_version, trusted.fingerprint) == (VERSION, FINGERPRINT)
    assert (trusted.n, trusted.n_queries, trusted.coverage) == (240, 30, 1)
    assert trusted.label_sources == {"human": 240}
    assert trusted.table == ((60, 0, 0, 0), (0, 60, 0, 0), (0, 0, 60, 0), (0, 0, 0, 60))
    assert trusted.figures["f1"].point == 1
    assert trusted.level == "trusted"
    assert trusted.made_at == NOW.replace(microsecond=0)
    assert trusted.expires_at - trusted.made_at == timedelta(days=90)


def test_it_reads_back_as_written(trusted: Certificate, tmp_path: Path):
    path = tmp_path / "c.json"
    write_certificate(trusted, path)
    assert read_certificate(path) == trusted
    assert json.loads(path.read_text())["made_at"] == "2026-03-01T12:00:00Z"


def test_the_time_zone_of_the_maker_does_not_matter(trusted: Certificate, make):
    result = calibrate_pairs_named(make)
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    assert make_certificate(result, now=there) == make_certificate(result, now=NOW)
    assert trusted.made_at.utcoffset() == timedelta(0)


def calibrate_pairs_named(make):
    labels = [("q", f"d{i}", i % 4) for i in range(8)]
    judge = make.judge({d: g for _, d, g in labels})
    return calibrate_judge(judge, make.labels(labels), lambda d: Candidate(d, d))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("level", "provisional"),
        ("fingerprint", "other"),
        ("judge_version", "esci-v1@ffffffff"),
        ("n", 9999),
        ("expires_at", "2036-01-01T00:00:00Z"),
        ("label_set_hash", "0" * 64),
        ("certificate_id", "0" * 64),
        ("policy", "seed"),
        ("reasons", []),
    ],
)
def test_a_changed_field_is_found(trusted: Certificate, tmp_path: Path, field: str, value: object):
    path = tmp_path / "c.json"
    write_certificate(trusted, path)
    data = json.loads(path.read_text())
    assert data[field] != value
    data[field] = value
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="changed") as caught:
        read_certificate(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_changed_figure_is_found(trusted: Certificate, tmp_path: Path):
    path = tmp_path / "c.json"
    write_certificate(trusted, path)
    path.write_text(path.read_text().replace('"low": 1.0', '"low": 0.99', 1))
    with pytest.raises(InputError, match="changed"):
        read_certificate(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '"x"', '{"format": "other"}', "[" * 100_000, "\ud800"]
)
def test_what_is_no_certificate_is_one_line(tmp_path: Path, text: str):
    path = tmp_path / "c.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError) as caught:
        read_certificate(path)
    assert "\n" not in str(caught.value)
    assert "relgate calibrate" in str(caught.value)


def test_an_unknown_or_non_finite_value_is_refused(trusted: Certificate, tmp_path: Path):
    path = tmp_path / "c.json"
    for change in ({"extra": 1}, {"coverage": float("nan")}, {"coverage": 1.5}, {"n": -1}):
        path.write_text(json.dumps(trusted.model_dump(mode="json") | change))
        with pytest.raises(InputError, match="no valid certificate"):
            read_certificate(path)


@pytest.mark.parametrize(
    ("table", "says"), [([[1]], "240 compared pairs"), ([[240], []], "not square")]
)
def test_a_table_of_other_pairs_than_its_own_is_refused(
    trusted: Certificate, tmp_path: Path, table: object, says: str
):
    """Also where the id was computed anew."""
    data = trusted.model_dump(mode="json") | {"table": table}
    rest = {key: value for key, value in data.items() if key != "certificate_id"}
    data["certificate_id"] = sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=says):
        read_certificate(tmp_path / "c.json")


def test_a_missing_file_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        read_certificate(tmp_path / "none.json")


def test_the_newest_of_the_judge_is_found_among_other_json(
    trusted: Certificate, tmp_path: Path, make
):
    write_certificate(trusted, tmp_path / "z-old.json")
    result = calibrate_pairs_named(make)
    newer = make_certificate(result, now=NOW + timedelta(days=2))
    assert newer.fingerprint == FINGERPRINT
    write_certificate(newer, tmp_path / "a-new.json")
    (tmp_path / "calibration.json").write_text('{"format": "relgate-calibration/1"}')
    (tmp_path / "notes.txt").write_text("no")
    assert find_certificate(tmp_path, FINGERPRINT) == newer
    assert find_certificate(tmp_path / "z-old.json", FINGERPRINT) == trusted
    assert find_certificate(tmp_path, "another") is None
    assert find_certificate(tmp_path / "nowhere", FINGERPRINT) is None


def test_a_changed_certificate_in_the_folder_is_not_passed_over(
    trusted: Certificate, tmp_path: Path
):
    write_certificate(trusted, tmp_path / "c.json")
    data = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(data | {"n": 1}))
    with pytest.raises(InputError, match="changed"):
        find_certificate(tmp_path, FINGERPRINT)


def test_a_valid_trusted_certificate_is_no_problem(trusted: Certificate):
    assert ask(trusted) is None
    assert ask(trusted, now=trusted.made_at) is None


def test_each_problem_is_said_in_one_sentence(trusted: Certificate, make):
    weak = make_certificate(calibrate_pairs_named(make), now=NOW)
    problems = {
        "has no calibration certificate": ask(None),
        "the rubric (esci-v1@0123abcd certified, esci-v1@99999999 now)": ask(
            trusted, version="esci-v1@99999999"
        ),
        "what differs: something that is not recorded": ask(trusted, fingerprint="0" * 16),
        "in the future": ask(trusted, now=NOW - timedelta(hours=1)),
        "expired at 2026-05-30T12:00:00Z": ask(trusted, now=trusted.expires_at),
        "level is insufficient": ask(weak),
    }
    for says, problem in problems.items():
        assert problem is not None
        assert says in problem
        assert problem.endswith(".")
        assert "\n" not in problem


def test_grades_of_an_unnamed_judge_get_no_certificate(make):
    result = calibrate_pairs(make.pairs([3, 0], [3, 0]), scale=SCALES["0-3"])
    with pytest.raises(UsageError, match="do not say which judge"):
        make_certificate(result, now=NOW)


def test_a_certificate_must_hold_for_a_day_at_least(make):
    with pytest.raises(UsageError, match="0 days"):
        make_certificate(calibrate_pairs_named(make), now=NOW, days=0)


PARTS = {"rubric": "a1", "template": "b1", "schema": "c1", "parameters": "d1"}


@pytest.fixture
def with_parts(make) -> Certificate:
    result = calibrate_pairs(
        make.pairs([3, 0] * 100, [3, 0] * 100),
        scale=SCALES["0-3"],
        judge=JudgeIdentity(VERSION, FINGERPRINT, "scripted-1", "none", PARTS),
    )
    return make_certificate(result, now=NOW)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"template": "b2"}, "the prompt's template or examples"),
        ({"schema": "c2"}, "the schema of the reply"),
        ({"parameters": "d2"}, "a parameter (temperature, output limit, batch size)"),
        ({"template": "b2", "schema": "c2"}, "template or examples, the schema of the reply"),
        ({}, "something that its parts do not show"),
    ],
)
def test_another_fingerprint_says_which_part_differs(with_parts: Certificate, changed, said):
    judge = JudgeIdentity(VERSION, "0" * 16, "scripted-1", "none", {**PARTS, **changed})
    for problem in (
        certificate_problem(with_parts, judge, now=NOW),
        certificate_problem(None, judge, now=NOW, others=[with_parts]),
    ):
        assert problem is not None
        assert said in problem


def test_another_model_and_another_rubric_are_named_with_both_values(with_parts: Certificate):
    judge = JudgeIdentity("esci-v1@99999999", "0" * 16, "other-2", "none", PARTS)
    problem = certificate_problem(None, judge, now=NOW, others=[with_parts])
    assert problem is not None
    assert "the rubric (esci-v1@0123abcd certified, esci-v1@99999999 now)" in problem
    assert "the model (scripted-1 certified, other-2 now)" in problem


def test_of_several_certificates_the_nearest_is_named(with_parts: Certificate, trusted):
    judge = JudgeIdentity(VERSION, "0" * 16, "scripted-1", "none", {**PARTS, "schema": "c2"})
    problem = certificate_problem(None, judge, now=NOW, others=[trusted, with_parts])
    assert problem is not None
    assert "the model" not in problem


def test_terms_are_compared_by_their_bars_not_by_the_policys_name(trusted: Certificate):
    default = POLICIES["default"]

    def on(policy=default, floor=2, scale="0-3") -> str | None:
        return differing_terms(trusted, policy=policy, floor=floor, scale=scale)

    assert on() is None
    assert on(replace(default, name="ours")) is None
    assert "policy default, not seed" in (on(POLICIES["seed"]) or "")
    other = on(replace(default, f1_bar=0.7))
    assert other is not None
    assert "policy default with other bars (f1_bar 0.8, not 0.7)" in other
    assert "floor 2, not 1" in (on(floor=1) or "")
    assert "scale 0-3, not esci" in (on(scale="esci") or "")


def test_the_policys_bars_are_in_the_certificate_and_cannot_be_changed(
    trusted: Certificate, tmp_path: Path
):
    assert trusted.policy_terms == POLICIES["default"].terms
    path = tmp_path / "c.json"
    write_certificate(trusted, path)
    path.write_text(path.read_text().replace('"f1_bar": 0.8', '"f1_bar": 0.1'))
    with pytest.raises(InputError, match="changed"):
        read_certificate(path)
