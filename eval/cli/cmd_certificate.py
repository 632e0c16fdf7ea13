"""`relgate certificate`: look at certificates, hold them to the day, compare two. I/O."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    judge_options,
    now,
    output_options,
    settings,
)

if TYPE_CHECKING:
    from relgate.eval.agreement.certificate import Certificate
    from relgate.eval.agreement.pairs import JudgeIdentity
    from relgate.eval.certificates import Standing
    from relgate.eval.project import Project

__all__ = ["command"]

_DOES_NOT_HOLD = 1
_DAMAGED = 2


@click.group("certificate")
def command() -> None:
    """Look at calibration certificates; every command takes --json, --quiet and --no-color."""


def _started(flags: dict[str, Any], **given: Any) -> tuple[Output, Project]:  # noqa: ANN401
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    return output, settings(output, flags["config"], given)


@command.command("show")
@click.argument("place", type=FILE, required=False)
@config_option
@output_options
def show(place: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """What the certificates of PLACE say: a file or a folder, the project's own by default."""
    from relgate.eval.certificates import certificates_in  # noqa: PLC0415 - pydantic

    output, project = _started(flags)
    found = certificates_in(place or project.certificates)
    for path, certificate in found:
        _show_one(output, path, certificate)
    output.document(
        {"certificates": [{"file": str(p), **c.model_dump(mode="json")} for p, c in found]}
    )


def _show_one(output: Output, path: Path, c: Certificate) -> None:
    from relgate.eval.agreement.intervals import Figure  # noqa: PLC0415 - numpy
    from relgate.eval.agreement.words import HEADLINE_FIGURES, shown_figure  # noqa: PLC0415

    output.table(
        f"Certificate of {c.judge_version}",
        ["", ""],
        [["file", str(path)], *([name, value] for name, value in _facts(c).items())],
        text_columns=(0, 1),
    )
    output.table(
        f"Agreement on {c.n:,} labels of {c.n_queries:,} queries",
        ["Figure", "Value", "95 % interval over queries"],
        [
            [label, *shown_figure(Figure(f.point, f.low, f.high))]
            for name, label in HEADLINE_FIGURES.items()
            if (f := c.figures.get(name)) is not None
        ],
    )
    output.line(f"Level: {c.level}")
    for reason in c.reasons:
        output.line(f"  - {reason}")


def _facts(c: Certificate) -> dict[str, str]:
    made = ", ".join(f"{n:,} by {source}" for source, n in sorted(c.label_sources.items()))
    return {
        "judge": c.judge_version,
        "model": c.model or "-",
        "family": c.family or "-",
        "fingerprint": c.fingerprint,
        "parts": ", ".join(f"{name} {part}" for name, part in sorted(c.parts.items())) or "-",
        "labels": f"{made}; set {c.label_set_hash[:12]}; coverage {c.coverage:.1%}",
        "kept apart": _kept_apart(c),
        "terms": f"policy {c.policy}, relevant from {c.floor}, scale {c.scale}",
        "made": f"{c.made_at:%F %T} UTC",
        "holds until": f"{c.expires_at:%F %T} UTC",
        "id": c.certificate_id,
    }


def _kept_apart(c: Certificate) -> str:
    said = [
        f"{what} {value[:12]}"
        for what, value in (("tuning set", c.tuning_hash), ("split", c.split_hash))
        if value is not None
    ]
    return ", ".join(said) or "nothing declared"


@command.command("verify")
@click.argument("place", type=FILE, required=False)
@click.option("--fingerprint", help="Look up the certificate of this judge, as a gate does.")
@judge_options
@click.option("--rubric", help="Built-in tag or file, for --judge.")
@click.option("--policy", help="The gate's trust policy: a preset, or a .toml.")
@click.option("--floor", type=click.IntRange(1, 100), help="The gate's least relevant grade; 2.")
@click.option("--scale", help="The gate's scale by name.")
@config_option
@output_options
def verify(place: Path | None, fingerprint: str | None, **flags: Any) -> int:  # noqa: ANN401
    """Whether the certificates of PLACE hold today, on this project's terms.

    With --judge or --fingerprint, whether that judge has one, and what differs when it has not.
    Exit code 0 when all hold, 1 when one does not, 2 when one was changed or is damaged.
    """
    from relgate.eval.certificates import standing_of_judge, standings  # noqa: PLC0415

    names = ("judge", "judge_family", "rubric", "policy", "floor", "scale")
    output, project = _started(flags, **{name: flags[name] for name in names})
    place = place or project.certificates
    if flags["judge"] is not None and fingerprint is not None:
        raise click.UsageError("give --judge or --fingerprint, not both")
    found: list[Standing]
    if flags["judge"] is not None or fingerprint is not None:
        judge = _judge_of(output, project, fingerprint)
        found = [standing_of_judge(place, judge, project, now=now())]
    else:
        found = standings(place, project, now=now())
    output.table(
        "",
        ["File", "Judge", "Level", "Until", "State"],
        [list(one.row) for one in found],
        text_columns=(0, 1, 2, 3, 4),
    )
    for one in found:
        if one.problem is not None:
            output.line(f"{one.name}: {one.problem}")
    code = _code(found)
    if code == 0:
        output.line("all hold" if len(found) > 1 else "it holds")
    output.document({"holds": code == 0, "certificates": [one.document for one in found]})
    return code


def _code(found: list[Standing]) -> int:
    from relgate.eval.certificates import State  # noqa: PLC0415 - pydantic

    states = {one.state for one in found}
    if State.CHANGED in states:
        return _DAMAGED
    return _DOES_NOT_HOLD if states - {State.HOLDS, State.SUPERSEDED} else 0


def _judge_of(output: Output, project: Project, fingerprint: str | None) -> JudgeIdentity:
    """The judge that a gate would use; opened without a key, since nothing is asked."""
    from relgate.eval.agreement.pairs import JudgeIdentity, identity_of  # noqa: PLC0415 - numpy
    from relgate.eval.cli.load import load_catalogue, load_judge, load_list  # noqa: PLC0415

    if fingerprint is not None:
        return JudgeIdentity(fingerprint=fingerprint)
    known = project.judgments is not None and project.catalogue is not None
    opened = load_judge(
        project,
        output,
        labels=load_list(project, output).judgments if known else None,
        catalogue=load_catalogue(project, output) if known else None,
        plan_only=True,
    )
    return identity_of(opened.judge)


@command.command("compare")
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@config_option
@output_options
def compare(first: Path, second: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Two certificates side by side: judge, labels, terms, figures."""
    from relgate.eval.agreement.certificate import read_certificate  # noqa: PLC0415 - pydantic
    from relgate.eval.certificates import compared, comparison_rows  # noqa: PLC0415

    output, _ = _started(flags)
    a, b = read_certificate(first), read_certificate(second)
    found = compared(a, b)
    facts_a, facts_b = _facts(a), _facts(b)
    output.table(
        "",
        ["", str(first), str(second)],
        [[name, facts_a[name], facts_b[name]] for name in facts_a if name != "id"]
        + [["level", a.level.value, b.level.value]],
        text_columns=(0, 1, 2),
    )
    output.table("", ["Figure", "First", "Second", "Second less first"], comparison_rows(a, b))
    for line in found.lines:
        output.line(line)
    output.document(found.document)
