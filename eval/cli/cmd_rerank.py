"""`relgate rerank`: the judge as a second-stage ranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    FiniteRange,
    Output,
    config_option,
    judge_options,
    list_options,
    output_options,
    run_format_option,
    settings,
)
from relgate.rubrics.errors import InputError, PlatformError

if TYPE_CHECKING:
    from relgate.eval.catalogue import Catalogue
    from relgate.eval.opened_judge import OpenedJudge
    from relgate.eval.project import Project
    from relgate.eval.runs.types import Run

__all__ = ["command"]

_QUERIES_AT_ONCE = 4
"""Few: each query's deadline runs while its calls wait for a place."""


@click.command("rerank")
@click.option("--run", "run_path", type=FILE, required=True, help="The first stage's run.")
@click.option("--catalogue", type=FILE, help="Product texts: what the judge sees.")
@click.option("--queries", type=FILE, help="Query texts.")
@judge_options
@click.option("--pool", type=click.IntRange(1, 1000), default=50, help="Hits judged; 50.")
@click.option("--weight", type=FiniteRange(0, 1),
              help="The first stage's weight, one for all ranks; else .75 to rank 3, .60 to rank "
              "10, .40 after.")  # fmt: skip
@click.option("--deadline", type=FiniteRange(0.1, 600), default=60.0,
              help="Seconds a query; after them the first stage's order stays. 60.")  # fmt: skip
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
@click.option(
    "--out", type=FILE, required=True, help="The new run: .jsonl, .csv, .parquet, .run or .trec."
)
@run_format_option
@list_options
@config_option
@output_options
def command(run_path: Path, out: Path, **flags: Any) -> None:  # noqa: ANN401
    """Reorder a run by blending its ranks with a judge's grades.

    Do not evaluate the result with the same judge: that is circular, and is refused.
    """
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "catalogue", "queries", "judge",
             "judge_family", "cache")  # fmt: skip
    project = settings(output, flags["config"], {name: flags[name] for name in names})
    if project.judge is None:
        raise click.UsageError("no judge: give --judge, or set judge in relgate.toml")
    first = _read(run_path, out, project, output, flags)
    how = _How(flags["pool"], flags["deadline"], _weights(flags["weight"]))
    _write(out, first, _reranked(first, how, project, output), output)


@dataclass(frozen=True, slots=True)
class _First:
    """The first stage, and what its documents are judged with."""

    run: Run
    texts: dict[str, str]
    catalogue: Catalogue
    opened: OpenedJudge


def _read(
    run_path: Path, out: Path, project: Project, output: Output, flags: Mapping[str, Any]
) -> _First:
    """Reads everything, and looks at what would be written, before any call."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.inputs import query_texts  # noqa: PLC0415
    from relgate.eval.lists.types import Query  # noqa: PLC0415
    from relgate.eval.runs.write import require_room_for  # noqa: PLC0415

    load.spare_inputs([out], [run_path, project.judgments, project.catalogue, project.queries])
    run = load.load_run(run_path, run_path.name, output, flags["run_format"])
    require_room_for(out, run)
    load.writable(out.parent)
    table = load.load_queries(project)
    catalogue = load.load_catalogue(project, output)
    labels = (
        load.load_list(project, output, flags["list_format"]).judgments
        if project.judge == "baseline"
        else None
    )
    opened = load.load_judge(project, output, labels=labels, catalogue=catalogue)
    texts = query_texts(table)
    load.say_bare_queries(output, (Query(q.id, texts.get(q.id, q.text)) for q in run.queries))
    if labels is not None:
        output.remark(
            "the baseline learned from this list: on its own pairs the new order flatters it, so "
            "measure the gain on other labels, or out of fold"
        )
    return _First(run, texts, catalogue, opened)


def _reranked(first: _First, how: _How, project: Project, output: Output) -> tuple[Run, int, int]:
    """The new run; documents put to the judge; those it graded, at least one."""
    from relgate.judge.sync import run_sync  # noqa: PLC0415

    new, asked, graded = run_sync(_rerank(first, how, output))
    if not asked:
        raise InputError(
            "no document of the run has a text in the catalogue",
            path=project.catalogue,
            mend="give the catalogue of the index that was searched",
        )
    if not graded:
        raise PlatformError(
            f"none of {asked:,} documents got a grade, so nothing is reordered and no run written"
        )
    return new, asked, graded


def _write(out: Path, first: _First, done: tuple[Run, int, int], output: Output) -> None:
    from relgate.eval.runs.write import write_run  # noqa: PLC0415 - numpy

    (new, asked, graded), run, opened = done, first.run, first.opened
    judges = opened.members or (opened.judge,)
    for note in write_run(out, new):
        output.remark(note)
    moved = sum(a != b for a, b in zip(run.docs, new.docs, strict=True))
    if graded < asked:
        output.line(f"{asked - graded:,} of {asked:,} documents got no grade: in their old slots")
    output.line(f"{moved:,} of {len(run.queries):,} queries reordered; wrote {out}.")
    for judge in judges:
        output.line(
            f"When this run is reviewed, name the judge in ranker_judges: {judge.version} (no "
            f"judge under that rubric may then evaluate) or {judge.fingerprint} (that one may not)."
        )
    output.document(
        {
            "out": str(out),
            "queries": len(run.queries),
            "reordered": moved,
            "asked": asked,
            "graded": graded,
            "judge_version": opened.judge.version,
            "judge_fingerprint": opened.judge.fingerprint,
            "ranker_judges": [judge.fingerprint for judge in judges],
        }
    )


def _weights(weight: float | None) -> Sequence[tuple[int | None, float]]:
    """The first stage's weights by rank: one for all, or the document's."""
    from relgate.judge.rerank import DEFAULT_WEIGHTS  # noqa: PLC0415

    return DEFAULT_WEIGHTS if weight is None else ((None, weight),)


@dataclass(frozen=True, slots=True)
class _How:
    """How each query is reranked."""

    pool: int
    deadline_s: float
    weights: Sequence[tuple[int | None, float]]


async def _rerank(first: _First, how: _How, output: Output) -> tuple[Run, int, int]:
    """The new run; documents put to the judge; those it graded."""
    import asyncio  # noqa: PLC0415 - costs 80 ms

    from relgate.judge.rerank import llm_rerank  # noqa: PLC0415
    from relgate.judge.types import Candidate  # noqa: PLC0415

    run = first.run
    docs: list[tuple[str, ...] | None] = list(run.docs)
    pending = iter([i for i, ranked in enumerate(run.docs) if ranked])
    asked = graded = 0

    async def worker() -> None:
        nonlocal asked, graded
        for i in pending:
            ranked = run.docs[i] or ()
            known = [first.catalogue.candidate(doc) or Candidate(doc, "") for doc in ranked]
            candidates = [c for c in known if c.text]
            query = first.texts.get(run.queries[i].id) or run.queries[i].shown

            def told(why: str, query: str = query) -> None:
                output.remark(f'"{query}": {why}')

            hits = await llm_rerank(
                first.opened.judge,
                query,
                candidates,
                pool=how.pool,
                weights=how.weights,
                deadline_s=how.deadline_s,
                on_error=told,
            )
            asked += len(candidates[: how.pool])
            graded += sum(hit.score is not None for hit in hits)
            docs[i] = _back_in(ranked, known, [hit.id for hit in hits])

    async with asyncio.TaskGroup() as group:
        for _ in range(_QUERIES_AT_ONCE):
            group.create_task(worker())
    new = replace(run, name=f"{run.name} reranked", docs=tuple(docs), given=None)
    return new, asked, graded


def _back_in(
    ranked: tuple[str, ...], known: Sequence[Any], order: Sequence[str]
) -> tuple[str, ...]:
    """The new order, with documents that have no text kept in their slots."""
    new = iter(order)
    return tuple(next(new) if c.text else doc for doc, c in zip(ranked, known, strict=True))
