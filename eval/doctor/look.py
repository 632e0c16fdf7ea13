"""Looks at a folder's whole set-up, and says what to run next. Reads it: I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from relgate.eval.doctor.inputs import read_inputs, settings_check
from relgate.eval.doctor.judging import cache_check, judging_checks
from relgate.eval.doctor.surroundings import ci_check, extra_checks, golden_check, python_check
from relgate.eval.doctor.types import Check, State, looked
from relgate.eval.project import Project

__all__ = ["Diagnosis", "look"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, and what to run next.

    Attributes:
        checks: in the order in which things are needed.
        steps: commands or acts, the first one first; never empty.
    """

    checks: tuple[Check, ...]
    steps: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 when nothing is wrong, else that of the first fault."""
        faults = (c.exit_code for c in self.checks if c.state is State.FAULT)
        return next(faults, 0)

    @property
    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "sound": self.exit_code == 0,
            "checks": [check.document for check in self.checks],
            "next": list(self.steps),
        }


def look(
    config: Path | None, *, folder: Path, environ: Mapping[str, str], now: datetime
) -> Diagnosis:
    """The set-up of `folder`. Asks no model and writes nothing.

    Args:
        config: the settings file; `relgate.toml` of `folder` by default.
        folder: where the CI files, the baseline and the settings are looked for.
        environ: where keys are looked for; no value of it is told.
        now: when certificates must hold.
    """
    project, settings = settings_check(config, folder)
    inputs = read_inputs(project)
    checks = (
        python_check(),
        *extra_checks(project),
        settings,
        *inputs.checks,
        *judging_checks(project, inputs, environ=environ, now=now),
        looked("cache", lambda: cache_check(project)),
        golden_check(folder),
        ci_check(folder),
    )
    return Diagnosis(checks, _steps(checks, project))


def _steps(checks: Sequence[Check], project: Project) -> tuple[str, ...]:
    """What is wrong first, then the way to a review."""
    faults = [c for c in checks if c.state is State.FAULT]
    if faults:
        mends = (c.steps or (f"mend {c.name}: {c.says}",) for c in faults)
        return tuple(dict.fromkeys(step for steps in mends for step in steps))
    wanted = {"settings", "judgments", "family", "certificate"}
    steps = [step for c in checks if c.name in wanted for step in c.steps]
    filling = project.judge is not None and project.catalogue is not None
    steps.append(f"relgate review --before BEFORE --after AFTER{' --fill' if filling else ''}")
    return tuple(steps)
