"""Which judges a list rests on, and whether their certificates hold. Reads them: I/O."""

from __future__ import annotations

from datetime import datetime

from relgate.eval.agreement.certificate import (
    Certificate,
    find_certificate,
    newest,
    read_certificates,
)
from relgate.eval.agreement.pairs import JudgeIdentity, identity_of
from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.agreement.standing import certificate_problem, differing_terms
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.project import Project
from relgate.eval.review.types import JudgeUse
from relgate.judge.families import NO_FAMILY, family_of, judge_family
from relgate.judge.types import Judge

__all__ = ["certificate_for", "judges_in_use", "standing_of"]


def certificate_for(project: Project, fingerprint: str) -> Certificate | None:
    """The newest certificate of that judge in the project's folder, or None."""
    return find_certificate(project.certificates, fingerprint)


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
            problem=standing_of(
                project, _identity(version, fingerprint, model, filled_by), now=now
            ),
            policy=_policy(project, fingerprint),
        )
        for (version, fingerprint, model), n in rows.items()
    )


def _identity(
    version: str | None, fingerprint: str | None, model: str | None, filled_by: Judge | None
) -> JudgeIdentity:
    """The judge as the list names it; the parts of its fingerprint where it is at hand."""
    if filled_by is not None and fingerprint == filled_by.fingerprint:
        return identity_of(filled_by)
    return JudgeIdentity(version, fingerprint, model)


def _policy(project: Project, fingerprint: str | None) -> str | None:
    found = None if fingerprint is None else certificate_for(project, fingerprint)
    return None if found is None else found.policy


def standing_of(project: Project, judge: JudgeIdentity, *, now: datetime) -> str | None:
    """Why this project's gate may not rest on a judge's grades, in one sentence; None if it may."""
    if judge.fingerprint is None or judge.version is None:
        return "the list does not say which judge this was, so no certificate can be looked up"
    every = read_certificates(project.certificates)
    found = newest(c for c in every if c.fingerprint == judge.fingerprint)
    problem = certificate_problem(found, judge, now=now, others=every)
    if problem is not None or found is None:
        return problem
    return differing_terms(
        found, policy=read_policy(project.policy), floor=project.floor, scale=project.scale
    )


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
