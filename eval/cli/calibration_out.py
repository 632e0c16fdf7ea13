"""Shows and writes a calibration, its certificate, and a comparison of judges. I/O."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.certificate import VALID_DAYS, make_certificate, write_certificate
from relgate.eval.agreement.comparing import Comparison
from relgate.eval.agreement.comparison_report import (
    DIFFERENCE_COLUMNS,
    JUDGE_COLUMNS,
    comparison_json,
    comparison_markdown,
    difference_rows,
    judge_rows,
    measured_line,
)
from relgate.eval.agreement.document import calibration_json
from relgate.eval.agreement.expectation import Expectation
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.agreement.words import (
    EXPECTATION_LABELS,
    HEADLINE_FIGURES,
    PEOPLE_LABELS,
    shown_figure,
)
from relgate.eval.cli.common import Output, now
from relgate.eval.files import file_name, inside

__all__ = [
    "certify",
    "finish",
    "finish_comparison",
    "show_calibration",
    "write_calibration",
]


def finish(
    output: Output, calibration: Calibration, *, certificates: Path, days: int, out: Path | None
) -> None:
    """Shows a calibration, leaves its certificate, writes its reports."""
    show_calibration(output, calibration)
    document = calibration_json(calibration)
    if calibration.judge.fingerprint is not None:
        document["certificate"] = str(certify(output, calibration, certificates, days))
    else:
        output.remark("the recorded grades name no judge, so there is nothing to certify")
    if out is not None:
        write_calibration(output, calibration, out)
    output.document(document)


def certify(output: Output, calibration: Calibration, folder: Path, days: int = VALID_DAYS) -> Path:
    """Writes the certificate, named by the judge's fingerprint, where a gate will look it up."""
    certificate = make_certificate(calibration, now=now(), days=days)
    path = inside(folder, f"{file_name(certificate.fingerprint)}.json")
    write_certificate(certificate, path)
    output.remark(f"wrote the certificate to {path}; it holds until {certificate.expires_at:%F}")
    return path


def write_calibration(output: Output, calibration: Calibration, folder: Path) -> None:
    """Writes calibration.json, calibration.md and calibration.html."""
    from relgate.eval.report.html.calibration import calibration_html  # noqa: PLC0415 - matplotlib

    document = calibration_json(calibration)
    output.file(folder / "calibration.json", _text(document))
    output.file(folder / "calibration.md", calibration_markdown(calibration))
    output.file(folder / "calibration.html", calibration_html(document))
    output.remark(f"wrote calibration.json, calibration.md and calibration.html to {folder}")


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def show_calibration(output: Output, calibration: Calibration) -> None:
    """The figures that decide, the level, why, and what would change it."""
    output.table(
        f"Agreement on {calibration.n:,} labels of {calibration.n_queries:,} queries",
        ["Figure", "Value", "95 % interval over queries"],
        [
            [label, *shown_figure(calibration.figures[name])]
            for name, label in HEADLINE_FIGURES.items()
        ],
    )
    _show_people(output, calibration)
    _show_groups(output, calibration)
    for warning in calibration.warnings:
        output.line(f"Note: {warning}")
    if calibration.expectation is not None:
        _show_expectation(output, calibration.expectation)
    output.line(f"Level: {calibration.level}")
    for reason in calibration.reasons:
        output.line(f"  - {reason}")
    if calibration.needs:
        output.line("What would change the level:")
        for need in calibration.needs:
            output.line(f"  - {need.text}")


def _show_expectation(output: Output, found: Expectation) -> None:
    output.table(
        f"Expected grades ({found.n_expected:,}) and spreads ({found.n_spread:,}) of "
        f"{found.n_queries:,} queries",
        ["Figure", "Value", "95 % interval over queries"],
        [[EXPECTATION_LABELS[name], *shown_figure(f)] for name, f in found.figures.items()],
    )


def _show_people(output: Output, calibration: Calibration) -> None:
    rows = [
        [label, *shown_figure(calibration.figures[name])]
        for name, label in PEOPLE_LABELS.items()
        if name in calibration.figures
    ]
    if rows:
        output.table(
            f"The judge beside people, {calibration.n_people:,} pairs that two or more graded",
            ["Figure", "Value", "95 % interval over queries"],
            rows,
        )


def _show_groups(output: Output, calibration: Calibration) -> None:
    if not calibration.groups:
        return
    names = ("kappa_quadratic", "f1", "mean_shift")
    output.table(
        "By stratum and locale",
        ["Group", "Pairs", "Queries", "Quadratic kappa", "F1", "Leniency"],
        [
            [
                f"{group.group.kind} {group.group.name}",
                f"{group.n:,}",
                f"{group.n_queries:,}",
                *(_short(*shown_figure(group.figures[name], places=2)) for name in names),
            ]
            for group in calibration.groups
        ],
    )


def _short(point: str, interval: str) -> str:
    return point if point.startswith("undefined") else f"{point} ({interval})"


def finish_comparison(
    output: Output,
    comparison: Comparison,
    asked: Sequence[Calibration],
    *,
    certificates: Path,
    days: int,
    out: Path | None,
) -> None:
    """Shows judges side by side, leaves a certificate for each that was asked, writes reports."""
    output.table(measured_line(comparison), JUDGE_COLUMNS, judge_rows(comparison))
    first = comparison.judges[0].name
    output.table(
        f"{first} less each other, paired by query",
        DIFFERENCE_COLUMNS,
        difference_rows(comparison),
    )
    for warning in comparison.warnings:
        output.line(f"Note: {warning}")
    document = comparison_json(comparison)
    document["certificates"] = [str(certify(output, c, certificates, days)) for c in asked]
    if out is not None:
        _write_comparison(output, comparison, out)
    output.document(document)


def _write_comparison(output: Output, comparison: Comparison, folder: Path) -> None:
    from relgate.eval.report.html.comparison import comparison_html  # noqa: PLC0415 - matplotlib

    document = comparison_json(comparison)
    output.file(folder / "comparison.json", _text(document))
    output.file(folder / "comparison.md", comparison_markdown(comparison))
    output.file(folder / "comparison.html", comparison_html(document))
    output.remark(f"wrote comparison.json, comparison.md and comparison.html to {folder}")
