"""Which judges a list rests on, and whether their certificates hold. Reads them: I/O."""

from __future__ import annotations

from datetime import datetime
from math import nan

from relgate.eval.agreement.canary_alarm import read_alarms
from relgate.eval.agreement.certificate import (
    Certificate,
    CertifiedFigure,
    find_certificate,
    newest,
    read_certificates,
)
from relgate.eval.agreement.pairs import JudgeIdentity, identity_of
from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.agreement.possible import possible_grades
from relgate.eval.agreement.standing import certificate_problem, differing_terms, time_problem
from relgate.eval.gaps.doubt import DoubtedJudge, JudgeError
from relgate.eval.lists.types import JudgmentList, Source
from relgate.eval.project import Project
from relgate.eval.review.types import CertificateFacts, Interval, JudgeUse
from relgate.judge.families import NO_FAMILY, family_of, judge_family
from relgate.judge.types import Judge
from relgate.rubrics.errors import InputError

__all__ = ["certificate_for", "judge_error_of", "judges_in_use", "standing_of"]


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
            policy=None if found is None else found.policy,
            certificate=None if found is None else _facts(found),
        )
        for (version, fingerprint, model), n in rows.items()
        for found in (None if fingerprint is None else certificate_for(project, fingerprint),)
    )


def _identity(
    version: str | None, fingerprint: str | None, model: str | None, filled_by: Judge | None
) -> JudgeIdentity:
    """The judge as the list names it; the parts of its fingerprint where it is at hand."""
    if filled_by is not None and fingerprint == filled_by.fingerprint:
        return identity_of(filled_by)
    return JudgeIdentity(version, fingerprint, model)


def _facts(found: Certificate) -> CertificateFacts:
    return CertificateFacts(
        level=found.level.value,
        labels=found.n,
        queries=found.n_queries,
        coverage=found.coverage,
        made_on=found.made_at.date().isoformat(),
        expires_on=found.expires_at.date().isoformat(),
        f1=_interval(found.figures.get("f1")),
        kappa_quadratic=_interval(found.figures.get("kappa_quadratic")),
    )


def _interval(figure: CertifiedFigure | None) -> Interval:
    values = (None,) * 3 if figure is None else (figure.point, figure.low, figure.high)
    return Interval(*(nan if value is None else value for value in values))


def standing_of(project: Project, judge: JudgeIdentity, *, now: datetime) -> str | None:
    """Why this project's gate may not rest on a judge's grades, in one sentence; None if it may."""
    if judge.fingerprint is None or judge.version is None:
        return "the list does not say which judge this was, so no certificate can be looked up"
    every = read_certificates(project.certificates)
    found = newest(c for c in every if c.fingerprint == judge.fingerprint)
    alarms = read_alarms(project.certificates)
    problem = certificate_problem(found, judge, now=now, others=every, alarms=alarms)
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


def judge_error_of(
    judgments: JudgmentList, project: Project, *, now: datetime, filled_by: Judge
) -> JudgeError | None:
    """Which grades stay possible where a judge gave one, by the judges' certificates.

    What a certificate's level is does not matter here: its table says how far the judge is off.

    Args:
        judgments: the list before the fill; its judges may have erred too.
        project: where certificates are, and the level; None when it asks for no judge error.
        now: when the certificates must hold.
        filled_by: the judge of the fill.

    Raises:
        InputError: a judge without a certificate, or with one of another version, another scale,
            or another time.
    """
    level = project.judge_error
    if level is None:
        return None
    used = {
        (origin.fingerprint, origin.judge_version)
        for origin, n in zip(judgments.origins, judgments.counts_by_origin(), strict=True)
        if origin.source is Source.JUDGE and n
    }
    used.add((filled_by.fingerprint, filled_by.version))
    scale = judgments.scale.name
    found = [_measured(project, *names, scale=scale, now=now) for names in sorted(used, key=str)]
    return JudgeError(level, {c.fingerprint: _doubted(c, level) for c in found})


def _doubted(certificate: Certificate, level: float) -> DoubtedJudge:
    return DoubtedJudge(
        version=certificate.judge_version,
        certificate=certificate.certificate_id,
        labels=certificate.n,
        possible=possible_grades(certificate.table, level=level),
    )


def _measured(
    project: Project, fingerprint: str | None, version: str | None, *, scale: str, now: datetime
) -> Certificate:
    """The certificate that says how far this judge is off."""
    found = None if fingerprint is None else certificate_for(project, fingerprint)
    problem: str | None
    if fingerprint is None or version is None:
        problem = "the list holds grades of a judge that it does not name"
    elif found is None:
        problem = f"no certificate of judge {version}, fingerprint {fingerprint}, is there"
    elif found.judge_version != version:
        problem = f"the certificate is of judge {found.judge_version}, the grades of {version}"
    elif found.scale != scale:
        problem = f"the certificate is on scale {found.scale}, the list on {scale}"
    else:
        problem = time_problem(found, now, read_alarms(project.certificates))
        if problem is None:
            return found
    raise InputError(
        f"judge error: {problem}",
        path=project.certificates,
        mend="calibrate that judge (relgate calibrate --human ... --judge ...), or review without "
        "--judge-error",
    )
