"""What the doctor finds. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relgate.rubrics.errors import RelgateError

__all__ = ["Check", "State", "looked"]


class State(StrEnum):
    """How a part of the set-up stands. `missing` is no fault: not every team needs every part."""

    OK = "ok"
    MISSING = "missing"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Check:
    """One part of the set-up.

    Attributes:
        name: the part.
        state: how it stands.
        says: what was found, a sentence.
        run: what to run or do about it; None when there is nothing to do.
        exit_code: what the command ends with when this is the first fault.
        then: what comes after `run`, in order.
    """

    name: str
    state: State
    says: str
    run: str | None = None
    exit_code: int = 2
    then: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """All that is to be done about it."""
        return self.then if self.run is None else (self.run, *self.then)

    @property
    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "state": self.state.value,
            "says": self.says,
            "run": self.run,
            "then": list(self.then),
        }


def looked(name: str, look: Callable[[], Check]) -> Check:
    """A check whose deliberate errors are faults that are found, not ends of the command."""
    try:
        return look()
    except RelgateError as error:
        return Check(name, State.FAULT, str(error), exit_code=error.exit_code)
