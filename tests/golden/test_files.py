"""A golden set comes back as it was written, and a frozen version has one content for good."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relgate.eval.golden.content import content_hash
from relgate.eval.golden.files import (
    freeze,
    golden_schema,
    lock_path,
    read_golden,
    read_lock,
    tag,
    write_golden,
)
from relgate.eval.golden.types import GoldenJudgment, GoldenQuery, GoldenSet, Rating, Retired
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, Source
from relgate.rubrics.errors import GoldenVersionError, InputError, UsageError

AT = "2026-11-30T10:00:00+00:00"


def test_the_sample_of_the_guide_is_read_as_it_stands(guide, write):
    golden = read_golden(write(guide))
    (query,) = golden.queries
    assert (golden.version, golden.k, query.locale) == ("2026-08-01", 10, "en-US")
    assert query.filters == {"product": "billing", "status": "published"}
    assert [(j.doc_id, j.grade) for j in query.judgments] == [
        ("doc-8821", 3),
        ("doc-4410", 2),
        ("doc-1199", 1),
    ]


def test_jsonl_has_the_version_first_and_a_query_a_line(guide, write):
    rows = [{"version": "2026-08-01", "k": 10}, *guide["queries"]]
    path = write("\n".join(map(json.dumps, rows)), "queries.jsonl")
    assert read_golden(path) == read_golden(write(guide))


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8)
_OPTIONAL = st.none() | _TEXT
_RATING = st.builds(Rating, _TEXT, st.integers(0, 3), _OPTIONAL, _OPTIONAL)
_VALUE = _TEXT | st.booleans() | st.integers(-9, 9)
_QUERY = st.builds(
    GoldenQuery,
    id=_TEXT,
    text=_TEXT,
    judgments=st.lists(
        st.builds(
            GoldenJudgment,
            grade=st.integers(0, 3),
            doc_id=_TEXT,
            locator=_OPTIONAL,
            rater=_OPTIONAL,
            rated_at=_OPTIONAL,
            note=_OPTIONAL,
            ratings=st.lists(_RATING, max_size=2).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    locale=_OPTIONAL,
    surface=_OPTIONAL,
    filters=st.none() | st.dictionaries(_TEXT, _VALUE | st.lists(_VALUE).map(tuple), max_size=2),
    stratum=_OPTIONAL,
    weight=st.none() | st.floats(0, 1e9),
    head=st.booleans(),
    critical=st.booleans(),
    set=st.sampled_from(["core", "challenge", "shadow"]),
    expect=st.none() | st.sampled_from(["non-empty", "empty", ">=1 grade>=2"]),
    failure_mode=_OPTIONAL,
    tags=st.lists(_TEXT, max_size=2).map(tuple),
)
_SET = st.builds(
    GoldenSet,
    version=_TEXT,
    queries=st.lists(_QUERY, min_size=1, max_size=3).map(tuple),
    k=st.integers(1, 100),
    scale=st.sampled_from(["0-3", "0-1"]),
    retired=st.lists(st.builds(Retired, _TEXT, _TEXT, _TEXT), max_size=2).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(golden=_SET, suffix=st.sampled_from([".json", ".jsonl"]))
def test_what_was_written_comes_back(tmp_path_factory, golden, suffix):
    path = tmp_path_factory.getbasetemp() / f"set{suffix}"
    write_golden(path, golden)
    again = read_golden(path, faulty=True)
    assert again == golden
    assert content_hash(again) == content_hash(golden)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": "a"}, r"query 'a': text: Field required"),
        ({"id": "a", "text": "b", "colour": 1}, r"query 'a': unknown key 'colour'"),
        ({"id": "a", "text": "b", "set": "main"}, r"query 'a': set: Input should be 'core'"),
        ({"id": "a", "text": "b", "weight": -1}, r"query 'a': weight: .*greater than or equal"),
        ({"id": "a", "text": "b", "judgments": [{"grade": 2.5}]}, r"judgments\.0\.grade: .*int"),
        ({"id": "a", "text": "b", "judgments": [{"grade": True}]}, r"judgments\.0\.grade: .*int"),
        ({"id": "a", "text": "b", "head": "yes"}, r"head: .*boolean"),
        ({"id": "a", "text": "b", "judgments": [{"doc_id": "x", "grade": 7}]}, r"off the scale"),
        ({"id": "a", "text": "b", "judgments": [{"grade": 1}]}, r"neither doc_id nor locator"),
        (7, r"query 1: .*dataclass|dict|object"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_query(write, entry, said):
    with pytest.raises(InputError, match=said):
        read_golden(write({"version": "1", "queries": [entry]}))


def test_a_fault_in_jsonl_has_its_line(write):
    rows = [{"version": "1"}, {"id": "a", "text": "b"}, {"id": "c"}]
    path = write("\n".join(map(json.dumps, rows)), "g.jsonl")
    with pytest.raises(InputError, match=r"g\.jsonl:3: query 'c': text"):
        read_golden(path)


def test_whole_numbers_are_ids_and_vertical_is_stratum(write):
    entry = {"id": 7, "text": "b", "vertical": "billing", "judgments": [{"doc_id": 9, "grade": 1}]}
    (query,) = read_golden(write({"version": "1", "queries": [entry]})).queries
    assert (query.id, query.stratum, query.judgments[0].doc_id) == ("7", "billing", "9")


def test_the_schema_takes_what_the_reader_takes(guide):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(golden_schema())
    assert validator.is_valid(guide)
    guide["queries"][0]["judgments"][0]["grade"] = 2.5
    assert not validator.is_valid(guide)


# --- freezing


def test_a_frozen_version_with_other_content_is_refused(guide, write):
    path = write(guide)
    freeze(path, AT)
    assert read_golden(path).version == "2026-08-01"
    guide["queries"][0]["judgments"][1]["grade"] = 1
    write(guide)
    with pytest.raises(GoldenVersionError, match="frozen with other content") as refused:
        read_golden(path)
    assert refused.value.exit_code == 4


def test_a_changed_set_under_a_new_version_is_fine(guide, write):
    path = write(guide)
    freeze(path, AT)
    guide["queries"][0]["judgments"][1]["grade"] = 1
    guide["version"] = "2026-09-01"
    write(guide)
    freeze(path, AT)
    assert set(read_lock(path)) == {"2026-08-01", "2026-09-01"}


def test_order_of_queries_and_judgments_is_not_content(guide, write):
    path = write(guide)
    before = freeze(path, AT)
    guide["queries"][0]["judgments"].reverse()
    write(guide)
    assert freeze(path, "later") == before


def test_a_live_id_beside_a_locator_is_not_content(guide, write):
    guide["queries"][0]["judgments"][0]["locator"] = "https://x.example/refunds"
    path = write(guide)
    freeze(path, AT)
    guide["queries"][0]["judgments"][0]["doc_id"] = "doc-9999"
    write(guide)
    assert read_golden(path)


def test_only_a_frozen_version_is_tagged_and_a_tag_is_on_one_version(guide, write):
    path = write(guide)
    with pytest.raises(UsageError, match="is not frozen"):
        tag(path, "golden@2026-08-01")
    freeze(path, AT)
    assert tag(path, "golden@2026-08-01").tags == ("golden@2026-08-01",)
    guide["version"] = "next"
    write(guide)
    freeze(path, AT)
    with pytest.raises(UsageError, match="is on version '2026-08-01' already"):
        tag(path, "golden@2026-08-01")


@pytest.mark.parametrize("text", ['{"format": 2}', '{"format": 1, "versions": 3}', "[]"])
def test_a_lock_that_cannot_be_understood_is_refused(guide, write, text):
    path = write(guide)
    lock_path(path).write_text(text)
    with pytest.raises(InputError):
        read_golden(path)


# --- as a judgment list


def test_every_command_reads_a_golden_set_as_a_list(guide, write):
    guide["queries"][0]["judgments"][0]["rater"] = "ann"
    guide["queries"][0]["judgments"].append({"locator": "https://x.example", "grade": 3})
    found = read_list(write(guide), scale=SCALES["0-3"])
    assert found.format == "golden"
    assert found.judgments.grades_by_query() == [{"doc-8821": 3, "doc-4410": 2, "doc-1199": 1}]
    assert found.judgments.counts_by_source() == {Source.HUMAN: 1, Source.IMPORT: 2}
    assert any("locator is not resolved" in note for note in found.notes)
