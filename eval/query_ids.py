"""Whether a query's id is what people typed, where no file gives its text. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from relgate.eval.lists.types import Query, match_key
from relgate.eval.wording import counted, named

__all__ = ["bare_queries", "opaque_queries", "reads_as_text", "without_texts_elsewhere"]

_WITHIN = frozenset("'\u2019-&.,/+!?\"")  # the second is the apostrophe that is set in print
_WORDS_BESIDE_DIGITS = 2
_OPAQUE = re.compile(r"\S*\d\S*")
_OPAQUE_FROM = 3


def reads_as_text(query_id: str) -> bool:
    """Whether an id reads as what a person typed: words alone, or two and more beside digits.

    Words are letters of any script, with marks and joiners. `shoes` and `iphone 15 case` read as
    typed; `q17`, `query 17`, `red_shoes` and `2f8a-11` do not.
    """
    kinds = {_kind(character) for character in query_id}
    if "other" in kinds or "letter" not in kinds:
        return False
    if "digit" not in kinds:
        return True
    words = (word for word in query_id.split() if {_kind(c) for c in word} == {"letter"})
    return len(list(words)) >= _WORDS_BESIDE_DIGITS


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] in "LM" or category == "Cf":
        return "letter"
    if category[0] == "N":
        return "digit"
    return "within" if character.isspace() or character in _WITHIN else "other"


def bare_queries(queries: Iterable[Query], who: str = "the judge sees") -> tuple[str, ...]:
    """What has to be said of queries without a text in any file.

    Args:
        queries: those that are asked about; the ones with a text are passed over.
        who: who sees their ids instead, with the verb.
    """
    ids = list(dict.fromkeys(query.id for query in queries if query.text is None))
    typed = [query_id for query_id in ids if reads_as_text(query_id)]
    codes = [query_id for query_id in ids if not reads_as_text(query_id)]
    said: list[str] = []
    if typed:
        said.append(
            f"{counted(len(typed), 'query has', 'queries have')} no text in any file; the id is "
            f"words and was taken as the text typed: {named(typed)}; --queries gives another"
        )
    if codes:
        said.append(
            f"{counted(len(codes), 'query has', 'queries have')} no text in any file, so {who} "
            f"the id: {named(codes)}; give --queries"
        )
    return tuple(said)


def without_texts_elsewhere(
    queries: Iterable[Query], elsewhere: Iterable[Query]
) -> tuple[Query, ...]:
    """The queries of a list whose text does not stand in the runs either."""
    told = {match_key(query.id) for query in elsewhere if not query.is_bare}
    return tuple(query for query in queries if match_key(query.id) not in told)


def opaque_queries(queries: Iterable[Query]) -> str | None:
    """A warning when the texts of the queries all look like ids: a judge would see those."""
    shown = [query.text for query in queries if query.text is not None]
    if len(shown) < _OPAQUE_FROM or not all(_OPAQUE.fullmatch(text) for text in shown):
        return None
    return (
        f"the queries look like ids ({', '.join(repr(t) for t in shown[:3])}); a judge is asked "
        "with them as they stand; give their texts with --queries"
    )
