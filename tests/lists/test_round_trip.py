"""import(export(x)) == x, for lists and runs, whatever characters they hold."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from shared_cases import shared_case

from relgate.eval import files
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.csv_list import cell_text
from relgate.eval.lists.foreign import FOREIGN_FORMATS, Target
from relgate.eval.lists.read import read_list
from relgate.eval.lists.table import guarded, unguarded
from relgate.eval.lists.types import SCALES, JudgmentList, Provenance, Query, Source, match_key
from relgate.eval.lists.write import WRITE_FORMATS, write_list
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.runs.write import write_run
from relgate.rubrics.errors import InputError

SCALE = SCALES["0-3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples: making a thousand is slow."""
    return tmp_path_factory.mktemp("round")


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written matters here, not that it outlives a power cut."""
    monkeypatch.setattr(files.os, "fsync", lambda _: None)


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
ODD = (
    *("=1+1", "'=x", "''-y", "-5", "'-5", "+3.2", "1e5", "00123", "a,b", 'a"b', "'", "''"),
    *("\r", "a\nb", "\t@x", "\ufeffx", "\x00", "\x1c", "a\u2028b", " a ", "\uff1dA1"),
    *("{", "[", "null"),
)
NASTY = st.sampled_from(ODD)
TEXT = st.one_of(NASTY, ANY_TEXT)
NO_BLANK = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\f\v\ufeff"),
    min_size=1,
    max_size=8,
)
MAYBE = st.none() | TEXT
MAYBE_EMPTY = st.none() | st.just("") | TEXT
ORIGIN = st.builds(
    Provenance, st.sampled_from(Source), MAYBE_EMPTY, MAYBE, MAYBE, MAYBE, MAYBE, MAYBE
)


@st.composite
def lists(
    draw: st.DrawFn, ids: st.SearchStrategy[str] = TEXT, *, rich: bool = True
) -> JudgmentList:
    names = draw(st.lists(ids, min_size=1, max_size=4, unique_by=match_key))
    queries = [Query(name, draw(st.sampled_from([None, name]) | TEXT)) for name in names]
    builder = ListBuilder(SCALE)
    for query in draw(st.permutations(queries)) if rich else ():
        if draw(st.booleans()):
            builder.add_query(query)
    for _ in range(draw(st.integers(1 if not rich else 0, 6))):
        query = draw(st.sampled_from(queries))
        doc_id, grade = draw(ids), draw(st.integers(0, 3))
        origin = draw(ORIGIN) if rich else Provenance(Source.IMPORT)
        reason, text_hash = (draw(MAYBE_EMPTY), draw(MAYBE)) if rich else (None, None)
        builder.add(query, doc_id, grade, origin, reason=reason, text_hash=text_hash)
    try:
        made = builder.build()
    except InputError:
        made = ListBuilder(SCALE).build()
    return made


def _same(one: JudgmentList, two: JudgmentList) -> None:
    assert one.queries == two.queries
    assert list(one.rows()) == list(two.rows())


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(lists(), st.sampled_from(["csv", "json", "jsonl", "parquet"]))
def test_the_formats_of_our_own_give_back_the_whole_list(folder, judgments, file_format):
    if not judgments.queries:
        return
    path = folder / "list"
    assert write_list(path, judgments, format=file_format) == ()
    file = read_list(path, scale=SCALE)
    assert file.format == file_format
    _same(judgments, file.judgments)


# What a foreign format has a place for: the id beside the text, bare queries, raters, reasons.
KEEPS = {
    "ltr": {"id", "bare"},
    "opensearch": {"bare"},
    "quepid-book": {"rater", "reason"},
    "quepid-book-csv": {"bare", "rater"},
    "quepid-csv": {"bare"},
    "quepid-ratings": {"bare"},
    "rank-eval-request": {"id", "bare"},
    "rre": {"bare"},
}
TARGET = Target(index="shop-v7", search={"query": {"match": {"title": "{{query}}"}}})
# Refusals that a random text may meet, each a stated limit of the format.
LIMITS = "holds a blank|line end|end of a line|first blank off|another column has that name"


def test_every_foreign_format_is_among_those_that_come_back():
    assert set(KEEPS) == set(FOREIGN_FORMATS)
    assert set(WRITE_FORMATS) == {
        *("csv", "esci", "json", "jsonl", "parquet", "trec", "wands"),
        *KEEPS,
    }


@st.composite
def foreign_lists(draw: st.DrawFn, keeps: set[str]) -> JudgmentList:
    texts = draw(st.lists(TEXT, min_size=1, max_size=4, unique_by=match_key))
    builder = ListBuilder(SCALE)
    for number, text in enumerate(texts):
        query = Query(f"id{number}", text) if "id" in keeps else Query(text, text)
        docs = draw(st.lists(TEXT, min_size="bare" not in keeps, max_size=4, unique_by=match_key))
        builder.add_query(query)
        for doc_id in docs:
            rater = draw(st.sampled_from([None, "Ann", "Bo"])) if "rater" in keeps else None
            reason = draw(MAYBE_EMPTY) if "reason" in keeps else None
            origin = Provenance(Source.IMPORT, rater)
            builder.add(query, doc_id, draw(st.integers(0, 3)), origin, reason=reason)
    return builder.build()


@pytest.mark.parametrize("file_format", sorted(KEEPS))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_foreign_format_gives_back_all_that_it_carries(folder, file_format, data):
    judgments = data.draw(foreign_lists(KEEPS[file_format]))
    try:
        left = write_list(folder / "list", judgments, format=file_format, target=TARGET)
    except InputError as refusal:
        assert re.search(LIMITS, str(refusal))  # noqa: PT017 - some are written, some refused
        reject()
    assert left == ()
    file = read_list(folder / "list", scale=SCALE, format=file_format)
    assert file.format == file_format
    assert (file.repeats, file.unlabelled) == (0, 0)
    assert sorted(judgments.queries, key=str) == sorted(file.judgments.queries, key=str)
    assert sorted(judgments.rows(), key=str) == sorted(file.judgments.rows(), key=str)


@st.composite
def labelled_lists(draw: st.DrawFn, scale: str) -> JudgmentList:
    """Lists on a scale of labels; WANDS' labels stand without texts."""
    names = draw(st.lists(TEXT, min_size=1, max_size=4, unique_by=match_key))
    builder = ListBuilder(SCALES[scale])
    for name in names:
        query = Query(name, draw(st.none() | st.just(name) | TEXT) if scale == "esci" else None)
        for doc_id in draw(st.lists(TEXT, min_size=1, max_size=4, unique_by=match_key)):
            grade = draw(st.integers(0, SCALES[scale].max_grade))
            builder.add(query, doc_id, grade, Provenance(Source.IMPORT))
    return builder.build()


@pytest.mark.parametrize("scale", ["esci", "wands"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_labels_come_back_as_the_grades_that_they_were(folder, scale, data):
    judgments = data.draw(labelled_lists(scale))
    try:
        left = write_list(folder / "labels", judgments, format=scale)
    except InputError as refusal:
        assert "it holds a tab, quote or line end" in str(refusal)  # noqa: PT017
        reject()
    assert left == ()
    file = read_list(folder / "labels", scale=SCALES[scale])
    assert file.format == scale
    assert list(judgments.rows()) == list(file.judgments.rows())


@pytest.mark.parametrize("file_format", ["esci", "wands"])
def test_grades_of_another_scale_are_not_called_labels(tmp_path, file_format):
    builder = ListBuilder(SCALE)
    builder.add(Query("q"), "d", 1, Provenance(Source.IMPORT))
    with pytest.raises(InputError, match="the list's scale is 0-3"):
        write_list(tmp_path / "list", builder.build(), format=file_format)
    assert not (tmp_path / "list").exists()


@pytest.mark.parametrize("source", sorted(KEEPS))
@pytest.mark.parametrize("target", sorted(KEEPS))
def test_every_pair_of_foreign_formats_hands_on_a_plain_list(tmp_path, source, target):
    builder = ListBuilder(SCALE)
    for number, text in enumerate(["red shoes", "oak desk"]):
        for grade in range(4):
            builder.add(Query(text, text), f"p{number}{grade}", grade, Provenance(Source.IMPORT))
    plain = builder.build()
    one, two = tmp_path / "one", tmp_path / "two"
    write_list(one, plain, format=source, target=TARGET) if source != "ltr" else write_list(
        one, _with_ids(plain), format=source
    )
    middle = read_list(one, scale=SCALE, format=source).judgments
    write_list(two, _with_ids(middle) if target == "ltr" else middle, format=target, target=TARGET)
    back = read_list(two, scale=SCALE, format=target).judgments
    assert [(r.query.text, r.doc_id, r.grade) for r in back.rows()] == [
        (r.query.text, r.doc_id, r.grade) for r in plain.rows()
    ]


def _with_ids(judgments: JudgmentList) -> JudgmentList:
    queries = tuple(Query(str(n), q.text) for n, q in enumerate(judgments.queries, start=1))
    return replace(judgments, queries=queries)


def _rich() -> JudgmentList:
    builder = ListBuilder(SCALE)
    builder.add_query(Query("9", "bare"))
    origin = Provenance(Source.HUMAN, rater="ann", judged_at="2026-01-01")
    builder.add(Query("1", "rot"), "d", 1, origin, reason="fits", text_hash="ab")
    return builder.build()


# name -> what is said to be left out of `_rich`, by what each format has a place for
@pytest.mark.parametrize(
    ("file_format", "said"),
    [
        ("ltr", "kinds of provenance|reasons|text hashes"),
        ("opensearch", "query ids|kinds of provenance|reasons|text hashes"),
        ("quepid-book", "queries without a judgment|query ids|kinds of provenance|text hashes"),
        ("quepid-book-csv", "query ids|kinds of provenance|reasons|text hashes"),
        ("rank-eval-request", "kinds of provenance|reasons|text hashes"),
        ("trec", "queries without a judgment|query texts|kinds of provenance|reasons|text hashes"),
    ],
)
def test_what_a_format_leaves_out_is_said(tmp_path, file_format, said):
    left = write_list(tmp_path / "list", _rich(), format=file_format, target=TARGET)
    assert [line.split(": ")[1].split(" ", 1)[1] for line in left] == said.split("|")


def test_a_rater_alone_is_provenance_too(tmp_path):
    builder = ListBuilder(SCALE)
    builder.add(Query("1"), "d", 1, Provenance(Source.IMPORT, rater="ann"))
    left = write_list(tmp_path / "list", builder.build(), format="trec")
    assert left == ("not in TREC qrels: 1 kinds of provenance",)


@pytest.mark.parametrize(
    ("queries", "file_format", "target", "word"),
    [
        ([Query("301")], "opensearch", TARGET, "1 have none .* '301'"),
        ([Query("1", "a"), Query("2", "a")], "rre", TARGET, "two have the text 'a'"),
        ([Query("a", "a")], "rre", Target(), "--index"),
        ([Query("a", "a")], "rank-eval-request", Target(index="i"), "--search"),
        ([Query("a b", "a b")], "ltr", TARGET, "holds a blank"),
        ([Query("a", " =x")], "quepid-csv", TARGET, "first blank off"),
    ],
)
def test_what_a_format_cannot_carry_is_refused_and_nothing_written(
    tmp_path, queries, file_format, *, target, word
):
    builder = ListBuilder(SCALE)
    for query in queries:
        builder.add(query, "d", 1, Provenance(Source.IMPORT))
    with pytest.raises(InputError, match=word):
        write_list(tmp_path / "list", builder.build(), format=file_format, target=target)
    assert not (tmp_path / "list").exists()


def test_a_quepid_import_names_its_case(tmp_path):
    builder = ListBuilder(SCALE)
    builder.add(Query("red shoes", "red shoes"), "p1", 3, Provenance(Source.IMPORT))
    path = tmp_path / "list"
    write_list(path, builder.build(), format="quepid-ratings", target=Target(case_id=7))
    assert json.loads(path.read_text()) == {
        "case_id": 7,
        "ratings": [{"query_text": "red shoes", "doc_id": "p1", "rating": 3}],
    }
    builder.add_query(Query("bare", "bare"))
    with pytest.raises(InputError, match="without a judgment"):
        write_list(path, builder.build(), format="quepid-ratings", target=Target(case_id=7))


def test_a_quepid_csv_is_written_as_quepid_does(tmp_path):
    builder = ListBuilder(SCALE)
    builder.add(Query("=x", "=x"), "p1", 3, Provenance(Source.IMPORT))
    builder.add_query(Query("oak desk", "oak desk"))
    write_list(tmp_path / "list", builder.build(), format="quepid-csv")
    assert (tmp_path / "list").read_text() == "query,docid,rating\n =x,p1,3.0\noak desk,,"


def _random_text(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(ODD)
    pool = rng.choice([range(0x80), range(0x20, 0x7F), range(0xD800), range(0xE000, 0x110000)])
    return "".join(chr(rng.choice(pool)) for _ in range(rng.randint(1, 6)))


def _random_list(rng: random.Random) -> JudgmentList:
    builder = ListBuilder(SCALE)
    queries = {match_key(text): text for text in (_random_text(rng) for _ in range(5))}
    for text in queries.values():
        query = Query(text, rng.choice([None, text, _random_text(rng)]))
        docs = {
            match_key(doc): doc for doc in (_random_text(rng) for _ in range(rng.randint(0, 9)))
        }
        builder.add_query(query)
        for doc_id in docs.values():
            origin = Provenance(rng.choice(list(Source)), rng.choice([None, _random_text(rng)]))
            reason = rng.choice([None, "", _random_text(rng)])
            builder.add(query, doc_id, rng.randrange(4), origin, reason=reason)
    return builder.build()


def test_a_thousand_random_lists_come_back(folder):
    rng = random.Random(14)  # noqa: S311 - no secret
    for number in range(1000):
        judgments = _random_list(rng)
        file_format = ("csv", "jsonl")[number % 2]
        write_list(folder / "list", judgments, format=file_format)
        _same(judgments, read_list(folder / "list", scale=SCALE).judgments)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(lists(NO_BLANK, rich=False))
def test_trec_gives_back_ids_and_grades(folder, judgments):
    if not len(judgments):
        return
    path = folder / "list.qrels"
    write_list(path, judgments, format="trec")
    back = read_list(path, scale=SCALE, format="trec").judgments
    assert [(r.query.id, r.doc_id, r.grade) for r in judgments.rows()] == [
        (r.query.id, r.doc_id, r.grade) for r in back.rows()
    ]


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "trec"])
def test_export_holds_all_23_ratings(tmp_path, shared, file_format):
    case = shared_case(shared, "I14")
    builder = ListBuilder(SCALE)
    for number in range(case["input"]["rated_docs_for_query"]):
        builder.add(Query("q"), f"d{number}", number % 4, Provenance(Source.IMPORT))
    path = tmp_path / "list"
    write_list(path, builder.build(), format=file_format)
    assert len(read_list(path, scale=SCALE).judgments) == case["right"]["expect"]["rows"]


@pytest.mark.parametrize("id_", ["red shoe 42", "a\tb", "a\nb", "\ufeffa"])
def test_trec_refuses_ids_that_would_shift_its_columns(tmp_path, id_):
    builder = ListBuilder(SCALE)
    builder.add(Query("q"), id_, 1, Provenance(Source.IMPORT))
    path = tmp_path / "a.qrels"
    with pytest.raises(InputError, match="TREC cannot carry the document id"):
        write_list(path, builder.build(), format="trec")
    assert not path.exists()


def test_trec_says_what_it_leaves_out(tmp_path):
    builder = ListBuilder(SCALE)
    builder.add_query(Query("bare"))
    origin = Provenance(Source.HUMAN, rater="ann")
    builder.add(Query("1", "rot"), "d", 1, origin, reason="fits", text_hash="ab")
    left = write_list(tmp_path / "a.qrels", builder.build(), format="trec")
    assert left == (
        "not in TREC qrels: 1 queries without a judgment",
        "not in TREC qrels: 1 query texts",
        "not in TREC qrels: 1 kinds of provenance",
        "not in TREC qrels: 1 reasons",
        "not in TREC qrels: 1 text hashes",
    )


def test_a_filtered_list_keeps_the_order_of_its_queries(tmp_path):
    builder = ListBuilder(SCALE)
    for query in "abc":
        builder.add(Query(query, query), "d", 1, Provenance(Source.IMPORT))
    filtered = builder.build().take(builder.build().query == 2)
    write_list(tmp_path / "a.csv", filtered)
    _same(filtered, read_list(tmp_path / "a.csv", scale=SCALE).judgments)


def test_columns_that_no_row_uses_are_not_written(tmp_path):
    builder = ListBuilder(SCALE)
    builder.add(Query("red shoes", "red shoes"), "p1", 3, Provenance(Source.IMPORT))
    write_list(tmp_path / "a.csv", builder.build())
    assert (tmp_path / "a.csv").read_text() == "query,doc_id,grade\nred shoes,p1,3\n"


@pytest.mark.parametrize(
    "text", ["=HYPERLINK(1)", "+a", "-a", "@a", "\ta", "\ra", "\uff1da", "'=a"]
)
def test_what_a_spreadsheet_would_run_gets_a_guard(text):
    assert guarded(text) == "'" + text


@pytest.mark.parametrize("text", ["-5", "+3.2", "-1,5", "-1e5", "00123", "a=b", "'tis", "''a", ""])
def test_numbers_and_plain_text_get_no_guard(text):
    assert guarded(text) == text
    assert unguarded(text) == text


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_case_s02_cells_are_guarded_and_come_back(tmp_path, shared, file_format):
    case = shared_case(shared, "S02")
    cells, kept = case["input"]["cells"], case["right"]["expect"]["number_kept"]
    builder = ListBuilder(SCALE)
    for text in cells:
        builder.add(Query(text, text), text, 1, Provenance(Source.HUMAN), reason=text)
    path = tmp_path / f"list.{file_format}"
    write_list(path, builder.build(), format=file_format)
    back = list(read_list(path, scale=SCALE).judgments.rows())
    assert [(r.query.id, r.doc_id, r.reason) for r in back] == [(c,) * 3 for c in cells]
    text = path.read_text("utf-8")
    assert ("'=HYPERLINK" in text) is (file_format == "csv")  # JSONL is for machines: unchanged
    assert f"'{kept}" not in text
    assert kept in text


@given(TEXT | st.just(""), st.booleans())
def test_the_guard_comes_off_exactly(text, optional):
    assert unguarded(guarded(text, optional=optional), optional=optional) == text


def test_no_text_and_the_empty_text_differ_in_a_cell():
    assert cell_text("reason", None) == ""
    assert cell_text("reason", "") == "'"


@st.composite
def runs(draw: st.DrawFn, ids: st.SearchStrategy[str] = TEXT, *, rich: bool = True) -> Run:
    names = draw(st.lists(ids, min_size=1, max_size=4, unique_by=match_key))
    found = st.lists(ids, min_size=0 if rich else 1, max_size=4).map(tuple)
    return Run(
        name="r",
        queries=tuple(Query(name, draw(MAYBE) if rich else None) for name in names),
        docs=tuple(draw((st.none() | found) if rich else found) for _ in names),
        failures={name: draw(TEXT) for name in names if rich and draw(st.booleans())},
    )


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs())
def test_a_run_as_jsonl_comes_back_with_failures_and_unknown_hits(folder, run):
    path = folder / "r.jsonl"
    assert write_run(path, run) == ()
    back = read_run(path)
    assert back.format == "jsonl"
    assert (back.name, back.queries, back.docs, dict(back.failures)) == (
        run.name,
        run.queries,
        run.docs,
        dict(run.failures),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs(NO_BLANK, rich=False))
def test_a_run_as_trec_comes_back_in_its_order(folder, run):
    path = folder / "x.run"
    assert write_run(path, run) == ()
    back = read_run(path, format="trec")
    assert (back.name, back.queries, back.docs) == (run.name, run.queries, run.docs)


def test_trec_refuses_a_run_with_failures_and_says_which_queries_are_empty(tmp_path):
    failed = Run("r", (Query("q"),), (None,), {"q": "broke"})
    with pytest.raises(InputError, match="cannot carry query 'q'"):
        write_run(tmp_path / "r.run", failed)
    with pytest.raises(InputError, match="'a b': it holds a blank"):
        write_run(tmp_path / "r.trec", Run("r", (Query("q"),), (("a b",),)))
    empty = Run("r", (Query("q"), Query("e")), (("d",), ()))
    assert write_run(tmp_path / "r.run", empty) == ("not in a TREC run: 1 queries without a hit",)
