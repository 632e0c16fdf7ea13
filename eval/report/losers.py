"""The top losers as the reports show them: two lists side by side, and what moved. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from relgate.eval.report.escape import markdown_text as esc
from relgate.eval.report.values import moved, picked
from relgate.eval.review.advice import grade_text, look_at
from relgate.eval.review.losers import Loser, Move, Placed, top_losers
from relgate.eval.review.types import Evidence

__all__ = ["loser_lines", "loser_sections", "losers_values"]

_MAX_ID_CHARS = 40
_MAX_TITLE_CHARS = 40
_MAX_LINK_CHARS = 1500
_TERMINAL_LOSERS = 3
_TOOLS = (
    "Splainer (splainer.io) shows how each document scores, given the engine's request; a Quepid "
    "case is the place to rate the doubtful ones."
)

_MARKS = {
    Move.ENTERED: "new",
    Move.LEFT: "gone",
    Move.UP: "▲",
    Move.DOWN: "▼",
    Move.KEPT: "=",
}


def losers_values(evidence: Evidence) -> list[dict[str, Any]]:
    """The ten queries that lost most, for `review.json`; worst first.

    Each has both lists with grades (by a person, a judge or a rule; never a name), where each
    document was and is, one sentence on what to look at, and pointers to Splainer and Quepid.
    """
    return [_loser(loser, evidence) for loser in top_losers(evidence)]


def _loser(loser: Loser, evidence: Evidence) -> dict[str, Any]:
    query, titles = loser.query, evidence.titles
    return {
        "id": query.query.id,
        "text": query.query.shown,
        **moved(query.before, query.after),
        "head": query.head,
        "critical": query.critical,
        "error": query.now.error,
        "listed": loser.listed,
        "look_at": look_at(loser, titles),
        "before_list": [_placed(doc, evidence) for doc in loser.before],
        "after_list": [_placed(doc, evidence) for doc in loser.after],
        "left": [doc.doc_id for doc in loser.left],
        "entered": [doc.doc_id for doc in loser.after if doc.move is Move.ENTERED],
        "debug": evidence.tools.pointers(query.query.shown),
    }


def _placed(doc: Placed, evidence: Evidence) -> dict[str, Any]:
    return {
        "title": evidence.titles.get(doc.doc_id),
        **picked(doc, "doc_id", "grade", "source", "move"),
        "rank_before": doc.before,
        "rank_after": doc.after,
    }


def loser_sections(evidence: Evidence, limit: int) -> Iterator[list[str]]:
    """The folded part of the Markdown: one table a loser, `limit` at most; the rest is counted."""
    found = top_losers(evidence)
    if not found:
        return
    shown = found[:limit]
    count = str(len(found)) if shown == found else f"{len(shown)} of {len(found)}"
    yield [f"<details><summary>Top losers, side by side ({count})</summary>"]
    yield [_TOOLS]
    for loser in shown:
        yield list(_section(loser, evidence))
    if shown != found:
        yield [f"{len(found) - len(shown)} more in review.json."]
    yield ["</details>"]


def _section(loser: Loser, evidence: Evidence) -> Iterator[str]:
    query = loser.query
    mark = " (head)" if query.head else " (critical)" if query.critical else ""
    yield (
        f'**"{esc(_cut(query.query.shown, 2 * _MAX_TITLE_CHARS))}"**{mark} '
        f"{query.before:.2f} to {query.after:.2f} ({query.delta:+.2f})"
    )
    yield ""
    if query.now.error is not None:
        yield f"Failed after the change: {esc(query.now.error)}"
        yield ""
    if loser.listed:
        yield "| # | Before | After |"
        yield "|---:|---|---|"
        rows = zip_longest(loser.before, loser.after)
        for rank, (was, now) in enumerate(rows, start=1):
            yield f"| {rank} | {_cell(was, evidence)} | {_cell(now, evidence)} |"
    else:
        yield "The files list no documents of it."
    links = list(_links(loser, evidence))
    if links:
        yield ""
        yield " · ".join(links)


def _links(loser: Loser, evidence: Evidence) -> Iterator[str]:
    """The links, but for one so long that it would fill the comment; `review.json` has it."""
    pointers = evidence.tools.pointers(loser.query.query.shown)
    for name in ("splainer", "quepid"):
        link = pointers[name]
        if link is not None and len(link) <= _MAX_LINK_CHARS:
            yield f"[{name.capitalize()}]({link})"


def _cell(doc: Placed | None, evidence: Evidence) -> str:
    """A document, its grade, and its mark: where it came from or went to."""
    if doc is None:
        return ""
    title = evidence.titles.get(doc.doc_id)
    name = esc(_cut(doc.doc_id, _MAX_ID_CHARS))
    if title is not None:
        name += f' "{esc(_cut(title, _MAX_TITLE_CHARS))}"'
    return f"{name} ({grade_text(doc)}) {_MARKS[doc.move]}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def loser_lines(evidence: Evidence) -> list[str]:
    """One line each for the terminal: the first losers, and what to look at."""
    told = (look_at(x, evidence.titles) for x in top_losers(evidence, _TERMINAL_LOSERS))
    return [line for line in told if line is not None]
