"""A judge is asked to grade what people graded, and measured."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from shared_cases import shared_case

from relgate.eval.agreement.calibrate import (
    Terms,
    acalibrate_judge,
    calibrate_judge,
    calibrate_pairs,
)
from relgate.eval.agreement.pairs import UNGRADED, label_set_hash, match_grades
from relgate.eval.agreement.policy import POLICIES, Level
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Scale, Source
from relgate.judge.types import Candidate, GradeError, Judge
from relgate.rubrics.errors import FamilySeparationError, InputError, UsageError


def text_of(doc_id: str) -> Candidate:
    return Candidate(doc_id, f"text {doc_id}")


def rows(n_queries: int = 30, each: int = 8) -> list[tuple[str, str, int]]:
    return [(f"q{q}", f"d{q}-{i}", (q + i) % 4) for q in range(n_queries) for i in range(each)]


def says_as_labelled(labels: list[tuple[str, str, int]]) -> dict[str, int | GradeError]:
    return {f"text {doc_id}": grade for _, doc_id, grade in labels}


def test_the_scripted_judge_speaks_the_protocol(make):
    assert isinstance(make.judge({}), Judge)


def test_a_judge_that_grades_as_people_do_is_trusted(make):
    labels = rows()
    judge = make.judge(says_as_labelled(labels))
    result = calibrate_judge(judge, make.labels(labels), text_of)
    assert result.level is Level.TRUSTED
    assert result.figures["kappa_quadratic"].point == 1
    assert (result.n, result.n_queries, result.n_asked) == (240, 30, 240)
    assert result.judge.fingerprint == judge.fingerprint
    assert result.judge.version == judge.version
    assert result.label_sources == {"human": 240}


def test_the_judge_sees_the_query_text_and_the_catalogue_text(make):
    judge = make.judge({"text d": 3, "text e": 0})
    calibrate_judge(judge, make.labels([("q", "d", 3), ("q", "e", 0)]), text_of, min_labels=1)
    assert len(judge.asked) == 1
    assert judge.asked[0][0] == "text of q"
    assert sorted(judge.asked[0][1]) == ["text d", "text e"]


def test_candidates_are_not_shown_in_the_order_of_their_labels(make):
    labels = [("q", f"d{i:02}", 3 - i // 5) for i in range(20)]  # a file sorted by grade
    judge = make.judge(says_as_labelled(labels))
    calibrate_judge(judge, make.labels(labels), text_of)
    shown = [int(judge.says[text]) for text in judge.asked[0][1]]
    assert shown != sorted(shown, reverse=True)
    again = make.judge(says_as_labelled(labels))
    calibrate_judge(again, make.labels(labels[::-1]), text_of)
    assert again.asked == judge.asked  # nor does the order of the file matter


def test_failed_grades_are_counted_and_are_no_irrelevant(make):
    labels = rows()
    says = says_as_labelled(labels)
    for i in range(4):
        says[f"text d{i}-0"] = GradeError.REFUSED
    says["text d4-0"] = GradeError.TIMEOUT
    result = calibrate_judge(make.judge(says), make.labels(labels), text_of)
    assert result.errors == {"refused": 4, "timeout": 1}
    assert (result.n, result.n_asked) == (235, 240)
    assert result.coverage == pytest.approx(235 / 240)
    assert result.error_rate == pytest.approx(5 / 240)
    assert result.figures["kappa"].point == 1  # as zeros they would have lowered it
    assert result.level is Level.INSUFFICIENT  # 2.08 % is over the budget of 2 %
    assert any("5 of 240 pairs got no grade" in w for w in result.warnings)


def test_a_candidate_that_the_judge_left_out_is_a_missing_grade(make):
    labels = rows()
    judge = make.judge(says_as_labelled(labels), leaves_out=frozenset({"text d0-0"}))
    result = calibrate_judge(judge, make.labels(labels), text_of)
    assert result.errors == {"missing": 1}
    assert result.n == 239


def test_a_judge_whose_calls_all_fail_leaves_everything_undefined(make):
    labels = rows()
    says = dict.fromkeys(says_as_labelled(labels), GradeError.PROVIDER)
    result = calibrate_judge(make.judge(says), make.labels(labels), text_of)
    assert result.level is Level.INSUFFICIENT
    assert (result.n, result.coverage, result.error_rate) == (0, 0.0, 1.0)
    agreement = result.figures.keys() - {"coverage", "error_rate"}
    assert all(result.figures[name].point is None for name in agreement)
    assert {result.figures[name].why for name in agreement} == {
        "no pair has both a label and a grade"
    }
    assert result.figures["coverage"].point == 0
    assert result.errors == {"provider": 240}


def test_no_labelled_document_in_the_catalogue_is_an_error_and_asks_nobody(make):
    judge = make.judge({})
    with pytest.raises(InputError, match="none of the 240 labelled documents"):
        calibrate_judge(judge, make.labels(rows()), lambda _: None)
    assert judge.asked == []


def test_fewer_labels_than_min_labels_are_an_insufficient_set_before_any_call(make):
    judge = make.judge({})
    with pytest.raises(InputError, match="insufficient calibration set: 4 labels"):
        calibrate_judge(judge, make.labels(rows(1, 4)), text_of)
    assert judge.asked == []


def test_too_few_labels_for_want_of_texts_say_so(make):
    """More labels would not mend what the catalogue lacks."""
    with pytest.raises(InputError) as caught:
        calibrate_judge(
            make.judge({}), make.labels(rows(1, 6)), lambda d: text_of(d) if d == "d0-0" else None
        )
    assert caught.value.what == (
        "insufficient calibration set: 1 labels with a text, 5 needed; 5 labelled documents are "
        "not in the catalogue"
    )
    assert "catalogue" in (caught.value.mend or "")


def test_labels_without_a_text_are_counted_and_said(make):
    labels = rows()
    result = calibrate_judge(
        make.judge(says_as_labelled(labels)),
        make.labels(labels),
        lambda d: None if d.startswith("d0-") else text_of(d),
    )
    assert (result.without_text, result.n_asked) == (8, 232)
    assert any("8 labels were not asked about" in w for w in result.warnings)


def test_labels_that_a_judge_made_cannot_measure_a_judge(make):
    builder = ListBuilder(SCALES["0-3"])
    for query, doc_id, grade in rows():
        by = Source.JUDGE if doc_id.endswith("-7") else Source.HUMAN
        builder.add(Query(query), doc_id, grade, Provenance(by))
    judge = make.judge(says_as_labelled(rows()))
    result = calibrate_judge(judge, builder.build(), text_of)
    assert (result.made_by_judge, result.n) == (30, 210)
    with pytest.raises(InputError, match="no label that people made"):
        calibrate_judge(judge, make.labels(rows(), source=Source.JUDGE), text_of)


def test_labels_made_by_rule_are_provisional_with_the_reason(make):
    labels = rows()
    result = calibrate_judge(
        make.judge(says_as_labelled(labels)), make.labels(labels, source=Source.RULE), text_of
    )
    assert result.level is Level.PROVISIONAL
    assert any("240 by rule" in reason for reason in result.reasons)


def test_a_judge_on_another_scale_is_refused(make):
    labels = [("q", f"d{i}", i % 2) for i in range(6)]
    judge = make.judge({f"text d{i}": 3 for i in range(6)})
    with pytest.raises(InputError, match="the labels are on the scale 0-1"):
        calibrate_judge(judge, make.labels(labels, scale="0-1"), text_of, terms=Terms(floor=1))


def test_a_floor_off_the_scale_is_refused_before_any_call(make):
    judge = make.judge({})
    for floor in (0, 4):
        with pytest.raises(UsageError, match="floor"):
            calibrate_judge(judge, make.labels(rows()), text_of, terms=Terms(floor=floor))
    assert judge.asked == []


def test_a_bounded_number_of_queries_is_with_the_judge_at_once(make):
    labels = rows()
    judge = make.judge(says_as_labelled(labels))
    calibrate_judge(judge, make.labels(labels), text_of, in_flight=3)
    assert judge.most_in == 3
    assert len(judge.asked) == 30


def test_progress_counts_pairs_up_to_all(make):
    labels = rows()
    seen: list[tuple[int, int]] = []
    calibrate_judge(
        make.judge(says_as_labelled(labels)),
        make.labels(labels),
        text_of,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert len(seen) == 30
    assert seen[-1] == (240, 240)
    assert seen == sorted(seen)


def test_what_the_judge_raises_comes_through_and_the_other_workers_end(make):
    class Refusing(make.judge):
        async def grade(self, query, candidates):
            if query == "text of q5":
                raise FamilySeparationError("same family")
            return await super().grade(query, candidates)

    labels = rows()
    judge = Refusing(says_as_labelled(labels))
    with pytest.raises(FamilySeparationError, match="same family"):
        calibrate_judge(judge, make.labels(labels), text_of)
    assert len(judge.asked) < 30


def test_cancelling_ends_all_workers(make):
    class Stuck(make.judge):
        async def grade(self, *_):
            await asyncio.sleep(60)
            return []

    async def go() -> int:
        task = asyncio.create_task(acalibrate_judge(Stuck({}), make.labels(rows()), text_of))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1


def test_the_sync_form_inside_an_event_loop_says_what_to_do(make):
    async def go():
        calibrate_judge(make.judge({}), make.labels(rows()), text_of)

    with pytest.raises(UsageError, match="await acalibrate_judge"):
        asyncio.run(go())


def test_recorded_grades_that_lack_a_label_are_missing_not_zero(make):
    labels = rows()
    grades = make.labels([*labels[:-3], ("other", "x", 3)], source=Source.JUDGE)
    pairs = match_grades(make.labels(labels), grades)
    assert len(pairs) == 240
    assert (pairs.judge == UNGRADED).sum() == 3
    result = calibrate_pairs(pairs, scale=SCALES["0-3"])
    assert result.errors == {"missing": 3}
    assert result.figures["kappa"].point == 1


def test_recorded_grades_without_a_common_pair_are_an_error_that_shows_ids(make):
    grades = make.labels([("q0", "other", 1)], source=Source.JUDGE)
    with pytest.raises(InputError, match=r"no labelled pair .*'d0-0'.*'other'"):
        match_grades(make.labels(rows()), grades)


def test_recorded_grades_on_another_scale_are_refused(make):
    grades = make.labels(rows(), source=Source.JUDGE, scale="0-4")
    with pytest.raises(InputError, match="scale"):
        match_grades(make.labels(rows()), grades)


def test_composed_and_decomposed_ids_meet(make):
    labels = make.labels([("caf\u00e9", "d\u00e9", 2)])
    grades = make.labels([("cafe\u0301", "de\u0301", 2)], source=Source.JUDGE)
    assert match_grades(labels, grades).judge.tolist() == [2]


def test_case_m16_a_failure_is_neither_0_nor_dropped_in_silence(shared: Path, make):
    case = shared_case(shared, "M16")
    given = [UNGRADED if g is None else g for g in case["input"]["system_a"]]
    pairs = make.pairs(case["input"]["system_b"], given)
    result = calibrate_pairs(pairs, scale=Scale("0-5", 5), terms=Terms(floor=4))
    assert result.n == case["right"]["expect"]["paired_n"]
    assert result.figures["mean_judge"].point == 4.5
    assert result.figures["mean_human"].point == 4.0
    assert result.n_asked - result.n == 1
    assert any("1 of 3 pairs got no grade" in w for w in result.warnings)


def test_case_m14_high_prevalence_warns_and_shows_ac1_and_pabak_beside_kappa(shared: Path, make):
    case = shared_case(shared, "M14")
    expect = case["right"]["expect"]
    for i, name in enumerate(("table", "other")):
        table = case["input"][name]
        cells = [(h, j) for h in (0, 1) for j in (0, 1) for _ in range(table[h][j])]
        pairs = make.pairs([h for h, _ in cells], [j for _, j in cells])
        result = calibrate_pairs(pairs, scale=SCALES["0-1"], terms=Terms(floor=1, resamples=100))
        assert result.figures["kappa"].point == pytest.approx(expect["kappa"][i], abs=expect["tol"])
        assert result.figures["ac1"].point == pytest.approx(expect["ac1"][i], abs=expect["tol"])
        assert result.figures["pabak"].point == pytest.approx(0.70)
        assert any("prevalence index" in w for w in result.warnings) is (name == "table")


def test_the_worst_disagreements_come_first_with_both_reasons(make):
    builder = ListBuilder(SCALES["0-3"])
    grades = {"a": (3, 0), "b": (0, 1), "c": (2, 2), "d": (1, 3), "e": (1, 2)}
    for doc_id, (human, _) in grades.items():
        builder.add(Query("q"), doc_id, human, Provenance(Source.HUMAN), reason=f"why {doc_id}")
    judge = make.judge({f"text {d}": j for d, (_, j) in grades.items()})
    worst = calibrate_judge(judge, builder.build(), text_of).disagreements
    assert [d.doc_id for d in worst] == ["a", "d", "e", "b"]  # e crosses the floor, b does not
    assert (worst[0].human, worst[0].judge) == (3, 0)
    assert worst[0].judge_reason == "reason for text a"
    assert worst[0].human_reason == "why a"


def test_at_most_20_disagreements_are_listed(make):
    assert (
        len(calibrate_pairs(make.pairs([0] * 30, [3] * 30), scale=SCALES["0-3"]).disagreements)
        == 20
    )


def test_constant_judges_stand_beside(make):
    human = [3] * 10 + [2] * 30 + [0] * 60
    result = calibrate_pairs(make.pairs(human, human), scale=SCALES["0-3"])
    always, majority = result.constants
    assert (always.grade, always.accuracy) == (3, 0.1)
    assert always.f1 == pytest.approx(2 * 0.4 / 1.4)
    assert (majority.grade, majority.accuracy, majority.f1) == (0, 0.6, 0)
    assert always.kappa == majority.kappa == 0


def test_class_counts_are_the_margins_of_the_table(make):
    result = calibrate_pairs(make.pairs([0, 0, 1, 3], [0, 1, 1, 2]), scale=SCALES["0-3"])
    assert result.human_counts == (2, 1, 0, 1)
    assert result.judge_counts == (1, 2, 1, 0)


def test_the_label_set_hash_depends_on_labels_only(make):
    labels = rows(5)
    one = match_grades(make.labels(labels), make.labels(labels, source=Source.JUDGE))
    turned = match_grades(make.labels(labels[::-1]), make.labels(labels, source=Source.JUDGE))
    assert label_set_hash(one) == label_set_hash(turned)
    changed = [(*labels[0][:2], 3 - labels[0][2]), *labels[1:]]
    other = match_grades(make.labels(changed), make.labels(labels, source=Source.JUDGE))
    assert label_set_hash(one) != label_set_hash(other)
    assert len(label_set_hash(one)) == 64


def test_few_queries_and_a_constant_judge_are_warned_of(make):
    pairs = make.pairs([0, 3] * 50, [3] * 100, query=[i % 10 for i in range(100)])
    warned = calibrate_pairs(pairs, scale=SCALES["0-3"]).warnings
    assert any("intervals from 10 queries" in w for w in warned)
    assert any("the judge used one grade only, 3" in w for w in warned)


def test_a_clean_calibration_warns_of_nothing(make):
    labels = rows(40)
    result = calibrate_judge(make.judge(says_as_labelled(labels)), make.labels(labels), text_of)
    assert result.warnings == ()


def test_the_policy_is_named_in_the_result(make):
    pairs = make.pairs([3, 0, 3, 0, 3], [3, 0, 3, 0, 3])
    result = calibrate_pairs(pairs, scale=SCALES["0-3"], terms=Terms(policy=POLICIES["seed"]))
    assert (result.policy.name, result.level) == ("seed", Level.TRUSTED)


def test_no_pair_at_all_is_an_error(make):
    with pytest.raises(InputError, match="do not overlap"):
        calibrate_pairs(make.pairs([], []), scale=SCALES["0-3"])
