"""Which judges a list rests on, and whether their certificates hold. Reads them: I/O."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from relgate.eval.agreement.certificate import Certificate, certificate_problem, find_certificate
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.project import Project
from relgate.eval.review.types import JudgeUse
from relgate.judge.families import NO_FAMILY, family_of, judge_family
from relgate.judge.types import Judge

__all__ = ["certificate_for", "judges_in_use"]


def certificate_for(project: Project, fingerprint: str) -> Certificate | None:
    """The newest certificate of that judge in the project's folder, or None."""
    place: Path = project.certificates
    return find_certificate(place, fingerprint) if place.exists() else None


def judges_in_use(
    judgments: JudgmentList, project: Project, *, now: datetime, filled_by: Judge | None = None
) -> tuple[JudgeUse, ...]:
    """Every judge whose grades are in the list, with what is wrong with its certificate.

    Args:
        judgments: the list.
        project: where certificates are, and the judge's declared family.
        now: when the certificates must hold.
        filled_by: the judge of a fill in this run, whose family is known.
    """
    rows: dict[tuple[str | None, str | None, str | None], int] = {}
    counts = judgments.counts_by_origin()
    for origin, n in zip(judgments.origins, counts, strict=True):
        if origin.source is Source.JUDGE and n:
            key = (origin.judge_version, origin.fingerprint, origin.model)
            rows[key] = rows.get(key, 0) + n
    return tuple(
        JudgeUse(
            version=version,
            fingerprint=fingerprint,
            model=model,
            family=_family(project, version, fingerprint, model, filled_by),
            rows=n,
            problem=_problem(project, version, fingerprint, now),
            policy=_policy(project, fingerprint),
        )
        for (version, fingerprint, model), n in rows.items()
    )


def _policy(project: Project, fingerprint: str | None) -> str | None:
    found = None if fingerprint is None else certificate_for(project, fingerprint)
    return None if found is None else found.policy


def _problem(
    project: Project, version: str | None, fingerprint: str | None, now: datetime
) -> str | None:
    if fingerprint is None or version is None:
        return "the list does not say which judge this was, so no certificate can be looked up"
    found = certificate_for(project, fingerprint)
    problem = certificate_problem(found, fingerprint=fingerprint, version=version, now=now)
    return problem if problem is not None or found is None else _other_terms(found, project)


def _other_terms(certificate: Certificate, project: Project) -> str | None:
    """A certificate says nothing about a gate with another policy, floor or scale."""
    terms = {
        "policy": (certificate.policy, project.policy),
        "floor": (certificate.floor, project.floor),
        "scale": (certificate.scale, project.scale),
    }
    differ = [f"{name} {a}, not {b}" for name, (a, b) in terms.items() if a != b]
    if not differ:
        return None
    return f"The certificate is for {', '.join(differ)}; calibrate on this project's terms."


def _family(
    project: Project,
    version: str | None,
    fingerprint: str | None,
    model: str | None,
    filled_by: Judge | None,
) -> str | None:
    if filled_by is not None and fingerprint == filled_by.fingerprint:
        return filled_by.family
    if version is not None and version.startswith("baseline-"):
        return NO_FAMILY
    return judge_family(model, project.judge_family if family_of(model) is None else None)
