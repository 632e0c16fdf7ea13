# noqa: INP001 - a script beside its readme, no package
"""A hybrid search with stages that can be switched, small enough to read.

Lexical and "vector" candidates are merged by reciprocal rank fusion (Cormack et al. 2009, k = 60),
and a reranker orders the top. The vectors are counts of letter trigrams: they stand in for a
model's embeddings, find words in other forms and typos, and know nothing of meaning. The reranker
stands in for a model too: it counts the query's words in title and type.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

CATALOGUE = Path(__file__).parent.parent / "shop_ci" / "catalogue.jsonl"
DEPTH = 50  # candidates a stage gives
RERANKED = 20
FUSION_K = 60
LEAST_COSINE = 0.1
DIGITS = 9  # ties must be ties on every machine


def search(
    text: str, size: int, filters: Mapping[str, Any], stages: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Hits, best first; `stages` has `vector` and `reranker`, each `on` or `off`."""
    allowed = [i for i, product in products().items() if passes(product, filters)]
    lists = [lexical(text, allowed)]
    if stages["vector"] == "on":
        lists.append(vector(text, allowed))
    found = fused(lists)
    if stages["reranker"] == "on":
        found = [*reranked(text, found[:RERANKED]), *found[RERANKED:]]
    return [{"id": i, "title": products()[i]["title"]} for i in found[:size]]


@cache
def products() -> dict[str, dict[str, Any]]:
    """The catalogue by id."""
    rows = map(json.loads, CATALOGUE.read_text("utf-8").splitlines())
    return {row["id"]: row for row in rows}


def passes(product: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Whether a product has what is filtered by."""
    return all(product.get(name) == wanted for name, wanted in filters.items())


def words(text: str) -> list[str]:
    """Lower-case words without a plural s."""
    return [w.removesuffix("s") for w in re.findall(r"\w+", text.lower())]


def text_of(product: Mapping[str, Any]) -> str:
    """What is searched of a product."""
    named = ("title", "brand", "type", "gender", "material", "description")
    return " ".join([*(str(product[name]) for name in named), *product["colors"]])


@cache
def word_index() -> tuple[dict[str, Counter[str]], dict[str, float]]:
    """The words of each product, and how rare each word is (idf)."""
    counts = {i: Counter(words(text_of(product))) for i, product in products().items()}
    spread = Counter(word for found in counts.values() for word in found)
    return counts, {word: math.log(1 + len(counts) / n) for word, n in spread.items()}


def lexical(text: str, allowed: Iterable[str]) -> list[str]:
    """Products with any of the words, by the sum of their rarities."""
    counts, rarity = word_index()
    query = set(words(text))
    scores = {i: sum(rarity[w] for w in sorted(query & counts[i].keys())) for i in allowed}
    return ranked(scores, least=0.0)


@cache
def trigrams(text: str) -> Counter[str]:
    """How often each three letters stand in the words of a text."""
    padded = (f" {word} " for word in words(text))
    return Counter(word[i : i + 3] for word in padded for i in range(len(word) - 2))


def cosine(one: Counter[str], other: Counter[str]) -> float:
    """0..1; 0 where either is empty."""
    dot = sum(n * other[gram] for gram, n in one.items())
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return dot / lengths if lengths else 0.0


def vector(text: str, allowed: Iterable[str]) -> list[str]:
    """The products nearest to the query."""
    query = trigrams(text)
    named = {i: f"{products()[i]['title']} {products()[i]['type']}" for i in allowed}
    return ranked({i: cosine(query, trigrams(t)) for i, t in named.items()}, least=LEAST_COSINE)


def ranked(scores: Mapping[str, float], least: float) -> list[str]:
    """Ids above `least`, best first; of equal scores, by id."""
    rounded = {i: round(score, DIGITS) for i, score in scores.items() if score > least}
    return sorted(rounded, key=lambda i: (-rounded[i], i))[:DEPTH]


def fused(lists: Iterable[list[str]]) -> list[str]:
    """Reciprocal rank fusion: each list gives 1 / (60 + rank)."""
    scores: dict[str, float] = {}
    for found in lists:
        for rank, i in enumerate(found, start=1):
            scores[i] = scores.get(i, 0.0) + 1 / (FUSION_K + rank)
    return ranked(scores, least=0.0)


def reranked(text: str, found: list[str]) -> list[str]:
    """By how many of the query's words stand in title and type; of equals, the given order."""
    query = set(words(text))

    def hits(i: str) -> int:
        product = products()[i]
        return len(query & {*words(product["title"]), *words(product["type"])})

    return sorted(found, key=hits, reverse=True)
