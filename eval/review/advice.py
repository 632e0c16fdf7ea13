"""What to look at for a query that got worse, by the type of change. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from relgate.eval.lists.types import Source
from relgate.eval.review.change import ChangeDescription, ChangeType
from relgate.eval.review.losers import Loser, Move, Placed

__all__ = ["grade_text", "look_at", "one_way_mappings", "placed_text", "type_advice"]

_SHOWN_DOCS = 3
_SHOWN_MAPPINGS = 3
_RULE = re.compile(r"([^;,:\n]+?)\s*(?:<?->|<?=>|→|↔)\s*([^;\n]+)")
_WORD = re.compile(r"[^\W_]+")

Titles = Mapping[str, str]


def look_at(loser: Loser, titles: Titles) -> str | None:
    """Which documents fell, and what stands above them now; None where nothing is to be seen."""
    parts: list[str] = []
    if loser.cost:
        parts.append("; ".join(_fell(doc, titles) for doc in loser.cost[:_SHOWN_DOCS]))
    if loser.weak:
        above = ", ".join(_stands(doc, titles) for doc in loser.weak[:_SHOWN_DOCS])
        parts.append(f"{'above' if loser.cost else 'new'} now: {above}")
    if not parts:
        return None
    query = loser.query
    return (
        f'Look at "{query.query.shown}" ({query.before:.2f} to {query.after:.2f}): '
        f"{'; '.join(parts)}."
    )


def placed_text(doc: Placed, titles: Titles) -> str:
    """A document with its grade and who gave it: `d1 "Red shoe" (grade 3)`."""
    title = titles.get(doc.doc_id)
    name = doc.doc_id if title is None else f'{doc.doc_id} "{title}"'
    return f"{name} ({grade_text(doc)})"


def grade_text(doc: Placed) -> str:
    """`unrated`, `grade 3`, or `grade 3, by a judge`."""
    if doc.grade is None:
        return "unrated"
    return f"grade {doc.grade}" + (", by a judge" if doc.source is Source.JUDGE else "")


def _fell(doc: Placed, titles: Titles) -> str:
    to = "out of the top" if doc.move is Move.LEFT else f"to {doc.after}"
    return f"{placed_text(doc, titles)} fell from rank {doc.before} {to}"


def _stands(doc: Placed, titles: Titles) -> str:
    title = titles.get(doc.doc_id)
    name = doc.doc_id if title is None else f'{doc.doc_id} "{title}"'
    return f"{name} at rank {doc.after} ({grade_text(doc)})"


def type_advice(
    change: ChangeDescription | None, losers: Sequence[Loser], titles: Titles
) -> Iterator[str]:
    """One sentence for each type of change, naming the losing queries and what to look at.

    Args:
        change: the change, or None.
        losers: those worth naming, in the order to name them.
        titles: {document id: title}.
    """
    if change is None or not losers:
        return
    told: dict[str, None] = {}
    for kind in change.types:
        told.setdefault(_ADVICE[kind](change, losers, titles))
    yield from told


def _names(losers: Sequence[Loser]) -> str:
    return ", ".join(f'"{loser.query.query.shown}"' for loser in losers)


def _dearest(losers: Sequence[Loser]) -> tuple[Loser, Placed] | None:
    """The first loser with a document that cost it something, and that document."""
    return next(((loser, loser.cost[0]) for loser in losers if loser.cost), None)


def _synonyms(change: ChangeDescription, losers: Sequence[Loser], _titles: Titles) -> str:
    words = {w for loser in losers for w in _words(loser.query.query.shown)}
    found = [
        line
        for line, terms in one_way_mappings(change.description or "")
        if any(_words(term) <= words for term in terms)
    ]
    shown = "; ".join(found[:_SHOWN_MAPPINGS])
    example = f", as the description reads: {shown}" if shown else ""
    return (
        f"Make the synonyms that touch {_names(losers)} one-way (specific to general) instead of "
        f"two-way{example}; then test again against the same judgments."
    )


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def one_way_mappings(description: str) -> list[tuple[str, tuple[str, str]]]:
    """One-way mappings for the expansions that a description names; none where it names none.

    `running -> +jogging, marathon` widens what "running" finds. The other direction is safe: a
    query for the specific word may find the general one: `marathon => marathon, running`.

    Returns:
        The mapping, in the syntax that Solr and Elasticsearch share, and its two terms.
    """
    out: list[tuple[str, tuple[str, str]]] = []
    for general, right in _RULE.findall(description):
        for part in right.split(","):
            specific = part.strip().lstrip("+").strip()
            if specific and specific.casefold() != general.strip().casefold():
                pair = (general.strip(), specific)
                out.append((f"{specific} => {specific}, {general.strip()}", pair))
    return out


def _filters(_change: ChangeDescription, losers: Sequence[Loser], titles: Titles) -> str:
    gone = [
        f'{placed_text(doc, titles)} of "{loser.query.query.shown}"'
        for loser in losers
        for doc in loser.cost
        if doc.move is Move.LEFT
    ]
    lost = f"; the filter may have dropped {', '.join(gone[:_SHOWN_DOCS])}" if gone else ""
    return f"Run {_names(losers)} with the filter and without it{lost}."


def _stage(stage: str) -> Callable[[ChangeDescription, Sequence[Loser], Titles], str]:
    def say(_change: ChangeDescription, losers: Sequence[Loser], titles: Titles) -> str:
        dearest = _dearest(losers)
        told = "" if dearest is None else f": {_fell(dearest[1], titles)}"
        return f"Run {_names(losers)} with the {stage} on and off{told}."

    return say


def _tokens(_change: ChangeDescription, losers: Sequence[Loser], titles: Titles) -> str:
    dearest = _dearest(losers)
    beside = "" if dearest is None else f", beside those of {placed_text(dearest[1], titles)}"
    return (
        f"Compare the tokens of {_names(losers)} under the old and the new analysis (_analyze in "
        f"Elasticsearch and OpenSearch, the Analysis screen in Solr){beside}."
    )


def _candidates(_change: ChangeDescription, losers: Sequence[Loser], titles: Titles) -> str:
    dearest = _dearest(losers)
    what = "what left" if dearest is None else placed_text(dearest[1], titles)
    return (
        f"Search {_names(losers)} exactly (brute force, or a far larger ef or num_candidates): "
        f"where {what} comes back, the index lost it; where not, the vectors did."
    )


def _swapped(_change: ChangeDescription, losers: Sequence[Loser], titles: Titles) -> str:
    pair = next(((x, x.cost[0], x.weak[0]) for x in losers if x.cost and x.weak), None)
    if pair is None:
        return f"Compare the parts of the scores (explain) of the documents of {_names(losers)}."
    loser, fallen, risen = pair
    return (
        f'Compare the parts of the scores (explain) of the two that swapped for "'
        f'{loser.query.query.shown}": {placed_text(fallen, titles)}, now below '
        f"{placed_text(risen, titles)}."
    )


_Say = Callable[[ChangeDescription, Sequence[Loser], Titles], str]

_ADVICE: Mapping[ChangeType, _Say] = MappingProxyType(
    {
        ChangeType.SYNONYMS: _synonyms,
        ChangeType.FILTER_LOGIC: _filters,
        ChangeType.REWRITER: _stage("rewriter"),
        ChangeType.RERANKER: _stage("reranker"),
        ChangeType.ANALYZER: _tokens,
        ChangeType.MAPPINGS: _tokens,
        ChangeType.EMBEDDING_MODEL: _candidates,
        ChangeType.HNSW_PARAMS: _candidates,
        ChangeType.QUERY_TEMPLATE: _swapped,
        ChangeType.HYBRID_WEIGHTS: _swapped,
    }
)
