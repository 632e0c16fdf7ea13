"""The judge, its key, family, certificate and cache. Asks no model, writes nothing. I/O."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from relgate.cache.base import MemoryStore
from relgate.cache.guard import FILE_NAME
from relgate.cache.redis_store import redis_url
from relgate.cache.report import cache_stats
from relgate.eval.agreement.certificate import certificate_files
from relgate.eval.agreement.pairs import identity_of
from relgate.eval.agreement.policy import Level
from relgate.eval.certificates import State as Standing
from relgate.eval.certificates import standing_of_judge
from relgate.eval.doctor.inputs import Inputs
from relgate.eval.doctor.types import Check, State, looked
from relgate.eval.judge_honesty import check_named_family, check_opened
from relgate.eval.judges import open_judge
from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.judge.providers.select import parse_judge_spec
from relgate.judge.providers.settings import GEMINI_ENV, OPENAI_ENV, checked_key
from relgate.rubrics.errors import PlatformError

__all__ = ["cache_check", "judging_checks"]

_BASELINE = "baseline"
_DOES_NOT_HOLD = 1  # as of relgate certificate verify
_KEYS = {
    "openai": OPENAI_ENV.keys,
    "openai-decisions": OPENAI_ENV.keys,
    "gemini": GEMINI_ENV.keys,
    "gemini-decisions": GEMINI_ENV.keys,
}


def judging_checks(
    project: Project, inputs: Inputs, *, environ: Mapping[str, str], now: datetime
) -> list[Check]:
    """Judge, key, family and certificate; only the first where no judge is named."""
    name = project.judge
    if name is None:
        return [
            Check("judge", State.MISSING, "no judge is named: gaps stay gaps, which R8 reports")
        ]
    opened: list[OpenedJudge] = []
    return [
        looked("judge", lambda: _judge(name, project, inputs, opened)),
        looked("key", lambda: _key(name, environ)),
        looked("family", lambda: _family(name, project, opened)),
        looked("certificate", lambda: _certificate(name, project, opened, now)),
    ]


def _judge(name: str, project: Project, inputs: Inputs, opened: list[OpenedJudge]) -> Check:
    """Opens it without a key and over a store in memory: nothing is asked, nothing is made."""
    catalogue = inputs.catalogue
    named = (project.judgments, project.catalogue)
    if name == _BASELINE and None not in named and None in (inputs.judgments, catalogue):
        return Check("judge", State.MISSING, f"{name}: not opened, it learns from files above")
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # of the user's own module
    try:
        judge = open_judge(
            name,
            project,
            labels=inputs.judgments,
            candidate_of=None if catalogue is None else catalogue.candidate,
            plan_only=True,
            store=MemoryStore(),
        )
    finally:
        sys.dont_write_bytecode = kept
    opened.append(judge)
    version = f"{name}, version {judge.judge.version}, rubric {judge.rubric.tag}"
    return Check("judge", State.OK, "; ".join([version, *judge.notes]))


def _key(name: str, environ: Mapping[str, str]) -> Check:
    kind = parse_judge_spec(name).kind
    if kind == "compatible":
        sent = "is set and is sent there" if environ.get(OPENAI_ENV.keys[0]) else "is not set"
        return Check("key", State.OK, f"an endpoint of your own; {OPENAI_ENV.keys[0]} {sent}")
    names = _KEYS.get(kind)
    if names is None:
        return Check("key", State.OK, "this judge needs none")
    checked_key(None, names=names, environ=environ, optional=False)
    which = next(n for n in names if environ.get(n))
    return Check("key", State.OK, f"{which} is set (neither shown nor tried)")


def _family(name: str, project: Project, opened: list[OpenedJudge]) -> Check:
    models = project.system_models
    check_named_family(name, project, models, ())
    for judge in opened:
        check_opened(judge, system_models=models, ranker_judges=project.ranker_judges, overrides=())
    if models is None and parse_judge_spec(name).kind == _BASELINE:
        return Check("family", State.OK, "the baseline is of no model's family")
    if models is None:
        return Check(
            "family",
            State.MISSING,
            "the pipeline's models are not declared, which R16 holds against a verdict",
            run="set system_models in relgate.toml ([] for none)",
        )
    told = f"{len(models)} declared, none of the judge's family" if models else "declared: none"
    return Check("family", State.OK, f"models of the pipeline: {told}")


def _certificate(name: str, project: Project, opened: list[OpenedJudge], now: datetime) -> Check:
    run = _calibrate(project, str(project.judgments or "LABELS"), name)
    place = project.certificates
    if not opened:
        return Check("certificate", State.MISSING, "the judge could not be opened: not looked up")
    if not certificate_files(place):
        return Check(
            "certificate",
            State.MISSING,
            f"no certificate in {place}: with grades of this judge no verdict is better than "
            "NEEDS-WORK (R15)",
            run=run,
        )
    found = standing_of_judge(place, identity_of(opened[0].judge), project, now=now)
    if found.state is Standing.HOLDS and found.certificate is not None:
        c = found.certificate
        return Check(
            "certificate", State.OK, f"{found.name}: {c.level}, holds until {c.expires_at:%F}"
        )
    missing = found.state is Standing.MISSING
    says = found.problem or found.state.value
    state = State.MISSING if missing else State.FAULT
    steps: tuple[str, ...] = (run,)
    if found.certificate is not None and found.certificate.level is not Level.TRUSTED:
        steps = _ways_out(name, project, found.certificate.level)
    return Check("certificate", state, says, steps[0], _DOES_NOT_HOLD, steps[1:])


def _calibrate(project: Project, labels: str, *judges: str) -> str:
    named = [word for judge in judges for word in ("--judge", judge)]
    catalogue = str(project.catalogue or "CATALOGUE")
    return shlex.join(["relgate", "calibrate", "--human", labels, *named, "--catalogue", catalogue])


def _ways_out(name: str, project: Project, level: Level) -> tuple[str, ...]:
    """What may make a judge trusted that is not: people's labels, or another judge.

    Where the figures themselves fall short no number of labels will do.
    """
    labels = str(project.judgments or "LABELS")
    if level is Level.UNTRUSTED:
        return (_calibrate(project, labels, name, "OTHER_JUDGE"),)
    return (
        "relgate sample --run BEFORE --run AFTER --out sheet.csv",
        "relgate label --sheet sheet.csv --out more.jsonl",
        shlex.join([
            "relgate", "lists", "merge", labels, "more.jsonl", "--policy", "human-first",
            "--judgments-source", project.judgments_source or "human", "--out", "labels.jsonl",
        ]),
        _calibrate(project, "labels.jsonl", name),
    )  # fmt: skip


def cache_check(project: Project) -> Check:
    """Whether the cache is sound and grades can be stored there; makes nothing.

    Raises:
        CacheUnavailableError: what is there is no cache of ours, is damaged, or out of reach.
        PlatformError: the place cannot be written.
    """
    place = project.cache
    if redis_url(place) is None and not (Path(place) / FILE_NAME).exists():
        there = next(p for p in (place.absolute(), *place.absolute().parents) if p.exists())
        if not (there.is_dir() and os.access(there, os.W_OK)):
            raise PlatformError(f"{place} cannot be made: {there} is not writable")
        return Check("cache", State.OK, f"{place}: nothing is stored yet; it can be made")
    found = cache_stats(place)
    says = f"{found.directory}: {found.rows:,} grades"
    if redis_url(place) is None and not os.access(place, os.W_OK):
        raise PlatformError(f"{says}; it is not writable, so new grades are not kept")
    if found.invalid:
        says = f"{says}; {found.invalid:,} rows are damaged and count as missing"
        return Check("cache", State.FAULT, says, run="relgate cache verify", exit_code=6)
    return Check("cache", State.OK, says)
