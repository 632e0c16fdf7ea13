"""Values of a change description, checked one table at a time. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from relgate.eval.project import first_problem
from relgate.rubrics.errors import InputError

__all__ = ["Strict", "Text", "checked"]

Text = Annotated[StrictStr, Field(min_length=1)]
"""Text that says something."""


class Strict(BaseModel):
    """A table without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Model = TypeVar("_Model", bound=BaseModel)


def checked(
    model: type[_Model], data: object, *, key: str, path: Path | str, line: int | None = None
) -> _Model:
    """`data` as the model.

    Args:
        model: what it must be.
        data: foreign values.
        key: the table's name in the description, for messages; empty for a whole file.
        path: the file.
        line: the line in it.

    Raises:
        InputError: the first fault, with its file, line and key.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = first_problem(error, model.model_fields, Path(path))
        what = f"{key}: {found.what}" if key else found.what
        raise InputError(what, path=path, line=line, mend=found.mend) from None
