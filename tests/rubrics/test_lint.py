"""The lint: each planted fault is found, a clean rubric passes in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from relgate.rubrics import Label, LabelExample, Rubric, builtin_names, lint_rubric, load_rubric

Change = Callable[[Rubric], Rubric]


def said(rubric: Rubric, severity: str) -> list[str]:
    return [x.message for x in lint_rubric(rubric) if x.severity == severity]


def label(i: int, **changes: object) -> Change:
    def change(rubric: Rubric) -> Rubric:
        labels = list(rubric.labels)
        labels[i] = replace(labels[i], **changes)  # type: ignore[arg-type]
        return replace(rubric, labels=tuple(labels))

    return change


def text(more: str) -> Change:
    return lambda rubric: replace(rubric, system=f"{rubric.system} {more}")


def swapped(old: str, new: str) -> Change:
    def change(rubric: Rubric) -> Rubric:
        assert old in rubric.system
        return replace(rubric, system=rubric.system.replace(old, new))

    return change


@pytest.mark.parametrize("name", builtin_names())
def test_a_builtin_rubric_is_clean(name: str) -> None:
    assert lint_rubric(load_rubric(name)) == ()


ERRORS: dict[str, tuple[Change, str]] = {
    "no labels": (lambda r: replace(r, labels=()), "grades are []"),
    "one label": (lambda r: replace(r, labels=r.labels[-1:]), "grades are [0]"),
    "a gap in the grades": (label(0, grade=4), "grades are [0, 1, 2, 4]"),
    "a grade below 0": (label(3, grade=-1), "grades are [-1, 1, 2, 3]"),
    "a grade twice": (label(0, grade=2), "grades are [0, 1, 2, 2]"),
    "a code twice": (label(0, code="s"), "share a code"),
    "an empty name": (label(0, name=""), "empty code or name"),
    "floor 0": (lambda r: replace(r, floor=0), "floor 0"),
    "floor above the scale": (lambda r: replace(r, floor=4), "floor 4"),
    "an at sign in the tag": (lambda r: replace(r, tag="esci@v1"), "tag 'esci@v1'"),
    "an empty tag": (lambda r: replace(r, tag=""), "tag ''"),
    "the reply's own field": (lambda r: replace(r, label_field="id"), "label_field 'id'"),
    "an empty text": (lambda r: replace(r, system=" \n"), "system text is empty"),
    "a label that is not told": (
        swapped("C (Complement) — typically", "Complement: typically"),
        "does not say what label 'C'",
    ),
    "a code in another word only": (
        swapped("C (Complement) — typically", "CD (Complement) — typically"),
        "label 'C'",
    ),
    "XML": (text("Answer in XML."), "Answer in XML"),
    "one word": (text("You must reply with one word."), "reply with one word"),
    "a bare number": (text("Output only a single number."), "only a single number"),
    "CSV": (text("For every row\nreturn comma-separated values."), "comma-separated"),
    "another field": (text('Use {"relevance": 3, "reason": "..."}.'), "fields 'relevance'"),
    "tags": (text("Put it between <score> and </score>."), "<score>"),
    "a final score": (text("\n##final score: the score"), "##final score"),
    "another scale": (text("Rate each candidate on a scale of 0 to 10."), "scale 0 to 10"),
    "a scale upside down": (text("Give a score from 5 to 1."), "scale 5 to 1"),
}


@pytest.mark.parametrize("fault", ERRORS)
def test_a_planted_error_is_found_and_alone(fault: str) -> None:
    change, says = ERRORS[fault]
    errors = said(change(load_rubric()), "error")
    assert len(errors) == 1, errors
    assert says in errors[0]


WARNINGS: dict[str, tuple[Change, str]] = {
    "a tag without a version": (lambda r: replace(r, tag="esci"), "tag 'esci' names no version"),
    "a long text": (text("Be strict. " * 600), "characters, more than 6,000"),
    "a name that is not told": (label(0, name="Perfect"), "the name 'Perfect' of label 'E'"),
    "two positive examples": (
        lambda r: label(1, positive=r.labels[1].positive[:2])(r),
        "grade 2 (Substitute) has 2 positive",
    ),
    "no negative example": (label(3, negative=()), "grade 0 (Irrelevant) has 0 negative"),
    "one example three times": (
        lambda r: label(1, positive=r.labels[1].positive[:1] * 3)(r),
        "grade 2 (Substitute) has 1 positive",
    ),
}


@pytest.mark.parametrize("fault", WARNINGS)
def test_a_planted_warning_is_found_and_alone(fault: str) -> None:
    change, says = WARNINGS[fault]
    rubric = change(load_rubric())
    assert said(rubric, "error") == []
    warnings = said(rubric, "warning")
    assert len(warnings) == 1, warnings
    assert says in warnings[0]


def test_a_pair_that_is_two_grades_is_an_error_whatever_its_case_and_blanks() -> None:
    rubric = load_rubric()
    first = rubric.labels[0].positive[0]
    twin = LabelExample(first.query.upper(), f" {first.text} ", "not sure")
    planted = label(1, positive=(*rubric.labels[1].positive, twin))(rubric)
    errors = said(planted, "error")
    assert len(errors) == 1
    assert "positive example of both Exact and Substitute" in errors[0]


def test_a_pair_that_is_and_is_not_a_grade_is_an_error() -> None:
    rubric = load_rubric()
    first = rubric.labels[0].positive[0]
    planted = label(0, negative=(*rubric.labels[0].negative, first))(rubric)
    assert len(said(planted, "error")) == 1
    assert "both a positive and a negative example of Exact" in said(planted, "error")[0]


def test_a_pair_may_be_positive_for_one_grade_and_negative_for_another() -> None:
    rubric = load_rubric()
    planted = label(1, negative=(*rubric.labels[1].negative, rubric.labels[0].positive[0]))(rubric)
    assert lint_rubric(planted) == ()


@pytest.mark.parametrize(
    "harmless",
    [
        "A candidate whose text is only HTML or XML markup is I.",
        "A kit of 3 to 5 parts is graded by its main part.",
        'Write a short reason, and name the attribute ("color", "size") that decided.',
        'Return JSON: {"grades": [{"id": "1", "esci": "E", "reason": "..."}]}.',
        "The answer is one word away from the query at most.",
        "Grades go from 0 to 3.",
    ],
)
def test_what_only_looks_like_a_fault_is_left_alone(harmless: str) -> None:
    assert lint_rubric(text(harmless)(load_rubric())) == ()


def test_errors_come_before_warnings() -> None:
    rubric = text("Answer in XML.")(replace(load_rubric(), tag="esci"))
    assert [x.severity for x in lint_rubric(rubric)] == ["error", "warning"]


def test_numeric_codes_must_stand_alone_in_the_text() -> None:
    rubric = Rubric(
        tag="mine-v1", system="10 is best, 20 is worst: Good, Bad.", floor=1, label_field="grade",
        labels=(Label("1", "Good", 1), Label("0", "Bad", 0)), label_noun="grade",
        candidate_noun="pages",
    )  # fmt: skip
    assert len(said(rubric, "error")) == 2
