"""`relgate canary`: a frozen set of pairs that tells the judge's drift from that of search."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    judge_options,
    list_options,
    now,
    output_options,
    settings,
    spending_options,
    system_model_option,
)
from relgate.rubrics.errors import InputError, PlatformError

if TYPE_CHECKING:
    from relgate.eval.agreement.canary import Drift
    from relgate.eval.agreement.canary_file import CanaryFile
    from relgate.eval.cli.canary_asking import Graded

__all__ = ["command"]

_MOVED = 1
_INCOMPLETE = 1
_LEAST_PAIRS = 10
_LEAST_SHARE = 0.9  # fewer graded pairs tell of an outage, not of drift
_NAMES = (
    "judgments", "scale", "judgments_source", "catalogue", "queries", "judge", "judge_family",
    "system_models", "max_calls", "max_cost",
)  # fmt: skip
_CHECK_NAMES = (*_NAMES, "certificates")


@click.group("canary")
def command() -> None:
    """Grade a frozen set of pairs anew, uncached: has the judge moved?

    Every command takes --json, --quiet and --no-color.
    """


@command.command("freeze")
@list_options
@click.option("--catalogue", type=FILE, help="Product texts: what the judge sees.")
@click.option("--queries", type=FILE, help="Query texts.")
@judge_options
@system_model_option
@click.option(
    "--pairs", type=click.IntRange(_LEAST_PAIRS, 10_000), default=50, help="How many; 50."
)
@click.option("--out", type=FILE, required=True, help="The file to write.")
@spending_options
@config_option
@output_options
def freeze(**flags: Any) -> int:  # noqa: ANN401 - click
    """Draw pairs of the judgment list, have the judge grade them twice, write text and grades.

    Exit code 1 when a limit left pairs out: what is written is then smaller than was asked for.
    """
    from relgate.eval.agreement.canary_file import (  # noqa: PLC0415 - pydantic
        CanaryFile,
        CanaryPair,
        write_canary,
    )
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.cli.canary_asking import (  # noqa: PLC0415 - numpy
        draw_pairs,
        grade_pairs,
        say_plan,
    )

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = settings(output, flags["config"], {name: flags[name] for name in _NAMES})
    labels = load.load_list(project, output, flags["list_format"]).judgments
    catalogue = load.load_catalogue(project, output)
    opened = load.load_judge(
        project, output, labels=labels, catalogue=catalogue, plan_only=flags["dry_run"]
    )
    drawn = draw_pairs(labels, catalogue, flags["pairs"])
    say_plan(output, project, opened, drawn, gradings=2)
    if flags["dry_run"]:
        return 0
    load.writable(flags["out"].parent)
    first, second = (grade_pairs(output, opened, drawn) for _ in range(2))
    kept = [
        CanaryPair(query=query, doc_id=doc, text=text, grade=one, again=two)
        for (query, doc, text), one, two in zip(drawn, first.grades, second.grades, strict=True)
        if one is not None and two is not None
    ]
    _need_enough(second, len(kept))
    flips = sum(pair.grade != pair.again for pair in kept)
    judge = opened.judge
    canary = CanaryFile(
        judge_version=judge.version,
        fingerprint=judge.fingerprint,
        model=judge.model,
        frozen_at=now().isoformat(timespec="seconds"),
        pairs=tuple(kept),
    )
    write_canary(flags["out"], canary)
    output.line(
        f"{len(kept)} of {len(drawn)} pairs frozen, {flips} of them graded differently the second "
        "time"
    )
    counts = {"pairs": len(kept), "drawn": len(drawn), "not_asked": second.not_asked}
    output.document({**counts, "flips": flips, "out": str(flags["out"])})
    if second.stopped:
        output.line(f"incomplete: {second.not_said}; freeze anew for the whole")
    return _INCOMPLETE if second.stopped else 0


def _need_enough(asked: Graded, graded_twice: int) -> None:
    if not graded_twice and not asked.stopped:
        raise PlatformError("the judge gave no grade at all; mend its calls and run again")
    if asked.stopped and graded_twice < _LEAST_PAIRS:
        raise PlatformError(
            f"{asked.not_said}; {graded_twice} pairs were graded twice, fewer than {_LEAST_PAIRS}: "
            "nothing is frozen; freeze anew, with fewer --pairs or a higher limit"
        )


@command.command("check")
@click.argument("canary", type=FILE)
@judge_options
@system_model_option
@list_options
@click.option("--catalogue", type=FILE, help="Product texts, where the baseline judge needs them.")
@click.option("--queries", type=FILE, help="Query texts, likewise.")
@click.option("--review", type=FILE, help="A review.json: was it search that moved?")
@click.option("--certificates", type=FILE, help="Folder of certificates: where an alarm is kept.")
@spending_options
@config_option
@output_options
def check(canary: Path, **flags: Any) -> int:  # noqa: ANN401 - click
    """Grade the frozen set anew; exit code 1 when the judge moved.

    An alarm is kept beside the certificates: that judge's no longer holds until it is calibrated
    again, and its grades in the cache from before count as missing.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    from relgate.eval.agreement.canary import drift_of, what_moved  # noqa: PLC0415
    from relgate.eval.agreement.canary_file import read_canary  # noqa: PLC0415
    from relgate.eval.cli.canary_asking import grade_pairs, say_plan  # noqa: PLC0415 - numpy
    from relgate.eval.cli.load import writable  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    project = settings(output, flags["config"], {name: flags[name] for name in _CHECK_NAMES})
    frozen = read_canary(canary)
    metric_p = None if flags["review"] is None else _metric_p(flags["review"])
    opened = _judge(output, project, flags)
    pairs = [(pair.query, pair.doc_id, pair.text) for pair in frozen.pairs]
    say_plan(output, project, opened, pairs, gradings=1)
    if flags["dry_run"]:
        return 0
    writable(project.certificates)  # an alarm that cannot be kept is found out before it costs
    same_judge = opened.judge.fingerprint == frozen.fingerprint
    if not same_judge:
        output.line("Note: another judge than was frozen (model, prompt or settings changed)")
    today = grade_pairs(output, opened, pairs)
    _require_enough(today)
    kept = [(p, g) for p, g in zip(frozen.pairs, today.grades, strict=True) if g is not None]
    drift = drift_of(
        *(np.array(column) for column in zip(*((p.grade, p.again, g) for p, g in kept),
                                             strict=True)),
        n_grades=opened.rubric.max_grade + 1,
        floor=opened.rubric.floor,
    )  # fmt: skip
    verdict = what_moved(drift, metric_p=metric_p)
    if len(kept) < len(pairs):
        output.line(f"{len(pairs) - len(kept)} of {len(pairs)} pairs got no grade and do not count")
    output.line(
        f"{drift.changed} of {drift.pairs} pairs have another grade than on {frozen.frozen_at} "
        f"({drift.flipped_then} flipped then); mean {drift.mean_shift:+.3f} grades"
    )
    output.line(
        f"p, Holm-adjusted: at the floor {drift.floor_p:.4f} ({drift.rose} rose, {drift.fell} "
        f"fell), all grades {drift.grades_p:.4f}, more changes than flips {drift.flips_p:.4f}"
    )
    output.line(f"Verdict: {verdict}")
    alarm = _alarm(output, project, canary, frozen, drift) if drift.moved and same_judge else None
    output.document(
        {
            "verdict": str(verdict),
            "same_judge": same_judge,
            "metric_p": metric_p,
            "alarm": alarm,
            "failed": len(pairs) - len(kept),
            **asdict(drift),
        }
    )
    return _MOVED if drift.moved else 0


def _require_enough(today: Graded) -> None:
    """Raises PlatformError where a limit or an outage left too little for a verdict."""
    if today.stopped:
        raise PlatformError(f"{today.not_said}: an incomplete canary gives no verdict; check again")
    failed = today.grades.count(None)
    if len(today.grades) - failed < _LEAST_SHARE * len(today.grades):
        raise PlatformError(
            f"{failed} of {len(today.grades)} pairs got no grade: an outage says nothing of drift; "
            "run again"
        )


def _alarm(
    output: Output,
    project: Any,  # noqa: ANN401
    canary: Path,
    frozen: CanaryFile,
    drift: Drift,
) -> str:
    """Leaves the record that ends the judge's certificate; its path."""
    from relgate.eval.agreement.canary_alarm import CanaryAlarm, write_alarm  # noqa: PLC0415

    path = write_alarm(
        CanaryAlarm(
            judge_version=frozen.judge_version,
            fingerprint=frozen.fingerprint,
            model=frozen.model,
            canary=canary.name,
            frozen_at=frozen.frozen_at,
            found_at=now(),
            pairs=drift.pairs,
            changed=drift.changed,
            p=min(drift.floor_p, drift.grades_p, drift.flips_p),
        ),
        project.certificates,
    )
    output.line(
        f"The judge's certificate no longer holds ({path}), nor do its grades in the cache: "
        "calibrate again, then freeze a new canary"
    )
    return str(path)


def _judge(output: Output, project: Any, flags: dict[str, Any]) -> Any:  # noqa: ANN401
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy

    labels = load.load_list(project, output, flags["list_format"]) if project.judgments else None
    catalogue = load.load_catalogue(project, output) if project.catalogue else None
    return load.load_judge(
        project,
        output,
        labels=labels.judgments if labels else None,
        catalogue=catalogue,
        plan_only=flags["dry_run"],
    )


def _metric_p(path: Path) -> float | None:
    from relgate.eval.files import read_json  # noqa: PLC0415

    document = read_json(path)
    noise = document.get("noise") if isinstance(document, dict) else None
    p = noise.get("p") if isinstance(noise, dict) else None
    if not isinstance(p, int | float):
        raise InputError("no p of the change in it", path=path, mend="give a review.json")
    return float(p)
