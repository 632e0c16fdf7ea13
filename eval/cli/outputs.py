"""Where a review goes: its files, and what a CI system shows. I/O.

Everything is made from the text of `review.json`, keys masked: so `relgate report` makes the same
files again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import Output
from relgate.eval.files import inside
from relgate.eval.lists.types import JudgmentList
from relgate.eval.lists.write import write_list
from relgate.eval.report.annotations import review_annotations
from relgate.eval.report.document import review_document, review_json
from relgate.eval.report.html.review import review_html
from relgate.eval.report.junit import review_junit
from relgate.eval.report.markdown import review_markdown
from relgate.eval.report.saved import read_review
from relgate.eval.review.types import Review
from relgate.eval.workflow import Reviewed

__all__ = [
    "RENDERED",
    "REVIEW_FILES",
    "SavedReview",
    "saved",
    "saved_review",
    "tell_ci",
    "write_files",
    "write_rendered",
]

REVIEW_JSON = "review.json"
JUDGMENTS = "judgments.jsonl"
"""The list with the filled grades; written after a fill only."""


@dataclass(frozen=True, slots=True)
class SavedReview:
    """A `review.json`: its text, its values, and the review in it."""

    text: str
    document: Mapping[str, Any]
    review: Review


RENDERED: Mapping[str, Callable[[SavedReview], str]] = {
    "review.md": lambda found: review_markdown(found.review),
    "review.html": lambda found: review_html(found.document),
    "junit.xml": lambda found: review_junit(found.review),
}
"""The files that are made from `review.json`."""

REVIEW_FILES = (REVIEW_JSON, *RENDERED, JUDGMENTS)
"""All that a review may write into its folder."""


def saved_review(text: str, path: Path | None = None) -> SavedReview:
    """A `review.json` by its text.

    Raises:
        InputError: it is none, or of another version.
    """
    review = read_review(text, path)
    return SavedReview(text, json.loads(text), review)


def saved(output: Output, done: Reviewed) -> SavedReview:
    """A fresh review as it will be saved: figures rounded, keys masked."""
    text = output.masked(review_json(review_document(done.review, done.open_fill)))
    return saved_review(text)


def write_files(
    output: Output, folder: Path, found: SavedReview, judgments: JudgmentList | None = None
) -> None:
    """Writes review.json and all that is made from it, and the list of a fill if there is one."""
    output.file(folder / REVIEW_JSON, found.text)
    write_rendered(output, folder, found)
    names = [REVIEW_JSON, *RENDERED]
    if judgments is not None:
        write_list(inside(folder, JUDGMENTS), judgments, format="jsonl")
        names.append(JUDGMENTS)
    output.remark(f"wrote {', '.join(names)} to {folder}")


def write_rendered(output: Output, folder: Path, found: SavedReview) -> None:
    """Writes what is made from a review.json."""
    for name, render in RENDERED.items():
        output.file(folder / name, render(found))


def tell_ci(output: Output, review: Review, *, annotations: bool | None) -> None:
    """Appends the report to GitHub's step summary, and prints annotations.

    Args:
        output: told when the summary cannot be written; the verdict stands all the same.
        review: the review.
        annotations: whether to print them; None means: where GitHub Actions runs this.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(review_markdown(review) + "\n")
        except OSError as error:
            output.remark(f"the step summary {summary} cannot be written: {error.strerror}")
    if os.environ.get("GITHUB_ACTIONS") == "true" if annotations is None else annotations:
        for line in review_annotations(review):  # GitHub reads commands from stderr as well
            click.echo(line, err=True)
