"""`relgate judge`: grade documents for one query."""

from __future__ import annotations

from typing import Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    judge_options,
    list_options,
    output_options,
    settings,
)

__all__ = ["command"]


@click.command("judge")
@click.argument("query")
@click.argument("doc_ids", nargs=-1)
@click.option("--text", "texts", multiple=True, help="A text to judge; repeatable.")
@click.option("--catalogue", type=FILE, help="Product texts, for DOC_IDS.")
@judge_options
@click.option("--system-model", "system_models", multiple=True, help="A model in the pipeline.")
@click.option("--rubric", help="Built-in tag or file.")
@click.option("--cache", type=FILE, help="Folder of paid grades.")
@click.option(
    "--override", "overrides", multiple=True, type=click.Choice(["family", "circular"]),
    help="Override an honesty rule by name.",
)  # fmt: skip
@list_options
@config_option
@output_options
def command(
    query: str,
    doc_ids: tuple[str, ...],
    texts: tuple[str, ...],
    **flags: Any,  # noqa: ANN401
) -> int:
    """Grade DOC_IDS of the catalogue, or given texts, for QUERY."""
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.judges import check_honesty  # noqa: PLC0415
    from relgate.judge.types import Candidate  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "catalogue", "judge", "judge_family",
             "rubric", "cache")  # fmt: skip
    given = {name: flags[name] for name in names}
    project = settings(
        output, flags["config"], given | {"system_models": flags["system_models"] or None}
    )
    if project.judge is None:
        raise click.UsageError("no judge: give --judge, or set judge in relgate.toml")
    if not query.strip():
        raise click.UsageError("the query is empty")
    if not doc_ids and not texts:
        raise click.UsageError("nothing to judge: give DOC_IDS or --text")
    catalogue = load.load_catalogue(project, output) if doc_ids or project.catalogue else None
    candidates = [Candidate(f"text {i}", text) for i, text in enumerate(texts, start=1)]
    for doc_id in doc_ids:
        found = None if catalogue is None else catalogue.candidate(doc_id)
        if found is None:
            raise click.UsageError(f"document {doc_id!r} is not in the catalogue")
        candidates.append(found)
    labels = (
        load.load_list(project, output, flags["list_format"]).judgments
        if project.judgments is not None and project.judge == "baseline"
        else None
    )
    opened = load.load_judge(project, output, labels=labels, catalogue=catalogue)
    for line in check_honesty(
        version=opened.judge.version,
        model=opened.judge.model,
        family=opened.judge.family,
        system_models=project.system_models,
        ranker_judges=project.ranker_judges,
        overrides=flags["overrides"],
    ):
        output.remark(line)
    hits = opened.judge.grade_sync(query, candidates)
    output.table(
        "",
        ["Document", "Grade", "Label", "Reason"],
        [
            [h.id, str(h.grade), h.esci, h.reason]
            if h.graded
            else [h.id, "-", "-", f"no grade: {h.error}: {h.detail}"]
            for h in hits
        ],
        text_columns=(0, 2, 3),
    )
    output.document(
        {
            "query": query,
            "judge": {
                "version": opened.judge.version,
                "fingerprint": opened.judge.fingerprint,
                "model": opened.judge.model,
            },
            "hits": [
                {
                    "id": h.id,
                    "grade": h.grade if h.graded else None,
                    "esci": h.esci if h.graded else None,
                    "reason": h.reason,
                    "error": h.error,
                    "detail": h.detail,
                }
                for h in hits
            ],
        }
    )
    return 0 if any(h.graded for h in hits) else 6
