"""A figure is never printed as the limit that it passed."""

from __future__ import annotations

import pytest

from relgate.eval.wording import beside


@pytest.mark.parametrize(
    ("value", "limit", "decimals", "text"),
    [
        (100.01, 100.0, 1, "100.01"),
        (24.01, 24.0, 1, "24.01"),
        (24.0, 24.01, 1, "24.00"),
        (0.0199999, 0.02, 4, "0.0199999"),
        (0.031, 0.02, 4, "0.0310"),
        (0.0100000000000001, 0.01, 4, "0.0100"),
        (100.0, 100.0, 1, "100.0"),
        (float("nan"), 100.0, 1, "nan"),
    ],
)
def test_a_figure_reads_unlike_its_limit_unless_it_is_equal(value, limit, decimals, text):
    assert beside(value, limit, decimals) == text


def test_a_sign_is_written_where_it_is_asked_for():
    assert beside(0.01999, 0.02, 4, sign=True) == "+0.01999"
    assert beside(-0.010041, -0.01, 4, sign=True) == "-0.01004"
