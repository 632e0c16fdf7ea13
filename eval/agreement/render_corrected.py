"""A corrected list as lines, rows and JSON. Pure."""

from __future__ import annotations

from typing import Any

from relgate.eval.agreement.corrected import ListCorrection
from relgate.eval.agreement.gains import FOLDS
from relgate.eval.agreement.intervals import CONFIDENCE, METHOD, RESAMPLES, Figure
from relgate.eval.agreement.powered import Estimate, Powered
from relgate.eval.agreement.render_raters import rounded

__all__ = ["correction_json", "gain_rows", "powered_row", "rate_line", "remarks"]


def powered_row(name: str, found: Powered) -> list[str]:
    """Name, by the judge, by people, corrected, lambda."""
    means = (found.judge, found.people, found.corrected)
    return [name, *map(_estimate, means), f"{found.weight:.3f}"]


def _estimate(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return f"{e.point:.3f}"
    return f"{e.point:.3f} ({e.low:.3f}, {e.high:.3f})"


def rate_line(done: ListCorrection) -> str:
    """The share of relevant by Rogan and Gladen, or why there is none."""
    rate = done.rate
    name = f"share at {done.floor} or above, unlabelled part (Rogan-Gladen)"
    if rate.undefined is not None:
        return f"{name}: {rate.undefined}"
    return f"{name}: judged {_figure(rate.judged)}, corrected {_figure(rate.corrected)}"


def _figure(f: Figure) -> str:
    if f.point is None:
        return "undefined"
    ends = "" if f.low is None else f" ({f.low:.4f} to {f.high:.4f})"
    return f"{f.point:.4f}{ends}"


def gain_rows(done: ListCorrection) -> list[list[str]]:
    """A row a judge's grade."""
    return [
        [
            str(g.grade),
            f"{g.labels:,}",
            f"{g.nominal:g}",
            "-" if g.mean is None else f"{g.mean:.4f}",
            "-" if g.expected is None else f"{g.expected:.4f}",
        ]
        for g in done.gains
    ]


def remarks(done: ListCorrection) -> list[str]:
    """What a reader must know, a sentence each."""
    out: list[str] = []
    if done.gain_error is not None:
        error = done.gain_error
        out.append(
            f"on queries not fitted to ({FOLDS} folds), people's gain is {error.expected:.4f} from "
            f"the expected one, {error.nominal:.4f} from the grade's own (root mean square)"
        )
    out.append("valid only if the labelled queries are a random part of all")
    if set(done.sources) - {"human"}:
        made = ", ".join(f"{n:,} by {source}" for source, n in sorted(done.sources.items()))
        out.append(f"labels not made by people ({made}) correct towards their maker, not people")
    if done.ungraded:
        out.append(f"{done.ungraded:,} labels have no grade of the judge and are left out")
    out += [
        f"grade {s.grade} is {s.share:.0%} of the unlabelled pairs and has {s.labels} labels: "
        "outside what people checked"
        for s in done.support
    ]
    return out


def correction_json(done: ListCorrection, *, seed: int) -> dict[str, Any]:
    """The corrected list as plain data; undefined is null."""
    rate = done.rate
    return {
        "format": "relgate-correction/1",
        "labelled": done.labelled,
        "unlabelled": done.unlabelled,
        "ungraded": done.ungraded,
        "queries": done.queries,
        "label_sources": dict(sorted(done.sources.items())),
        "floor": done.floor,
        "mean_grade": _powered_json(done.mean_grade),
        "mean_gain": _powered_json(done.mean_gain),
        "share_relevant": _powered_json(done.share_relevant),
        "why_not": done.why,
        "rogan_gladen": {
            "judged": _figure_json(rate.judged),
            "corrected": _figure_json(rate.corrected),
            "sensitivity": _figure_json(rate.sensitivity),
            "specificity": _figure_json(rate.specificity),
            "denominator": _figure_json(rate.denominator),
            "undefined": rate.undefined,
            "interval": {"level": CONFIDENCE, "method": METHOD, "resampled": "queries",
                         "resamples": RESAMPLES, "seed": seed},
        },
        "gains": [
            {"grade": g.grade, "labels": g.labels, "nominal": rounded(g.nominal),
             "mean": rounded(g.mean), "expected": rounded(g.expected)}
            for g in done.gains
        ],
        "gain_error_out_of_fold": None if done.gain_error is None else {
            "folds": FOLDS, "seed": seed, "expected": rounded(done.gain_error.expected),
            "nominal": rounded(done.gain_error.nominal),
        },
        "notes": remarks(done),
    }  # fmt: skip


def _powered_json(found: Powered | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "corrected": _estimate_json(found.corrected),
        "people": _estimate_json(found.people),
        "judge": _estimate_json(found.judge),
        "lambda": rounded(found.weight),
        "method": "PPI++",
        "interval": {"level": CONFIDENCE, "method": "Student's t over queries"},
    }


def _estimate_json(e: Estimate) -> dict[str, float | None]:
    return {"point": rounded(e.point), "error": rounded(e.error), "low": rounded(e.low),
            "high": rounded(e.high)}  # fmt: skip


def _figure_json(f: Figure) -> dict[str, float | None]:
    return {"point": rounded(f.point), "low": rounded(f.low), "high": rounded(f.high)}
