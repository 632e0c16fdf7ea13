"""Draws the queries of a golden set from a query log: scrubbed, and stratified by traffic. Pure.

Traffic is cut in three bands of about equal traffic: `head`, `torso`, `tail`. Each band gives the
same share of the sample, so that a few popular queries cannot drown the rare ones; queries that
failed before (no hits) have a share of their own.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from relgate.eval.golden.scrub import personal_data
from relgate.eval.golden.types import FilterValue, GoldenQuery, GoldenSet
from relgate.eval.lists.check import near_form
from relgate.rubrics.errors import UsageError

__all__ = ["BANDS", "Drawn", "LogRow", "draw_queries"]

BANDS = ("head", "torso", "tail")
FAILED_SHARE = 0.15
"""The share of the sample that past failures may take: the guide advises 10 % to 20 %."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """One line of a log: a search, or a count of alike searches.

    Attributes:
        text: what was typed.
        count: how many searches it stands for.
        users: how many people they came from; None where the log does not tell.
        hits: how many documents came back; None where the log does not tell.
        locale, surface, stratum: as in a golden set.
        filters: what was filtered by.
    """

    text: str
    count: float = 1.0
    users: int | None = None
    hits: int | None = None
    locale: str | None = None
    surface: str | None = None
    stratum: str | None = None
    filters: Mapping[str, FilterValue] | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """The queries that were drawn, and what was not.

    Attributes:
        golden: the set; nothing in it is judged yet.
        searches: searches in the log.
        distinct: distinct queries in it, alike but for case, blanks and marks counted once.
        dropped: {why: distinct queries}: personal data by kind, too few searches or users, blank.
        bands: {band: (distinct queries, drawn)}; past failures are the band `failed`.
    """

    golden: GoldenSet
    searches: float
    distinct: int
    dropped: Mapping[str, int]
    bands: Mapping[str, tuple[int, int]]


@dataclass(slots=True)
class _Group:
    """The rows of one query."""

    row: LogRow
    forms: dict[str, float] = field(default_factory=dict[str, float])
    count: float = 0.0
    users: int | None = None
    empty: float = 0.0

    def add(self, row: LogRow) -> None:
        form = row.text.strip()
        self.forms[form] = self.forms.get(form, 0.0) + row.count
        self.count += row.count
        if row.users is not None:
            self.users = max(self.users or 0, row.users)
        if row.hits == 0:
            self.empty += row.count

    @property
    def text(self) -> str:
        """The form that was typed most; of equals the first in order of letters."""
        return min(self.forms, key=lambda form: (-self.forms[form], form))

    @property
    def failed(self) -> bool:
        """Most of its searches found nothing."""
        return self.empty * 2 > self.count


def draw_queries(
    rows: Iterable[LogRow],
    *,
    version: str,
    size: int,
    seed: int = 0,
    least_count: float = 1,
    least_users: int = 3,
    region: str | None = None,
    k: int = 10,
) -> Drawn:
    """A golden set without judgments, drawn from a log.

    Args:
        rows: the log.
        version: of the new set.
        size: how many queries to draw, at least 1; all where the log has fewer.
        seed: another seed is another lot.
        least_count: queries searched less often are dropped.
        least_users: queries of fewer people are dropped, where the log tells how many they were:
            what one person typed may be about that person.
        region: see `personal_data`.
        k: depth of the set.

    Raises:
        UsageError: a size below 1, or no query left.
    """
    if size < 1:
        raise UsageError(f"a size of {size}; draw at least one query")
    groups = _grouped(rows)
    dropped: Counter[str] = Counter()
    kept: list[_Group] = []
    for group in groups:
        why = _why_not(group, least_count, least_users, region)
        if why is None:
            kept.append(group)
        else:
            dropped[why] += 1
    if not kept:
        said = ", ".join(f"{n} {why}" for why, n in dropped.items()) or "the log is empty"
        raise UsageError(f"no query of the log is left ({said})")
    bands = _bands(kept)
    chosen = _shared_out(bands, size, seed)
    queries = tuple(_query(group, band) for band, picked in chosen.items() for group in picked)
    return Drawn(
        golden=GoldenSet(version=version, queries=queries, k=k),
        searches=sum(group.count for group in groups),
        distinct=len(groups),
        dropped=dict(dropped),
        bands={band: (len(bands[band]), len(picked)) for band, picked in chosen.items()},
    )


def _grouped(rows: Iterable[LogRow]) -> list[_Group]:
    groups: dict[tuple[object, ...], _Group] = {}
    for row in rows:
        filters = repr(sorted((row.filters or {}).items()))
        key = (near_form(row.text), row.locale, row.surface, filters)
        groups.setdefault(key, _Group(row)).add(row)
    return list(groups.values())


def _why_not(group: _Group, least_count: float, least_users: int, region: str | None) -> str | None:
    """Why a query is dropped, or None. Personal data in any form of it is enough."""
    if not group.text:
        return "blank"
    kinds = (personal_data(form, region=region) for form in group.forms)
    kind = next((kind for kind in kinds if kind is not None), None)
    if kind is not None:
        return kind
    if group.users is not None and group.users < least_users:
        return f"of fewer than {least_users} users"
    return f"searched fewer than {least_count:g} times" if group.count < least_count else None


def _bands(groups: Sequence[_Group]) -> dict[str, list[_Group]]:
    """Past failures apart, the others in thirds of their traffic, the most searched first."""
    out: dict[str, list[_Group]] = {name: [] for name in (*BANDS, "failed")}
    rest = sorted((g for g in groups if not g.failed), key=lambda g: (-g.count, g.text))
    out["failed"] = [g for g in groups if g.failed]
    total, before = sum(g.count for g in rest), 0.0
    for group in rest:
        place = before / total if total else 0.0
        out[BANDS[min(int(place * len(BANDS)), len(BANDS) - 1)]].append(group)
        before += group.count
    return out


def _shared_out(
    bands: Mapping[str, Sequence[_Group]], size: int, seed: int
) -> dict[str, list[_Group]]:
    """Which queries each band gives: by lot, what a band lacks going to the others."""
    lots = {
        name: sorted(groups, key=lambda g: _lot(seed, g.text)) for name, groups in bands.items()
    }
    taken = dict.fromkeys(bands, 0)
    taken["failed"] = min(len(lots["failed"]), round(FAILED_SHARE * size))
    left = size - taken["failed"]
    while left:
        open_bands = [name for name in BANDS if taken[name] < len(lots[name])]
        if not open_bands:
            break
        for name in open_bands[:left]:
            taken[name] += 1
        left -= min(left, len(open_bands))
    return {name: lots[name][: taken[name]] for name in bands}


def _lot(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{text}".encode()).digest()


def _query(group: _Group, band: str) -> GoldenQuery:
    """The query, with an id by what it is: the same query has the same id in every set."""
    row = group.row
    query = GoldenQuery(
        id="q",
        text=group.text,
        locale=row.locale,
        surface=row.surface,
        filters=None if row.filters is None else dict(row.filters),
        stratum=row.stratum,
        weight=group.count,
        head=band == "head",
        failure_mode="zero-hit" if band == "failed" else None,
        tags=(f"traffic:{band}",) if band in BANDS else (),
    )
    return replace(query, id=f"q-{hashlib.sha256(repr(query.scope).encode()).hexdigest()[:10]}")
