"""Holds a judge to the honesty rules: not of the pipeline's family, not the ranker itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from relgate.eval.opened_judge import OpenedJudge
from relgate.eval.project import Project
from relgate.judge.families import check_circularity, check_family_separation, judge_family
from relgate.judge.providers.select import parse_judge_spec

__all__ = ["check_honesty", "check_named_family", "check_opened"]


def check_named_family(
    name: str, project: Project, models: Iterable[str] | None, overrides: Iterable[str]
) -> None:
    """Refuses a judge by its name alone, before a key is asked for or a file opened.

    Raises:
        HonestyError: it is, or may be, of the family of one of `models`.
        UsageError: no such judge.
    """
    spec = parse_judge_spec(name)
    if spec.kind == "baseline":
        return
    family = judge_family(spec.model, project.judge_family)
    if models is not None:
        check_family_separation(
            judge_model=spec.model or name,
            family=family,
            system_models=models,
            override="family" in set(overrides),
        )


def check_opened(
    opened: OpenedJudge,
    *,
    system_models: Iterable[str] | None,
    ranker_judges: Iterable[str],
    overrides: Iterable[str],
) -> tuple[str, ...]:
    """Holds a judge, and each member of a panel, to the honesty rules; see `check_honesty`."""
    own = opened.judge
    members = opened.members or (own,)
    models = None if system_models is None else tuple(system_models)
    rankers, named = tuple(ranker_judges), tuple(overrides)
    panel = check_circularity(
        version=own.version,
        fingerprint=own.fingerprint,
        ranker_judges=rankers,
        override="circular" in named,
    )
    said = () if panel is None or not opened.members else (panel,)
    return said + tuple(
        sentence
        for member in members
        for sentence in check_honesty(
            version=member.version,
            fingerprint=member.fingerprint,
            model=member.model,
            family=member.family,
            system_models=models,
            ranker_judges=rankers,
            overrides=named,
        )
    )


def check_honesty(
    *,
    version: str | None,
    fingerprint: str | None,
    model: str | None,
    family: str | None,
    system_models: Iterable[str] | None,
    ranker_judges: Iterable[str],
    overrides: Iterable[str],
) -> tuple[str, ...]:
    """Refuses a judge of the pipeline's own family, or one that made the ranking.

    Args:
        version: the judge's version.
        fingerprint: its fingerprint.
        model: its model.
        family: its family; None when unknown.
        system_models: the pipeline's models; None when undeclared, which is checked by R16.
        ranker_judges: versions or fingerprints of judges inside the pipeline.
        overrides: rules overridden by name: `family`, `circular`.

    Returns:
        The sentences that every report must show, one an override that was needed.

    Raises:
        HonestyError: exit code 5.
    """
    named = set(overrides)
    said: list[str | None] = []
    if system_models is not None:
        said.append(
            check_family_separation(
                judge_model=model or version,
                family=family,
                system_models=system_models,
                override="family" in named,
            )
        )
    if version is not None:
        said.append(
            check_circularity(
                version=version,
                fingerprint=fingerprint,
                ranker_judges=ranker_judges,
                override="circular" in named,
            )
        )
    return tuple(sentence for sentence in said if sentence is not None)
