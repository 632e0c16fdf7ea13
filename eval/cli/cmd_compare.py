"""`relgate compare`: several runs against one list, pair by pair."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    list_options,
    metric_options,
    output_options,
    run_format_option,
    settings,
)

__all__ = ["command"]

_METRICS = ("ndcg", "mrr", "precision", "recall", "hit")
_FLOORS = 2.0  # a delta below twice the noise floor is not told from it


@click.command("compare")
@click.option("--run", "runs", type=FILE, multiple=True, required=True, help="A run; repeatable.")
@click.option("--replay", type=FILE, help="The first run's configuration run again: the noise.")
@run_format_option
@list_options
@click.option("--queries", type=FILE, help="Query texts and strata.")
@click.option(
    "--metric",
    type=click.Choice(_METRICS),
    help="What pairs are tested on; ndcg, or mrr on a two-grade scale.",
)
@metric_options
@click.option("--seed", type=int, default=0, help="Seed of the resampling.")
@config_option
@output_options
def command(runs: tuple[Path, ...], *, replay: Path | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Compare runs: means side by side; every pair with interval, p, effect and power."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import align_inputs  # noqa: PLC0415
    from relgate.eval.metrics.conventions import Metric  # noqa: PLC0415
    from relgate.eval.metrics.pairs import compare_pairs, compare_slices  # noqa: PLC0415
    from relgate.eval.metrics.score import score_runs  # noqa: PLC0415

    if len(runs) < 2:  # noqa: PLR2004 - a pair
        raise click.UsageError("give --run twice or more")
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "queries", "k", "floor", "gain", "no_ideal")
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    found = load.load_list(project, output, flags["list_format"])
    paths = [*runs, *([] if replay is None else [replay])]
    read = [
        load.load_run(path, name, output, flags["run_format"])
        for path, name in zip(paths, _names(paths), strict=True)
    ]
    table = load.load_queries(project)
    aligned = align_inputs(found.judgments, read, project, table=table)
    for warning in (*aligned.axis.warnings, *aligned.warnings):
        output.remark(warning)
    scores = score_runs(aligned.judgments, aligned.runs, aligned.axis, project.conventions())
    binary = found.judgments.scale.max_grade == 1
    metric = Metric(flags["metric"] or ("mrr" if binary else "ndcg"))
    sides = scores[: len(runs)]
    floor = _noise_floor(output, sides[0], scores[-1], metric) if replay is not None else None
    pairs = compare_pairs(sides, metric, seed=flags["seed"])
    slices = compare_slices(sides, metric, _slices(table, aligned.axis), seed=flags["seed"])
    _show_means(output, sides, project.conventions())
    _show_pairs(output, pairs, floor)
    if slices:
        _show_slices(output, slices)
    output.document(
        {
            "conventions": project.conventions().asdict(),
            "metric": pairs[0].name,
            "seed": flags["seed"],
            "noise_floor": floor,
            "runs": [
                {
                    "name": side.name,
                    "means": {
                        m.value: {"name": mean.name, "value": _number(mean.value), "n": mean.n}
                        for m, mean in side.means().items()
                    },
                }
                for side in sides
            ],
            "pairs": [_plain(pair) for pair in pairs],
            "slices": [_plain(part) for part in slices],
        }
    )


def _names(paths: list[Path]) -> list[str]:
    """File names without their endings, or whole paths where two are named alike."""
    names = [path.name.split(".")[0] for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _slices(table: Any, axis: Any) -> dict[str, Any]:  # noqa: ANN401 - lazily imported
    """{stratum: which queries of the axis}, in the table's order."""
    import numpy as np  # noqa: PLC0415

    from relgate.eval.lists.types import match_key  # noqa: PLC0415

    by_key = {
        match_key(name): row.stratum
        for row in (() if table is None else table.rows)
        if row.stratum is not None
        for name in (row.text, row.id)
        if name is not None
    }
    found = [
        by_key.get(match_key(query.id), by_key.get(match_key(query.shown)))
        for query in axis.queries
    ]
    return {
        name: np.array([own == name for own in found], np.bool_)
        for name in dict.fromkeys(by_key.values())
    }


def _noise_floor(output: Output, run: Any, replay: Any, metric: Any) -> float | None:  # noqa: ANN401 - likewise
    from relgate.eval.metrics.compare import compare  # noqa: PLC0415

    same = compare(run, replay, metric)
    moved = same.improved + same.worse
    output.remark(
        f"A/A: {run.name} run again moves {moved} of {same.n} queries, the mean by "
        f"{same.mean_delta:+.4f}"
    )
    return _number(abs(same.mean_delta))


def _show_means(output: Output, sides: Any, conventions: Any) -> None:  # noqa: ANN401 - likewise
    output.table(
        "Means",
        ["Metric", *(side.name for side in sides), "Queries"],
        [
            [
                conventions.name(metric),
                *(_text(side.mean(metric).value) for side in sides),
                "/".join(dict.fromkeys(str(side.mean(metric).n) for side in sides)),
            ]
            for metric in sides[0].values
        ],
    )


def _show_pairs(output: Output, pairs: Any, floor: float | None) -> None:  # noqa: ANN401 - likewise
    columns = ["Delta", "Low", "High", "p", "Holm", "Effect", "MDE", "Needed", "Up/down", "n"]
    output.table(
        f"Pairs, {pairs[0].name}",
        ["Before", "After", *columns],
        [
            [
                c.before,
                c.after,
                *(_signed(value) for value in (c.delta, c.low, c.high)),
                _text(c.p),
                _text(c.p_holm),
                _text(c.effect, 2),
                _text(c.detectable),
                "-" if c.needed is None else f"{c.needed:,}",
                f"{c.improved}/{c.worse}",
                str(c.n),
            ]
            for c in pairs
        ],
        text_columns=(0, 1),
    )
    for line in (
        "Low, High: 95 % bootstrap interval of the delta. p: two-sided sign-flip randomisation.",
        "Holm: p adjusted over the pairs. Effect: mean over standard deviation of the deltas.",
        "MDE: least delta that n queries find with 80 % power. Needed: queries that find this one.",
        _floor_line(pairs, floor),
    ):
        output.line(line)


def _floor_line(pairs: Any, floor: float | None) -> str:  # noqa: ANN401 - likewise
    if floor is None:
        return "Noise floor: not measured. Run the first configuration again, give it as --replay."
    inside = [f"{c.before} -> {c.after}" for c in pairs if abs(c.delta) < _FLOORS * floor]
    said = f"within twice of it: {', '.join(inside)}" if inside else "every delta is twice as far"
    return f"Noise floor (the first run, run again): {floor:.4f}; {said}."


def _show_slices(output: Output, slices: Any) -> None:  # noqa: ANN401 - likewise
    output.table(
        "Slices",
        ["Slice", "Before", "After", "Delta", "Low", "High", "Holm", "n"],
        [
            [
                c.slice,
                c.before,
                c.after,
                *(_signed(value) for value in (c.delta, c.low, c.high)),
                "watch" if isnan(c.p_holm) else _text(c.p_holm),
                str(c.n),
            ]
            for c in slices
        ],
        text_columns=(0, 1, 2),
    )
    output.line("Holm: p adjusted over all slices and pairs. watch: under 30 queries, not tested.")


def _signed(value: float) -> str:
    return f"{value:+.4f}" if isfinite(value) else "-"


def _text(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}" if isfinite(value) else "-"


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


def _plain(contrast: Any) -> dict[str, Any]:  # noqa: ANN401 - likewise
    return {
        name: _number(value) if isinstance(value, float) else value
        for name, value in asdict(contrast).items()
    }
