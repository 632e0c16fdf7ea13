"""The learner behind the baseline judge: features -> grade. Pure.

The one module under judge/ that uses scikit-learn. An ordinal model: ridge regression on the
grade, each grade weighing the same in all, then cuts between the grades, placed so that the
training rows get each grade as often as people gave it.

Compared in 5 folds by query, word weights and attribute values learned anew in each fold, same
features and fold draws for all, on Quepid Haystack (1,358 pairs, mean of 5 draws) and on 3,000
CrowdFlower pairs (mean of 3). Kappa / quadratic kappa / mean grade given minus mean human grade:

    learner                                    Quepid                CrowdFlower
    logistic regression, balanced, C 0.1       0.25 / 0.49 / -0.04   0.23 / 0.43 / -0.32
    binary cumulative LR, balanced, C 0.1      0.29 / 0.49 / +0.05   0.23 / 0.42 / -0.34
    binary cumulative LR, unweighted, C 0.1    0.27 / 0.53 / -0.18   0.20 / 0.40 / +0.25
    ridge + cuts, alpha 100                    0.28 / 0.53 / +0.00   0.23 / 0.48 / -0.01
    weighted ridge + cuts, alpha 100 (taken)   0.29 / 0.54 / +0.00   0.24 / 0.48 / -0.01

The cuts win by their even leniency, which is also what a filled list needs. The learner was picked
on the folds that the figures are from, so they are a little optimistic: the finished judge, on four
other draws of Quepid, has kappa 0.25 to 0.29 and quadratic kappa 0.51 to 0.54. The differences
between the two ridges, and between alpha 10, 100 and 300, are within the spread of the draws.
With 100 labels, tested on the queries of Quepid not among them: quadratic kappa 0.45, 0.39 for
logistic regression (mean of 8 draws).

What the cuts assume: that the labels have about the mix of grades that the judge will meet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["LEARNER", "OrdinalModel", "fit_model"]

_ALPHA = 100.0
LEARNER: Mapping[str, str | float] = {
    "alpha": _ALPHA,
    "cuts": "training shares",
    "kind": "ridge",
    "scaling": "standard",
    "weights": "balanced",
}
"""What is fixed about the learner; part of the judge's version."""

# Scores are rounded before they are compared with a cut: the last bits of a fit depend on the
# linear algebra library and its threads, a grade must not.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class OrdinalModel:
    """A linear score and the cuts between neighbouring grades.

    Attributes:
        weights: one a feature.
        intercept: added to the weighted sum.
        grades: the grades seen in training, ascending; no other is ever given.
        cuts: one fewer than `grades`, ascending; a score above `cuts[i]` is at least
            `grades[i + 1]`.
    """

    weights: tuple[float, ...]
    intercept: float
    grades: tuple[int, ...]
    cuts: tuple[float, ...]

    def score(self, row: Sequence[float]) -> float:
        """The expected grade by the regression, before the cuts; not bound to the scale."""
        products = (w * x for w, x in zip(self.weights, row, strict=True))
        return round(math.fsum(products) + self.intercept, _DIGITS)

    def grade(self, row: Sequence[float]) -> int:
        """The grade of one feature row."""
        score = self.score(row)
        return self.grades[sum(score > cut for cut in self.cuts)]


def fit_model(rows: Sequence[Sequence[float]], grades: Sequence[int]) -> OrdinalModel:
    """Learn from feature rows and their human grades.

    With one grade only, or rows that do not differ, the model always gives the commonest grade
    (the lower one of two that are as common).

    Args:
        rows: one feature row a label, all of one length, finite; at least one.
        grades: one grade a row.
    """
    classes = tuple(sorted(set(grades)))
    if len(classes) == 1 or len(set(map(tuple, rows))) == 1:
        commonest = max(classes, key=lambda grade: (grades.count(grade), -grade))
        return OrdinalModel((0.0,) * len(rows[0]), float(commonest), (commonest,), ())
    weights, intercept = _ridge(rows, grades)
    uncut = OrdinalModel(weights, intercept, classes, ())
    scores = sorted(uncut.score(row) for row in rows)
    return OrdinalModel(weights, intercept, classes, _cuts(scores, grades, classes))


def _ridge(
    rows: Sequence[Sequence[float]], grades: Sequence[int]
) -> tuple[tuple[float, ...], float]:
    """Weights and intercept of a weighted ridge on standardised features, per feature unit."""
    # Imported by name, when it is needed: importing a judge must not cost scikit-learn.
    linear: Any = import_module("sklearn.linear_model")
    preprocessing: Any = import_module("sklearn.preprocessing")
    pipeline: Any = import_module("sklearn.pipeline")
    class_weight: Any = import_module("sklearn.utils.class_weight")

    scaler, ridge = preprocessing.StandardScaler(), linear.Ridge(alpha=_ALPHA, solver="cholesky")
    pipeline.make_pipeline(scaler, ridge).fit(
        rows, grades, ridge__sample_weight=class_weight.compute_sample_weight("balanced", grades)
    )
    slopes = tuple(float(w) / float(s) for w, s in zip(ridge.coef_, scaler.scale_, strict=True))
    shift = math.fsum(w * float(mean) for w, mean in zip(slopes, scaler.mean_, strict=True))
    return slopes, float(ridge.intercept_) - shift


def _cuts(
    scores: Sequence[float], grades: Sequence[int], classes: tuple[int, ...]
) -> tuple[float, ...]:
    """Midway between the sorted scores where the training shares change from grade to grade."""
    below = [sum(grade <= limit for grade in grades) for limit in classes[:-1]]
    return tuple((scores[count - 1] + scores[count]) / 2 for count in below)
