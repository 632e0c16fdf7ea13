"""relgate correct: a judge's list corrected by people's labels of a part of it."""

from __future__ import annotations

import random

import pytest


def write_lists(folder, *, labelled=60, queries=120):
    rng = random.Random(3)  # noqa: S311 - example data
    human, grades = ["query_id,doc_id,grade"], ["query_id,doc_id,grade"]
    for q in range(queries):
        for d in range(6):
            people = rng.randrange(4)
            judge = min(3, people + (rng.random() < 0.4))
            if q < labelled:
                human.append(f"q{q},d{d},{people}")
            grades.append(f"q{q},d{d},{judge}")
    for name, rows in (("h.csv", human), ("g.csv", grades)):
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")


WORDS = ("correct", "--human", "h.csv", "--grades", "g.csv")


def test_means_and_rates_are_corrected_and_shown(call, tmp_path):
    write_lists(tmp_path)
    done = call(*WORDS)
    assert done.code == 0
    assert "360 pairs of 60 queries by people and the judge, 360 by the judge alone" in done.out
    assert "Rogan-Gladen): judged" in done.out
    assert "random part of all" in done.out
    found = call(*WORDS, "--json").json
    mean = found["mean_grade"]
    assert mean["judge"]["low"] > mean["corrected"]["point"] > 1.2
    assert mean["corrected"]["error"] <= mean["people"]["error"]
    assert found["rogan_gladen"]["undefined"] is None
    assert [g["grade"] for g in found["gains"]] == [0, 1, 2, 3]


def test_too_few_labels_say_so_and_labels_by_rule_are_named(call, tmp_path):
    write_lists(tmp_path, labelled=20)
    done = call(*WORDS, "--human-source", "rule")
    assert "means not corrected: 20 queries with labels, 50 needed" in done.out
    assert "labels not made by people (120 by rule)" in done.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--human", "h.csv", "--grades", "h.csv"), "the same file; name two columns"),
        (
            ("--human", "h.csv", "--grades", "h.csv", "--human-column", "grade"),
            "the same file; name two columns",
        ),
        (("--human", "h.csv", "--grades", "none.csv"), "none.csv: no such file"),
        (("--human", "h.csv", "--grades", "g.csv", "--floor", "7"), "floor 7 is not a grade"),
        (("--human", "h.csv"), "Missing option '--grades'"),
    ],
)
def test_a_mistake_is_named_in_one_line(call, tmp_path, words, complaint):
    write_lists(tmp_path)
    done = call("correct", *words, "--quiet")
    assert done.code == 2
    assert complaint in done.complaint
