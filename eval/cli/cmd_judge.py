"""`relgate judge`: grade documents for one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relgate.eval.cli.common import (
    FILE,
    Output,
    config_option,
    judge_options,
    list_options,
    output_options,
    settings,
    system_model_option,
)

if TYPE_CHECKING:
    from relgate.eval.catalogue import Catalogue
    from relgate.eval.opened_judge import OpenedJudge
    from relgate.judge.types import Candidate, JudgedHit

__all__ = ["command"]

_NO_GRADE = 6
"""Exit code when not one candidate got a grade: the provider's or the network's trouble."""


@click.command("judge")
@click.argument("query")
@click.argument("doc_ids", nargs=-1)
@click.option("--text", "texts", multiple=True, help="A text to judge; repeatable.")
@click.option("--catalogue", type=FILE, help="Product texts, for DOC_IDS.")
@judge_options
@system_model_option
@click.option("--rubric", help="Built-in tag or file.")
@click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
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

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    names = ("judgments", "scale", "judgments_source", "catalogue", "judge", "judge_family",
             "rubric", "cache", "system_models")  # fmt: skip
    given = {name: flags[name] for name in names}
    project = settings(output, flags["config"], given)
    if not query.strip():
        raise click.UsageError("the query is empty")
    if not doc_ids and not texts:
        raise click.UsageError("nothing to judge: give DOC_IDS or --text")
    catalogue = load.load_catalogue(project, output) if doc_ids or project.catalogue else None
    candidates = _candidates(doc_ids, texts, catalogue)
    needs_labels = project.judge == "baseline" or project.few_shot
    labels = (
        load.load_list(project, output, flags["list_format"]).judgments
        if project.judgments is not None and needs_labels
        else None
    )
    opened = load.load_judge(
        project, output, labels=labels, catalogue=catalogue, overrides=flags["overrides"]
    )
    load.hold_honest(opened, project, output, flags["overrides"])
    hits = opened.judge.grade_sync(query, candidates)
    for remark in opened.remarks:
        output.remark(remark)
    _show(output, query, opened, hits)
    return 0 if any(hit.graded for hit in hits) else _NO_GRADE


def _candidates(
    doc_ids: Sequence[str], texts: Sequence[str], catalogue: Catalogue | None
) -> list[Candidate]:
    from relgate.judge.types import Candidate  # noqa: PLC0415 - with the judge

    found = [Candidate(f"text {i}", text) for i, text in enumerate(texts, start=1)]
    for doc_id in doc_ids:
        candidate = None if catalogue is None else catalogue.candidate(doc_id)
        if candidate is None:
            raise click.UsageError(
                f"document {doc_id!r} is not in the catalogue (a query of several words is quoted)"
            )
        found.append(candidate)
    return found


def _show(output: Output, query: str, opened: OpenedJudge, hits: Sequence[JudgedHit]) -> None:
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
    judge = opened.judge
    output.document(
        {
            "query": query,
            "judge": {
                "version": judge.version,
                "fingerprint": judge.fingerprint,
                "model": judge.model,
            },
            "hits": [_row(hit) for hit in hits],
        }
    )


def _row(hit: JudgedHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "grade": hit.grade if hit.graded else None,
        "esci": hit.esci if hit.graded else None,
        "reason": hit.reason,
        "expected_grade": hit.expected_grade,
        "spread": hit.spread,
        "probabilities": None if hit.probabilities is None else list(hit.probabilities),
        "error": hit.error,
        "detail": hit.detail,
    }
