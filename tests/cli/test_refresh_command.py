"""`relgate refresh`: what is stale is graded anew, listed or retired; the rest stays as it is."""

from __future__ import annotations

import csv
import re
import time

import pytest
from refreshing import N, drop, now, read, renew, rows_of, words, write

from relgate.cache.keys import text_hash
from relgate.eval.catalogue import read_catalogue
from relgate.eval.lists.types import Source

# --- fresh


def test_a_fresh_list_stays_quiet(call, judged):
    done = call(*words(judged, "--run", "after.jsonl", "--max-age-days", "30", "--json"))
    assert done.code == 0
    said = done.json
    assert said["states"]["judge"] == {"fresh": 36, "stale": 0, "gone": 0, "unknown": 0}
    assert said["states"]["people"] == {"fresh": 60, "stale": 0, "gone": 0, "unknown": 0}
    assert (said["asked"], said["calls"], judged.calls) == (0, 0, 0)
    assert rows_of("new.jsonl") == rows_of("old.jsonl")
    assert read("new.jsonl").queries == read("old.jsonl").queries
    assert [(run["delta"], run["queries"]) for run in said["runs"]] == [(0.0, [])]
    names = {path.name for path in (judged.folder / "new.refresh").iterdir()}
    assert names == {"refresh.json", "refresh.md"}


# --- stale by each check


def test_a_changed_text_is_graded_anew_and_the_input_stays(call, judged):
    before = (judged.folder / "old.jsonl").read_bytes()
    renew(judged, ["n0-0", "n3-5"])
    done = call(*words(judged, "--json"))
    assert (done.json["asked"], done.json["graded"], done.json["calls"]) == (2, 2, 2)
    assert judged.calls == 2  # two queries, a call each
    old = {(r.query.id, r.doc_id): r for r in rows_of("old.jsonl")}
    new = {(r.query.id, r.doc_id): r for r in rows_of("new.jsonl")}
    moved = {key for key in old if old[key] != new[key]}
    assert list(old) == list(new)
    assert moved == {("query 0", "n0-0"), ("query 3", "n3-5")}
    assert {new[key].grade for key in moved} == {0}
    text = read_catalogue("catalogue.jsonl").candidate("n0-0").text
    assert new["query 0", "n0-0"].text_hash == text_hash(text)
    assert (judged.folder / "old.jsonl").read_bytes() == before
    assert done.json["moves"] == [
        {"from": 2, "to": 0, "pairs": 1},
        {"from": 3, "to": 0, "pairs": 1},
    ]
    assert [q["id"] for q in done.json["queries"]] == ["query 0", "query 3"]
    assert done.json["queries"][0]["graded"] == [
        {"doc_id": "n0-0", "from": 3, "to": 0, "why": ["text-changed"]}
    ]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"judge_version": "esci-v1@00000000"}, "rubric-changed"),
        ({"fingerprint": "0" * 16}, "judge-changed"),
    ],
)
def test_another_rubric_or_judge_is_graded_anew_from_the_cache_where_it_is_paid(
    call, judged, plant, values, why
):
    plant(["n1-0", "n1-1"], **values)
    done = call(*words(judged, "--json"))
    assert done.json["why"] == {"judge": {why: 2}, "people": {}}
    # the present judge graded these very texts for the list: nothing is paid twice
    assert (done.json["graded"], done.json["cached"], judged.calls) == (2, 2, 0)
    assert call(*words(judged, "--json", out="newer.jsonl")).json["graded"] == 2
    done = call(
        "refresh", "--judgments", "new.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", judged.judge(), "--out", "newest.jsonl", "--json",
    )  # fmt: skip
    assert done.json["states"]["judge"]["fresh"] == 36


def test_a_grade_too_old_is_asked_anew_though_the_cache_has_the_old_one(call, judged, plant):
    plant(["n1-0", "n1-1", "n2-0"], judged_at=now(days_ago=40))
    # the cache's rows are from today: recent enough
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert done.json["why"]["judge"] == {"too-old": 3}
    assert (done.json["cached"], judged.calls) == (3, 0)
    # with no grade recent enough, each is asked; a second run finds the answers
    time.sleep(1.1)
    short = str(1 / 86_400)
    done = call(*words(judged, "--max-age-days", short, "--dry-run", "--json"))
    assert (done.json["plan"]["pairs"], done.json["plan"]["calls"]) == (36, N)
    done = call(*words(judged, "--max-age-days", short, "--json", out="newer.jsonl"))
    assert (done.json["graded"], done.json["cached"], judged.calls) == (36, 0, N)
    assert done.json["changed"] == 0
    dates = {r.provenance.judged_at for r in rows_of("newer.jsonl") if r.doc_id[0] == "n"}
    assert dates.isdisjoint(r.provenance.judged_at for r in rows_of("old.jsonl"))


def test_what_is_gone_is_retired_into_a_file_that_is_a_list(call, judged):
    drop(judged, ["n0-0", "h2-9"])
    done = call(*words(judged, "--run", "after.jsonl", "--json"))
    assert (done.json["retired"], done.json["judgments_out"], judged.calls) == (2, 94, 0)
    old, new = rows_of("old.jsonl"), rows_of("new.jsonl")
    retired = rows_of("new.refresh/retired.jsonl")
    assert {r.doc_id for r in retired} == {"n0-0", "h2-9"}
    assert [r for r in old if r not in retired] == new
    (run,) = done.json["runs"]
    assert (run["unrated_old"], run["unrated_new"]) == (0, 2)


def test_the_catalogue_of_another_shop_is_refused_before_anything_is_retired(call, judged):
    judged.texts = {"x1": "another shop's"}
    judged.write()
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "no document of the list is in the catalogue" in done.complaint
    assert not (judged.folder / "new.refresh").exists()


def test_an_extract_of_the_catalogue_is_asked_about(call, judged):
    drop(judged, [doc for doc in judged.texts if doc.startswith(("h0", "h1", "h2"))])
    done = call(*words(judged))
    assert "30 of 96 judgments are of documents that the catalogue lacks" in done.err
    assert done.code == 0


def test_a_list_as_csv_says_as_much(call, judged):
    renew(judged, ["n0-0", "h0-1"])
    assert call(*words(judged)).code == 0
    assert call(*words(judged, out="new.csv")).code == 0
    assert rows_of("new.csv") == rows_of("new.jsonl")


def test_peoples_stale_judgments_are_listed_for_people_and_stay_in_the_list(call, judged, plant):
    plant(["h0-3"], judged_at=now(days_ago=40))
    renew(judged, ["h0-3", "h1-8", "n1-0"])
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert (done.json["for_people"], done.json["graded"], judged.calls) == (2, 1, 1)
    text = (judged.folder / "new.refresh" / "for-people.csv").read_text("utf-8")
    sheet = list(csv.DictReader(text.splitlines()))
    assert [(r["query"], r["doc_id"], r["old_grade"], r["why"]) for r in sheet] == [
        ("query 0", "h0-3", "1", "text-changed, too-old"),
        ("query 1", "h1-8", "3", "text-changed"),
    ]
    assert sheet[0]["text"] == "title: item h0-3 renewed class I"
    assert {r["grade"] for r in sheet} == {""}
    kept = {r.doc_id: r for r in rows_of("new.jsonl")}
    assert [kept[d] for d in ("h0-3", "h1-8")] == [
        r for r in rows_of("old.jsonl") if r.doc_id in {"h0-3", "h1-8"}
    ]


def test_a_sheet_that_people_filled_is_a_list_of_their_grades_on_todays_text(call, judged):
    renew(judged, ["h0-3", "h1-8"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    with path.open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    sheet[0] |= {"grade": "2", "rater": "r7"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    (row,) = rows_of(path)
    assert (row.doc_id, row.grade, row.provenance.source) == ("h0-3", 2, Source.HUMAN)
    assert row.provenance.rater == "r7"
    assert row.text_hash == text_hash("title: item h0-3 renewed class I")


def test_a_filled_sheet_merged_in_makes_the_list_fresh_again(call, judged):
    renew(judged, ["h0-3", "h1-8"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    with path.open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    later = now(days_ago=-0.5)
    sheet[0] |= {"grade": sheet[0]["old_grade"], "judged_at": later}  # found the same
    sheet[1] |= {"grade": "0", "judged_at": later}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    done = call(
        "lists", "merge", "new.refresh/for-people.csv", "new.jsonl", "--policy", "newest",
        "--out", "merged.jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert {r.doc_id: r.grade for r in rows_of("merged.jsonl")}["h1-8"] == 0
    done = call(
        "refresh", "--judgments", "merged.jsonl", "--catalogue", "catalogue.jsonl", "--judge",
        judged.judge(), "--max-age-days", "30", "--out", "x.jsonl", "--dry-run", "--json",
    )  # fmt: skip
    assert done.json["states"]["people"] == {"fresh": 60, "stale": 0, "gone": 0, "unknown": 0}


def test_a_sheet_that_people_filled_is_never_written_over(call, judged):
    renew(judged, ["h0-3"])
    call(*words(judged))
    path = judged.folder / "new.refresh" / "for-people.csv"
    filled = path.read_text("utf-8").replace(",,,,,human", ",2,,,,human")
    path.write_text(filled, "utf-8")
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "may hold people's grades; name another --report" in done.complaint
    assert path.read_text("utf-8") == filled


def test_retired_judgments_are_never_written_over(call, judged):
    drop(judged, ["n0-0"])
    call(*words(judged))
    kept = rows_of("new.refresh/retired.jsonl")
    drop(judged, ["n0-1"])
    done = call(*words(judged, "--quiet"))
    assert done.code == 2
    assert "another refresh retired" in done.complaint
    assert rows_of("new.refresh/retired.jsonl") == kept
    assert call(*words(judged, "--report", "elsewhere")).code == 0
    assert len(rows_of("elsewhere/retired.jsonl")) == 2


def test_formulas_in_texts_and_queries_are_guarded_and_read_back(call, judged, read_jsonl):
    rows = read_jsonl(judged.folder / "old.jsonl")
    for row in rows:
        if row["query"] == "query 0":
            row["query"] = "=1+1"
    write(judged.folder / "old.jsonl", rows)
    products = read_jsonl(judged.folder / "catalogue.jsonl")
    for product in products:
        if product["id"] == "h0-3":
            product["text"] = '=HYPERLINK("x")'
    write(judged.folder / "catalogue.jsonl", products)
    call(*words(judged))
    text = (judged.folder / "new.refresh" / "for-people.csv").read_text("utf-8")
    assert "'=1+1" in text
    assert "\"'=HYPERLINK" in text
    assert not re.search(r'(?:^|,)"?[=+@]', text, re.MULTILINE)
    path = judged.folder / "new.refresh" / "for-people.csv"
    path.write_text(text.replace(",,,,,human", ",1,,,,human"), "utf-8")
    assert [r.query.text for r in rows_of(path)] == ["=1+1"]


# --- unknown


def test_what_cannot_be_checked_is_unknown_counted_and_left_alone(call, judged, plant):
    plant(["n0-0"], judge_version=None)
    plant(["n0-1"], text_hash=None)
    plant(["h0-0"], text_hash=None)
    plant(["n0-2"], judged_at=None)
    done = call(*words(judged, "--max-age-days", "30", "--json"))
    assert done.json["states"]["judge"] == {"fresh": 33, "stale": 0, "gone": 0, "unknown": 3}
    assert done.json["states"]["people"]["unknown"] == 1
    assert done.json["unknown"] == {
        "judge": {"text-changed": 1, "rubric-changed": 1, "too-old": 1},
        "people": {"text-changed": 1},
    }
    assert judged.calls == 0
    assert rows_of("new.jsonl") == rows_of("old.jsonl")
    shown = call(*words(judged, "--max-age-days", "30"))
    assert "1 other judgments do not say enough to be checked for text-changed" in shown.out
    assert "do not say enough" in (judged.folder / "new.refresh" / "refresh.md").read_text()


# --- plan


def test_a_dry_run_says_what_it_would_ask_and_asks_and_writes_nothing(call, judged):
    renew(judged, ["n0-0", "n0-1", "n4-2", "h0-0"])
    drop(judged, ["n5-5"])
    done = call(*words(judged, "--dry-run", "--json"))
    assert done.json["plan"]["pairs"] == 3
    assert (done.json["plan"]["cached"], done.json["plan"]["calls"]) == (0, 2)
    assert done.json["states"]["people"]["stale"] == 1
    assert done.json["states"]["judge"]["gone"] == 1
    assert judged.calls == 0
    assert not (judged.folder / "new.jsonl").exists()
    assert not (judged.folder / "new.refresh").exists()
    assert "3 pairs to grade" in call(*words(judged, "--dry-run")).out
    done = call(*words(judged, "--json"))
    assert (done.json["asked"], done.json["calls"], judged.calls) == (3, 2, 2)
