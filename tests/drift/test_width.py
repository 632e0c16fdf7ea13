"""A golden set is large enough when its mean is known better than its budget."""

from __future__ import annotations

import pytest

from relgate.eval.drift.budgets import budgets_of
from relgate.eval.drift.types import Artifact, Measured, MeasuredQuery, Signal
from relgate.eval.drift.width import width_notes


def measured(*ndcgs: float | None, **more) -> Measured:
    queries = tuple(MeasuredQuery(f"q{i}", "x", v, None, None, **more) for i, v in enumerate(ndcgs))
    return Measured({}, queries, {Signal.NDCG: 0.5})


def notes(*runs: Measured, hard: float = 0.025):
    budgets = budgets_of({"ndcg_max_drop": hard}, "b")
    return width_notes(Artifact("v1", runs), budgets)


def test_a_wide_interval_is_noted_with_the_queries_that_would_narrow_it():
    """Zeros and ones by halves: sd 0.5, so 100 queries know the mean to +-0.098 (1.96 sd / 10)."""
    (note,) = notes(measured(*[0.0, 1.0] * 50))
    assert (note.kind, note.count, note.fault) == ("interval", 100, False)
    assert "wider than the hard budget of 0.025" in note.what
    needed = int(note.examples[0].split()[1].replace(",", ""))
    assert needed == pytest.approx((2 * 1.96 * 0.5 / 0.025) ** 2, rel=0.1)


def test_a_narrow_interval_is_not_noted():
    assert notes(measured(*[0.0, 1.0] * 50), hard=0.25) == ()
    assert notes(measured(*[0.6] * 100)) == ()


@pytest.mark.parametrize("values", [(), (0.5,), (None, 0.4, None)])
def test_too_few_queries_have_no_interval_and_that_is_noted(values):
    (note,) = notes(measured(*values))
    assert "too few" in note.what


def test_queries_that_do_not_gate_do_not_count():
    (note,) = notes(measured(*[0.0, 1.0] * 50, set="shadow"))
    assert (note.count, "too few" in note.what) == (0, True)


def test_a_figure_that_is_no_number_is_noted():
    (note,) = notes(measured(0.5, float("nan"), 0.5))
    assert "no number" in note.what


def test_each_combination_of_stages_has_its_note():
    wide = measured(*[0.0, 1.0] * 50)
    runs = [Measured({"rewriter": s}, wide.queries, wide.means) for s in ("on", "off")]
    assert [n.what.count("rewriter=") for n in notes(*runs)] == [1, 1]
