"""The diff: what changed, and whether a judge would still be the same judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.judge.llm import make_llm_judge
from relgate.rubrics import LabelExample, Rubric, builtin_names, diff_rubrics, load_rubric


def relabel(rubric: Rubric, i: int, **changes: object) -> Rubric:
    labels = list(rubric.labels)
    labels[i] = replace(labels[i], **changes)  # type: ignore[arg-type]
    return replace(rubric, labels=tuple(labels))


# change -> what is said of it, and where
CHANGES: dict[str, tuple[Callable[[Rubric], Rubric], str, str]] = {
    "text": (
        lambda r: replace(r, system=r.system.replace("wrong gender", "wrong size")),
        "system",
        "wrong size",
    ),
    "blanks": (lambda r: replace(r, system=r.system.replace(". ", ".\n", 1)), "system", "\\n"),
    "tag": (lambda r: replace(r, tag="esci-v2"), "after", "esci-v2@"),
    "label's name": (lambda r: relabel(r, 0, name="Perfect"), "head", "'Exact' -> 'Perfect'"),
    "label's code": (lambda r: relabel(r, 0, code="P"), "head", "label 'P' (Exact, grade 3) added"),
    "label gone": (lambda r: replace(r, labels=r.labels[1:]), "head", "'E' (Exact, grade 3) rem"),
    "field": (lambda r: replace(r, label_field="label"), "head", "'esci' -> 'label'"),
    "noun": (lambda r: replace(r, label_noun="class"), "head", "'ESCI class' -> 'class'"),
    "things": (lambda r: replace(r, candidate_noun="shoes"), "head", "'products' -> 'shoes'"),
    "floor": (lambda r: replace(r, floor=1), "floor", "(2, 1)"),
    "example": (
        lambda r: relabel(r, 0, positive=(LabelExample("q", "t", "w"),)),
        "examples",
        "'E': positive example added: 'q', 't' (w)",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_named_where_it_was_made(change: str) -> None:
    make, where, says = CHANGES[change]
    before = load_rubric()
    found = diff_rubrics(before, make(before))
    assert says in str(getattr(found, where)).replace("\\\\", "\\").replace('"', "'")
    assert not found.empty
    quiet = {"system", "head", "examples"} - {where}
    assert not any(getattr(found, name) for name in quiet)


@pytest.mark.parametrize("change", CHANGES)
def test_grades_are_said_to_be_kept_exactly_when_the_judge_keeps_its_cache_key(change: str) -> None:
    before = load_rubric()
    after = CHANGES[change][0](before)
    a, b = (make_llm_judge(lambda _: "", model="m", rubric=x) for x in (before, after))
    found = diff_rubrics(before, after)
    assert found.version_changes == (a.version != b.version)
    assert found.grades_kept == ((a.version, a.fingerprint) == (b.version, b.fingerprint))


@pytest.mark.parametrize("name", builtin_names())
def test_a_rubric_does_not_differ_from_itself(name: str) -> None:
    assert diff_rubrics(load_rubric(name), load_rubric(name)).empty


_TEXTS = st.text(st.sampled_from("ab.;: \t\r\n\\—\u2028"), max_size=30)


@given(_TEXTS, _TEXTS)
def test_texts_that_differ_in_anything_show_a_difference(a: str, b: str) -> None:
    rubric = load_rubric()
    found = diff_rubrics(replace(rubric, system=a), replace(rubric, system=b))
    assert bool(found.system) == (a != b)
    assert not any("\n" in line for line in found.system)


def test_a_change_of_one_clause_leaves_the_other_clauses_unmarked() -> None:
    before = load_rubric()
    after = replace(before, system=before.system.replace("same need", "need"))
    marked = [x for x in diff_rubrics(before, after).system[2:] if x[0] in "+-"]
    assert [x[0] for x in marked] == ["-", "+"]
    assert all("Substitute" in x for x in marked)
