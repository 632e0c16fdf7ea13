"""A calibration as one HTML file, from `calibration.json` alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relgate.eval.agreement.words import (
    ANSWERED,
    AT_FLOOR,
    EXPECTATION_LABELS,
    GROUP_FIGURES,
    LABELS,
    MEANS,
    ON_SCALE,
    PEOPLE_LABELS,
)
from relgate.eval.report.html.calibration_charts import (
    confusion_chart,
    group_chart,
    interval_chart,
    leniency_chart,
    with_interval,
)
from relgate.eval.report.html.numbers import count, share
from relgate.eval.report.html.page import render
from relgate.eval.report.html.parts import (
    Charts,
    Column,
    Fact,
    Facts,
    Group,
    Note,
    Page,
    Part,
    Points,
    Section,
    Table,
    Tone,
)

__all__ = ["calibration_html"]

Document = Mapping[str, Any]

_TONES: Mapping[str, Tone] = {
    "trusted": "good", "provisional": "warn", "untrusted": "bad", "insufficient": "muted",
}  # fmt: skip


def calibration_html(document: Document) -> str:
    """The page of a calibration; no figure in it is not in the document.

    Args:
        document: what `calibration_json` makes and `calibration.json` holds.
    """
    judge = document["judge"]
    name = judge["model"] or judge["version"]
    heading = f"Calibration of {name}" if name else "Calibration of recorded grades"
    return render(
        Page(
            title=f"{document['level']}: {heading}",
            heading=heading,
            word=document["level"].upper(),
            why=f"Under the policy {document['policy']}: {'; '.join(document['reasons'])}.",
            tone=_TONES[document["level"]],
            tiles=_tiles(document),
            sections=_sections(document),
            footer=f"Format {document['format']}. Every figure is in calibration.json.",
        )
    )


def _tiles(document: Document) -> Facts:
    figures = document["figures"]
    shown = (("kappa_quadratic", "Quadratic kappa"), ("f1", "F1 at the floor"))
    return Facts(
        (
            *(Fact(label, with_interval(figures[name], 2)) for name, label in shown),
            Fact("Leniency, in grades", with_interval(figures["mean_shift"], 2)),
            Fact("Pairs / queries", f"{count(document['n'])} / {count(document['n_queries'])}"),
            Fact("Coverage", share(document["coverage"])),
        ),
        tiles=True,
    )


def _sections(document: Document) -> tuple[Section, ...]:
    made = {
        ("level", "The level, and what would change it"): _level(document),
        ("notes", "What to mind"): _notes(document),
        ("subject", "What was measured"): _subject(document),
        ("agreement", "Agreement"): _agreement(document),
        ("confusion", "Where people and judge part"): _confusion(document),
        ("groups", "By stratum and locale"): _groups(document),
        ("constants", "Beside a judge that has read nothing"): iter([_constants(document)]),
        ("expectation", "Expected grades and spreads"): _expectation(document),
        ("disagreements", "Disagreements to read, the largest first"): _disagreements(document),
    }
    return tuple(Section(key, title, tuple(parts)) for (key, title), parts in made.items())


def _level(document: Document) -> Iterator[Part]:
    yield Points(tuple(document["reasons"]))
    if document["needs"]:
        yield Note("What would change it:")
        yield Points(tuple(need["text"] for need in document["needs"]))
    terms = ", ".join(
        f"{name.replace('_', ' ')} {'none' if value is None else value}"
        for name, value in document["policy_terms"].items()
    )
    yield Note(f"The policy {document['policy']}: {terms}.", tone="muted")


def _notes(document: Document) -> Iterator[Part]:
    if document["warnings"]:
        yield Points(tuple(document["warnings"]))
    if set(document["labels"]["sources"]) - {"human"}:
        yield Note(
            "Labels made by rule or import say nothing about agreement with people.", tone="warn"
        )


def _subject(document: Document) -> Iterator[Part]:
    judge, labels, apart = document["judge"], document["labels"], document["hygiene"]
    made = ", ".join(f"{count(n)} by {source}" for source, n in labels["sources"].items())
    errors = ", ".join(f"{count(n)} {kind}" for kind, n in document["errors"].items())
    drawn = document["interval"]
    facts = [
        *(Fact(f"Judge's {name}", judge[name]) for name in ("version", "model", "family",
          "fingerprint") if judge[name]),
        Fact("Labels", f"{made}; set {labels['hash'][:12]}"),
        Fact("Compared", f"{count(document['n'])} pairs of {count(document['n_queries'])} queries"),
        Fact("Without a grade", f"{count(labels['asked'] - document['n'])} of "
             f"{count(labels['asked'])}" + (f": {errors}" if errors else "")),
        Fact("Scale and floor", f"{document['scale']}, relevant from {document['floor']}"),
        Fact("Kept apart", _kept_apart(apart)),
        Fact("Intervals", f"95 %, percentiles of {count(drawn['resamples'])} draws of the queries, "
             f"seed {drawn['seed']}"),
    ]  # fmt: skip
    yield Facts(tuple(facts))


def _kept_apart(apart: Document) -> str:
    said: list[str] = []
    if apart["tuning_hash"] is not None:
        said.append(
            f"{count(apart['tuning_queries'])} tuning queries (set {apart['tuning_hash'][:12]}), "
            "none among these labels"
        )
    if apart["split_hash"] is not None:
        said.append(
            f"{count(apart['left_out'])} labels of the split's tuning part (split "
            f"{apart['split_hash'][:12]})"
        )
    return "; ".join(said) or "nothing was declared as used for tuning"


def _agreement(document: Document) -> Iterator[Part]:
    yield Charts((interval_chart(document),))
    figures = document["figures"]
    floor = f"Agreement at the floor: grade {document['floor']} and up is relevant"
    for name, caption, wanted in (
        ("scale-figures", f"Agreement on the scale {document['scale']}", (*ON_SCALE, *MEANS)),
        ("floor-figures", floor, AT_FLOOR),
        ("answered-figures", "Grades that came", ANSWERED),
    ):
        yield _figures(name, caption, figures, wanted, LABELS)
    people = [name for name in PEOPLE_LABELS if name in figures]
    if people:
        caption = f"Beside people: {count(document['n_people'])} pairs that two or more graded"
        yield _figures("people-figures", caption, figures, people, PEOPLE_LABELS)


def _figures(
    name: str,
    caption: str,
    figures: Document,
    wanted: Sequence[str],
    labels: Mapping[str, str],
) -> Table:
    columns = [Column("Figure"), Column("Value and 95 % interval")]
    rows = [[labels[key], with_interval(figures[key])] for key in wanted]
    return Table.of(name, caption, columns, rows)


def _confusion(document: Document) -> Iterator[Part]:
    yield Charts((confusion_chart(document), leniency_chart(document)))
    columns = [
        Column("People's grade"),
        *(Column(name, number=True) for name in ("Pairs", "Judge less people, grades")),
        *(Column(name, number=True) for name in ("Graded lower", "Alike", "Higher")),
    ]  # fmt: skip
    rows = [
        [
            str(row["grade"]),
            count(row["n"]),
            *(with_interval(row[name], 2) for name in ("shift", "lower", "same", "higher")),
        ]
        for row in document["leniency"]
    ]
    yield Table.of("leniency-figures", "Leniency by people's grade", columns, rows)


def _groups(document: Document) -> Iterator[Part]:
    """Nothing where no query states a stratum or a locale."""
    groups = document["groups"]
    if not groups:
        return
    yield Charts((group_chart(document),))
    columns = [
        Column("Group"), Column("Pairs", number=True),
        Column("Queries", number=True),
        *(Column(LABELS[name], number=True) for name in GROUP_FIGURES),
    ]  # fmt: skip
    rows = [
        [
            f"{i}. {group['kind']} {group['name']}",
            count(group["n"]),
            count(group["n_queries"]),
            *(with_interval(group["figures"][name], 2) for name in GROUP_FIGURES),
        ]
        for i, group in enumerate(groups, start=1)
    ]
    yield Table.of("group-figures", "Agreement in each group", columns, rows)


def _constants(document: Document) -> Table:
    figures = document["figures"]
    columns = [
        Column("Judge"), Column("Same grade"), Column("F1 at the floor"), Column("Kappa"),
    ]  # fmt: skip
    names = ("accuracy", "f1", "kappa")
    rows = [["this judge", *(with_interval(figures[name]) for name in names)]]
    rows += [
        [f"{k['name']} (always {k['grade']})", *(_bare(k[name]) for name in names)]
        for k in document["constants"]
    ]
    return Table.of("constant-figures", "A judge must be better than these", columns, rows)


def _bare(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _expectation(document: Document) -> Iterator[Part]:
    """Nothing for a judge without expected grades and spreads."""
    found = document.get("expectation")
    if found is None:
        return
    yield Note(
        f"{count(found['n_expected'])} pairs with an expected grade, {count(found['n_spread'])} "
        f"with a spread. {found['note']}"
    )
    yield _figures(
        "expectation-figures",
        "Expected grades and spreads",
        found["figures"],
        tuple(found["figures"]),
        EXPECTATION_LABELS,
    )


def _disagreements(document: Document) -> Iterator[Part]:
    """One after the other, people's note above the judge's reason."""
    columns = [Column("Who"), Column("Grade", number=True), Column("Why")]
    for i, d in enumerate(document["disagreements"], start=1):
        text = "" if d["document"] is None else f": {d['document']}"
        rows = [
            ["people", str(d["human"]), d["human_reason"] or "(no note)"],
            ["judge", str(d["judge"]), d["judge_reason"] or "(no reason)"],
        ]
        table = Table.of(f"disagreement-{i}-grades", f"{d['doc_id']}{text}", columns, rows)
        yield Group(f"disagreement-{i}", f"{i}. {d['query']}", (table,))
