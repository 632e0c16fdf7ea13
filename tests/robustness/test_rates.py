"""Wilson's interval, and what a rate says against a limit."""

from __future__ import annotations

import pytest

from relgate.judge.robustness.rates import Verdict, share, worst


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3 (Wilson's score interval).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilsons(count, n, low, high):
    rate = share(count, n)
    assert (round(rate.low, 4), round(rate.high, 4)) == (low, high)


def test_nothing_measured_has_no_rate_and_never_passes():
    rate = share(0, 0)
    assert (rate.point, rate.low, rate.high) == (None, None, None)
    assert rate.against(1.0) is Verdict.UNMEASURED
    assert not rate.proves(1.0)


def test_a_rate_is_flagged_above_the_limit_only():
    assert share(1, 20).against(0.05) is Verdict.WITHIN
    assert share(2, 20).against(0.05) is Verdict.FLAGGED


def test_the_worst_verdict_counts_and_none_at_all_is_unmeasured():
    assert worst([Verdict.WITHIN, Verdict.UNMEASURED]) is Verdict.UNMEASURED
    assert worst([Verdict.UNMEASURED, Verdict.FLAGGED]) is Verdict.FLAGGED
    assert worst([Verdict.WITHIN]) is Verdict.WITHIN
    assert worst([]) is Verdict.UNMEASURED
