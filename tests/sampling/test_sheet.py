"""A labelling sheet: nothing runs in a spreadsheet, and what people fill in reads back."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relgate.cache.keys import text_hash
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, Query, Source
from relgate.eval.sampling.sheet import SheetRow, sheet_text
from relgate.eval.sampling.write import write_sheet
from relgate.rubrics.errors import UsageError


def row(query="q", doc="d", text="a text", **more):
    return SheetRow(Query(query, query), doc, text, more)


def table(rows):
    return list(csv.DictReader(io.StringIO(sheet_text(rows, "s.csv"))))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝"])  # noqa: RUF001 - full width
def test_no_cell_begins_as_a_formula(start):
    (cells,) = table([row(f"{start}q", f"{start}d", f"{start}t", why=f"{start}w")])
    assert all(not value.startswith(start) for value in cells.values())


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_the_hash_is_of_the_text_that_was_shown_whatever_the_text(text):
    (cells,) = table([row(text, text, text)])
    assert cells["text_hash"] == text_hash(text)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("text", ["=1+1", 'a "b", c', "line\nline", "'quoted", "-1", "007", "1e5"])
def test_a_filled_sheet_reads_as_a_list_of_peoples_grades(tmp_path, ending, text):
    path = tmp_path / f"sheet.{ending}"
    blank = sheet_text(
        [row(text, text, text, part="tuning"), row("other", "o", part="tuning")], path
    )
    if ending == "jsonl":
        lines = [json.loads(line) for line in blank.splitlines()]
        lines[0] |= {"grade": 2, "rater": "r1"}
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    else:
        rows = list(csv.reader(io.StringIO(blank, newline="")))
        rows[1][rows[0].index("grade")] = "2"
        rows[1][rows[0].index("rater")] = "r1"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    found = read_list(path, scale=SCALES["0-3"])
    (judgment,) = found.judgments.rows()
    assert (judgment.query.text, judgment.doc_id, judgment.grade) == (text, text, 2)
    assert (judgment.provenance.source, judgment.provenance.rater) == (Source.HUMAN, "r1")
    assert judgment.text_hash == text_hash(text)
    assert found.unlabelled == 1


def test_a_text_longer_than_a_spreadsheets_cell_is_cut_and_its_hash_is_the_whole_texts():
    text = "a" * 40_000
    (cells,) = table([row(text=text)])
    assert len(cells["text"]) < 32_767
    assert cells["text"].endswith("…")
    assert cells["text_hash"] == text_hash(text)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_half_a_surrogate_pair_in_a_text_is_shown_as_a_replacement(tmp_path, ending):
    path = tmp_path / f"s.{ending}"
    write_sheet(path, [row(text="a\ud800b")], mend="")
    assert "a\ufffdb" in path.read_text("utf-8")
    assert text_hash("a\ud800b") in path.read_text("utf-8")


def test_an_empty_sheet_is_its_header():
    assert sheet_text([], "s.csv").count("\n") == 1


def test_another_ending_is_refused():
    with pytest.raises(UsageError, match=r"\.csv or \.jsonl"):
        sheet_text([row()], "sheet.xlsx")


def test_a_sheet_is_written_again_while_it_is_blank_and_never_once_it_is_filled(tmp_path):
    path = tmp_path / "s.csv"
    write_sheet(path, [row()], mend="name another")
    write_sheet(path, [row()], mend="name another")
    filled = path.read_text("utf-8").replace("human", "human ")
    path.write_text(filled, "utf-8")
    with pytest.raises(UsageError, match="may hold people's grades; name another"):
        write_sheet(path, [row()], mend="name another")
    assert path.read_text("utf-8") == filled
