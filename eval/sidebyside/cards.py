"""What people see of the two lists: nothing that tells which run is which. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relgate.eval.catalogue import Catalogue
from relgate.eval.lists.types import match_key
from relgate.eval.sidebyside.match import Match, Side

__all__ = ["Card", "Shown", "shown"]


@dataclass(frozen=True, slots=True)
class Card:
    """One document.

    Attributes:
        title: its title, or its id where it has none.
        text: what else a shopper and a judge see of it, may be empty.
        image: an address that the page may load, or None.
        only_here: the other list does not have it.
    """

    title: str
    text: str
    image: str | None
    only_here: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """One query as a rater sees it.

    Attributes:
        query: its text.
        left: the list on the left, best first.
        right: likewise.
    """

    query: str
    left: tuple[Card, ...]
    right: tuple[Card, ...]


def shown(
    match: Match,
    left: Side,
    catalogue: Catalogue | None,
    address: Callable[[str], str | None],
) -> Shown:
    """The page of a query.

    Args:
        match: the query and its two lists.
        left: the run on the left.
        catalogue: products; without one people see ids.
        address: what the page may load for an image of the catalogue.
    """
    lists = [match.docs(side) for side in (left, left.other)]
    known = [{match_key(doc) for doc in docs} for docs in lists]

    def cards(docs: Sequence[str], other: set[str]) -> tuple[Card, ...]:
        return tuple(
            _card(doc, catalogue, address, only_here=match_key(doc) not in other) for doc in docs
        )

    return Shown(
        query=match.query.shown,
        left=cards(lists[0], known[1]),
        right=cards(lists[1], known[0]),
    )


def _card(
    doc_id: str,
    catalogue: Catalogue | None,
    address: Callable[[str], str | None],
    *,
    only_here: bool,
) -> Card:
    if catalogue is None or catalogue.product(doc_id) is None:
        return Card(doc_id, "", None, only_here)
    image = catalogue.image(doc_id)
    return Card(
        title=catalogue.title(doc_id) or doc_id,
        text=_rest(catalogue, doc_id),
        image=None if image is None else address(image),
        only_here=only_here,
    )


def _rest(catalogue: Catalogue, doc_id: str) -> str:
    """What a judge sees of a product, but for its title."""
    fields = catalogue.fields(doc_id)
    if fields:
        return " | ".join(f"{name}: {value}" for name, value in fields if name != "title")
    candidate = catalogue.candidate(doc_id)
    return "" if candidate is None else candidate.text
