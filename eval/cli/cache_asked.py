"""What `relgate cache why` and `seed` ask of a project: a judge's key, a list's provenance. I/O."""

from __future__ import annotations

from typing import Any

from relgate.cache.seed import Judged, Refused, seed_row
from relgate.cache.why import Answer, Changed, Wanted
from relgate.eval.catalogue import Catalogue
from relgate.eval.cli.common import Output
from relgate.eval.cli.load import load_catalogue, load_judge, load_list, load_queries
from relgate.eval.inputs import query_texts
from relgate.eval.lists.types import Judgment, Source
from relgate.judge.parts import shown_parts
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import UsageError

__all__ = ["said", "seeds", "wanted_grade"]

_WORDS = {
    Changed.RUBRIC: "the rubric",
    Changed.TEMPLATE: "the prompt's template or examples",
    Changed.SCHEMA: "the schema of the reply",
    Changed.MODEL: "the model",
    Changed.PARAMETERS: "a parameter (temperature, output limit, batch size)",
    Changed.ENDPOINT: "the endpoint (another address, or the user's own code)",
    Changed.SUSPICION: "the rules for suspicious texts",
    Changed.PANEL: "the panel (who votes, how often, how votes are combined)",
    Changed.TEXT: "the document's text",
    Changed.UNRECORDED: "the judge (that grade does not record which part of it)",
}


def wanted_grade(
    project: Any,  # noqa: ANN401 - pydantic, lazily
    output: Output,
    *,
    query: str,
    doc_id: str | None,
    text: str | None,
) -> Wanted:
    """The grade that the project's judge would be asked for.

    Raises:
        UsageError: neither a document nor a text, a document without a text, or a judge whose
            grades are not cached.
    """
    catalogue = None if project.catalogue is None else load_catalogue(project, output)
    text = _text(doc_id, text, catalogue)
    labels = None if project.judgments is None else load_list(project, output).judgments
    opened = load_judge(project, output, labels=labels, catalogue=catalogue)
    if opened.cached is None:
        raise UsageError(f"judge {opened.name} costs nothing, so its grades are not cached")
    judge = opened.judge
    return Wanted(
        version=judge.version,
        fingerprint=judge.fingerprint,
        model=judge.model,
        parts=shown_parts(judge),
        query=query,
        text=text,
        doc_id=doc_id,
    )


def _text(doc_id: str | None, text: str | None, catalogue: Catalogue | None) -> str:
    if text is not None:
        return text
    if doc_id is None:
        raise UsageError("give a document's id, or --text")
    if catalogue is None:
        raise UsageError("give --catalogue for the document's text, or --text")
    candidate = catalogue.candidate(doc_id)
    if candidate is None:
        raise UsageError(f"the catalogue has no text for document {doc_id!r}; give --text")
    return candidate.text


def said(answer: Answer, wanted: Wanted) -> list[str]:
    """The answer in sentences."""
    row = answer.nearest
    if row is not None and answer.cached:
        return [f"cached: {row.esci} (grade {row.grade}), graded {row.judged_at}"]
    if row is None:
        known = f"{answer.of_query:,} grades of this query are for other documents and texts"
        return ["not cached: never graded", known if answer.of_query else "nor was the query"]
    lines = [f"not cached; the nearest grade is of {row.judged_at}. Changed since:"]
    lines += [f"- {_WORDS[part]}" for part in answer.changed]
    for name, then, today in (
        ("version", row.version, wanted.version),
        ("model", row.model, wanted.model),
        ("fingerprint", row.fingerprint, wanted.fingerprint),
    ):
        if then != today:
            lines.append(f"{name} {then} then, {today} now")
    return lines


def seeds(
    project: Any,  # noqa: ANN401 - pydantic, lazily
    output: Output,
) -> tuple[dict[str, str], list[tuple[str, str, Refused]]]:
    """{key: row} of a list's judgments that can be cached, and (query, document, why not)."""
    listed = load_list(project, output).judgments
    catalogue = load_catalogue(project, output)
    texts = query_texts(load_queries(project))
    rubric = load_rubric(project.rubric)
    rows: dict[str, str] = {}
    refused: list[tuple[str, str, Refused]] = []
    for judgment in listed.rows():
        made = seed_row(_judged(judgment, texts, catalogue), rubric)
        if isinstance(made, Refused):
            refused.append((judgment.query.shown, judgment.doc_id, made))
        else:
            rows[made[0]] = made[1]
    return rows, refused


def _judged(judgment: Judgment, texts: dict[str, str], catalogue: Catalogue) -> Judged:
    made, candidate = judgment.provenance, catalogue.candidate(judgment.doc_id)
    return Judged(
        query=texts.get(judgment.query.id, judgment.query.shown),
        doc_id=judgment.doc_id,
        text=None if candidate is None else candidate.text,
        text_hash=judgment.text_hash,
        grade=judgment.grade,
        reason=judgment.reason,
        by_judge=made.source is Source.JUDGE,
        version=made.judge_version,
        fingerprint=made.fingerprint,
        model=made.model,
        judged_at=made.judged_at,
    )
