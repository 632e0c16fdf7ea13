"""What the reports of a calibration call things, and how they write a figure. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from relgate.eval.agreement.intervals import Figure
from relgate.eval.agreement.split import Hygiene

__all__ = [
    "ANSWERED",
    "AT_FLOOR",
    "EXPECTATION_LABELS",
    "GROUP_FIGURES",
    "HEADLINE_FIGURES",
    "LABELS",
    "MEANS",
    "NO_PROBABILITIES",
    "ON_SCALE",
    "PEOPLE_LABELS",
    "digits",
    "hygiene_lines",
    "number",
    "shown_figure",
]

_DIGITS = 6

LABELS: Mapping[str, str] = {
    "kappa_quadratic": "kappa, quadratic weights",
    "kappa_linear": "kappa, linear weights",
    "kappa": "kappa, unweighted",
    "accuracy": "same grade",
    "ac1": "AC1",
    "ac2_quadratic": "AC2, quadratic weights",
    "f1": "F1",
    "f1_gain": "F1 over that of a judge that calls all relevant",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "floor_kappa": "kappa",
    "floor_accuracy": "same side",
    "floor_ac1": "AC1",
    "pabak": "PABAK",
    "prevalence_index": "prevalence index",
    "bias_index": "bias index",
    "share_relevant_human": "share relevant, people",
    "share_relevant_judge": "share relevant, judge",
    "mean_human": "mean grade, people",
    "mean_judge": "mean grade, judge",
    "mean_shift": "leniency (judge less people, grades)",
    "coverage": "coverage (asked pairs with a grade)",
    "error_rate": "error rate (asked pairs without one)",
}
"""What people call the figures, under the headings of the report."""
ON_SCALE = ("kappa_quadratic", "kappa_linear", "kappa", "accuracy", "ac1", "ac2_quadratic")
MEANS = ("mean_human", "mean_judge", "mean_shift")
ANSWERED = ("coverage", "error_rate")
AT_FLOOR = tuple(name for name in LABELS if name not in (*ON_SCALE, *MEANS, *ANSWERED))
GROUP_FIGURES = ("kappa_quadratic", "kappa", "f1", "floor_kappa", "mean_shift", "prevalence_index")
"""What a table of strata shows; the JSON has all figures."""
HEADLINE_FIGURES: Mapping[str, str] = {
    "kappa": "kappa, unweighted",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "f1": "F1 at the floor",
    "precision": "precision at the floor",
    "recall": "recall at the floor",
    "floor_kappa": "kappa at the floor",
    "mean_shift": "leniency (judge less people, grades)",
}
"""The figures of a short view, in order, with what they are called."""

EXPECTATION_LABELS: Mapping[str, str] = {
    "expected_mae": "distance of the expected grade from people's (mean, grades)",
    "grade_mae": "distance of the grade itself, same pairs",
    "mae_gain": "what the expected grade is nearer",
    "expected_kappa_quadratic": "kappa, quadratic weights, of the expected grade rounded",
    "within_1_spread": "people's grades within 1 spread",
    "within_2_spreads": "people's grades within 2 spreads",
    "spread_ratio": "error over spread (1: as sure as it should be; above: too sure)",
}
PEOPLE_LABELS: Mapping[str, str] = {
    "people_kappa_quadratic": "two people, quadratic kappa",
    "judge_kappa_quadratic": "judge and a person, quadratic kappa",
    "over_people": "judge over people, quadratic kappa",
    "people_kappa": "two people, kappa",
    "judge_kappa": "judge and a person, kappa",
    "alpha_people": "alpha (ordinal) of people",
    "alpha_with_judge": "alpha (ordinal) with the judge",
}
NO_PROBABILITIES = (
    "The class probabilities themselves are not kept, so there is no Brier score and no expected "
    "calibration error."
)


def number(value: float | None, *, places: int = 4) -> str:
    """A value as people read it; `undefined` for None."""
    return "undefined" if value is None else f"{round(value, places) + 0.0:.{places}f}"


def shown_figure(figure: Figure, *, places: int = 4) -> tuple[str, str]:
    """A figure and its interval as people read them, each with the reason where undefined."""
    point = number(figure.point, places=places)
    why = "" if figure.why is None else f" ({figure.why})"
    if figure.point is None:
        return point + why, "undefined"
    if figure.low is None or figure.high is None:
        return point, f"undefined{why}"
    return point, f"{number(figure.low, places=places)} to {number(figure.high, places=places)}"


def digits(value: float | None) -> float | None:
    """A value as files keep it: six decimals, no -0.0."""
    return None if value is None else round(value, _DIGITS) + 0.0


def hygiene_lines(hygiene: Hygiene) -> list[str]:
    """What was kept apart from the measuring labels, a sentence each."""
    said: list[str] = []
    if hygiene.tuning_hash is not None:
        said.append(
            f"{hygiene.tuning_queries:,} queries declared or shown as tuning (set "
            f"{hygiene.tuning_hash[:12]}): none of them is among these labels"
        )
    if hygiene.split_hash is not None:
        said.append(
            f"measured on the calibration part of the split (split {hygiene.split_hash[:12]}); "
            f"{hygiene.left_out:,} labels of the tuning part were left out"
        )
    return said
