"""What the baseline judge looks at: words in common and attributes that agree or conflict. Pure.

Which words are values of which attribute (red is a colour, Alpo is a brand) is learned from the
fields of the candidates seen in training; relgate ships no list of values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from relgate.judge.baseline.text import Document, Phrase, Query

__all__ = [
    "ATTRIBUTE_FIELDS",
    "FEATURE_NAMES",
    "FEATURE_VERSION",
    "FieldMatch",
    "Lexicon",
    "feature_row",
    "field_matches",
    "learn_lexicon",
]

FEATURE_VERSION = 1
"""Raised whenever the meaning of a feature changes."""

ATTRIBUTE_FIELDS = (
    "brand",
    "category",
    "color",
    "fit",
    "gender",
    "material",
    "occasion",
    "pattern",
    "style",
    "type",
)
"""Fields with features of their own, named in the singular; any other field counts as `other`."""

_LEXICAL = (
    "title_share",
    "title_idf_share",
    "title_all",
    "title_bigram_share",
    "title_phrase",
    "title_trigram_cosine",
    "title_coverage",
    "title_first_position",
    "body_share",
    "any_share",
    "any_idf_share",
    "any_phrase",
    "any_partial_share",
    "description_only_share",
    "first_word_in_title",
    "last_word_in_title",
    "last_word_in_type",
    "last_word_ends_title",
    "numbers_matched",
    "numbers_missing",
    "brand_mentioned",
    "log_query_words",
    "log_title_words",
    "log_text_words",
)
_PRICE = ("price_satisfied", "price_violated", "price_unknown")
_TOTALS = ("fields_agree", "fields_conflict")

FEATURE_NAMES: tuple[str, ...] = (
    *_LEXICAL,
    *_PRICE,
    *_TOTALS,
    *(f"{f}_{kind}" for f in (*ATTRIBUTE_FIELDS, "other") for kind in ("agrees", "conflicts")),
)
"""The features of a row, in order."""

_MAX_VALUE_WORDS = 4
_PARTIAL_STEM_CHARS = 4
_TYPE_FIELDS = ("type", "category")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What the candidates seen in training teach about words.

    Attributes:
        documents: how many distinct texts were seen.
        idf: inverse document frequency of each stem, natural log, > 0.
        unseen_idf: the idf of a stem that no text had.
        values: for each attribute field its known values, each with a way to write it.
        names: words that stand before `max` or `min` in some text, as in a product's name.
    """

    documents: int
    idf: Mapping[str, float]
    unseen_idf: float
    values: Mapping[str, Mapping[Phrase, str]]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """A query that names a known value of a field, beside what the candidate has there.

    Attributes:
        field: the field's name.
        asked: the value that the query names.
        has: the candidate's values of that field, in their order, as written.
        agrees: True when the candidate has it, False when it has others only, None when the
            candidate names no value or a more general one.
    """

    field: str
    asked: str
    has: tuple[str, ...]
    agrees: bool | None


def learn_lexicon(documents: Sequence[Document]) -> Lexicon:
    """Word weights and attribute values from candidates; the order does not matter.

    The idf is ln(1 + (n - df + 0.5) / (df + 0.5)), as in BM25 (Robertson and Zaragoza 2009).
    """
    df = Counter(stem for document in documents for stem in document.all)
    n = len(documents)
    names = frozenset(
        before
        for document in documents
        for before, word in pairwise(document.sequence)
        if word in ("max", "min")
    )
    values: dict[str, dict[Phrase, str]] = {}
    for document in documents:
        for field, found in document.values.items():
            known = values.setdefault(field, {})
            for value, text in found.items():
                if len(value) <= _MAX_VALUE_WORDS and not all(s.isdecimal() for s in value):
                    known[value] = min(text, known.get(value, text))
    idf = {stem: _idf(n, count) for stem, count in df.items()}
    return Lexicon(n, idf, _idf(n, 0), values, names)


def _idf(n: int, df: int) -> float:
    return math.log1p((n - df + 0.5) / (df + 0.5))


def _asked_values(stems: Phrase, known: Mapping[Phrase, str]) -> list[Phrase]:
    """Known values that occur in the query, longest first at each place, without overlap."""
    found: list[Phrase] = []
    at = 0
    while at < len(stems):
        for size in range(min(_MAX_VALUE_WORDS, len(stems) - at), 0, -1):
            if stems[at : at + size] in known:
                found.append(stems[at : at + size])
                at += size - 1
                break
        at += 1
    return found


def field_matches(query: Query, document: Document, lexicon: Lexicon) -> tuple[FieldMatch, ...]:
    """One row for each known value that the query names, fields in alphabetical order."""
    return tuple(
        FieldMatch(field, known[asked], tuple(has.values()), _agrees(asked, has))
        for field, known in sorted(lexicon.values.items())
        for asked in _asked_values(query.stems, known)
        for has in (document.values.get(field, {}),)
    )


def _agrees(asked: Phrase, has: Iterable[Phrase]) -> bool | None:
    """A red-and-blue shoe is red; a running shoe is a shoe; a shoe may be a running shoe."""
    sets = [set(value) for value in has]
    if any(set(asked) <= value for value in sets):
        return True
    if not sets or any(value < set(asked) for value in sets):
        return None
    return False


def feature_row(query: Query, document: Document, lexicon: Lexicon) -> tuple[float, ...]:
    """The features of a query and a candidate, finite, in the order of `FEATURE_NAMES`."""
    matches = field_matches(query, document, lexicon)
    return (*_lexical(query, document, lexicon), *_price(query, document), *_fields(matches))


def _share(stems: Phrase, within: frozenset[str] | set[str]) -> float:
    """Share of `stems` that are in `within`, 0 when there are none."""
    return sum(s in within for s in stems) / len(stems) if stems else 0.0


def _idf_share(stems: Phrase, within: frozenset[str], lexicon: Lexicon) -> float:
    weights = [lexicon.idf.get(s, lexicon.unseen_idf) for s in stems]
    hit = math.fsum(w for s, w in zip(stems, weights, strict=True) if s in within)
    return hit / math.fsum(weights) if stems else 0.0


def _contains(sequence: Phrase, part: Phrase) -> bool:
    size = len(part)
    return bool(part) and any(
        sequence[i : i + size] == part for i in range(len(sequence) - size + 1)
    )


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    dot = sum(count * b[gram] for gram, count in a.items() if gram in b)
    norms = sum(c * c for c in a.values()) * sum(c * c for c in b.values())
    return dot / math.sqrt(norms) if norms else 0.0


def _partial_share(stems: Phrase, body: frozenset[str]) -> float:
    """Share of stems that are part of a compound: `schuh` in `laufschuh`."""
    hits = sum(
        s in body or (len(s) >= _PARTIAL_STEM_CHARS and any(s in word for word in body))
        for s in stems
    )
    return hits / len(stems) if stems else 0.0


def _lexical(query: Query, document: Document, lexicon: Lexicon) -> tuple[float, ...]:
    stems, title = query.stems, frozenset(document.title)
    last = stems[-1] if stems else ""
    pairs = list(pairwise(stems))
    title_pairs = set(pairwise(document.title))
    positions = [i for i, s in enumerate(document.title) if s in stems]
    numbers = tuple(s for s in stems if any(c.isdecimal() for c in s))
    of_type = {s for f in _TYPE_FIELDS for v in document.values.get(f, {}) for s in v}
    brands = document.values.get("brand", {})
    return (
        _share(stems, title),
        _idf_share(stems, title, lexicon),
        float(bool(stems) and title.issuperset(stems)),
        sum(p in title_pairs for p in pairs) / len(pairs) if pairs else 0.0,
        float(_contains(document.title, stems)),
        _cosine(query.trigrams, document.trigrams),
        _share(document.title, frozenset(stems)),
        1.0 - positions[0] / len(document.title) if positions else 0.0,
        _share(stems, document.body),
        _share(stems, document.all),
        _idf_share(stems, document.all, lexicon),
        float(_contains(document.sequence, stems)),
        _partial_share(stems, document.body),
        _share(stems, document.all - document.body),
        float(bool(stems) and stems[0] in title),
        float(last in title),
        float(last in of_type),
        float(bool(document.title) and document.title[-1] == last),
        _share(numbers, document.all),
        float(any(n not in document.all for n in numbers)),
        float(any(_contains(stems, brand) for brand in brands)),
        math.log1p(len(stems)),
        math.log1p(len(document.title)),
        math.log1p(len(document.sequence)),
    )


def _price(query: Query, document: Document) -> tuple[float, float, float]:
    if query.bound is None:
        return (0.0, 0.0, 0.0)
    if document.price is None:
        return (0.0, 0.0, 1.0)
    allowed = query.bound.allows(document.price)
    return (float(allowed), float(not allowed), 0.0)


def _fields(matches: Sequence[FieldMatch]) -> tuple[float, ...]:
    found = Counter(
        (m.field if m.field in ATTRIBUTE_FIELDS else "other", m.agrees) for m in matches
    )
    row = [
        float(found[field, agrees])
        for field in (*ATTRIBUTE_FIELDS, "other")
        for agrees in (True, False)
    ]
    return (math.fsum(row[::2]), math.fsum(row[1::2]), *row)
