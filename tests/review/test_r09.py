"""R9: p95 may rise to 1.2 times what it was, p99 may be 100 ms; NaN never passes."""

from __future__ import annotations

from math import inf, nan

import pytest

from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.supplied import Latency, Percentiles, percentiles_of
from relgate.eval.review.types import RuleState, Verdict
from relgate.rubrics.errors import UsageError

PASSED, FAILED, NOT_CHECKED = RuleState.PASSED, RuleState.FAILED, RuleState.NOT_CHECKED
VECTOR = (ChangeType.EMBEDDING_MODEL, ChangeType.HNSW_PARAMS)


def timed(before: Percentiles | None, after: Percentiles | None, *types: ChangeType):
    return ChangeDescription(types=types, latency=Latency(before, after))


def side(p95: float | None, p99: float | None = 40.0) -> Percentiles:
    return Percentiles(8.0, p95, p99)


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        (20.0, 20.0, PASSED),
        (20.0, 24.0, PASSED),  # equal to its limit
        (20.0, 24.01, FAILED),
        (40.0, 10.0, PASSED),
        (0.0, 1.0, FAILED),
    ],
)
def test_p95_may_rise_by_a_fifth(check, evidence, many, *, before, after, state):
    outcome = check("R9", evidence(*many(3), change=timed(side(before), side(after))))
    assert outcome.state is state
    assert [f.severity for f in outcome.findings] == [Verdict.BLOCK] * (state is FAILED)


@pytest.mark.parametrize(("p99", "state"), [(100.0, PASSED), (100.1, FAILED)])
def test_p99_has_a_ceiling_whatever_it_was(check, evidence, many, p99, state):
    change = timed(side(20.0, 400.0), side(20.0, p99))
    outcome = check("R9", evidence(*many(3), change=change))
    assert outcome.state is state
    assert all("100 ms ceiling" in f.message for f in outcome.findings)


def test_both_limits_are_told_at_once_and_with_their_figures(check, evidence, many):
    change = timed(side(20.0), side(30.0, 120.0))
    slower, over = check("R9", evidence(*many(3), change=change)).findings
    assert slower.figures == {"p95_before_ms": 20.0, "p95_after_ms": 30.0, "max_ratio": 1.2}
    assert "20.0 ms to 30.0 ms; at most 24.0 ms" in slower.message
    assert over.figures["p99_after_ms"] == 120.0


def test_both_limits_are_settings(check, evidence, many):
    found = evidence(*many(3), change=timed(side(20.0), side(30.0, 120.0)))
    assert check("R9", found, max_p95_ratio=1.5, max_p99_ms=120.0).state is PASSED


@pytest.mark.parametrize("bad", [nan, inf])
@pytest.mark.parametrize("where", ["p50", "p95", "p99", "before"])
def test_a_figure_that_is_not_a_number_refuses(check, evidence, many, bad, where):
    good = Percentiles(8.0, 20.0, 40.0)
    broken = {
        "p50": (good, Percentiles(bad, 20.0, 40.0)),
        "p95": (good, Percentiles(8.0, bad, 40.0)),
        "p99": (good, Percentiles(8.0, 20.0, bad)),
        "before": (Percentiles(8.0, bad, 40.0), good),
    }[where]
    outcome = check("R9", evidence(*many(3), change=timed(*broken)))
    assert [f.severity for f in outcome.findings] == [Verdict.REFUSE]


@pytest.mark.parametrize(
    "change", [None, ChangeDescription(), ChangeDescription(types=(ChangeType.SYNONYMS,))]
)
def test_absent_latency_is_a_note_for_most_changes(check, evidence, many, change):
    outcome = check("R9", evidence(*many(3), change=change))
    assert (outcome.state, outcome.cap) == (NOT_CHECKED, None)


@pytest.mark.parametrize("kind", VECTOR)
@pytest.mark.parametrize(
    "latency",
    [
        None,
        Latency(),
        Latency(side(20.0), None),
        Latency(None, side(20.0)),
        Latency(side(20.0), side(20.0, None)),
        Latency(side(None), side(20.0)),
        Latency(side(20.0), side(None)),
    ],
)
def test_a_vector_change_without_all_of_it_is_capped(check, evidence, many, kind, latency):
    change = ChangeDescription(types=(kind,), latency=latency)
    outcome = check("R9", evidence(*many(3), change=change))
    assert (outcome.state, outcome.cap) == (NOT_CHECKED, Verdict.NEEDS_WORK)


def test_what_is_there_is_judged_though_the_rest_is_not(check, evidence, many):
    change = timed(None, side(None, 300.0))
    assert check("R9", evidence(*many(3), change=change)).state is FAILED


# --- raw samples ---


def test_percentiles_interpolate_between_ranks():
    # Hyndman & Fan type 7 by hand: rank 1 + (n - 1) p of 1..101 is 51, 96, 100
    assert percentiles_of([float(i) for i in range(101, 0, -1)]) == Percentiles(51, 96, 100, 101)
    # n = 5: p95 at rank 4.8, between 4 and 10
    assert percentiles_of([1, 2, 3, 4, 10]).p95_ms == pytest.approx(4 + 0.8 * 6)


def test_a_sample_that_is_no_number_spoils_the_side(check, evidence, many):
    spoilt = percentiles_of([1.0, nan, 2.0])
    outcome = check("R9", evidence(*many(3), change=timed(side(20.0), spoilt)))
    assert outcome.findings[0].severity is Verdict.REFUSE


def test_no_sample_is_an_error():
    with pytest.raises(UsageError):
        percentiles_of([])


@pytest.mark.parametrize(("n", "notes"), [(99, 1), (100, 0)])
def test_few_samples_do_not_tell_p99(check, evidence, many, n, notes):
    change = timed(percentiles_of([5.0] * n), percentiles_of([5.0] * n))
    outcome = check("R9", evidence(*many(3), change=change))
    assert outcome.state is PASSED
    assert [f.severity for f in outcome.findings] == [Verdict.APPROVE] * notes


def test_the_line_shows_what_was_given_and_nothing_else(check, evidence, many):
    change = timed(Percentiles(p95_ms=20.0), Percentiles(p95_ms=21.0, p99_ms=40.0))
    outcome = check("R9", evidence(*many(3), change=change))
    assert outcome.summary == "p95 20.0 ms to 21.0 ms, p99 ? to 40.0 ms"
    whole = timed(Percentiles(8.0, 20.0, 40.0), Percentiles(9.0, 21.0, 41.0))
    outcome = check("R9", evidence(*many(3), change=whole))
    assert outcome.summary == "p50 8.0 ms to 9.0 ms, p95 20.0 ms to 21.0 ms, p99 40.0 ms to 41.0 ms"
