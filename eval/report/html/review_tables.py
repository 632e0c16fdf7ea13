"""The tables of a review's page, from `review.json`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relgate.eval.report.html.numbers import (
    ABSENT,
    chance,
    change_cell,
    count,
    number,
    number_cell,
    share,
)
from relgate.eval.report.html.parts import Cell, Column, Table, Tone

__all__ = [
    "aggregate_table",
    "apart_table",
    "bounds_table",
    "detected_table",
    "filter_table",
    "finding_table",
    "latency_table",
    "mode_table",
    "query_table",
    "rule_table",
    "source_table",
    "strata_table",
    "unrated_table",
]

Document = Mapping[str, Any]

_SIDES = (Column("Before", number=True), Column("After", number=True))
_CHANGE = (*_SIDES, Column("Change", number=True))
_TONES: dict[str, Tone] = {
    "APPROVE": "good", "NEEDS-WORK": "warn", "BLOCK": "bad", "REFUSE": "muted",
    "passed": "good", "failed": "bad", "not checked": "muted",
}  # fmt: skip
_SOURCES = {
    "human": "people", "judge": "a judge", "rule": "a rule", "import": "origin not stated",
}  # fmt: skip


def aggregate_table(document: Document) -> Table:
    """Every metric's mean on both sides; weighted by traffic, and without a judge, where known."""
    return Table(
        "aggregate",
        "Means over queries",
        (Column("Metric"), *_CHANGE, Column("Queries", number=True)),
        tuple(_aggregate_rows(document)),
    )


def _aggregate_rows(document: Document) -> Iterator[tuple[Cell, ...]]:
    bare, expected = document["without_judge"], document["expected"]
    for key, mean in document["aggregate"].items():
        marks = ("primary",) if key == document["primary"] else ()
        yield _mean_row(mean["name"], mean, marks)
        if mean["weighted_before"] is not None and mean["weighted_after"] is not None:
            yield _mean_row(f"{mean['name']}, weighted by traffic", _weighted(mean))
        if marks and bare is not None:
            yield _mean_row(f"{bare['name']}, without the judge's grades", bare)
        if marks and expected is not None:
            name = f"{expected['name']}, expected under the judge's class probabilities"
            yield _mean_row(name, {**expected, "n": None})


def _weighted(mean: Mapping[str, Any]) -> dict[str, Any]:
    before, after = mean["weighted_before"], mean["weighted_after"]
    return {"before": before, "after": after, "delta": after - before, "n": mean["n"]}


def _mean_row(name: str, mean: Mapping[str, Any], marks: tuple[str, ...] = ()) -> tuple[Cell, ...]:
    return (
        Cell(name, marks=marks),
        number_cell(mean["before"]),
        number_cell(mean["after"]),
        change_cell(mean["delta"]),
        Cell(count(mean["n"])),
    )


def query_table(
    name: str, caption: str, queries: Sequence[Mapping[str, Any]], targets: Mapping[str, str]
) -> Table:
    """Queries with their scores, in the order given; `targets` are ids of parts on the page.

    Ids have a column where they are not the texts, and judges' grades where there are any.
    """
    ids = any(q["id"] != q["text"] for q in queries)
    judged = [_judged(q) for q in queries]
    columns = [
        Column("No.", number=True),
        Column("Query"),
        *_CHANGE,
        Column("Unrated", number=True),
    ]
    if any(judged):
        columns.append(Column("By a judge", number=True))
    if ids:
        columns.append(Column("Id"))
    rows = tuple(
        (
            *_query_row(i, q, targets.get(q["id"])),
            *([_of(n, q["returned"])] if any(judged) else []),
            *([Cell(q["id"])] if ids else []),
        )
        for i, (q, n) in enumerate(zip(queries, judged, strict=True), start=1)
    )
    return Table(name, caption, tuple(columns), rows, head=1, sortable=len(rows) > 1)


def _query_row(place: int, q: Mapping[str, Any], target: str | None) -> tuple[Cell, ...]:
    marks = [mark for mark in ("head", "critical") if q[mark]]
    if q["after_side"]["error"] is not None:
        marks.append("fails now")
    return (
        Cell(str(place), sort=place),
        Cell(q["text"], target=target, marks=tuple(marks)),
        number_cell(q["before"], 3),
        number_cell(q["after"], 3),
        change_cell(q["delta"], 3),
        _of(q["unrated"], q["returned"]),
    )


def _judged(q: Mapping[str, Any]) -> int:
    return sum(doc["source"] == "judge" for doc in q["after_side"]["top"])


def _of(part: int | None, whole: int) -> Cell:
    if part is None or not whole:
        return Cell(ABSENT, sort=-1)
    return Cell(f"{part}/{whole}", sort=round(part / whole, 4))


def finding_table(document: Document, names: Mapping[str, str]) -> Table:
    """What counts, worst first."""
    return Table(
        "finding-table",
        "Findings, the worst first",
        (Column("Rule"), Column("Means"), Column("What was found")),
        tuple(
            (
                Cell(_rule(f["rule"], names)),
                Cell("note", "muted")
                if f["severity"] == "APPROVE"
                else Cell(f["severity"], _TONES.get(f["severity"], "")),
                Cell(f["message"]),
            )
            for f in document["findings"]
        ),
    )


def rule_table(document: Document, names: Mapping[str, str]) -> Table:
    """Every rule, with what it measured or lacked."""
    checked = [(o["rule"], o["state"], o["summary"]) for o in document["checked"]]
    missing = [
        (
            o["rule"],
            "not checked",
            o["why"] + (" (limits the verdict)" if o["caps_verdict"] else ""),
        )
        for o in document["not_checked"]
    ]
    return Table(
        "rule-table",
        "Every rule; one without its input is not checked, never passed",
        (Column("Rule"), Column("State"), Column("What was measured")),
        tuple(
            (Cell(_rule(rule, names)), Cell(state, _TONES.get(state, "")), Cell(text))
            for rule, state, text in sorted([*checked, *missing], key=lambda row: _place(row[0]))
        ),
    )


def _rule(rule: str, names: Mapping[str, str]) -> str:
    return f"{rule} {names[rule]}" if rule in names else rule


def _place(rule: str) -> tuple[int, str]:
    digits = rule.removeprefix("R")
    return (int(digits) if digits.isdecimal() else 0, rule)


def strata_table(document: Document) -> Table:
    """Groups of queries under the primary metric."""
    rows = tuple(
        (
            Cell(s["name"]),
            number_cell(s["before"]),
            number_cell(s["after"]),
            change_cell(s["delta"]),
            Cell(count(s["n"]), sort=s["n"]),
            Cell(chance(s["p"]), sort=-1.0 if s["p"] is None else s["p"]),
        )
        for s in document["strata"]
    )
    columns = (
        Column("Group"), *_CHANGE, Column("Queries", number=True),
        Column("p, not adjusted", number=True),
    )  # fmt: skip
    return Table("strata-table", "Groups of queries", columns, rows, sortable=len(rows) > 1)


def source_table(coverage: Mapping[str, Any]) -> Table:
    """Who made the judgments that the scores rest on."""
    total = coverage["judgments"]
    return Table.of(
        "source-table",
        "Judgments of these queries by who made them",
        [Column("Made by"), Column("Judgments", number=True), Column("Share", number=True)],
        [
            [_SOURCES.get(source, str(source)), count(n), share(n / total if total else None)]
            for source, n in coverage["by_source"].items()
        ],
    )


def unrated_table(coverage: Mapping[str, Any]) -> Table:
    """How much of what came back nobody has graded, before and after the fill."""
    first, now = coverage["unrated_before_fill"], coverage["unrated"]
    kinds = (
        [("As scored", now)] if first is None else [("Before the fill", first), ("As scored", now)]
    )
    return Table.of(
        "unrated-table",
        "Unrated documents within k, mean share over queries that return something",
        [
            Column("When"), Column("Results before", number=True),
            Column("Results after", number=True), Column("Queries mostly unrated", number=True),
        ],
        [
            [
                name,
                share(unrated["mean_share_before"]),
                share(unrated["mean_share_after"]),
                f"{count(unrated['mostly_unrated'])} of {count(unrated['queries'])}",
            ]
            for name, unrated in kinds
        ],
    )  # fmt: skip


def bounds_table(open_fill: Mapping[str, Any], *, with_verdicts: bool) -> Table:
    """What each rule could still become, whatever the ungraded documents are worth."""
    columns = [Column("Rule"), Column("State"), Column("At the least"), Column("At the most")]
    rows: list[list[str]] = [
        [rule, found["state"], found["least"], found["most"]]
        for rule, found in open_fill["rules"].items()
    ]
    shown = len(columns) if with_verdicts else 2
    return Table.of(
        "bounds-table",
        "Rules under every grade that the open documents could get",
        columns[:shown],
        [row[:shown] for row in rows],
    )


def mode_table(modes: Sequence[Mapping[str, Any]]) -> Table:
    """Each mode of a hybrid search by itself; one without figures says why."""
    return Table(
        "mode-table",
        "Modes of the hybrid search, each by its own runs",
        (Column("Mode"), Column("Metric"), *_CHANGE, Column("Unrated after", number=True)),
        tuple(row for mode in modes for row in _mode_rows(mode)),
    )


def _mode_rows(mode: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    unrated = Cell(share(mode["unrated_after"]))
    figures = [mode[key] for key in ("relevance", "recall") if mode[key] is not None]
    for mean in figures:
        sides = (number_cell(mean["before"]), number_cell(mean["after"]))
        yield (Cell(mode["name"]), Cell(mean["name"]), *sides, change_cell(mean["delta"]), unrated)
    if mode["lacks"] is not None or not figures:
        lacks = Cell(mode["lacks"] or "no figure", "bad")
        yield (Cell(mode["name"]), lacks, *(Cell(ABSENT) for _ in _CHANGE), unrated)


def apart_table(sets: Sequence[Mapping[str, Any]]) -> Table:
    """Challenge and shadow queries: reported, and in no mean that gates."""
    return Table(
        "apart-table",
        "Queries that are reported and never gate",
        (
            Column("Set"), Column("Metric"), *_CHANGE, Column("Queries", number=True),
            Column("Empty now, not before"),
        ),
        tuple(_apart_row(one) for one in sets),
    )  # fmt: skip


def _apart_row(one: Mapping[str, Any]) -> tuple[Cell, ...]:
    mean = one["relevance"]
    figures = (
        (Cell("no figure"), *(Cell(ABSENT) for _ in _CHANGE))
        if mean is None
        else (
            Cell(mean["name"]),
            number_cell(mean["before"]),
            number_cell(mean["after"]),
            change_cell(mean["delta"]),
        )
    )
    return (
        Cell(one["name"]),
        *figures,
        Cell(count(one["queries"])),
        Cell(", ".join(one["emptied"]) or "none"),
    )


def detected_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """What the change's diff shows, and where."""
    return Table.of(
        "detected-table",
        "What the diff shows",
        [Column("Type"), Column("File"), Column("Line", number=True), Column("Key")],
        [[one["type"], one["file"], str(one["line"]), one["key"] or ABSENT] for one in found],
    )


def latency_table(latency: Mapping[str, Any]) -> Table:
    """Percentiles in ms; those that neither side has are left out."""
    before, after = latency["before"], latency["after"]
    rows = [
        (name, _percentile(before, name), _percentile(after, name))
        for name in ("p50", "p95", "p99")
    ]
    return Table.of(
        "latency-table",
        "Latency in milliseconds",
        [Column("Percentile"), *_SIDES],
        [
            [name, number(was, 1), number(now, 1)]
            for name, was, now in rows
            if was is not None or now is not None
        ],
    )


def _percentile(side: Mapping[str, Any] | None, name: str) -> float | None:
    return None if side is None else side[f"{name}_ms"]


def filter_table(cases: Sequence[Mapping[str, Any]]) -> Table:
    """Filter cases and whether each held."""
    return Table.of(
        "filter-table",
        "Filter cases",
        [Column("Query"), Column("Filter"), Column("Expected"), Column("Before"), Column("After")],
        [
            [
                case["query"],
                str(case["filter"]),
                str(case["expect"]),
                _held(case["held_before"]),
                _held(case["held_after"]),
            ]
            for case in cases
        ],
    )


def _held(value: bool | None) -> str:  # noqa: FBT001 - a JSON value
    return "not known" if value is None else "held" if value else "broken"
