"""relgate agreement: raters of a list, of a wide table, of a long one; real studies come out."""

from __future__ import annotations

import csv
import json

import pytest

LONG = "query_id,doc_id,rater,grade\n" + "".join(
    f"q{q},d{d},{who},{(q + d + (who == 'bob' and d == 1)) % 4}\n"
    for q in range(6)
    for d in range(4)
    for who in ("ann", "bob")
)
WIDE = "query_id,doc_id,human,gpt,other\n" + "".join(
    f"q{q},d{d},{(q + d) % 4},{(q + d) % 4 if d else ''},{(q * d) % 4}\n"
    for q in range(6)
    for d in range(4)
)


def _write(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")


def test_the_raters_of_a_list_agree_as_their_grades_do(call, tmp_path):
    _write(tmp_path, "l.csv", LONG)
    done = call("agreement", "l.csv", "--json")
    people = done.json["people"]
    assert (done.code, people["units"], people["queries"]) == (0, 24, 6)
    assert people["raters"] == {"ann": 24, "bob": 24}
    (pair,) = people["pairs"]
    assert (pair["one"], pair["pairs"], pair["same"]) == ("ann", 24, 0.75)
    alpha = people["figures"]["alpha_ordinal"]
    assert alpha["low"] <= alpha["point"] <= alpha["high"]
    assert "Krippendorff's alpha, ordinal" in call("agreement", "l.csv").out


def test_a_judge_beside_the_raters_is_measured_as_one_more(call, tmp_path):
    _write(tmp_path, "l.csv", LONG)
    grades = "query_id,doc_id,grade\n" + "".join(
        f"q{q},d{d},{(q + d) % 4}\n" for q in range(6) for d in range(4)
    )
    _write(tmp_path, "g.csv", grades)
    done = call("agreement", "l.csv", "--grades", "g.csv", "--json")
    judge = done.json["judge"]
    assert (judge["units"], judge["undefined"]) == (24, None)
    assert judge["figures"]["over_people"]["point"] > 0  # it is ann's twin
    assert "more than people with each other" in call("agreement", "l.csv", "--grades", "g.csv").out


def test_one_of_the_raters_may_be_the_judge(call, tmp_path):
    _write(tmp_path, "w.csv", WIDE)
    done = call("agreement", "w.csv", "--columns", "*", "--judge-rater", "gpt", "--json")
    assert done.json["people"]["raters"] == {"human": 24, "other": 24}
    assert done.json["judge"]["units"] == 18
    done = call("agreement", "w.csv", "--columns", "*", "--judge-rater", "gtp")
    assert (done.code, "no rater 'gtp'; there are: human, gpt, other" in done.err) == (2, True)


def test_each_rater_against_a_reference_with_its_coverage(call, tmp_path):
    _write(tmp_path, "w.csv", WIDE)
    words = ("agreement", "w.csv", "--columns", "*", "--reference", "human")
    table = {row["rater"]: row for row in call(*words, "--json").json["table"]}
    assert (table["gpt"]["n"], table["gpt"]["asked"], table["gpt"]["coverage"]) == (18, 24, 0.75)
    assert table["gpt"]["figures"]["kappa"]["point"] == 1.0
    assert "18 of 24" in call(*words).out
    call(*words, "--csv", "t.csv")
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["rater"] for row in rows] == ["gpt", "other"]
    assert float(rows[0]["kappa_quadratic"]) == 1


def test_a_table_with_a_row_a_grade_and_shares_of_workers(call, tmp_path):
    text = "topic_id,doc_id,team,label\nt1,d1,a,0.9\nt1,d1,b,0.4\nt1,d2,a,0.1\nt1,d2,b,0.0\n"
    _write(tmp_path, "t.csv", text)
    words = ("agreement", "t.csv", "--rater-column", "team", "--grade-column", "label")
    people = call(*words, "--cut", "0.5", "--scale", "0-1", "--json").json["people"]
    assert people["pairs"][0]["same"] == 0.5
    refused = call(*words, "--scale", "0-1")
    assert (refused.code, "t.csv:2: '0.9' is no grade" in refused.err) == (2, True)


def test_undefined_agreement_says_why(call, tmp_path):
    _write(tmp_path, "w.csv", "query_id,doc_id,a,b\nq1,d1,3,3\nq2,d2,3,3\n")
    done = call("agreement", "w.csv", "--columns", "*")
    assert (done.code, "undefined: every grade is 3" in done.out) == (0, True)
    done = call("agreement", "w.csv", "--columns", "*", "--reference", "a")
    assert "b: undefined: the reference has one grade only, 3" in done.out
    plain = call("agreement", "w.csv", "--columns", "*", "--json").json["people"]
    assert plain["figures"]["alpha_ordinal"] == {"point": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("text", "words", "complaint"),
    [
        (WIDE, ("--columns", "nobody"), "w.csv:1: no column 'nobody'"),
        (WIDE, ("--columns", "*", "--reference", "nobody"), "w.csv:1: no column 'nobody'"),
        (WIDE + "q0,d0,1,1,1\n", ("--columns", "*"), "stands in lines 2 and 26"),
        (WIDE + "q9,d0,7,1,1\n", ("--columns", "*"), "w.csv:26: grade 7 in column 'human'"),
        (WIDE + "q9,d0,1\n", ("--columns", "*"), "w.csv:26: 3 fields where the header has 5"),
        (WIDE + "q9,,1,1,1\n", ("--columns", "*"), "w.csv:26: empty query or document"),
        (WIDE, ("--reference", "human"), "--reference needs --columns"),
        (WIDE, ("--columns", "*", "--rater-column", "gpt"), "--rater-column for a row a grade"),
        (WIDE, ("--columns", "*", "--by", "human"), "--csv and --by go with --reference"),
        (WIDE, ("--cut", "0.5"), "--cut, --clip and --rater-scale need"),
        (WIDE, ("--columns", "*", "--cut", "nan"), "--cut is nan"),
        (WIDE, ("--columns", "*", "--grades", "w.csv"), "--grades goes with a judgment list"),
        ("who,what\na,b\n", ("--columns", "*"), "w.csv:1: no column for the query"),
    ],
)
def test_a_mistake_is_named_in_one_line(call, tmp_path, text, words, complaint):
    _write(tmp_path, "w.csv", text)
    done = call("agreement", "w.csv", *words)
    assert done.code == 2
    assert complaint in done.complaint


def test_a_rater_who_contradicts_herself_is_refused(call, tmp_path):
    _write(tmp_path, "t.csv", "query_id,doc_id,who,grade\nq,d,a,1\nq,d,a,2\n")
    done = call("agreement", "t.csv", "--rater-column", "who")
    assert (done.code, "t.csv:3: rater 'a' graded document 'd'" in done.complaint) == (2, True)


def test_grades_beyond_the_scale_are_clipped_only_when_told_and_counted(call, tmp_path):
    _write(tmp_path, "w.csv", WIDE + "q9,d0,7,1,1\n")
    done = call("agreement", "w.csv", "--columns", "*", "--clip")
    assert (done.code, "1 grades beyond the scale taken as its end" in done.err) == (0, True)


# --- real studies


def test_all_165_published_figures_of_the_llmjudge_challenge(call, shared):
    """Rahmani et al., arXiv 2502.13908, tables 2-5: 33 submissions, 4 kappas and ordinal alpha.

    The authors' notebook clips the three labels beyond 0-3 as --clip does.
    """
    folder = shared / "data/llmjudge"
    done = call(
        "agreement", str(folder / "test_human_and_33_llm.tsv"), "--columns", "*",
        "--reference", "human", "--scale", "0-3", "--clip", "--json",
    )  # fmt: skip
    table = {row["rater"]: row["figures"] for row in done.json["table"]}
    with (folder / "published_and_computed.csv").open(encoding="utf-8") as file:
        published = [r for r in csv.DictReader(file) if r["labels_available"] == "True"]
    columns = {
        "pub_kappa_4point": "kappa", "pub_kappa_0_123": "kappa_floor_1",
        "pub_kappa_01_23": "kappa_floor_2", "pub_kappa_012_3": "kappa_floor_3",
        "pub_alpha_4point": "alpha_ordinal",
    }  # fmt: skip
    checked = 0
    for row in published:
        for column, name in columns.items():
            found = table[row["submission"]][name]["point"]
            assert found == pytest.approx(float(row[column]), abs=5.1e-5), (row["submission"], name)
            checked += 1
    assert checked == 165


def test_the_published_quadratic_kappas_of_nine_judges_and_their_coverage(call, shared):
    """All 26 judge and corpus values, UMBRELA too. Where every human label is 3 the authors print
    0.0, and we say undefined: nothing there shows agreement beyond chance."""
    folder = shared / "data/rag24_9judges"
    done = call(
        "agreement", str(folder / "pairs.tsv"), "--columns", "*", "--by", "corpus",
        "--reference", "human", "--scale", "0-3", "--json",
    )  # fmt: skip
    table = {(row["group"], row["rater"]): row for row in done.json["table"]}
    with (folder / "published_and_computed.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if not r["judge"].startswith("ensemble")]
    published = [r for r in rows if r["published_kappa_quadratic"]]
    assert len([r for r in published if not r["judge"].startswith("umbrela")]) == 26
    for row in published:
        found = table[row["corpus"], row["judge"]]
        assert (found["n"], found["asked"]) == (int(row["n_valid"]), int(row["n_total"]))
        point = found["figures"]["kappa_quadratic"]["point"]
        if row["corpus"] == "beir-scifact":
            assert (point, float(row["published_kappa_quadratic"])) == (None, 0.0)
            assert found["undefined"] == "undefined: the reference has one grade only, 3"
        else:
            assert point == pytest.approx(float(row["published_kappa_quadratic"]), abs=5.1e-5)
    gemini = table["trec-rag-2024", "gemini_2_5_pro"]
    assert gemini["figures"]["kappa_quadratic"]["point"] == pytest.approx(0.5513, abs=5e-5)
    assert (gemini["n"], gemini["asked"]) == (92, 537)


def test_the_crowd_of_trec_2011(call, shared):
    """README: 28 pairs of teams, kappa 0.096 to 0.515, median 0.281; alpha nominal 0.268."""
    path = shared / "data/trec2011_crowd/team_labels.tsv"
    done = call(
        "agreement", str(path), "--rater-column", "team", "--grade-column", "label",
        "--cut", "0.5", "--scale", "0-1", "--json",
    )  # fmt: skip
    people = done.json["people"]
    kappas = sorted(pair["kappa"] for pair in people["pairs"])
    assert len(kappas) == 28
    assert (round(kappas[0], 3), round(kappas[-1], 3)) == (0.096, 0.515)
    assert (kappas[13] + kappas[14]) / 2 == pytest.approx(0.281, abs=5e-4)
    assert people["figures"]["alpha_nominal"]["point"] == pytest.approx(0.268, abs=5e-4)
    assert len(people["raters"]) == 8


def test_the_teams_of_trec_2011_against_nist(call, shared, tmp_path):
    """README: team3 0.823, team4 0.419, team11 0.322 (scikit-learn: 0.32148), ... team5 0.029."""
    folder = shared / "data/trec2011_crowd"
    with (folder / "items.tsv").open() as file:
        gold = {
            (r["topic_id"], r["doc_id"]): int(int(r["nist_gold"]) >= 1)
            for r in csv.DictReader(file, delimiter="\t")
            if int(r["nist_gold"]) >= 0
        }
    wide: dict[tuple[str, str], dict[str, str]] = {}
    with (folder / "team_labels.tsv").open() as file:
        for r in csv.DictReader(file, delimiter="\t"):
            wide.setdefault((r["topic_id"], r["doc_id"]), {})[r["team"]] = r["label"]
    teams = sorted({team for own in wide.values() for team in own})
    lines = [",".join(["topic_id", "doc_id", "nist", *teams])]
    lines += [
        ",".join([*pair, str(gold.get(pair, "")), *(own.get(team, "") for team in teams)])
        for pair, own in wide.items()
    ]
    _write(tmp_path, "w.csv", "\n".join(lines) + "\n")
    words = ("--columns", "team*", "--reference", "nist", "--scale", "0-1", "--cut", "0.5")
    done = call("agreement", "w.csv", *words, "--json")
    found = {row["rater"]: row["figures"]["kappa"]["point"] for row in done.json["table"]}
    expected = {
        "team3": 0.823, "team4": 0.419, "team11": 0.322, "team12": 0.310, "team1": 0.252,
        "team6": 0.116, "team5": 0.029,
    }  # fmt: skip
    assert {t: found[t] for t in expected} == pytest.approx(expected, abs=5.5e-4)


def test_2_55_million_labels_in_one_command(call, shared):
    """The kappa of every prompt, model, mode and track of `kappa_by_prompt.csv`."""
    folder = shared / "data/prompt_sensitivity"
    done = call(
        "agreement", str(folder / "graded_wide.tsv.gz"), str(folder / "binary_wide.tsv.gz"),
        "--columns", "*__p*", "--reference", "human", "--by", "track", "--scale", "0-3",
        "--rater-scale", "0-3", "--rater-scale", "0-1", "--json",
    )  # fmt: skip
    assert done.json["labels"] == 1_307_308 + 1_244_882
    with (folder / "kappa_by_prompt.csv").open() as file:
        expected = list(csv.DictReader(file))
    modes = {"graded": done.json["table"][:162], "binary": done.json["table"][162:]}
    table = {(m, row["rater"], row["group"]): row for m, rows in modes.items() for row in rows}
    names = {
        "kappa": "kappa", "kappa_linear": "kappa_linear", "kappa_quadratic": "kappa_quadratic",
        "kappa_ge1": "kappa_floor_1", "kappa_ge2": "kappa_floor_2",
    }  # fmt: skip
    assert len(expected) == len(table) == 318
    for row in expected:
        found = table[row["mode"], f"{row['model']}__p{row['prompt_id']}", row["track"]]
        assert found["n"] == int(row["n"])
        assert found["mean_rater"] == pytest.approx(float(row["mean_label"]), abs=2e-6)
        for column, name in names.items():
            if row[column]:
                point = found["figures"][name]["point"]
                assert point == pytest.approx(float(row[column]), abs=2e-6)
    assert json.dumps(done.json, allow_nan=False)
