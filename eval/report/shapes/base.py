"""What the shapes share: words, counts, a mean on both sides. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["AggregateShape", "Count", "RuleId", "Shape", "SourceWord", "Word"]

Word = Literal["APPROVE", "NEEDS-WORK", "BLOCK", "REFUSE"]
RuleId = Annotated[str, Field(pattern=r"^R[0-9]+$")]
Count = Annotated[int, Field(ge=0)]
SourceWord = Literal["human", "rule", "import", "judge"]


class Shape(BaseModel):
    """Every shape: closed, and never changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AggregateShape(Shape):
    """A metric's mean on both sides; null where it is not a number."""

    name: str
    before: float | None
    after: float | None
    delta: float | None
    n: Count | None
    weighted_before: float | None
    weighted_after: float | None
