"""What becomes a pair to grade, and what of it is shown."""

from __future__ import annotations

import json

import pytest

from relgate.eval.catalogue import read_catalogue
from relgate.eval.label.gather import gather, judge_grades, judged_rows
from relgate.eval.label.language import LANGUAGES, language
from relgate.eval.label.shown import keys_of
from relgate.eval.label.types import SKIP_REASONS, Task
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.queries import read_queries
from relgate.eval.sampling.read import read_sheet
from relgate.eval.sampling.sheet import SheetRow, sheet_text
from relgate.rubrics import Label, load_rubric
from relgate.rubrics.errors import InputError


def catalogue(tmp_path, *products):
    path = tmp_path / "catalogue.jsonl"
    path.write_text("\n".join(json.dumps(product) for product in products))
    return read_catalogue(path)


def test_a_card_has_the_fields_that_a_judge_sees_in_its_order(tmp_path):
    product = {"id": "a", "price": 9.5, "currency": "EUR", "name": "Shoe", "stock": 3, "color": []}
    found = catalogue(tmp_path, product)
    assert found.fields("a") == (("title", "Shoe"), ("price", "9.5 EUR"))
    assert found.candidate("a").text == "title: Shoe | price: 9.5 EUR"
    assert found.fields("b") == ()


@pytest.mark.parametrize(
    ("fields", "image"),
    [
        ({"image": "a.png"}, "a.png"),
        ({"Image URL": " https://x.example/a.png "}, "https://x.example/a.png"),
        ({"images": ["a.png", "b.png"]}, "a.png"),
        ({"images": []}, None),
        ({"image": 3, "thumbnail": "t.png"}, "t.png"),
        ({"image": {"url": "x"}}, None),
        ({}, None),
    ],
)
def test_the_first_image_of_a_product(fields, image, tmp_path):
    assert catalogue(tmp_path, {"id": "a", "title": "A", **fields}).image("a") == image


def test_a_task_has_todays_text_the_need_and_the_image_that_may_be_loaded(tmp_path):
    found = catalogue(
        tmp_path,
        {"id": "a", "title": "Shoe", "image": "ok.png"},
        {"id": "b", "title": "Boot", "image": "https://elsewhere.example/b.png"},
        {"id": "c"},
    )
    (tmp_path / "queries.csv").write_text(
        'query_id,query,need,filters,locale\nq1,shoe,"for a wedding",size=42,de-AT\n'
    )
    rows = [
        SheetRow(Query("q1"), "a", "title: Shoe, old"),
        SheetRow(Query("q1"), "b", ""),
        SheetRow(Query("q1"), "c", ""),
        SheetRow(Query("q2", "x"), "gone", "as on the sheet", {"narrative": "of the sheet"}),
        SheetRow(Query("q1"), "a", "title: Shoe"),
    ]
    got = gather(
        rows,
        catalogue=found,
        table=read_queries(tmp_path / "queries.csv"),
        image_address=lambda value: f"/images/{value}" if value == "ok.png" else None,
    )
    one, two, sheet_only = got.tasks
    assert (one.query, one.text) == (Query("q1", "shoe"), "title: Shoe")
    assert (one.need, one.filters, one.locale) == ("for a wedding", "size=42", "de-AT")
    assert (one.image, one.image_held_back) == ("/images/ok.png", False)
    assert (two.image, two.image_held_back) == (None, True)
    assert (sheet_only.text, sheet_only.need) == ("as on the sheet", "of the sheet")
    assert (got.no_text, got.changed, got.images, got.images_held_back) == (1, 1, 2, 1)


def test_a_key_tells_nothing_of_the_document():
    assert "secret" not in Task(Query("q"), "secret", "x").key
    assert Task(Query("q"), "ab", "x").key != Task(Query("qa"), "b", "x").key


def built(*rows):
    builder = ListBuilder(SCALES["0-3"])
    for query, doc, grade, source in rows:
        builder.add(query, doc, grade, Provenance(source, model="m"), reason="why")
    return builder.build()


def test_only_what_a_judge_graded_is_reviewed_and_its_grade_does_not_come_along():
    listed = built((Query("q"), "a", 3, Source.JUDGE), (Query("q"), "b", 2, Source.HUMAN))
    assert judged_rows(listed) == [SheetRow(Query("q"), "a", "")]


def test_a_judges_grades_are_found_by_id_else_by_text():
    listed = built(
        (Query("q1", "shoe"), "a", 3, Source.JUDGE), (Query("q1", "shoe"), "b", 1, Source.HUMAN)
    )
    tasks = [Task(Query("q1"), "a", "x"), Task(Query("shoe", "shoe"), "a", "x"),
             Task(Query("q1"), "b", "x"), Task(Query("other"), "a", "x")]  # fmt: skip
    found = judge_grades(listed, tasks)
    assert {pair: said.grade for pair, said in found.items()} == {("q1", "a"): 3, ("shoe", "a"): 3}


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_sheet_is_read_back(ending, tmp_path):
    rows = [
        SheetRow(Query("q1", "=shoe"), "+a", "@text, with\nlines", {"part": "calibration"}),
        SheetRow(Query("q2", None), "b", "text", {"part": "tuning"}),
    ]
    path = tmp_path / f"sheet{ending}"
    path.write_text(sheet_text(rows, path))
    sheet = read_sheet(path)
    assert sheet.graded == 0
    assert [(r.query, r.doc_id, r.text, dict(r.more)) for r in sheet.rows] == [
        (r.query, r.doc_id, r.text, dict(r.more)) for r in rows
    ]


def test_rows_that_are_graded_on_the_sheet_are_not_asked_again_nor_shown(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(
        "query,doc_id,grade,old_grade,why,text\nq,a,3,,,x\nq,b,,2,too-old,x\nq,b,,2,y,x\n"
    )
    sheet = read_sheet(path)
    assert sheet.graded == 1
    assert [(row.doc_id, dict(row.more)) for row in sheet.rows] == [("b", {"why": "too-old"})]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,grade\nq,\n", "no column for the document"),
        ("query,doc_id,grade\n,a,\n", ":2: empty query"),
        ("query,doc_id,grade\nq,,\n", ":2: empty query or document"),
        ("query,doc_id,grade\n", "no row"),
        ('{"query": "q", "doc_id": ["a"], "grade": null}\n{"query": "q"}\n', ":1: "),
    ],
)
def test_a_sheet_in_fault_is_refused_with_its_place(text, said, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_sheet(path)


def test_every_language_has_the_same_words_with_the_same_gaps():
    def gaps(text):
        return sorted(part.partition("}")[0] for part in text.split("{")[1:])

    first = language("en")
    for code in LANGUAGES:
        other = language(code)
        assert list(other.words) == list(first.words), code
        assert all(gaps(other.words[name]) == gaps(first.words[name]) for name in first.words)
        assert all(text.strip() for text in other.words.values())
        assert other.code == code
    assert {f"skip_{why}" for why in SKIP_REASONS} <= set(first.words)
    assert language("xx") == first
    assert [language(code).dir for code in LANGUAGES] == ["ltr", "ltr", "rtl"]


def test_a_key_a_grade_and_no_letter_that_means_something_else():
    keys = {label.code: keys_of(label) for label in load_rubric("esci-v1").labels}
    assert keys == {"E": ("3", "e"), "S": ("2", "s"), "C": ("1", "c"), "I": ("0", "i")}
    assert keys_of(Label("N", "Not", 0)) == ("0",)
    assert keys_of(Label("N", "Much", 12)) == ()
    assert keys_of(Label("2", "Two", 2)) == ("2",)
