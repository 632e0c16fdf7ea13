"""Labels that shaped a judge may not calibrate it."""

from __future__ import annotations

from pathlib import Path

import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.certificate import make_certificate
from relgate.eval.agreement.markdown import calibration_markdown
from relgate.eval.agreement.pairs import JudgeIdentity
from relgate.eval.agreement.split import NOTHING_DECLARED, kept_apart, split_of
from relgate.eval.calibrating import read_tuning
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.rubrics.errors import HonestyError, InputError


def labels(*queries: Query):
    builder = ListBuilder(SCALES["0-3"])
    for query in queries:
        for i in range(2):
            builder.add(query, f"d{i}", i, Provenance(Source.HUMAN))
    return builder.build()


MANY = [Query(str(i), f"query number {i}") for i in range(50)]


def test_nothing_declared_keeps_all_and_records_nothing():
    kept, hygiene = kept_apart(labels(*MANY), [], split=False)
    assert len(kept) == 100
    assert hygiene == NOTHING_DECLARED


@pytest.mark.parametrize(
    ("label", "tuning"),
    [
        (Query("1", "red shoes"), Query("x", "red shoes")),
        (Query("1", "red shoes"), Query("x", "  RED   shoes ")),
        (Query("1", "café"), Query("x", "café")),
        (Query("q1", "red shoes"), Query("q1")),  # a list of ids alone
        (Query("q1"), Query("q1", "red shoes")),
        (Query("red shoes"), Query("x", "red shoes")),  # keyed by text
    ],
)
def test_a_query_on_both_sides_is_refused_by_name(label: Query, tuning: Query):
    with pytest.raises(HonestyError, match="1 calibration query is among") as caught:
        kept_apart(labels(label, *MANY), [tuning], split=False)
    assert caught.value.exit_code == 5
    assert repr(label.shown) in str(caught.value)


def test_one_id_of_two_different_texts_is_two_queries():
    kept, _ = kept_apart(labels(Query("1", "red shoes")), [Query("1", "blue hat")], split=False)
    assert len(kept) == 2


def test_the_tuning_set_is_hashed_whatever_its_order_and_spelling():
    tuning = [Query("a", "Red shoes"), Query("b", "hat")]
    _, one = kept_apart(labels(*MANY), tuning, split=False)
    _, two = kept_apart(labels(*MANY), [Query("z", "HAT"), Query("y", "red  shoes")], split=False)
    _, other = kept_apart(labels(*MANY), tuning[:1], split=False)
    assert one.tuning_hash == two.tuning_hash != other.tuning_hash
    assert one.tuning_queries == 2


def test_the_split_leaves_out_the_tuning_part_by_query_and_is_hashed():
    kept, hygiene = kept_apart(labels(*MANY), [], split=True)
    part = [q for q in MANY if split_of(q.shown) == "calibration"]
    assert {row.query for row in kept.rows()} == set(part)
    assert hygiene.left_out == 100 - 2 * len(part) > 0
    assert hygiene.split_hash is not None


def test_a_query_of_the_tuning_part_may_be_declared_when_the_split_is_taken():
    tuned = next(q for q in MANY if split_of(q.shown) == "tuning")
    kept, hygiene = kept_apart(labels(*MANY), [tuned], split=True)
    assert hygiene.tuning_queries == 1
    with pytest.raises(HonestyError):
        kept_apart(labels(*MANY), [tuned], split=False)
    with pytest.raises(HonestyError):
        kept_apart(labels(*MANY), [next(row.query for row in kept.rows())], split=True)


def test_what_was_kept_apart_is_in_the_result_the_page_and_the_certificate(make):
    _, hygiene = kept_apart(labels(*MANY), [Query("x", "elsewhere")], split=True)
    result = calibrate_pairs(
        make.pairs([0, 3] * 60, [0, 3] * 60),
        scale=SCALES["0-3"],
        terms=Terms(hygiene=hygiene),
        judge=JudgeIdentity("v@1", "f1"),
    )
    page = calibration_markdown(result)
    assert "1 queries declared or shown as tuning" in page
    assert f"{hygiene.left_out} labels of the tuning part were left out" in page
    made = make_certificate(result, now=_now())
    assert (made.tuning_hash, made.split_hash) == (hygiene.tuning_hash, hygiene.split_hash)


def _now():
    from datetime import UTC, datetime  # noqa: PLC0415

    return datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.csv", "query,doc_id,grade\nred shoes,d1,3\nred shoes,d2,0\nhat,d1,1\n"),
        ("queries.csv", "query_id,query\n1,red shoes\n2,hat\n"),
        ("texts.jsonl", '{"query": "red shoes"}\n{"query": "hat"}\n'),
    ],
)
def test_tuning_queries_are_read_from_labels_or_from_queries(tmp_path: Path, name: str, text: str):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    found = read_tuning([path], SCALES["0-3"])
    assert [query.shown for query in found] == ["red shoes", "hat"]


def test_tuning_queries_are_read_from_trec_qrels(tmp_path: Path):
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 d1 3\nq2 0 d1 0\n")
    assert [q.id for q in read_tuning([path], SCALES["0-3"])] == ["q1", "q2"]


def test_a_tuning_file_that_is_neither_is_an_error(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"x\.csv"):
        read_tuning([path], SCALES["0-3"])
