"""The queries that lost most, their two result lists side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from relgate.eval.report.html.numbers import number, signed
from relgate.eval.report.html.parts import (
    Cell,
    Column,
    Fold,
    Group,
    Links,
    Note,
    Part,
    Table,
)

__all__ = ["loser_groups", "loser_targets"]

_OPEN = 3
_TOOLS = {"splainer": "Splainer", "quepid": "Quepid"}
_MADE_BY = {"human": "person", "judge": "judge", "rule": "rule"}


def loser_targets(losers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """{query id: id of its part on the page}; none where the files list no documents at all."""
    if not any(loser["listed"] for loser in losers):
        return {}
    return {loser["id"]: f"loser-{i}" for i, loser in enumerate(losers, start=1)}


def loser_groups(losers: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """One part a loser, worst first; the lists of the first three stand open."""
    if losers and not loser_targets(losers):
        yield Note("The files list no documents: there is nothing to put side by side.")
        return
    for i, loser in enumerate(losers):
        target = f"loser-{i + 1}"
        scores = f"{number(loser['before'], 3)} to {number(loser['after'], 3)}"
        yield Group(
            id=target,
            title=loser["text"],
            detail=f"{scores} ({signed(loser['delta'], 3)})",
            parts=tuple(_parts(loser, target, shown=i < _OPEN)),
            marks=tuple(mark for mark in ("head", "critical") if loser[mark]),
        )


def _parts(loser: Mapping[str, Any], target: str, *, shown: bool) -> Iterator[Part]:
    if loser["error"] is not None:
        yield Note(f"Fails after the change: {loser['error']}", "bad")
    if loser["look_at"] is not None:
        yield Note(loser["look_at"])
    if loser["listed"]:
        yield Fold(f"Both lists of “{loser['text']}”", (_lists(loser, target),), opened=shown)
    else:
        yield Note("The files list no documents of it.")
    debug = loser["debug"]
    links = tuple((name, debug[key]) for key, name in _TOOLS.items() if debug[key] is not None)
    if links:
        yield Links(links)
    if debug["how"]:
        yield Note(f"{debug['how'][0].upper()}{debug['how'][1:]}.", "muted")


def _lists(loser: Mapping[str, Any], target: str) -> Table:
    pairs = zip_longest(loser["before_list"], loser["after_list"])
    rows = tuple(
        (Cell(str(rank)), _cell(was, after=False), _cell(now, after=True))
        for rank, (was, now) in enumerate(pairs, start=1)
    )
    columns = (Column("Rank", number=True), Column("Before"), Column("After"))
    return Table(f"{target}-lists", f"Results of “{loser['text']}”", columns, rows)


def _cell(doc: Mapping[str, Any] | None, *, after: bool) -> Cell:
    """A document with its grade, who gave it, and where it came from or went to."""
    if doc is None:
        return Cell("")
    title = doc["title"]
    grade, source = doc["grade"], doc["source"]
    made = f", {_MADE_BY[source]}" if source in _MADE_BY else ""
    graded = "unrated" if grade is None else f"grade {grade}{made}"
    return Cell(
        doc["doc_id"] if title is None else f"{doc['doc_id']} “{title}”",
        marks=(graded, *_move(doc, after=after)),
    )


def _move(doc: Mapping[str, Any], *, after: bool) -> tuple[str, ...]:
    """What moved is said in the list that it concerns: where it came from, where it went."""
    match doc["move"]:
        case "entered":
            return ("new",)
        case "left":
            return ("gone",)
        case "kept":
            return ()
        case move:
            return (
                f"{move} from {doc['rank_before']}" if after else f"{move} to {doc['rank_after']}",
            )
