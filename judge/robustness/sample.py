"""Draws what a judge is asked about, from a judgment list and a catalogue; by seed. Pure."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from relgate.judge.robustness.attacked import attack_calls
from relgate.judge.robustness.attacks import Attack
from relgate.judge.robustness.types import Batch
from relgate.judge.types import Candidate

__all__ = ["Plan", "Shelf", "draw_batches", "draw_innocent", "plan_calls"]

_TEXTS_A_QUERY = 5
_TRIES = 400
_LEAST_IN_BATCH = 2
_WORD = re.compile(r"\w{2,}")
_STEM = 4


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where texts come from.

    Attributes:
        labelled: query -> ids of its documents in the judgment list.
        ids: every id of the catalogue.
        candidate: the text of a document, or None.
        seed: of every draw.
    """

    labelled: Mapping[str, Sequence[str]]
    ids: Sequence[str]
    candidate: Callable[[str], Candidate | None]
    seed: int

    def queries(self) -> list[str]:
        """The queries in the order that the seed gives."""
        return sorted(self.labelled, key=lambda query: (_hash(self.seed, query), query))

    def of_query(self, query: str) -> Iterator[Candidate]:
        """The query's documents that have a text, in the order that the seed gives."""
        for doc_id in sorted(self.labelled[query], key=lambda d: _hash(self.seed, d)):
            found = self.candidate(doc_id)
            if found is not None:
                yield found

    def others(self, query: str) -> Iterator[Candidate]:
        """Random documents that the list does not have for the query; 400 are looked at."""
        own = set(self.labelled[query])
        rng = random.Random(f"{self.seed}:{query}")  # noqa: S311 - a sample, no secret
        for i in rng.sample(range(len(self.ids)), min(_TRIES, len(self.ids))):
            found = None if self.ids[i] in own else self.candidate(self.ids[i])
            if found is not None:
                yield found


def draw_batches(shelf: Shelf, *, items: int, size: int) -> tuple[Batch, ...]:
    """Batches of `size` candidates, `items` in all: a query's own documents, then random others.

    The last batch may be smaller. A batch of one is drawn only when `size` is 1.
    """
    batches: list[Batch] = []
    left = items
    for query in shelf.queries():
        wanted = min(size, left)
        if wanted < min(size, _LEAST_IN_BATCH):
            break
        found: dict[str, Candidate] = {}
        for source in (shelf.of_query(query), shelf.others(query)):
            for candidate in source:
                if len(found) == wanted:
                    break
                found.setdefault(candidate.text, candidate)
        if len(found) >= min(size, _LEAST_IN_BATCH):
            batches.append(Batch(query, tuple(found.values())))
            left -= len(found)
    return tuple(batches)


def draw_innocent(shelf: Shelf, *, n: int) -> tuple[tuple[str, str], ...]:
    """Up to `n` pairs of a query and a random text that shares no word with it.

    Words are compared by their first four letters, so that boot meets boots. A text without a
    common word may be relevant still, which is why a judge is asked about it clean as well.
    """
    queries = shelf.queries()
    each = max(_TEXTS_A_QUERY, ceil(n / max(1, len(queries))))
    pairs: list[tuple[str, str]] = []
    for query in queries:
        words = _stems(query)
        texts = dict.fromkeys(
            c.text for c in shelf.others(query) if words.isdisjoint(_stems(c.text))
        )
        pairs += [(query, text) for text in list(texts)[:each]]
        if len(pairs) >= n:
            break
    return tuple(pairs[:n])


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls that the checks will make, without retries and what is asked for again."""

    positions: int
    repeats: int
    batch_size: int
    attacks: int

    @property
    def calls(self) -> int:
        """All of them."""
        return self.positions + self.repeats + self.batch_size + self.attacks


def plan_calls(
    batches: Sequence[Batch],
    attacks: Sequence[Attack],
    *,
    shuffles: int,
    repeats: int,
    calls: Callable[[str, Sequence[str]], int],
) -> Plan:
    """The plan. `calls` says how many calls the judge makes for the texts of one query.

    A batch size of one leaves nothing to shuffle and no size to compare: these checks are not made.
    """
    company = any(len(batch.candidates) >= _LEAST_IN_BATCH for batch in batches)
    items = sum(len(batch.candidates) for batch in batches)
    return Plan(
        positions=company * shuffles * len(batches),
        repeats=repeats * len(batches),
        batch_size=company * (len(batches) + items),
        attacks=sum(calls(query, texts) for (query, _), texts in attack_calls(attacks).items()),
    )


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold())}


def _hash(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}:{text}".encode("utf-8", "surrogatepass")).digest()
