"""Certificates in a folder: which hold for a project, which do not and why, two compared. I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from relgate.eval.agreement.canary_alarm import read_alarms
from relgate.eval.agreement.certificate import (
    Certificate,
    certificate_files,
    iso,
    newest,
    read_certificate,
)
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.agreement.standing import (
    differing_parts,
    differing_terms,
    same_terms,
    time_or_level_problem,
)
from relgate.eval.agreement.words import HEADLINE_FIGURES, digits, number
from relgate.eval.project import Project
from relgate.eval.trust import standing_of
from relgate.rubrics.errors import InputError

__all__ = [
    "ComparedCertificates",
    "Standing",
    "State",
    "certificates_in",
    "compared",
    "comparison_rows",
    "standing_of_judge",
    "standings",
]


class State(StrEnum):
    """How a certificate stands.

    `superseded`: a newer one of the same judge is in the place, and a gate takes that. `changed`:
    the file was edited or is damaged. `missing`: the judge has none.
    """

    HOLDS = "holds"
    DOES_NOT = "does not hold"
    SUPERSEDED = "superseded"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Standing:
    """One certificate, or the lack of one.

    Attributes:
        name: the file, or the judge that has none.
        state: how it stands.
        problem: why it does not hold, a sentence; None when it does.
        certificate: what is in the file, where it can be read.
    """

    name: str
    state: State
    problem: str | None = None
    certificate: Certificate | None = None

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """File, judge, level, until, state."""
        c = self.certificate
        if c is None:
            return self.name, "-", "-", "-", self.state.value
        who = c.judge_version if c.model is None else f"{c.judge_version} {c.model}"
        return self.name, who, c.level.value, f"{c.expires_at:%F}", self.state.value

    @property
    def document(self) -> dict[str, Any]:
        """As plain data."""
        c = self.certificate
        return {
            "file": self.name,
            "state": self.state.value,
            "problem": self.problem,
            "certificate_id": None if c is None else c.certificate_id,
            "judge_version": None if c is None else c.judge_version,
            "fingerprint": None if c is None else c.fingerprint,
            "model": None if c is None else c.model,
            "level": None if c is None else c.level.value,
            "policy": None if c is None else c.policy,
            "made_at": None if c is None else iso(c.made_at),
            "expires_at": None if c is None else iso(c.expires_at),
        }


def certificates_in(place: Path) -> list[tuple[Path, Certificate]]:
    """Each certificate of a file or a folder with its file.

    Raises:
        InputError: there is none, or a file was changed.
    """
    return [(path, read_certificate(path)) for path in _files(place)]


def _files(place: Path) -> list[Path]:
    found = certificate_files(place)
    if not found:
        raise InputError(
            "no certificate there", path=place, mend="make one: relgate calibrate, or name a place"
        )
    return found


def standings(place: Path, project: Project, *, now: datetime) -> list[Standing]:
    """How each certificate of a place stands, on the project's terms.

    Raises:
        InputError: there is none.
    """
    read: dict[Path, Certificate | str] = {}
    for path in _files(place):
        try:
            read[path] = read_certificate(path)
        except InputError as error:
            read[path] = error.what
    alarms = read_alarms(place)
    known = [c for c in read.values() if isinstance(c, Certificate)]
    return [
        Standing(str(path), State.CHANGED, found)
        if isinstance(found, str)
        else _standing(path, found, known, project, now=now, alarms=alarms)
        for path, found in read.items()
    ]


def _standing(
    path: Path,
    certificate: Certificate,
    known: list[Certificate],
    project: Project,
    *,
    now: datetime,
    alarms: Mapping[str, datetime],
) -> Standing:
    last = newest(c for c in known if c.fingerprint == certificate.fingerprint)
    if last is not None and last.certificate_id != certificate.certificate_id:
        why = f"A newer certificate of this judge was made at {iso(last.made_at)}."
        return Standing(str(path), State.SUPERSEDED, why, certificate)
    problem = time_or_level_problem(certificate, now, alarms) or differing_terms(
        certificate,
        policy=read_policy(project.policy),
        floor=project.floor,
        scale=project.scale,
    )
    state = State.HOLDS if problem is None else State.DOES_NOT
    return Standing(str(path), state, problem, certificate)


def standing_of_judge(
    place: Path, judge: JudgeIdentity, project: Project, *, now: datetime
) -> Standing:
    """How the certificate of one judge stands, looked up as a gate does.

    A judge known by its fingerprint alone is taken for the one that its certificate names.

    Raises:
        InputError: there is no certificate at all, or one was changed.
    """
    found = certificates_in(place)
    ours = newest(c for _, c in found if c.fingerprint == judge.fingerprint)
    if ours is not None and judge.version is None:
        judge = JudgeIdentity(ours.judge_version, ours.fingerprint, ours.model)
    if ours is None and judge.version is None:
        why = f"No certificate there is of the fingerprint {judge.fingerprint}."
        return Standing(f"fingerprint {judge.fingerprint}", State.MISSING, why)
    at = project.model_copy(update={"certificates": place})
    problem = standing_of(at, judge, now=now)
    if ours is None:
        return Standing(f"judge {judge.version}", State.MISSING, problem)
    path = next(path for path, c in found if c == ours)
    state = State.HOLDS if problem is None else State.DOES_NOT
    return Standing(str(path), state, problem, ours)


@dataclass(frozen=True, slots=True)
class ComparedCertificates:
    """What two certificates say of each other.

    Attributes:
        same_labels: both were made on the same labels.
        same_terms: policy, floor and scale are the same.
        judge_differs: what of the judge differs, in words.
        document: all of it as plain data.
    """

    same_labels: bool
    same_terms: bool
    judge_differs: tuple[str, ...]
    document: dict[str, Any]

    @property
    def lines(self) -> Iterator[str]:
        """What a reader of the figures must know."""
        if self.judge_differs:
            yield f"The judges differ in: {', '.join(self.judge_differs)}"
        else:
            yield "The same judge, by version and fingerprint"
        yield (
            "The same labels"
            if self.same_labels
            else "Not the same labels: the differences mix judge and labels"
        )
        if not self.same_terms:
            yield "Not the same terms (policy, floor or scale): the levels cannot be compared"
        yield (
            "A certificate keeps no pairs, so there is no interval on a difference: relgate "
            "calibrate with --judge or --grades twice gives one"
        )


def compared(a: Certificate, b: Certificate) -> ComparedCertificates:
    """The second beside the first."""
    parts = differing_parts(
        a, JudgeIdentity(b.judge_version, b.fingerprint, b.model, b.family, b.parts)
    )
    labels = a.label_set_hash == b.label_set_hash
    terms = (a.floor, a.scale) == (b.floor, b.scale) and same_terms(a.policy_terms, b.policy_terms)
    figures = {
        name: {
            "first": a.figures[name].model_dump(),
            "second": b.figures[name].model_dump(),
            "difference": _less(a, b, name),
        }
        for name in a.figures.keys() & b.figures.keys()
    }
    return ComparedCertificates(
        labels,
        terms,
        parts,
        {
            "first": a.certificate_id,
            "second": b.certificate_id,
            "same_labels": labels,
            "same_terms": terms,
            "judge_differs": list(parts),
            "levels": [a.level.value, b.level.value],
            "figures": dict(sorted(figures.items())),
        },
    )


def _less(a: Certificate, b: Certificate, name: str) -> float | None:
    first, second = a.figures[name].point, b.figures[name].point
    return None if first is None or second is None else digits(second - first)


def comparison_rows(a: Certificate, b: Certificate) -> list[list[str]]:
    """Figure, first, second, second less first; of the figures that both have."""
    return [
        [
            label,
            number(a.figures[name].point),
            number(b.figures[name].point),
            "undefined" if (less := _less(a, b, name)) is None else f"{less:+.4f}",
        ]
        for name, label in HEADLINE_FIGURES.items()
        if name in a.figures and name in b.figures
    ]
