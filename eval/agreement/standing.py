"""Whether a certificate holds for a judge, a time and a gate's terms, and what differs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

from relgate.eval.agreement.certificate import Certificate, iso, newest
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.agreement.policy import Level, TrustPolicy

__all__ = [
    "NO_ALARMS",
    "certificate_problem",
    "differing_parts",
    "differing_terms",
    "same_terms",
    "time_or_level_problem",
    "time_problem",
]

_PARTS = {
    "template": "the prompt's template or examples",
    "schema": "the schema of the reply",
    "parameters": "a parameter (temperature, output limit, batch size)",
    "endpoint": "the endpoint",
    "suspicion": "the rules for suspicious texts",
    "panel": "the panel",
}
NO_ALARMS: Mapping[str, datetime] = MappingProxyType({})
"""No canary told anything."""

_UNSEEN = "something that its parts do not show"
_UNRECORDED = "something that is not recorded (prompt, schema, parameters or endpoint)"


def certificate_problem(
    certificate: Certificate | None,
    judge: JudgeIdentity,
    *,
    now: datetime,
    others: Iterable[Certificate] = (),
    alarms: Mapping[str, datetime] = NO_ALARMS,
) -> str | None:
    """Why a gate may not rest on this judge's grades, in one sentence; None when it may.

    Args:
        certificate: what `find_certificate` gave for the judge's fingerprint.
        judge: the judge that made the grades, its version and fingerprint known.
        now: the time, with a time zone.
        others: certificates of other judges in the same place: the nearest is named.
        alarms: when a canary told a judge moved, by fingerprint.
    """
    if certificate is None:
        near = _nearest(judge, others)
        tail = "" if near is None else f" The nearest is of another judge; {_differs(near, judge)}."
        return (
            f"The judge {judge.version} has no calibration certificate; make one: relgate "
            f"calibrate.{tail}"
        )
    if (certificate.judge_version, certificate.fingerprint) != (judge.version, judge.fingerprint):
        return f"The certificate is of another judge; {_differs(certificate, judge)}."
    return time_or_level_problem(certificate, now, alarms)


def _nearest(judge: JudgeIdentity, others: Iterable[Certificate]) -> Certificate | None:
    """The newest of the fewest differences."""
    found = list(others)
    least = min((len(differing_parts(c, judge)) for c in found), default=0)
    return newest(c for c in found if len(differing_parts(c, judge)) == least)


def _differs(certificate: Certificate, judge: JudgeIdentity) -> str:
    return f"what differs: {', '.join(differing_parts(certificate, judge))}"


def differing_parts(certificate: Certificate, judge: JudgeIdentity) -> tuple[str, ...]:
    """What of a judge is not as its certificate says, in words; empty for the same judge."""
    found: list[str] = []
    if certificate.judge_version != judge.version:
        found.append(f"the rubric ({certificate.judge_version} certified, {judge.version} now)")
    if certificate.model != judge.model:
        found.append(f"the model ({certificate.model} certified, {judge.model} now)")
    if certificate.fingerprint == judge.fingerprint:
        return tuple(found)
    both = certificate.parts.keys() & judge.parts.keys()
    found += [
        words
        for part, words in _PARTS.items()
        if part in both and certificate.parts[part] != judge.parts[part]
    ]
    return tuple(found or [_UNSEEN if both else _UNRECORDED])


def differing_terms(
    certificate: Certificate, *, policy: TrustPolicy, floor: int, scale: str
) -> str | None:
    """Why a certificate says nothing about a gate on these terms, in one sentence; None if it does.

    Args:
        certificate: of the judge.
        policy: the gate's; equal bars under another name are the same policy.
        floor: the gate's least relevant grade.
        scale: name of the gate's scale.
    """
    said = [
        f"{name} {a}, not {b}"
        for name, a, b in (
            ("policy", certificate.policy, policy.name),
            ("floor", certificate.floor, floor),
            ("scale", certificate.scale, scale),
        )
        if a != b and not (name == "policy" and same_terms(certificate.policy_terms, policy.terms))
    ]
    was, wants = certificate.policy_terms, policy.terms
    if certificate.policy == policy.name and not same_terms(was, wants):
        bars = [f"{k} {was.get(k)}, not {wants.get(k)}" for k in wants if was.get(k) != wants[k]]
        said.append(f"policy {policy.name} with other bars ({'; '.join(bars)})")
    if not said:
        return None
    return f"The certificate is for {', '.join(said)}; calibrate on this project's terms."


def same_terms(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two policies ask the same; a bar that one does not know is one it does not ask."""
    return all(one.get(name) == other.get(name) for name in one.keys() | other.keys())


def time_or_level_problem(
    certificate: Certificate, now: datetime, alarms: Mapping[str, datetime] = NO_ALARMS
) -> str | None:
    """Why it does not hold now, whichever judge is meant; None when it does."""
    problem = time_problem(certificate, now, alarms)
    if problem is None and certificate.level is not Level.TRUSTED:
        why = "; ".join(certificate.reasons)
        return f"The certificate's level is {certificate.level.value}, not trusted: {why}."
    return problem


def time_problem(
    certificate: Certificate, now: datetime, alarms: Mapping[str, datetime] = NO_ALARMS
) -> str | None:
    """Why it does not hold at that time, whatever it says; None when it does.

    Args:
        certificate: of a judge.
        now: the time, with a time zone.
        alarms: when a canary told a judge moved, by fingerprint: what was certified up to then is
            of the judge as it was.
    """
    if now < certificate.made_at:
        return f"The certificate is dated {iso(certificate.made_at)}, which is in the future."
    if now >= certificate.expires_at:
        return f"The certificate expired at {iso(certificate.expires_at)}; calibrate again."
    alarm = alarms.get(certificate.fingerprint)
    # Certificates are dated to the second: one of the alarm's own second is taken for an older one.
    if alarm is not None and certificate.made_at <= alarm:
        return (
            f"The certificate expired by a canary's alarm at {iso(alarm)}: the judge grades "
            "otherwise than when it was calibrated; calibrate again."
        )
    return None
