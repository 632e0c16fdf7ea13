"""What a grade means: one file a rubric, content-hashed, and the loader.

Lowest layer. Also the home of the error tree, which every layer above raises from.
"""

from relgate.rubrics.rubric import (
    ESCI_JUDGE_SYSTEM,
    Label,
    Rubric,
    builtin_names,
    load_rubric,
    parse_rubric,
)

__all__ = ["ESCI_JUDGE_SYSTEM", "Label", "Rubric", "builtin_names", "load_rubric", "parse_rubric"]
