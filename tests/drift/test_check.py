"""The alarm: a drop equal to its budget passes, NaN and another stack never do."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from relgate.eval.drift.accept import accept, with_entry
from relgate.eval.drift.artifact import artifact_text, read_artifact
from relgate.eval.drift.budgets import DEFAULT, Budget, Budgets, budgets_of
from relgate.eval.drift.check import check_drift
from relgate.eval.drift.document import (
    drift_document,
    drift_markdown,
    notes_entry,
    outcome,
    weighted_rows,
)
from relgate.eval.drift.means import core, means_of
from relgate.eval.drift.noise import budget_values, noise_floor
from relgate.eval.drift.types import Artifact, Measured, MeasuredQuery, Signal
from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet
from relgate.eval.harness.report import Setup, artifact_of
from relgate.eval.metrics.conventions import Conventions
from relgate.rubrics.errors import GoldenVersionError, InputError, UsageError


def query(number: int, ndcg: float | None = 0.8, **more: Any) -> MeasuredQuery:
    figures = {"mrr": 0.7, "precision": 0.5, "returned": 10} | more
    return MeasuredQuery(f"q{number}", f"text {number}", ndcg, **figures)


def queries(n: int = 40, **more: Any) -> tuple[MeasuredQuery, ...]:
    return tuple(query(i, **more) for i in range(n))


def artifact(*runs: tuple[MeasuredQuery, ...] | Measured, **more: Any) -> Artifact:
    made = tuple(
        run if isinstance(run, Measured) else Measured({}, run, means_of(core(run)))
        for run in runs or (queries(),)
    )
    return Artifact("v1", made, **more)


def kinds(report):
    return [(finding.kind, finding.level.value) for finding in report.findings]


def test_equal_runs_pass_without_a_word():
    report = check_drift(artifact(), artifact())
    assert (report.findings, report.losers, report.exit_code) == ((), (), 0)
    assert outcome(report) == "pass"


@pytest.mark.parametrize(
    ("signal", "soft", "hard"),
    [("ndcg", 0.01, 0.025), ("mrr", 0.01, 0.03), ("precision", 0.02, 0.04)],
)
def test_a_drop_equal_to_its_budget_passes_and_the_next_does_not(signal, soft, hard):
    name = "precision_at_k" if signal == "precision" else signal
    for drop, level in (
        (soft, None),
        (soft + 1e-6, "soft"),
        (hard, "soft"),
        (hard + 1e-6, "hard"),
        (-0.1, None),
    ):
        was = artifact(queries(**{signal: 0.6}))
        now = artifact(queries(**{signal: 0.6 - drop}))
        wanted = [] if level is None else [(name, level)]
        assert kinds(check_drift(now, was)) == wanted, drop


@pytest.mark.parametrize(("kind", "returned"), [("empty_rate", 0), ("lt3_rate", 2)])
def test_rates_may_rise_by_their_budget(kind, returned):
    def rates(few, n=1000):
        some = (query(i, returned=returned, empty=returned == 0) for i in range(few))
        return artifact((*some, *(query(i) for i in range(few, n))))

    def found(few):
        return [pair for pair in kinds(check_drift(rates(few), rates(10))) if pair[0] == kind]

    assert found(15) == []
    assert found(16) == [(kind, "soft")]
    assert found(25) == [(kind, "soft")]
    assert found(26) == [(kind, "hard")]


def test_a_query_meant_to_be_empty_counts_in_no_rate():
    was = queries(39)
    now = (*was, query(39, None, returned=0, empty=True, expect="empty", held=True))
    assert means_of(now)[Signal.EMPTY] == 0


def test_challenge_and_shadow_queries_never_gate():
    def with_others(ndcg):
        others = (query(50, ndcg, set="challenge"), query(51, ndcg, set="shadow"))
        return artifact((*queries(), *others))

    report = check_drift(with_others(0.0), with_others(1.0))
    assert report.findings == ()
    assert report.losers == ()


def test_a_shadow_query_that_goes_empty_is_a_warning():
    was = artifact((*queries(), query(51, set="shadow")))
    now = artifact((*queries(), query(51, 0.0, set="shadow", returned=0, empty=True)))
    assert kinds(check_drift(now, was)) == [("shadow-empty", "soft")]


def test_a_stratum_has_its_own_budget_and_fires_plainly():
    def billing(drop):
        return artifact(
            (*queries(30), *(query(100 + i, 0.8 - drop, stratum="billing") for i in range(3)))
        )

    was, now = billing(0.0), billing(0.02)
    assert kinds(check_drift(now, was)) == [("ndcg", "soft")]  # in billing, over the soft limit
    own = budgets_of({"strata": {"billing": {"ndcg_max_drop": 0.015}}}, "b.json")
    (found,) = check_drift(now, was, own).findings
    assert (found.stratum, found.level.value, found.budget) == ("billing", "hard", 0.015)


def test_filtered_and_unfiltered_queries_are_strata_of_their_own():
    def half(drop):
        return artifact(
            (*queries(30), *(query(100 + i, 0.8 - drop, filtered=True) for i in range(2)))
        )

    found = check_drift(half(0.1), half(0.0)).findings
    assert [(f.stratum, f.level.value) for f in found] == [("filtered", "hard")]


def test_a_stratum_that_is_gone_fails():
    was = artifact((*queries(30), query(99, stratum="billing")))
    now = artifact((*queries(30), query(99)))
    assert kinds(check_drift(now, was)) == [("stratum", "hard")]


# --- what can never pass


@pytest.mark.parametrize("side", ["current", "baseline"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_figure_that_is_not_finite_is_never_compared(side, value):
    good, bad = artifact(), artifact((query(0, value), *queries()[1:]))
    report = check_drift(*((bad, good) if side == "current" else (good, bad)))
    assert report.exit_code == 4
    assert kinds(report)[0] == ("not-finite", "mismatch")


def test_the_same_version_with_other_content_is_a_mismatch():
    report = check_drift(artifact(golden_sha256="a"), artifact(golden_sha256="b"))
    assert (kinds(report), report.exit_code) == ([("golden-content", "mismatch")], 4)


@pytest.mark.parametrize("name", ["k", "gain", "no_ideal"])
def test_another_convention_is_a_mismatch(name):
    report = check_drift(artifact(conventions={name: "1"}), artifact(conventions={name: "2"}))
    assert (kinds(report), report.exit_code) == ([(f"convention-{name}", "mismatch")], 4)


@pytest.mark.parametrize(
    ("now", "was", "kind"),
    [
        ({"conventions": {"floor": "1"}}, {"conventions": {"floor": "2"}}, "setting-floor"),
        ({"settings": {"cache": "used"}}, {"settings": {"cache": "bypassed"}}, "setting-cache"),
        ({}, {"settings": {"cache": "bypassed"}}, "setting-cache"),
    ],
)
def test_another_floor_or_cache_setting_fails(now, was, kind):
    report = check_drift(artifact(**now), artifact(**was))
    assert (kinds(report), report.exit_code) == ([(kind, "hard")], 3)


def test_a_combination_that_the_baseline_has_must_be_run():
    on, off = (Measured({"rewriter": s}, queries(), means_of(queries())) for s in ("on", "off"))
    assert check_drift(artifact(on, off), artifact(on, off)).exit_code == 0
    report = check_drift(artifact(off), artifact(on, off))
    assert (kinds(report), report.exit_code) == ([("stages", "hard")], 3)
    assert "rewriter=on" in report.findings[0].message
    assert check_drift(artifact(on, off), artifact(on)).exit_code == 0  # more is fine


def test_a_query_that_answered_and_fails_now_is_named():
    now = artifact((query(0, 0.0, failed=True, returned=None), *queries()[1:]))
    found = check_drift(now, artifact()).findings
    assert ("failed", "hard") in kinds(check_drift(now, artifact()))
    assert any('"text 0"' in finding.message for finding in found if finding.kind == "failed")


@pytest.mark.parametrize(
    ("was", "now", "wanted"),
    [
        (True, True, []),
        (True, False, [("expectation", "hard")]),
        (None, False, [("expectation", "hard")]),
        (False, False, [("expectation-open", "soft")]),
        (False, True, []),
    ],
)
def test_an_expectation_that_breaks_fails_and_one_that_was_broken_warns(was, now, wanted):
    sides = (
        artifact((*queries(), query(99, expect="non-empty", held=held))) for held in (now, was)
    )
    assert kinds(check_drift(*sides)) == wanted


def test_a_query_missing_from_this_run_is_a_mismatch():
    report = check_drift(artifact(queries(39)), artifact(queries(40)))
    assert ("queries-missing", "mismatch") in kinds(report)


# --- budgets


def test_the_guides_own_budget_file_is_read_as_hard_limits():
    found = budgets_of({"ndcg_max_drop": 0.005, "empty_rate_max_rise": 0.5}, "b.json")
    assert found.of(Signal.NDCG) == Budget(0.005, 0.005)  # the default soft limit is above it
    assert found.of(Signal.EMPTY) == Budget(0.005, 0.5)
    assert found.of(Signal.MRR) == DEFAULT.of(Signal.MRR)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"ndcg_drop": 0.1}, "unknown budget 'ndcg_drop'"),
        ({"ndcg_max_drop": -0.1}, "ndcg_max_drop is -0.1"),
        ({"ndcg_max_drop": math.nan}, "ndcg_max_drop is nan"),
        ({"ndcg_max_drop": True}, "ndcg_max_drop is True"),
        ({"soft": {"ndcg_max_drop": 0.3}}, "soft limit 0.3 is above the hard one 0.025"),
        ({"strata": {"a": {"x": 1}}}, "unknown budget 'strata.a.x'"),
        ({"strata": 3}, "strata is no table"),
    ],
)
def test_a_faulty_budget_is_refused(value, said):
    with pytest.raises(InputError, match=said):
        budgets_of(value, "b.json")


# --- artifacts


def test_an_artifact_comes_back_as_it_was_written(tmp_path):
    run = Measured(
        {"rewriter": "on"},
        (
            *queries(3),
            query(7, None, stratum="b", filtered=True, expect="empty", held=True, weight=2.5),
        ),
        means_of(core((*queries(3), query(7, None, expect="empty")))),
        {"p95": 12.5},
    )
    before = artifact(run, golden_sha256="abc", conventions={"k": "10"}, settings={"cache": "no"})
    path = tmp_path / "a.json"
    path.write_text(artifact_text(before))
    assert replace(read_artifact(path), path=None) == before


def test_figures_edited_by_hand_are_refused(tmp_path):
    value = json.loads(artifact_text(artifact()))
    value["runs"][0]["ndcg"] = 0.9
    (tmp_path / "a.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=r"ndcg is 0\.900000, and 0\.800000 by its own queries"):
        read_artifact(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["runs"].append(v["runs"][0]), "stages 'as is' stand twice"),
        (lambda v: v["runs"][0]["per_query"].extend(v["runs"][0]["per_query"][:1]), "'q0' stands"),
        (lambda v: v.update(runs=[]), "runs: List should have at least 1 item"),
        (lambda v: v.update(extra=1), "extra: Extra inputs"),
        (lambda v: v.pop("golden_version"), "golden_version: Field required"),
        (lambda v: v["runs"][0].update(ndcg="high"), r"runs\.0\.ndcg"),
    ],
)  # fmt: skip
def test_a_faulty_artifact_is_refused(tmp_path, change, said):
    value = json.loads(artifact_text(artifact()))
    change(value)
    (tmp_path / "a.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=said):
        read_artifact(tmp_path / "a.json")


# --- noise, baselines, reports


def _replays(*ndcg):
    return [artifact(queries(ndcg=value)) for value in ndcg]


def test_the_noise_floor_is_the_greatest_move_and_limits_are_one_and_three_of_it():
    found = noise_floor(_replays(0.80, 0.806, 0.802))
    assert found.floor[Signal.NDCG] == pytest.approx(0.006)
    assert found.proposed[Signal.NDCG] == Budget(0.006, 0.018)
    assert found.proposed[Signal.MRR] == DEFAULT.of(Signal.MRR)  # nothing moved
    assert noise_floor(_replays(0.8, 0.806), hard_factor=2).proposed[Signal.NDCG].hard == 0.012
    assert budgets_of(budget_values(found), "b.json").of(Signal.NDCG) == Budget(0.006, 0.018)


def test_replays_must_be_of_one_configuration():
    with pytest.raises(UsageError, match="at least twice"):
        noise_floor(_replays(0.8))
    with pytest.raises(GoldenVersionError):
        noise_floor([artifact(), replace(artifact(), golden_version="v2")])
    with pytest.raises(UsageError, match="differ in settings"):
        noise_floor([artifact(), artifact(settings={"cache": "used"})])
    with pytest.raises(UsageError, match="no finite number"):
        noise_floor(_replays(0.8, math.nan))
    with pytest.raises(UsageError, match="two to three"):
        noise_floor(_replays(0.8, 0.8), hard_factor=4)


@pytest.mark.parametrize(
    ("new", "rationale", "said"),
    [
        (artifact(), "  ", "no rationale"),
        (artifact(queries(ndcg=math.nan)), "new model", "no finite number"),
        (artifact(queries(ndcg=0.0, failed=True)), "new model", "40 core queries failed"),
    ],
)
def test_no_baseline_without_a_reason_or_of_a_broken_run(new, rationale, said):
    with pytest.raises(UsageError, match=said):
        accept(new, rationale)


def test_the_notes_have_the_latest_entry_first_with_both_sides():
    one = notes_entry(artifact(), None, rationale="first", at="2026-01-01", sha=None)
    two = notes_entry(artifact(), artifact(queries(ndcg=0.7)), rationale="next", at="t2", sha="abc")
    assert "| as is | ndcg | 0.7000 | 0.8000 |" in two
    assert "commit abc" in two
    notes = with_entry(with_entry("# Notes\n", one), two)
    assert notes.index("## t2") < notes.index("## 2026-01-01")
    assert notes.startswith("# Notes\n")


def test_the_report_is_inert_markdown_and_whole_json():
    bad = (
        replace(query(0, 0.1), text="<script>|`@all"),
        *queries()[1:],
    )
    report = check_drift(artifact(bad), artifact())
    text = drift_markdown(report, DEFAULT)
    assert "<script>" not in text
    assert "FAIL" not in text
    assert "WARN" in text
    document = drift_document(report, DEFAULT)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["losers"][0]["drop"] == pytest.approx(0.7)


def test_a_judgment_that_lost_its_live_id_is_as_hard_as_a_drop():
    now = artifact(unresolved={"q1": ("https://h/a", "https://h/b")})
    was = artifact(unresolved={"q1": ("https://h/a",)})
    report = check_drift(now, was)
    lost, still = report.findings
    assert (lost.kind, lost.level.value) == ("unresolved", "hard")
    assert lost.message.startswith("1 judgment has no live id any more")
    assert lost.message.endswith("'https://h/b' of \"text 1\"")
    assert (still.kind, still.level.value) == ("unresolved-open", "soft")
    assert still.message.endswith("'https://h/a' of \"text 1\"")
    assert report.exit_code == 3
    assert check_drift(was, was).exit_code == 0


def test_a_query_that_leaves_or_joins_the_mean_cannot_be_compared():
    left = artifact((query(0, None, mrr=None, precision=None), *queries()[1:]))
    assert kinds(check_drift(left, artifact())) == [("unscored", "mismatch")]
    assert kinds(check_drift(artifact(), left)) == [("newly-scored", "mismatch")]
    challenge = (query(0, None, mrr=None, precision=None, set="challenge"), *queries()[1:])
    assert not check_drift(artifact(challenge), artifact(challenge)).findings


def test_an_artifact_keeps_what_was_not_resolved(tmp_path):
    made = artifact(unresolved={"q1": ("https://h/a",)})
    path = tmp_path / "a.json"
    path.write_text(artifact_text(made), "utf-8")
    assert read_artifact(path).unresolved == {"q1": ("https://h/a",)}
    notes = notes_entry(made, None, rationale="r", at="now", sha=None)
    assert "- **not resolved**, counts for nothing: https" in notes


def test_means_by_traffic_stand_beside_the_means_that_gate():
    was = artifact((query(0, 0.5, weight=3.0), query(1, 0.9, weight=1.0), query(2, 0.1)))
    now = artifact((query(0, 0.4, weight=3.0), query(1, 0.9, weight=1.0), query(2, 0.1)))
    assert json.loads(artifact_text(was))["runs"][0]["weighted"]["ndcg"] == pytest.approx(0.6)
    report = check_drift(now, was, Budgets())
    assert weighted_rows(report)[0] == ("as is", "ndcg", "0.6000", "0.5250", "-0.0750")
    assert "By traffic" in drift_markdown(report, DEFAULT)
    document = drift_document(report, DEFAULT)
    assert document["current"]["runs"][0]["weighted_means"]["ndcg"] == pytest.approx(0.525)
    assert not weighted_rows(check_drift(artifact(), artifact()))


def test_a_run_writes_down_which_judgments_had_no_live_id():
    open_ = GoldenJudgment(grade=3, locator="https://h/a")
    live = GoldenJudgment(grade=2, doc_id="d", locator="https://h/b")
    golden = GoldenSet("v1", (GoldenQuery("q1", "refund", (open_, live)),))
    setup = Setup(golden, Conventions(), "none", {})
    assert artifact_of(setup, []).unresolved == {"q1": ("https://h/a",)}
