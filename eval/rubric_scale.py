"""Whether a judge grades on the scale of the list that its grades join. Reads rubrics: I/O."""

from __future__ import annotations

from relgate.eval.lists.types import Scale
from relgate.rubrics import Rubric, builtin_names, load_rubric
from relgate.rubrics.errors import UsageError

__all__ = ["require_scale"]


def require_scale(rubric: Rubric, scale: Scale) -> None:
    """Refuses a rubric of another scale than the list's.

    Raises:
        UsageError: it names the built-in rubrics that would do, where there are any.
    """
    if rubric.max_grade == scale.max_grade:
        return
    known = (load_rubric(name) for name in builtin_names())
    fitting = [other.tag for other in known if other.max_grade == scale.max_grade]
    way = (
        f"set rubric = {' or '.join(map(repr, fitting))} in relgate.toml"
        if fitting
        else "no built-in rubric has that scale: set rubric in relgate.toml to a file of your own "
        "(docs/judge.md)"
    )
    raise UsageError(
        f"rubric {rubric.tag} grades 0 to {rubric.max_grade}, and the list is on scale "
        f"{scale.name}; {way}, or state the list's scale if it is another"
    )
