"""The baseline judge: what it learns, refuses, says, and never leaks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.types import ERROR_REASON, Candidate, GradeError, Judge
from relgate.rubrics.errors import InputError
from relgate.rubrics.rubric import load_rubric

RUBRIC = load_rubric("esci-v1")
COLORS = ("red", "blue", "green", "black")
TYPES = ("shoe", "lamp", "jacket", "bag", "watch")


def text(color, type_, price=40):
    return f"title: Model {type_} | brand: Alpo | price: {price} | type: {type_} | colors: {color}"


def planted(*, offset=0):
    """Labels by rule: same type and colour 3, same type 1, other type 0."""
    return [
        LabelledPair(f"{color} {type_}s", text(c, t, 20 + offset), _rule(color, type_, c, t))
        for color in COLORS
        for type_ in TYPES
        for c in COLORS
        for t in TYPES
    ]


def _rule(color, type_, c, t):
    return 0 if t != type_ else 3 if c == color else 1


@pytest.fixture(scope="module")
def judge():
    return BaselineJudge.fit(planted(), RUBRIC)


def grade_of(judge, query, candidate):
    return judge.grade_sync(query, [Candidate("x", candidate)])[0]


def grades_of(judge, labels):
    return [grade_of(judge, p.query, p.text).grade for p in labels]


def test_it_is_a_judge_without_a_language_model(judge):
    assert isinstance(judge, Judge)
    assert (judge.model, judge.family) == (None, "none")
    assert judge.version.startswith("baseline-lexical-v1@")
    assert judge.n_labels == len(planted())


def test_it_learns_the_planted_rule_for_queries_that_it_never_saw(judge):
    labels = planted()
    found = grades_of(judge.out_of_fold(), labels)
    assert sum(g == p.grade for g, p in zip(found, labels, strict=True)) > 0.95 * len(labels)


def test_rows_keep_the_candidates_order_and_ids(judge):
    candidates = [Candidate(c, text(c, "shoe")) for c in COLORS]
    rows = asyncio.run(judge.grade("red shoes", candidates))
    assert [row.id for row in rows] == list(COLORS)
    assert [(row.position, row.batch_size) for row in rows] == [(i, 4) for i in range(1, 5)]
    assert rows == judge.grade_sync("red shoes", candidates)
    assert judge.grade_sync("red shoes", []) == []


def test_a_grade_does_not_depend_on_the_candidates_beside_it(judge):
    candidates = [Candidate(c, text(c, t)) for c in COLORS for t in TYPES]
    together = [row.grade for row in judge.grade_sync("red shoes", candidates)]
    assert together == [grade_of(judge, "red shoes", c.text).grade for c in candidates]


def test_grades_come_with_the_rubrics_label(judge):
    exact, other = (
        grade_of(judge, "red shoes", text(*x)) for x in [("red", "shoe"), ("red", "bag")]
    )
    assert (exact.grade, exact.esci) == (3, "E")
    assert (other.grade, other.esci) == (0, "I")


def test_a_reason_names_words_conflicts_and_the_price(judge):
    reason = grade_of(judge, "red trail shoes under 50", text("blue", "shoe", "89.90")).reason
    assert reason == (
        "1 of 3 query words: shoes (not: red, trail); color conflicts (red asked, blue);"
        " type agrees (shoe); price 89.90 over 50"
    )


@pytest.mark.parametrize(
    ("query", "candidate", "reason"),
    [
        ("red shoes", "", "the candidate has no words"),
        ("?!", "title: Shoe", "the query has no words"),
        ("shoe over 50", "title: Shoe | price: 20", "1 of 1 query words: shoe; price 20 under 50"),
        ("boot under 9", "title: Boot", "1 of 1 query words: boot; price unknown, a bound asked"),
    ],
)
def test_a_reason_says_what_is_not_there(judge, query, candidate, reason):
    assert grade_of(judge, query, candidate).reason.startswith(reason)


@pytest.mark.parametrize(
    "odd", ["", " ", "\x00\x1b[31m", "\ud800", "9" * 5000, "price: " + "9" * 5000, "a " * 50_000]
)
def test_odd_text_is_graded_like_any_other(judge, odd):
    for row in (grade_of(judge, "red shoes under 50", odd), grade_of(judge, odd, "title: Shoe")):
        assert row.graded
        assert row.reason.isprintable()
        assert len(row.reason) <= 240


def test_an_empty_text_is_not_called_relevant(judge):
    assert grade_of(judge, "red shoes", "").grade == 0


def test_a_candidate_that_cannot_be_read_fails_alone_and_is_no_grade(judge):
    broken = Candidate("broken", None)  # type: ignore[arg-type]
    bad, good = judge.grade_sync("red shoes", [broken, Candidate("good", text("red", "shoe"))])
    assert (bad.graded, bad.reason, bad.error) == (False, ERROR_REASON, GradeError.UNREADABLE)
    assert good.graded


def test_label_order_and_repetition_do_not_matter(judge):
    labels = planted()
    shuffled = BaselineJudge.fit([*labels[::-1], labels[0]], RUBRIC)
    assert shuffled.fingerprint == judge.fingerprint
    assert shuffled.label_set_hash == judge.label_set_hash
    assert grades_of(shuffled.out_of_fold(), labels) == grades_of(judge.out_of_fold(), labels)


def test_one_other_label_is_another_fingerprint_of_the_same_version(judge):
    labels = planted()
    changed = BaselineJudge.fit([replace(labels[0], grade=2), *labels[1:]], RUBRIC)
    assert changed.fingerprint != judge.fingerprint
    assert changed.label_set_hash != judge.label_set_hash
    assert changed.version == judge.version


def test_another_rubric_is_another_fingerprint(judge):
    other = replace(RUBRIC, system=RUBRIC.system + " Be kind.")
    assert BaselineJudge.fit(planted(), other).fingerprint != judge.fingerprint


def test_the_judge_to_measure_has_the_name_of_the_judge_that_is_used(judge):
    held_out = judge.out_of_fold()
    assert (held_out.version, held_out.fingerprint) == (judge.version, judge.fingerprint)
    assert isinstance(held_out, Judge)


def test_the_labels_of_a_query_do_not_reach_its_own_out_of_fold_grades(judge):
    labels = planted()
    own = [p for p in labels if p.query == "red shoes"]
    turned = [replace(p, grade=3 - p.grade) for p in own]
    others = [p for p in labels if p.query != "red shoes"]
    permuted = BaselineJudge.fit([*others, *turned], RUBRIC)
    assert permuted.fingerprint != judge.fingerprint
    assert grades_of(permuted.out_of_fold(), own) == grades_of(judge.out_of_fold(), own)


def test_a_query_is_held_out_however_it_is_spelled():
    labels = planted()
    own = [p for p in labels if p.query == "red shoes"]
    spelled = [LabelledPair("  RED   Shoes", p.text + " ", 3 - p.grade) for p in own]
    clean = BaselineJudge.fit(labels, RUBRIC).out_of_fold()
    mixed = BaselineJudge.fit([*labels, *spelled], RUBRIC).out_of_fold()
    assert grades_of(mixed, own) == grades_of(clean, own)


def test_a_query_without_labels_gets_the_full_model(judge):
    unseen = [p for c in ("white", "red") for p in [LabelledPair(f"{c} belts", text(c, "bag"), 0)]]
    assert grades_of(judge.out_of_fold(), unseen) == grades_of(judge, unseen)


def test_a_grade_without_labels_is_said_and_never_given():
    labels = [p for p in planted() if p.grade != 1]
    judge = BaselineJudge.fit(labels, RUBRIC)
    assert [("Complement" in n or "Substitute" in n, "cannot" in n) for n in judge.notes] == [
        (True, True)
    ] * 2
    assert set(grades_of(judge, planted())) == {0, 3}


def test_labels_that_contradict_are_said():
    labels = planted()
    judge = BaselineJudge.fit([*labels, replace(labels[0], grade=2)], RUBRIC)
    assert any("1 labelled pairs have more than one grade" in note for note in judge.notes)


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ([], "no labels"),
        (planted()[:29], "only 29 distinct labels"),
        (planted()[:1] * 40, "only 1 distinct labels"),
        (planted()[:80], "only 4 distinct queries"),
        ([replace(p, grade=3) for p in planted()], "every label has grade 3"),
        ([*planted(), LabelledPair("a", "b", 4)], "grade 4 is not on the scale"),
    ],
)
def test_it_refuses_labels_that_it_cannot_learn_from_and_says_what_it_needs(labels, what):
    with pytest.raises(InputError, match=what) as caught:
        BaselineJudge.fit(labels, RUBRIC)
    assert caught.value.mend


def test_one_fold_cannot_hold_a_query_out():
    with pytest.raises(InputError, match="1 folds"):
        BaselineJudge.fit(planted(), RUBRIC, folds=1)


def test_labels_whose_text_says_nothing_get_the_commonest_grade():
    labels = [LabelledPair(f"q{i}", "", 0 if i % 3 else 2) for i in range(63)]
    judge = BaselineJudge.fit(labels, RUBRIC)
    assert grade_of(judge, "qx1", "").grade == 0


SCRIPT = """
import json, sys
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.types import Candidate
from relgate.rubrics.rubric import load_rubric
rows = json.load(sys.stdin)
judge = BaselineJudge.fit([LabelledPair(*row) for row in rows], load_rubric())
held_out = judge.out_of_fold()
hits = [j.grade_sync(q, [Candidate("x", t)])[0] for q, t, _ in rows for j in (judge, held_out)]
print(json.dumps([judge.version, judge.fingerprint, [[h.grade, h.reason] for h in hits]]))
"""


def test_another_process_and_hash_seed_gives_the_same_grades_and_names():
    rows = json.dumps([[p.query, p.text, p.grade] for p in planted()])
    answers = {
        subprocess.run(  # noqa: S603 - our own interpreter and script
            [sys.executable, "-c", SCRIPT],
            input=rows,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(answers) == 1


def test_importing_the_judge_loads_neither_numpy_nor_scikit_learn():
    code = (
        "import sys, relgate.judge.baseline as b; b.BaselineJudge;"
        "print({m.partition('.')[0] for m in sys.modules} & {'numpy', 'sklearn', 'scipy'})"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
