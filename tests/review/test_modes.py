"""A hybrid search is judged mode by mode: relevance and recall of each mode's own runs."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan

import pytest

from relgate.eval.change_file import read_change
from relgate.eval.report.document import review_document
from relgate.eval.report.markdown import review_markdown
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.supplied import ModeRuns
from relgate.eval.review.types import Aggregate, ModeFigures, RuleState, Verdict
from relgate.rubrics.errors import InputError, UsageError

PASSED, FAILED, NOT_CHECKED = RuleState.PASSED, RuleState.FAILED, RuleState.NOT_CHECKED
GRADES = {"q1": {"a": 3, "b": 2, "c": 0}, "q2": {"a": 3, "b": 2, "c": 0}}


def figure(delta: float = 0.0, key: str = "ndcg") -> Aggregate:
    return Aggregate(key, key, 0.5, 0.5 + delta, 3)


def mode(name="lexical", relevance=0.0, recall=0.0, **rest) -> ModeFigures:
    return ModeFigures(name, figure(relevance), figure(recall, "recall"), 0.0, **rest)


def hybrid(*modes: ModeRuns, **rest) -> ChangeDescription:
    return ChangeDescription(types=(ChangeType.HYBRID_WEIGHTS,), modes=modes, **rest)


BOTH = (mode(), mode("vector"))


# --- R1 ---


@pytest.mark.parametrize(
    ("modes", "state", "said"),
    [
        (BOTH, PASSED, "judged on"),
        ((*BOTH, mode("sparse")), PASSED, "judged on"),
        ((), FAILED, "relevance and recall of each mode, 2 or more"),
        ((mode(),), FAILED, "what was supplied is nDCG@10 and mode lexical"),
        ((mode(), replace(mode("v"), recall=None)), FAILED, "mode v: it has no recall"),
        ((mode(), replace(mode("v"), relevance=None)), FAILED, "mode v: it has no relevance"),
        ((mode(), mode("v", nan, nan)), FAILED, "it has no relevance and no recall"),
        ((mode(), mode("v", lacks="it lacks 1 of 3")), FAILED, "mode v: it lacks 1 of 3"),
    ],
)
def test_hybrid_weights_need_every_mode(check, evidence, many, *, modes, state, said):
    outcome = check("R1", evidence(*many(3), change=hybrid(), modes=modes))
    assert outcome.state is state
    assert said in " ".join([outcome.summary, *(f.message for f in outcome.findings)])
    assert {f.severity for f in outcome.findings} <= {Verdict.REFUSE}


# --- R18 ---


@pytest.mark.parametrize(
    ("relevance", "recall", "findings"),
    [
        (0.0, 0.0, 0),
        (-0.01, -0.01, 0),  # equal to its budget
        (-0.0101, 0.0, 1),
        (0.2, -0.0101, 1),
        (-0.5, -0.5, 2),
        (nan, 0.0, 1),
    ],
)
def test_a_mode_that_lost_needs_work(check, evidence, many, *, relevance, recall, findings):
    found = evidence(*many(3), modes=(mode("vector", relevance, recall), mode()))
    outcome = check("R18", found)
    assert [f.severity for f in outcome.findings] == [Verdict.NEEDS_WORK] * findings
    assert outcome.state is (FAILED if findings else PASSED)
    assert all("mode vector" in f.message for f in outcome.findings)


def test_its_budget_is_a_setting(check, evidence, many):
    found = evidence(*many(3), modes=(mode("vector", -0.05),))
    assert check("R18", found, max_mode_drop=0.05).state is PASSED
    assert check("R18", found, max_mode_drop=0.04).findings[0].figures["budget"] == 0.04


def test_without_modes_or_a_second_metric_it_is_not_checked(check, evidence, many):
    assert check("R18", evidence(*many(3))).state is NOT_CHECKED


# --- figures out of runs ---


@pytest.fixture
def runs(make_run):
    def build(name="lexical", before=("a", "b", "c"), after=("a", "b", "c"), queries=GRADES):
        return ModeRuns(
            name, make_run(dict.fromkeys(queries, before)), make_run(dict.fromkeys(queries, after))
        )

    return build


@pytest.fixture
def blended(make_list, make_run, reviewed):
    """A review of a blend that improves, with these modes."""

    def build(*modes: ModeRuns, judgments=True, **change):
        judged = make_list(GRADES) if judgments else None
        before, after = (make_run(dict.fromkeys(GRADES, d)) for d in (("c", "a"), ("a", "b")))
        return reviewed(judged, before, after, change=hybrid(*modes, **change))

    return build


def test_each_mode_is_scored_on_its_own_runs(blended, runs):
    done = blended(runs(), runs("vector", ("a", "c", "b"), ("c", "x", "a")))
    lexical, vector = done.evidence.modes
    assert (lexical.relevance.before, lexical.recall.before) == (1.0, 1.0)
    assert vector.recall.before == 1.0
    assert vector.recall.after == 0.5  # of a and b it finds a
    # by hand: 7 at rank 3 over the ideal 7 + 3 / log2(3)
    assert vector.relevance.after == pytest.approx(3.5 / 8.892789, abs=1e-6)
    assert vector.unrated_after == pytest.approx(1 / 3)
    assert vector.recall.name == "R(floor=2)@10"


def test_a_hybrid_change_is_approved_with_both_modes_kept(blended, runs, outcome):
    done = blended(runs(), runs("vector"))
    assert outcome(done, "R1").state is PASSED
    assert done.verdict is Verdict.APPROVE


def test_a_mode_that_the_blend_hides_needs_work(blended, runs, outcome):
    done = blended(runs(), runs("vector", ("a", "b"), ("c", "b")))
    assert done.evidence.main.delta > 0.02
    assert done.verdict is Verdict.NEEDS_WORK
    assert [f.figures["metric"] for f in outcome(done, "R18").findings] == [
        "nDCG(gain=exp2)@10", "R(floor=2)@10",
    ]  # fmt: skip


def test_a_mode_of_other_queries_stands_for_nothing(blended, runs, outcome):
    done = blended(runs(), runs("vector", queries=["q1"]))
    assert done.verdict is Verdict.REFUSE
    assert "lacks 1 of the 2 queries" in outcome(done, "R1").findings[0].message


def test_a_mode_without_documents_has_no_figures(blended, make_run, runs, outcome):
    bare = make_run(dict.fromkeys(GRADES))
    done = blended(runs(), ModeRuns("vector", bare, bare))
    assert "its files list no documents" in outcome(done, "R1").findings[0].message


def test_unrated_documents_of_a_mode_are_said(blended, runs):
    done = blended(runs(), runs("vector", ("a",), ("x", "a")))
    assert any(
        w.startswith("mode vector: 50 % of its documents are unrated")
        for w in done.evidence.warnings
    )


def test_the_modes_stand_in_the_reports(blended, runs):
    done = blended(runs(), runs("vector", ("a", "b"), ("c", "b")))
    document = review_document(done)["modes"]
    assert [m["name"] for m in document] == ["lexical", "vector"]
    assert document[1]["recall"]["delta"] == -0.5
    assert "### By mode" in review_markdown(done)
    assert "| vector | R(floor=2)@&#8203;10 | 1.0000 | 0.5000 | -0.5000 |" in review_markdown(done)
    assert "By mode" not in review_markdown(blended())


def test_with_no_list_there_is_nothing_to_score_a_mode_by(rank_eval, runs, reviewed):
    before, after = (rank_eval(n, {"q1": 0.5, "q2": 0.5}, metric="ndcg@10") for n in "ab")
    done = reviewed(None, before, after, change=hybrid(runs(), runs("vector")))
    first = done.evidence.modes[0]
    assert (first.relevance, first.lacks) == (None, "no judgment list was given")
    assert isnan(first.unrated_after)


# --- files ---


def test_the_description_names_the_runs_of_each_mode(tmp_path):
    for name in ("lb", "la", "vb", "va"):
        (tmp_path / f"{name}.json").write_text('{"q1": ["a", "b"]}')
    (tmp_path / "change.toml").write_text(
        'type = "hybrid-weights"\n'
        '[modes.lexical]\nbefore = "lb.json"\nafter = "la.json"\n'
        '[modes.vector]\nbefore = "vb.json"\nafter = "va.json"\n'
    )
    modes = read_change(tmp_path / "change.toml").change.modes
    assert [m.name for m in modes] == ["lexical", "vector"]
    assert modes[0].before.docs == (("a", "b"),)


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ('before = "lb.json"', InputError, "modes.lexical: after"),
        ('before = "lb.json"\nafter = "gone.json"', InputError, "gone.json"),
        ('before = "lb.json"\nafter = "lb.json"', UsageError, "the same file"),
        ('before = "lb.json"\nafter = "la.json"\nrecal = 1', InputError, "recal"),
    ],
)
def test_a_mode_that_cannot_be_read_says_why(tmp_path, table, error, said):
    for name in ("lb", "la"):
        (tmp_path / f"{name}.json").write_text('{"q1": ["a", "b"]}')
    (tmp_path / "change.toml").write_text(f"[modes.lexical]\n{table}\n")
    with pytest.raises(error, match=said):
        read_change(tmp_path / "change.toml")
