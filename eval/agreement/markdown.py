"""A calibration as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from relgate.eval.agreement.calibration import Calibration, ConstantJudge, Disagreement
from relgate.eval.agreement.expectation import Expectation
from relgate.eval.agreement.groups import GroupAgreement, Leniency
from relgate.eval.agreement.intervals import Figure
from relgate.eval.agreement.words import (
    ANSWERED,
    AT_FLOOR,
    EXPECTATION_LABELS,
    GROUP_FIGURES,
    LABELS,
    MEANS,
    NO_PROBABILITIES,
    ON_SCALE,
    PEOPLE_LABELS,
    hygiene_lines,
    number,
    shown_figure,
)
from relgate.eval.report.escape import markdown_text

__all__ = ["calibration_markdown"]


def calibration_markdown(calibration: Calibration) -> str:
    """The calibration as a page of Markdown; text from data is escaped."""
    c = calibration
    figures = c.figures
    parts: list[list[str]] = [
        [f"# Calibration: {c.level.value}"],
        list(_measured(c)),
        [f"Level **{c.level.value}** under the policy {markdown_text(c.policy.name)}:"],
        _bullets(c.reasons),
        *([["What would change the level:"], _bullets(n.text for n in c.needs)] if c.needs else []),
        *([["Mind:"], _bullets(c.warnings)] if c.warnings else []),
        [f"## Agreement on the scale {markdown_text(c.scale)}"],
        _figure_table(figures, (*ON_SCALE, *MEANS)),
        [f"## Agreement at the floor (grade >= {c.floor} is relevant)"],
        _figure_table(figures, AT_FLOOR),
        *_people_parts(c),
        ["## Grades that came"],
        _figure_table(figures, ANSWERED),
        [f"Intervals: 95 %, {c.resamples:,} draws of the {c.n_queries:,} queries, seed {c.seed}."],
        *_group_parts(c.groups),
        ["## Leniency by people's grade"],
        _leniency_table(c.leniency),
        *_expectation_parts(c.expectation),
        ["## Beside a judge that has read nothing"],
        _constant_table(c),
        ["## Confusion table (rows people, columns judge)"],
        _confusion_table(c.table),
        *([["## Worst disagreements"], _disagreements(c.disagreements)] if c.disagreements else []),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _measured(c: Calibration) -> Iterator[str]:
    judge = c.judge
    named = [
        ("version", judge.version),
        ("model", judge.model),
        ("family", judge.family),
        ("fingerprint", judge.fingerprint),
    ]
    known = ", ".join(f"{what} {markdown_text(value)}" for what, value in named if value)
    made = ", ".join(f"{n:,} by {markdown_text(s)}" for s, n in sorted(c.label_sources.items()))
    yield f"- Judge: {known or 'not named in the recorded grades'}"
    yield f"- Labels: {made}; set `{c.label_set_hash[:12]}`"
    yield from (f"- {line}" for line in hygiene_lines(c.hygiene))
    if set(c.label_sources) - {"human"}:
        yield "- **Labels made by rule or import say nothing about agreement with people.**"
    yield f"- Compared: {c.n:,} pairs of {c.n_queries:,} queries; coverage {c.coverage:.1%}"
    kinds = ", ".join(f"{n:,} {markdown_text(kind)}" for kind, n in c.errors.items())
    yield (
        f"- Without a grade: {c.n_asked - c.n:,} of {c.n_asked:,} ({c.error_rate:.1%})"
        + (f": {kinds}" if kinds else "")
    )


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]  # our own sentences: nothing from data is in them


def _group_parts(groups: tuple[GroupAgreement, ...]) -> list[list[str]]:
    """Nothing where no query states a stratum or a locale."""
    if not groups:
        return []
    names = " | ".join(LABELS[name] for name in GROUP_FIGURES)
    rows = [
        f"| {group.group.kind} {markdown_text(group.group.name)} | {group.n:,} | "
        f"{group.n_relevant:,} | {group.n_queries:,} | "
        + " | ".join(_with_interval(group.figures[name]) for name in GROUP_FIGURES)
        + " |"
        for group in groups
    ]
    return [
        ["## By stratum and locale"],
        [
            f"| group | pairs | relevant | queries | {names} |",
            f"|---|---:|---:|---:|{'---:|' * len(GROUP_FIGURES)}",
            *rows,
        ],
        ["The groups are parts of the same labels: the fewer the queries, the less each row says."],
    ]


def _with_interval(figure: Figure) -> str:
    point, interval = shown_figure(figure, places=2)
    return point if figure.point is None else f"{point} ({interval})"


def _leniency_table(rows: tuple[Leniency, ...]) -> list[str]:
    return [
        "| people's grade | pairs | judge less people | graded lower | alike | higher |",
        "|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {row.grade} | {row.n:,} | "
            + " | ".join(map(_with_interval, (row.shift, row.lower, row.same, row.higher)))
            + " |"
            for row in rows
        ),
    ]


def _figure_table(
    figures: Mapping[str, Figure], names: Iterable[str], *, labels: Mapping[str, str] = LABELS
) -> list[str]:
    rows = [f"| {labels[name]} | {' | '.join(shown_figure(figures[name]))} |" for name in names]
    return ["| figure | value | 95 % interval |", "|---|---:|---:|", *rows]


def _people_parts(c: Calibration) -> list[list[str]]:
    """Nothing where neither the labels nor the policy speak of several raters."""
    names = [name for name in PEOPLE_LABELS if name in c.figures]
    if not names:
        return []
    return [
        [f"## The judge beside people ({c.n_people:,} pairs that two or more graded)"],
        _figure_table(c.figures, names, labels=PEOPLE_LABELS),
    ]


def _expectation_parts(found: Expectation | None) -> list[list[str]]:
    """Nothing for a judge without expected grades and spreads."""
    if found is None:
        return []
    return [
        ["## Expected grades and spreads"],
        [
            f"{found.n_expected:,} pairs with an expected grade, {found.n_spread:,} with a spread, "
            f"{found.n_queries:,} queries. Honest spreads hold 75 % or more within two. "
            + NO_PROBABILITIES
        ],
        _figure_table(found.figures, found.figures, labels=EXPECTATION_LABELS),
    ]


def _constant_table(c: Calibration) -> list[str]:
    own = [c.figures[name].point for name in ("accuracy", "f1", "kappa")]
    rows = [("this judge", own)]
    rows += [(_constant_name(k), [k.accuracy, k.f1, k.kappa]) for k in c.constants]
    return [
        "| judge | same grade | F1 at the floor | kappa |",
        "|---|---:|---:|---:|",
        *(f"| {name} | {' | '.join(number(x) for x in values)} |" for name, values in rows),
    ]


def _constant_name(constant: ConstantJudge) -> str:
    return f"{constant.name} (always {constant.grade})"


def _confusion_table(table: tuple[tuple[int, ...], ...]) -> list[str]:
    grades = range(len(table))
    totals = [sum(column) for column in zip(*table, strict=True)]
    return [
        f"| people | {' | '.join(f'judge {g}' for g in grades)} | all |",
        f"|---|{'---:|' * (len(table) + 1)}",
        *(
            f"| {g} | {' | '.join(f'{x:,}' for x in row)} | {sum(row):,} |"
            for g, row in zip(grades, table, strict=True)
        ),
        f"| all | {' | '.join(f'{x:,}' for x in totals)} | {sum(totals):,} |",
    ]


def _disagreements(rows: tuple[Disagreement, ...]) -> list[str]:
    return [
        "| query | document | people | people's note | judge | judge's reason |",
        "|---|---|---:|---|---:|---|",
        *(
            f"| {markdown_text(d.query.shown)} | {_document(d)} | {d.human} | "
            f"{_said(d.human_reason)} | {d.judge} | {_said(d.judge_reason)} |"
            for d in rows
        ),
    ]


def _document(d: Disagreement) -> str:
    name = markdown_text(d.doc_id)
    return name if d.document is None else f"{name}: {markdown_text(d.document)}"


def _said(reason: str | None) -> str:
    return markdown_text(reason) if reason else "(none)"
