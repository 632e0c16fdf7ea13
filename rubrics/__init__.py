"""What a grade means: one file a rubric, content-hashed, the loader, the lint and the diff.

Lowest layer. Also the home of the error tree, which every layer above raises from.
"""

from relgate.rubrics.diff import RubricDiff, diff_rubrics
from relgate.rubrics.lint import Problem, lint_rubric
from relgate.rubrics.rubric import (
    ESCI_JUDGE_SYSTEM,
    RubricSource,
    builtin_names,
    find_rubric,
    load_rubric,
    parse_rubric,
    rubric_files,
)
from relgate.rubrics.types import Label, LabelExample, Rubric

__all__ = [
    "ESCI_JUDGE_SYSTEM",
    "Label",
    "LabelExample",
    "Problem",
    "Rubric",
    "RubricDiff",
    "RubricSource",
    "builtin_names",
    "diff_rubrics",
    "find_rubric",
    "lint_rubric",
    "load_rubric",
    "parse_rubric",
    "rubric_files",
]
