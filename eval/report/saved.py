"""A saved review read back, so that every output can be made again from `review.json`.

The outputs of a fresh review are made from its own document too: made again, they are the same to
the byte. What no output shows (settings stated by the files, seconds of a fill) is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from relgate.eval.lists.jsontext import as_object, parse_json
from relgate.eval.project import first_problem
from relgate.eval.report.saved_evidence import evidence_of
from relgate.eval.report.schema import FORMAT, FindingShape, ReviewFile, WithheldShape
from relgate.eval.review.settings import ReviewSettings
from relgate.eval.review.types import Finding, Review, RuleOutcome, RuleState, Verdict
from relgate.rubrics.errors import InputError, RelgateError

__all__ = ["read_review"]

_KIND = FORMAT.partition("/")[0]
_STRATUM = "stratum_budgets."


def read_review(text: str, path: Path | str | None = None) -> Review:
    """The review in a `review.json`.

    Args:
        text: the file's text.
        path: where it stands, for messages.

    Raises:
        InputError: no JSON, another kind of file, the shape of another version, or a value that a
            review cannot have.
    """
    value = as_object(parse_json(text, path or "review.json"), "the file", path)
    kind, _, _number = str(value.get("format")).partition("/")
    if kind != _KIND:
        raise InputError(
            "is no saved review: it has no format that says so",
            path=path,
            mend="name the review.json that `relgate review --out` wrote",
        )
    if value["format"] != FORMAT:
        raise InputError(
            f"is a {value['format']!r:.40} file, and this version reads {FORMAT!r}",
            path=path,
            mend="review again with this version, or use the version that wrote it",
        )
    try:
        return _review(ReviewFile.model_validate(value))
    except ValidationError as error:
        raise first_problem(error, ReviewFile.model_fields, Path(path or "review.json")) from None
    except (RelgateError, AttributeError, ValueError, KeyError) as error:
        raise InputError(
            f"holds what no review can hold: {error}", path=path, mend="review again"
        ) from None


def _review(file: ReviewFile) -> Review:
    return Review(
        verdict=_verdict(file.verdict),
        headline=file.headline,
        outcomes=_outcomes(file),
        actions=file.actions,
        evidence=evidence_of(file),
        settings=_settings(file.settings),
    )


def _settings(numbers: Mapping[str, float]) -> ReviewSettings:
    """Those of a stratum are written `stratum_budgets.billing`."""
    defaults = ReviewSettings()
    single = {n: v for n, v in numbers.items() if not n.startswith(_STRATUM)}
    return ReviewSettings(
        **{name: type(getattr(defaults, name))(value) for name, value in single.items()},
        stratum_budgets={
            name.removeprefix(_STRATUM): value
            for name, value in numbers.items()
            if name not in single
        },
    )


def _verdict(word: str) -> Verdict:
    return Verdict[word.replace("-", "_")]


def _outcomes(file: ReviewFile) -> tuple[RuleOutcome, ...]:
    """In the rules' order: the file keeps those apart that could not run."""
    found = [*file.findings, *file.withheld]
    ran = [
        RuleOutcome(
            o.rule,
            RuleState(o.state),
            o.summary,
            tuple(_finding(f) for f in found if f.rule == o.rule),
        )
        for o in file.checked
    ]
    open_ = [
        RuleOutcome(
            o.rule,
            RuleState.NOT_CHECKED,
            o.why,
            cap=Verdict.NEEDS_WORK if o.caps_verdict else None,
        )
        for o in file.not_checked
    ]
    return tuple(sorted([*ran, *open_], key=lambda o: int(o.rule[1:])))


def _finding(found: WithheldShape) -> Finding:
    """What is withheld has no severity; the least stands for it, and no output shows it."""
    severity = _verdict(found.severity) if isinstance(found, FindingShape) else Verdict.APPROVE
    return Finding(found.rule, severity, found.message, found.figures, found.advice, found.queries)
