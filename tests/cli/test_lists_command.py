"""relgate lists: faults are found where they are planted, and a clean list is quiet."""

from __future__ import annotations

import json

import pytest

CLEAN = "query,docid,rating\nred shoes,p1,3\nred shoes,p2,0\noak desk,p1,2\n"


def _check(call, tmp_path, text, *more):
    (tmp_path / "l.csv").write_text(text, encoding="utf-8")
    return call("lists", "check", "l.csv", *more)


# --- check


def test_a_clean_list_has_no_fault(call, tmp_path):
    done = _check(call, tmp_path, CLEAN)
    assert (done.code, done.out.strip().splitlines()[-1]) == (0, "no fault found")
    assert _check(call, tmp_path, CLEAN, "--json").json["faults"] == []


@pytest.mark.parametrize(
    ("planted", "kind", "example"),
    [
        ("red shoes,p1,1\n", "conflicts", "'red shoes' 'p1': 3 and 1 (lines 2 and 5)"),
        ("red shoes,p1,3\n", "repeats", None),
        ("lamp,1352171357E+5,1\n", "looks-mangled", "'1352171357E+5'"),
        ("lamp,p\u200b1,1\n", "invisible-characters", "'p\\u200b1'"),
        ("lamp,p\x011,1\n", "control-characters", "'p\\x011'"),
        ("lamp, p1,1\n", "outer-blanks", "' p1'"),
        ("lamp,0123,1\nlamp,123,1\n", "leading-zeros", "'0123', '123'"),
        ("Red-Shoes,p1,3\n", "near-equal-queries", "'red shoes', 'Red-Shoes'"),
    ],
)
def test_each_planted_fault_is_found_and_nothing_else(call, tmp_path, planted, kind, example):
    done = _check(call, tmp_path, CLEAN + planted, "--json")
    assert done.code == 1
    assert done.json["faults"] == [kind]
    (found,) = [f for f in done.json["findings"] if f["kind"] == kind]
    assert found["count"] == 1
    assert example is None or example in found["examples"]


def test_one_grade_throughout_is_a_fault(call, tmp_path):
    done = _check(call, tmp_path, "query,docid,rating\nq,a,3\nq,b,3\n", "--json")
    assert (done.code, done.json["faults"]) == (1, ["one-grade"])


def test_what_is_only_worth_knowing_is_no_fault(call, tmp_path):
    text = CLEAN + "lamp,,\nlamp,p9,\n"
    done = _check(call, tmp_path, text, "--json")
    assert (done.code, done.json["faults"]) == (0, [])
    assert {f["kind"]: f["count"] for f in done.json["findings"]} == {"unlabelled": 1, "bare": 1}


def _graded(*grades, n=20):
    rows = (f"q{i},p{i},{grades[i % len(grades)]}\n" for i in range(n))
    return "query,docid,rating\n" + "".join(rows)


NO_ZERO, TWO = "no-zero", "two-grades"


@pytest.mark.parametrize(
    ("grades", "n", "scale", "kinds"),
    [
        ((1, 2, 3), 20, "0-3", [NO_ZERO]),
        ((1, 2, 3), 19, "0-3", []),  # so few may miss a grade
        ((0, 1), 20, "0-3", [TWO]),
        ((0, 3), 20, "0-3", [TWO]),
        ((0, 1), 20, "0-1", []),
        ((0, 1, 2), 20, "0-3", []),
        ((1, 2, 3, 4), 20, "1-4", []),
        ((2, 3), 20, "0-3", [NO_ZERO]),
    ],
)
def test_grades_that_are_not_used_are_worth_knowing(call, tmp_path, *, grades, n, scale, kinds):
    done = _check(call, tmp_path, _graded(*grades, n=n), "--scale", scale, "--json")
    assert (done.code, [f["kind"] for f in done.json["findings"]]) == (0, kinds)


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ((1, 2, 3), "no pair has grade 0: the least is 1 on the scale 0-3"),
        ((0, 1), "grades 0 and 1 only: a binary list on the scale 0-3"),
    ],
)
def test_scores_and_reviews_say_which_grades_are_not_used(call, tmp_path, grades, said):
    (tmp_path / "l.csv").write_text(_graded(*grades), encoding="utf-8")
    lines = "\n".join(json.dumps({"query": f"q{i}", "docs": [f"p{i}"]}) for i in range(20))
    for name in ("r.jsonl", "s.jsonl"):
        (tmp_path / name).write_text(lines, encoding="utf-8")
    assert said in call("score", "--judgments", "l.csv", "--run", "r.jsonl").err
    sides = ("--before", "r.jsonl", "--after", "s.jsonl", "--out", "out")
    done = call("review", "--judgments", "l.csv", *sides)
    assert done.code in {0, 1, 3, 4}, done.err
    document = json.loads((tmp_path / "out/review.json").read_text("utf-8"))
    assert any(said in line for line in document["warnings"])


def test_coverage_by_a_run_is_shown_and_none_is_a_fault(call, tmp_path):
    rows = [{"query": "red shoes", "docs": ["p1", "p1", "x"]}, {"query": "sofa", "docs": ["y"]}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = _check(call, tmp_path, CLEAN, "--run", "r.jsonl", "--json")
    assert done.code == 0
    (covered,) = done.json["coverage"]
    assert (covered["rated"], covered["returned"]) == (1, 3)
    assert covered["queries_unjudged"] == ["sofa"]
    assert covered["queries_missing"] == ["oak desk"]
    (tmp_path / "r.jsonl").write_text(json.dumps({"query": "red shoes", "docs": ["x"]}))
    done = _check(call, tmp_path, CLEAN, "--run", "r.jsonl", "--json")
    assert (done.code, done.json["faults"]) == (1, ["no-overlap"])


# --- stats


def test_stats_of_a_real_list_are_those_of_its_readme(call, shared):
    """README of quepid_haystack: 1,659 ratings of 135 queries, six without a relevant one."""
    path = shared / "data/quepid_haystack/native/quepid_basic_ratings.csv"
    value = call("lists", "stats", path, "--json").json
    assert (value["judgments"], value["queries"]) == (1659, 135)
    assert value["grades"] == {"0": 752, "1": 327, "2": 152, "3": 428}
    assert value["no_relevant"] == 6
    assert "428" in call("lists", "stats", path).out


def test_coverage_of_a_real_run_is_that_of_the_readme(call, shared):
    """README: 370 of 1,274 results of no-vector are unrated."""
    folder = shared / "data/quepid_haystack/native"
    run = folder / "quepid_snapshot_no-vector.json"
    value = call("lists", "stats", folder / "quepid_basic_ratings.csv", "--run", run, "--json").json
    (covered,) = value["coverage"]
    assert (covered["returned"] - covered["rated"], covered["returned"]) == (370, 1274)


def test_raters_of_a_book_agree_as_their_grades_do(call, tmp_path):
    """Cohen's kappa by hand: observed 3/4, expected 1/2 * 3/4 + 1/2 * 1/4 = 1/2, so 1/2."""
    rows = "q,a,1,1,\nq,b,1,1,\nq,c,0,0,\nq,d,0,1,\n"
    (tmp_path / "b.csv").write_text(f"query,docid,Ann,Bo,Cy\n{rows}")
    (pair,) = call("lists", "stats", "b.csv", "--json").json["raters"]
    assert (pair["one"], pair["two"], pair["pairs"], pair["same"]) == ("Ann", "Bo", 4, 0.75)
    assert pair["kappa"] == pytest.approx(0.5)
    assert "Quadratic kappa" in call("lists", "stats", "b.csv").out


def test_an_undefined_kappa_is_said_to_be_undefined(call, tmp_path):
    (tmp_path / "b.csv").write_text("query,docid,Ann,Bo\nq,a,1,1\nq,b,1,1\n")
    assert call("lists", "stats", "b.csv", "--json").json["raters"][0]["kappa"] is None
    assert "undefined" in call("lists", "stats", "b.csv").out


# --- diff


def test_diff_shows_what_moved_came_and_went(call, tmp_path):
    (tmp_path / "a.csv").write_text("query,docid,rating\nq,a,1\nq,b,2\nr,c,3\n")
    (tmp_path / "b.csv").write_text("query,docid,rating\nq,a,3\nq,b,2\ns,d,0\n")
    done = call("lists", "diff", "a.csv", "b.csv")
    assert done.code == 0
    assert "1 pairs the same, 1 moved, 1 added, 1 removed; 1 queries added, 1 removed" in done.out
    value = call("lists", "diff", "a.csv", "b.csv", "--json").json
    assert value["moved"] == [{"query": "q", "doc_id": "a", "old": 1, "new": 3}]
    assert (value["added"], value["removed"]) == ([["s", "d"]], [["r", "c"]])


def test_diff_meets_queries_by_text_where_no_id_is_shared(call, tmp_path):
    (tmp_path / "a.csv").write_text("qid,query,docid,rating\n1,rot,a,1\n")
    (tmp_path / "b.csv").write_text("query,docid,rating\nrot,a,1\n")
    value = call("lists", "diff", "a.csv", "b.csv", "--json").json
    assert (value["same"], value["by"]) == (1, "text")


# --- merge

PEOPLE = "query,docid,rating,source,judged_at\nq,a,3,human,2025-01-01\nq,b,1,human,2025-01-01\n"
JUDGE = "query,docid,rating,source,judged_at\nq,a,0,judge,2026-01-01\nq,c,2,judge,2026-01-01\n"
LATER = "query,docid,rating,source,judged_at\nq,b,2,human,2026-06-01T12:00:00Z\n"


@pytest.fixture
def three(tmp_path):
    for name, text in (("people", PEOPLE), ("judge", JUDGE), ("later", LATER)):
        (tmp_path / f"{name}.csv").write_text(text)


@pytest.mark.usefixtures("three")
def test_a_merge_refuses_what_no_policy_decides_and_writes_nothing(call, tmp_path):
    done = call("lists", "merge", "people.csv", "judge.csv", "--out", "o.csv")
    assert done.code == 1
    assert "1 pairs are left open by refuse; nothing written" in done.out
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.usefixtures("three")
def test_people_win_and_it_says_why(call, tmp_path):
    words = ("lists", "merge", "judge.csv", "people.csv", "--out", "o.csv", "--to", "csv")
    done = call(*words, "--policy", "human-first", "--json")
    assert done.code == 0
    (decision,) = done.json["decisions"]
    assert decision["grades"] == [[1, 0, "judge"], [2, 3, "human"]]
    assert (decision["winner"], decision["why"]) == (2, "human outranks the others")
    rows = (tmp_path / "o.csv").read_text().splitlines()
    assert [row.split(",")[:3] for row in rows[1:]] == [
        ["q", "a", "3"],
        ["q", "c", "2"],
        ["q", "b", "1"],
    ]


@pytest.mark.usefixtures("three")
def test_the_newest_of_equals_wins_and_a_judge_never_over_a_person(call, tmp_path):
    words = ("lists", "merge", "people.csv", "judge.csv", "later.csv", "--out", "o.csv")
    refused = call(*words, "--policy", "human-first", "--json")
    assert refused.code == 1
    open_pair = next(d for d in refused.json["decisions"] if d["winner"] is None)
    assert (open_pair["doc_id"], open_pair["why"]) == ("b", "several of source human differ")
    done = call(*words, "--policy", "newest", "--json")
    assert {d["doc_id"]: d["winner"] for d in done.json["decisions"]} == {"a": 1, "b": 3}
    assert "judged last, 2026-06-01T12:00:00Z" in [d["why"] for d in done.json["decisions"]]
    grades = {row["doc_id"]: row["grade"] for row in map(json.loads, _lines(tmp_path / "o.csv"))}
    assert grades == {"a": 3, "b": 2, "c": 2}


def _lines(path):
    return path.read_text().splitlines()


def test_without_a_date_nobody_is_newest(call, tmp_path):
    (tmp_path / "a.csv").write_text("query,docid,rating\nq,a,1\n")
    (tmp_path / "b.csv").write_text("query,docid,rating\nq,a,2\n")
    words = ("lists", "merge", "a.csv", "b.csv", "--out", "o.jsonl", "--policy", "newest")
    done = call(*words, "--json")
    assert (done.code, done.json["decisions"][0]["why"]) == (1, "a judgment has no date")
