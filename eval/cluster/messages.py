"""What driver and workers say to each other. Pure.

Units and reports travel as JSON: reading them runs no code, whatever is on the other node.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from relgate.eval.project import Project
from relgate.judge.engine import CallPolicy, CallStats
from relgate.judge.providers.select import Kind
from relgate.judge.providers.settings import GEMINI_ENV, OPENAI_ENV
from relgate.judge.types import Ask, Candidate, Example, GradeError, JudgedHit, Usage
from relgate.rubrics import Rubric

__all__ = ["Job", "Report", "Unit", "variables_for"]

_OPENAI: Final = (*OPENAI_ENV.keys, OPENAI_ENV.url, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_GEMINI: Final = (*GEMINI_ENV.keys, GEMINI_ENV.url)


def variables_for(kind: Kind, environ: Mapping[str, str]) -> dict[str, str]:
    """What of the driver's environment a worker needs to reach the model, and no more."""
    names = (*(_OPENAI if kind.startswith(("openai", "compatible")) else ()),
             *(_GEMINI if kind.startswith("gemini") else ()))  # fmt: skip
    return {name: environ[name] for name in names if name in environ}


class Job:
    """How a worker builds its judge. Shows nothing of itself: it holds the key.

    No dataclass, since Ray writes a dataclass's fields into its records, and of anything else what
    `str` gives.

    Args:
        judge: as the command line names it.
        project: the settings.
        rubric: what the grades mean; the file may not be on the worker's machine.
        examples: few-shot examples.
        policy: this worker's share of the limits.
        fingerprint: that the worker's judge must have too.
        environ: variables of the driver, the key among them.
        folder: the driver's working folder, where a judge of the user's own may be.
    """

    def __init__(
        self,
        *,
        judge: str,
        project: Project,
        rubric: Rubric,
        examples: tuple[Example, ...],
        policy: CallPolicy,
        fingerprint: str,
        environ: Mapping[str, str],
        folder: str,
    ) -> None:
        self.judge = judge
        self.project = project
        self.rubric = rubric
        self.examples = examples
        self.policy = policy
        self.fingerprint = fingerprint
        self.environ = dict(environ)
        self.folder = folder

    def __repr__(self) -> str:
        return "Job(...)"


@dataclass(frozen=True, slots=True)
class Unit:
    """One batch to grade, and its number among those of the run."""

    number: int
    ask: Ask

    def dumped(self) -> bytes:
        """As it travels."""
        pairs = [[candidate.id, candidate.text] for candidate in self.ask.candidates]
        return json.dumps([self.number, self.ask.query, pairs]).encode("ascii")

    @classmethod
    def loaded(cls, data: bytes) -> Unit:
        """From what travelled."""
        number, query, pairs = json.loads(data)
        return cls(number, Ask(query, tuple(Candidate(*pair) for pair in pairs)))


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker made of some units.

    Attributes:
        graded: the units' numbers, each with one row a candidate.
        spent: what the worker has spent since its last report.
        lines: what it would have said of batches that failed.
        stopped: why it makes no further call, or None.
        fault: why it cannot grade at all, or None.
    """

    graded: tuple[tuple[int, list[JudgedHit]], ...] = ()
    spent: CallStats = field(default_factory=CallStats)
    lines: tuple[str, ...] = ()
    stopped: tuple[GradeError, str] | None = None
    fault: str | None = None

    def dumped(self) -> bytes:
        """As it travels."""
        return json.dumps(asdict(self), default=sorted).encode("ascii")  # sets are lists in JSON

    @classmethod
    def loaded(cls, data: bytes) -> Report:
        """From what travelled."""
        said = json.loads(data)
        spent = CallStats(**said["spent"])
        spent.models = set(spent.models)
        stopped = said["stopped"]
        return cls(
            graded=tuple((number, [_hit(row) for row in rows]) for number, rows in said["graded"]),
            spent=spent,
            lines=tuple(said["lines"]),
            stopped=None if stopped is None else (GradeError(stopped[0]), stopped[1]),
            fault=said["fault"],
        )


def _hit(row: dict[str, Any]) -> JudgedHit:
    error, shares = row["error"], row["probabilities"]
    row["error"] = None if error is None else GradeError(error)
    row["usage"] = Usage(**row["usage"])
    row["probabilities"] = None if shares is None else tuple(shares)
    return JudgedHit(**row)
