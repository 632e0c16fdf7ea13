"""Checks, differences, raters, moves and locators of golden sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relgate.eval.golden.check import check_set, faults
from relgate.eval.golden.content import diff_sets
from relgate.eval.golden.edit import move, retire
from relgate.eval.golden.raters import disagreements, escalations, to_shadow
from relgate.eval.golden.resolve import resolve
from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet, Rating, Retired
from relgate.rubrics.errors import UsageError


def query(query_id: str = "q1", text: str | None = None, **more: Any) -> GoldenQuery:
    """A query; `grades` is {doc id: grade}."""
    grades = more.pop("grades", {"d1": 3})
    judgments = more.pop(
        "judgments", tuple(GoldenJudgment(grade=g, doc_id=doc) for doc, g in grades.items())
    )
    return GoldenQuery(query_id, text or f"text of {query_id}", judgments, **more)


def golden(*queries: GoldenQuery, version: str = "v1", **more: Any) -> GoldenSet:
    return GoldenSet(version, queries or (query(),), **more)


def _kinds(findings):
    return [finding.kind for finding in findings]


# --- check


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        (golden(query("a"), query("a", "other")), "ids"),
        (golden(query("a"), retired=(Retired("a", "gone", "v0"),)), "retired"),
        (golden(query("a", "same"), query("b", "same")), "same-query"),
        (golden(query(judgments=(GoldenJudgment(grade=1),))), "no-document"),
        (golden(query(judgments=(GoldenJudgment(1, "d"), GoldenJudgment(2, "d")))), "documents"),
        (
            golden(query(judgments=(GoldenJudgment(1, "a", "u"), GoldenJudgment(2, "b", "u")))),
            "documents",
        ),
        (golden(query(grades={"d": 4})), "grades"),
        (golden(query(grades={"d": 2}), scale="0-1"), "grades"),
        (golden(query(judgments=(GoldenJudgment(1, "d", ratings=(Rating("x", 9),)),))), "grades"),
        (golden(query(expect="empty", grades={"d": 2})), "expectations"),
        (golden(query(expect=">=1 grade>=2", grades={"d": 1})), "expectations"),
        (golden(scale="0-7"), "scale"),
    ],
)  # fmt: skip
def test_each_planted_fault_is_found_and_nothing_else(planted, kind):
    assert _kinds(faults(planted)) == [kind]


@pytest.mark.parametrize(
    "quiet",
    [
        golden(query("a", "same", locale="de"), query("b", "same", locale="en")),
        golden(query("a", "same", surface="billing"), query("b", "same", surface="docs")),
        golden(query("a", "same", filters={"x": 1}), query("b", "same")),
        golden(query(expect="empty", grades={})),
        golden(query(grades={"d": 1}), scale="0-1"),
    ],
)
def test_the_same_text_on_another_surface_locale_or_filter_is_another_query(quiet):
    assert faults(quiet) == ()


def _whole(n=200, failures=30):
    kinds = ("typo", "zero-hit", "exact-sku")
    queries = [
        query(
            f"q{i}",
            locale="en",
            filters={"a": "b"},
            failure_mode=kinds[i % 3] if i < failures else None,
        )
        for i in range(n)
    ]
    return golden(*queries)


def test_a_set_as_the_guide_wants_it_has_no_remark():
    assert check_set(_whole()) == ()


@pytest.mark.parametrize(
    ("n", "failures", "kinds"),
    [
        (199, 30, ["few"]),
        (200, 20, []),
        (200, 40, []),
        (200, 19, ["failures"]),
        (200, 41, ["failures"]),
        (2000, 300, []),
        (2001, 300, ["many"]),
    ],
)
def test_size_and_share_of_failures_are_held_to_the_guide(n, failures, kinds):
    assert _kinds(check_set(_whole(n, failures))) == kinds


def test_a_set_without_filters_or_special_cases_is_told():
    bare = golden(*(query(f"q{i}", locale="en") for i in range(200)))
    assert _kinds(check_set(bare)) == ["failures", "no-typo", "no-zero-hit", "no-sku", "no-filters"]


# --- diff


def test_a_diff_lists_labels_first_of_all():
    old = golden(query("a", grades={"x": 3, "y": 1}), query("gone"), query("c"))
    new = golden(
        query("a", grades={"x": 2, "z": 1}, locale="de"),
        query("c", set="shadow"),
        query("new"),
        version="v2",
        k=5,
    )
    found = diff_sets(old, new)
    assert (found.added, found.removed) == (("new",), ("gone",))
    assert [(c.what, c.before, c.after) for c in found.labels] == [
        ("grade of x", 3, 2),
        ("grade of z", None, 1),
        ("grade of y", 1, None),
    ]
    assert [(c.query, c.before, c.after) for c in found.moved] == [("c", "core", "shadow")]
    assert [(c.what, c.after) for c in found.other] == [("locale", "de")]
    assert [(c.what, c.before, c.after) for c in found.settings] == [("k", 10, 5)]


def test_equal_sets_have_no_difference():
    assert not diff_sets(golden(), golden(version="v2"))


# --- raters


def _rated(doc, *grades, grade=None):
    ratings = tuple(Rating(f"r{i}", g) for i, g in enumerate(grades))
    return GoldenJudgment(grades[0] if grade is None else grade, doc, ratings=ratings)


def test_half_of_the_pairs_differing_is_high_disagreement():
    high = query("a", judgments=(_rated("x", 3, 0), _rated("y", 2, 2)))
    low = query("b", judgments=(_rated("x", 3, 0), _rated("y", 2, 2), _rated("z", 1, 1)))
    one_pair = query("c", judgments=(_rated("x", 3, 0),))
    single = query("d")
    found = disagreements(golden(high, low, one_pair, single))
    assert {d.query: (d.pairs, d.differ, d.high) for d in found} == {
        "a": (2, 1, True),
        "b": (3, 1, False),
        "c": (1, 1, False),
    }


def test_disputed_core_queries_move_to_shadow_and_others_stay():
    high = (_rated("x", 3, 0), _rated("y", 2, 1))
    before = golden(query("a", judgments=high), query("b", judgments=high, set="challenge"))
    after = to_shadow(before, disagreements(before), "v2")
    assert [(q.id, q.set) for q in after.queries] == [("a", "shadow"), ("b", "challenge")]
    assert after.version == "v2"


def test_ties_go_to_a_third_rater_and_an_overruled_grade_is_told():
    judgments = (_rated("tie", 3, 0), _rated("over", 2, 2, 1, grade=1), _rated("fine", 1, 1, 0))
    found = escalations(golden(query(judgments=judgments)))
    assert [(e.doc, e.grades, e.why) for e in found] == [
        ("tie", (3, 0), "tie"),
        ("over", (2, 2, 1), "overruled"),
    ]


# --- moves


def test_a_query_is_promoted_under_a_new_version_only():
    before = golden(query("a", set="challenge"), query("b"))
    assert [q.set for q in move(before, ["a"], "core", "v2").queries] == ["core", "core"]
    for ids, to, version, said in (
        (["a"], "core", "v1", "is version 'v1' already"),
        (["x"], "core", "v2", "no query 'x'"),
        (["b"], "core", "v2", "is in core already"),
        ([], "core", "v2", "no query named"),
    ):
        with pytest.raises(UsageError, match=said):
            move(before, ids, to, version)


def test_a_retired_id_stays_listed_with_its_reason():
    after = retire(golden(query("a"), query("b")), ["a"], "product line ended", "v2")
    assert [q.id for q in after.queries] == ["b"]
    assert after.retired == (Retired("a", "product line ended", "v2"),)
    assert _kinds(faults(replace(after, queries=(query("a"),)))) == ["retired"]


# --- locators


def test_a_locator_is_looked_up_and_a_miss_is_told_with_its_grade():
    judgments = (
        GoldenJudgment(3, locator="u1"),
        GoldenJudgment(2, doc_id="old", locator="u2"),
        GoldenJudgment(3, doc_id="d9", locator="u3"),
        GoldenJudgment(1, locator="u4"),
        GoldenJudgment(0, doc_id="plain"),
    )
    found = resolve(golden(query(judgments=judgments)), {"u1": "n1", "u2": "n2", "u3": None})
    docs = [judgment.doc_id for judgment in found.golden.queries[0].judgments]
    assert docs == ["n1", "n2", None, None, "plain"]
    assert found.resolved == 2
    assert found.moved == (("q1", "u2", "old", "n2"),)
    assert [(u.locator, u.grade, u.why) for u in found.unresolved] == [
        ("u3", 3, "gone"),
        ("u4", 1, "unknown"),
    ]


def test_two_judgments_are_never_put_on_one_document():
    judgments = (
        GoldenJudgment(3, locator="u1"),
        GoldenJudgment(0, locator="u2"),
        GoldenJudgment(1, doc_id="n3"),
        GoldenJudgment(2, locator="u3"),
    )
    found = resolve(golden(query(judgments=judgments)), {"u1": "n1", "u2": "n1", "u3": "n3"})
    assert [u.why for u in found.unresolved] == ["shared", "shared"]
