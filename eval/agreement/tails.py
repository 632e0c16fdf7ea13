"""Quantiles and tails of distributions, by SciPy. Pure.

The one module that imports SciPy itself, and only when called. scikit-learn needs it anyway.
"""

from __future__ import annotations

from typing import Any

__all__ = ["binomial_two_sided", "chi_squared_tail", "t_quantile"]


def t_quantile(probability: float, freedom: float) -> float:
    """Student's t below which `probability` lies.

    Args:
        probability: in (0, 1).
        freedom: degrees of freedom, above 0.
    """
    return float(_special().stdtrit(freedom, probability))


def chi_squared_tail(statistic: float, freedom: int) -> float:
    """The chance of a chi-squared statistic at least so large.

    Args:
        statistic: 0 or more.
        freedom: degrees of freedom, 1 or more.
    """
    return float(_special().chdtrc(freedom, statistic))


def binomial_two_sided(successes: int, trials: int) -> float:
    """Two-sided exact p of `successes` in `trials` fair coins; 1 without a trial."""
    fewer = min(successes, trials - successes)
    return min(1.0, 2 * float(_special().bdtr(fewer, trials, 0.5))) if trials else 1.0


def _special() -> Any:  # noqa: ANN401 - the library has no types
    import scipy.special as special  # noqa: PLC0415, PLR0402 - heavy  # pyright: ignore[reportMissingTypeStubs]

    return special
