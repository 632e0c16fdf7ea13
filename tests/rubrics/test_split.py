"""Examples and calibration never share a query."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable

import pytest

from relgate.eval.agreement.split import (
    check_hygiene,
    few_shot_examples,
    split_hash,
    split_of,
    take_part,
)
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source
from relgate.judge.types import Candidate, Example
from relgate.rubrics import load_rubric
from relgate.rubrics.errors import HonestyError, InputError, UsageError

Row = tuple[str, str, int, Source]
RUBRIC = load_rubric()
TUNING = [q for q in (f"query {i}" for i in range(400)) if split_of(q) == "tuning"]
CALIBRATION = [q for q in (f"query {i}" for i in range(400)) if split_of(q) == "calibration"]


def judgments(rows: Iterable[Row], *, scale: str = "0-3") -> JudgmentList:
    builder = ListBuilder(SCALES[scale])
    for query, doc, grade, source in rows:
        builder.add(Query(query), doc, grade, Provenance(source))
    return builder.build()


def human(queries: Iterable[str]) -> list[Row]:
    """Four documents a query, one of each grade."""
    return [(q, f"{q}/{g}", g, Source.HUMAN) for q in queries for g in range(4)]


def candidate(doc_id: str) -> Candidate | None:
    return Candidate(doc_id, f"text of {doc_id}")


def examples(rows: Iterable[Row], *, per_grade: int = 3, seed: int = 7) -> tuple[Example, ...]:
    return few_shot_examples(
        judgments(rows), candidate, rubric=RUBRIC, per_grade=per_grade, seed=seed
    )


@pytest.mark.parametrize("query", ["red shoes", "größe 42", "白い ワンピース", "", "a\nb"])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_a_query_is_tuning_when_its_hash_is_below_the_share(query: str, share: float) -> None:
    data = b""
    for part in ("relgate-split-1", " ".join(query.casefold().split())):
        raw = part.encode()
        data += len(raw).to_bytes(8, "big") + raw
    at = int(hashlib.sha256(data).hexdigest()[:16], 16) / 16**16
    assert split_of(query, tuning_share=share) == ("tuning" if at < share else "calibration")


def test_about_the_stated_share_of_queries_is_tuning() -> None:
    n = 20_000
    tuning = sum(split_of(f"shop query no. {i}") == "tuning" for i in range(n))
    deviation = (0.2 * 0.8 / n) ** 0.5  # binomial
    assert abs(tuning / n - 0.2) < 4 * deviation


def test_a_greater_share_moves_queries_one_way_only() -> None:
    for i in range(500):
        parts = [split_of(str(i), tuning_share=share) for share in (0, 0.1, 0.3, 0.7, 1)]
        assert parts == sorted(parts)  # calibration ..., then tuning ...
        assert (parts[0], parts[-1]) == ("calibration", "tuning")


def test_another_salt_is_another_split() -> None:
    queries = [str(i) for i in range(200)]
    assert {q for q in queries if split_of(q, salt="other") != split_of(q)}


def test_one_text_composed_or_not_and_in_any_case_is_in_one_part() -> None:
    for i in range(200):
        composed = f"Größe {i} café"
        loose = unicodedata.normalize("NFD", composed)
        assert loose != composed
        variants = {composed, loose, composed.upper(), f"  {composed.replace(' ', '  ')}"}
        assert len({split_of(x) for x in variants}) == 1


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="tuning_share"):
        split_of("q", tuning_share=share)


def test_the_parts_of_a_list_are_whole_queries_and_together_all_of_it() -> None:
    whole = judgments(human([*TUNING[:5], *CALIBRATION[:5]]))
    parts = [take_part(whole, "tuning"), take_part(whole, "calibration")]
    by_query = [{row.query.id for row in part.rows()} for part in parts]
    assert by_query == [set(TUNING[:5]), set(CALIBRATION[:5])]
    assert sum(len(part) for part in parts) == len(whole)


def test_a_query_with_a_text_is_split_by_the_text_not_by_its_id() -> None:
    builder = ListBuilder(SCALES["0-3"])
    builder.add(Query("q1", TUNING[0]), "d", 3, Provenance(Source.HUMAN))
    builder.add(Query(TUNING[1], CALIBRATION[0]), "d", 3, Provenance(Source.HUMAN))
    kept = take_part(builder.build(), "tuning")
    assert [row.query.id for row in kept.rows()] == ["q1"]


def test_the_hash_of_a_split_ignores_order_and_repeats_and_heeds_the_rest() -> None:
    queries = ["b", "a", "café"]
    same = split_hash(queries)
    assert split_hash(["cafe\u0301", "a", "b", "a"]) == same
    assert len(same) == 64
    assert split_hash([*queries, "c"]) != same
    assert split_hash(queries, tuning_share=1) != same


def test_no_example_is_of_a_calibration_query() -> None:
    rows = human([*TUNING[:20], *CALIBRATION[:80]])
    for seed in range(20):
        found = examples(rows, seed=seed)
        assert {x.query for x in found} <= set(TUNING)
        check_hygiene(
            (x.query for x in found),
            (row.query.shown for row in take_part(judgments(rows), "calibration").rows()),
        )


def test_examples_hold_as_many_of_each_grade_as_asked() -> None:
    found = examples(human(TUNING[:20]), per_grade=3)
    assert Counter(x.label for x in found) == {"E": 3, "S": 3, "C": 3, "I": 3}


def test_examples_say_the_label_that_the_list_has() -> None:
    for x in examples(human(TUNING[:20])):
        assert x.text == f"text of {x.query}/{RUBRIC.label_of(x.label).grade}"  # type: ignore[union-attr]


def test_examples_are_of_different_queries_while_there_are_enough() -> None:
    found = examples(human(TUNING[:12]), per_grade=3)
    assert len({x.query for x in found}) == 12


def test_examples_do_not_depend_on_the_lists_order() -> None:
    rows = human(TUNING[:20])
    assert examples(rows) == examples(rows[::-1])


def test_another_seed_draws_other_examples() -> None:
    rows = human(TUNING[:30])
    assert examples(rows, seed=1) == examples(rows, seed=1)
    assert examples(rows, seed=1) != examples(rows, seed=2)


def test_grades_do_not_stand_in_a_row() -> None:
    orders = {"".join(x.label for x in examples(human(TUNING[:20]), seed=s)) for s in range(10)}
    assert not orders & {"EEESSSCCCIII", "IIICCCSSSEEE"}
    assert len(orders) > 5


def test_peoples_labels_come_first_and_a_judges_never() -> None:
    q = TUNING
    rows: list[Row] = [
        *((query, f"{query}/judge", 3, Source.JUDGE) for query in q[:20]),
        *((query, f"{query}/rule", 3, Source.RULE) for query in q[20:40]),
        *((query, f"{query}/import", 3, Source.IMPORT) for query in q[20:40]),
        (q[40], "person", 3, Source.HUMAN),
        (q[40], "another", 3, Source.HUMAN),
    ]
    for seed in range(10):
        texts = {x.text for x in examples(rows, per_grade=4, seed=seed)}
        assert {"text of person", "text of another"} < texts
        assert len(texts) == 4
        assert not any("judge" in text for text in texts)


def test_a_document_without_a_text_is_no_example() -> None:
    rows = human(TUNING[:10])

    def some(doc_id: str) -> Candidate | None:
        if doc_id.endswith("/3"):
            return None
        return Candidate(doc_id, " " if doc_id.endswith("/2") else doc_id)

    found = few_shot_examples(judgments(rows), some, rubric=RUBRIC, per_grade=2, seed=0)
    assert Counter(x.label for x in found) == {"C": 2, "I": 2}


def test_labels_of_calibration_queries_or_of_a_judge_alone_give_no_examples() -> None:
    for rows in (
        human(CALIBRATION[:20]),
        [(q, "d", 3, Source.JUDGE) for q in TUNING[:20]],
    ):
        with pytest.raises(InputError, match="no tuning query has a label"):
            examples(rows)


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(UsageError, match="per_grade is 0"):
        examples(human(TUNING[:2]), per_grade=0)
    five = judgments([(TUNING[0], "d", 4, Source.HUMAN)], scale="0-4")
    with pytest.raises(UsageError, match="rubric esci-v1 grades 0 to 3"):
        few_shot_examples(five, candidate, rubric=RUBRIC, per_grade=1, seed=0)


def test_a_calibration_on_the_judges_own_examples_is_refused_with_exit_code_5() -> None:
    shown = ["red shoes", "CAFÉ tisch", "a", "b"]
    with pytest.raises(HonestyError) as error:
        check_hygiene(shown, ["Red  Shoes", "cafe\u0301 tisch", "blue", "a", "b"])
    assert error.value.exit_code == 5
    assert str(error.value).startswith(
        "4 calibration queries are among those that shaped the judge"
    )
    assert "and 1 more" in str(error.value)
    with pytest.raises(HonestyError, match="1 calibration query is among"):
        check_hygiene(shown, ["red shoes", "red shoes"])


def test_a_calibration_on_other_queries_passes() -> None:
    check_hygiene(["red shoes"], ["red shoe", "shoes", "shoes red"])
    check_hygiene([], ["red shoes"])


def test_marks_in_another_order_are_the_same_query() -> None:
    # Canonically equal; folding alone would turn U+0345 into a letter and part them for good.
    one, other = "\u03b1\u0301\u0345", "\u03b1\u0345\u0301"
    assert unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    with pytest.raises(HonestyError):
        check_hygiene([one], [other])
