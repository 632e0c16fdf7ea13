"""`relgate calibrate`: figures, levels, and the certificate that a review looks up."""

from __future__ import annotations

import json
import random

import pytest
from sklearn.metrics import cohen_kappa_score

from relgate.eval.agreement.certificate import find_certificate, read_certificate
from relgate.judge.baseline import BaselineJudge, LabelledPair
from relgate.judge.types import Candidate
from relgate.rubrics import load_rubric


@pytest.fixture
def llmjudge(shared):
    """NIST's labels and the 33 recorded submissions, in one file."""
    file = shared / "data/llmjudge/test_human_and_33_llm.tsv"
    return [
        "calibrate", "--human", file, "--human-column", "human",
        "--grades", file, "--grades-column", "willia-umbrela1",
    ]  # fmt: skip


def test_the_published_kappas_of_a_recorded_judge_come_out(process, llmjudge, tmp_path):
    """0.2863 unweighted: published by LLMJudge 2024 for willia-umbrela1; the weighted two and n
    are scikit-learn's, in the data's README."""
    done = process(*llmjudge, "--json", "--out", "calibration")
    assert done.code == 0
    document = done.json
    assert document["n"] == 4423
    names = ("kappa", "kappa_linear", "kappa_quadratic")
    points = [round(document["figures"][name]["point"], 4) for name in names]
    assert points == [0.2863, 0.3963, 0.5044]
    assert document["level"] == "untrusted"
    written = json.loads((tmp_path / "calibration/calibration.json").read_text(encoding="utf-8"))
    assert written == document
    page = (tmp_path / "calibration/calibration.md").read_text(encoding="utf-8")
    assert "0.2863" in page
    assert "untrusted" in page


def test_a_reader_sees_the_figures_the_level_and_why(call, llmjudge):
    done = call(*llmjudge)
    for part in ("4,423 labels of 25 queries", "0.2863", "0.3963", "0.5044", "Level: untrusted"):
        assert part in done.out
    assert "F1 at the floor 0.534 is not >= 0.80" in done.out


def test_grades_that_name_no_judge_certify_nothing(call, llmjudge, tmp_path):
    done = call(*llmjudge)
    assert "nothing to certify" in done.err
    assert not (tmp_path / "certificates").exists()


def test_a_judge_of_the_settings_does_not_stand_against_grades(call, llmjudge, tmp_path):
    (tmp_path / "relgate.toml").write_text('judge = "baseline"\n')
    assert call(*llmjudge, "--json").json["n"] == 4423


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--policy", "lax"), "no trust policy 'lax'"),
        (("--floor", "4"), "floor 4"),
        (("--human-column", "nobody"), "nobody"),
        (("--scale", "0-1"), "0-1"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, llmjudge, more, told):
    done = call(*llmjudge, *more, "--quiet")
    assert done.code == 2
    assert told in done.complaint


def by_judge(shop, *more: str) -> list[str]:
    return [
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--json", *more,
    ]  # fmt: skip


def test_a_judge_is_asked_and_its_certificate_found_by_a_review(call, shop):
    document = call(*by_judge(shop)).json
    assert document["n"] == len(shop.human) == 450
    assert document["level"] == "trusted"
    assert document["figures"]["kappa"]["point"] == 1.0
    assert document["labels"]["sources"] == {"human": 450}
    path = shop.folder / document["certificate"]
    certificate = read_certificate(path)
    assert path.parent == shop.folder / "certificates"
    assert path.stem == certificate.fingerprint == document["judge"]["fingerprint"]
    assert find_certificate(path.parent, certificate.fingerprint) == certificate
    assert (certificate.expires_at - certificate.made_at).days == 90
    (use,) = call(*shop.review("--json")).json["judge"]["grades"]
    assert use["fingerprint"] == certificate.fingerprint
    assert use["certificate_problem"] is None


def test_calibrating_again_makes_no_call(call, shop):
    call(*by_judge(shop))
    calls = shop.calls
    call(*by_judge(shop))
    assert 0 < calls == shop.calls


def test_a_review_finds_what_calibration_paid_for(call, shop):
    """The same texts, the same judge: production sees the calibrated prompt."""
    shop.human = [(q, d, g) for q, d, g in shop.human if not d.endswith("-9")]
    whole = shop.human
    shop.human = [*whole, *((q, f"n{i}-0", 3) for i, q in enumerate(shop.before))]
    shop.write()
    call(*by_judge(shop))
    shop.human = whole
    shop.write()
    fill = call(*shop.review("--json")).json["judge"]["fill"]
    assert fill["cached"] == shop.n


def test_the_life_and_the_place_of_a_certificate_are_options(call, shop):
    document = call(*by_judge(shop, "--days", "7", "--certificates", "trust")).json
    certificate = read_certificate(shop.folder / document["certificate"])
    assert document["certificate"].startswith("trust/")
    assert (certificate.expires_at - certificate.made_at).days == 7


def test_a_judges_own_grades_are_no_labels(call, shop):
    """A filled list against itself would be perfect agreement of a judge with itself."""
    call(*shop.review("--out", "report", "--quiet"))
    done = call(
        "calibrate", "--human", "report/judgments.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--json",
    )  # fmt: skip
    assert done.json["n"] == len(shop.human)
    assert done.json["labels"]["made_by_judge"] == shop.new


def test_few_labels_are_insufficient_however_well_they_agree(call, shop):
    shop.human = shop.human[:50]
    shop.write()
    document = call(*by_judge(shop)).json
    assert document["level"] == "insufficient"
    assert document["figures"]["f1"]["point"] == 1.0


def test_fewer_labels_than_the_minimum_are_refused_before_any_call(call, shop):
    shop.human = shop.human[:4]
    shop.write()
    done = call(*by_judge(shop), "--quiet")
    assert done.code == 2
    assert "4 labels" in done.complaint
    assert shop.calls == 0


def test_labels_of_another_index_are_refused_not_kappa_zero(call, shop):
    shop.human = [(q, f"other-{d}", g) for q, d, g in shop.human]
    shop.write()
    done = call(*by_judge(shop), "--quiet")
    assert done.code == 2
    assert "none of the 450 labelled documents" in done.complaint
    assert shop.calls == 0


# --- the baseline


def baseline(*more: str) -> list[str]:
    return [
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", "baseline", "--json", *more,
    ]  # fmt: skip


def kappa_of(judge, pairs) -> float:
    given = [judge.grade_sync(p.query, [Candidate("d", p.text)])[0].grade for p in pairs]
    return float(cohen_kappa_score([p.grade for p in pairs], given))


def test_the_baseline_is_measured_on_queries_it_did_not_learn_from(call, shop):
    """Labels drawn at random: whatever agreement is above chance is memory."""
    draw = random.Random(2)  # noqa: S311 - a made-up list
    words = ["oak", "tin", "red", "silk", "jade", "fern", "moss", "clay", "iron", "wax"]
    queries = [" ".join(draw.sample(words, 3)) for _ in range(6)]
    shop.human, shop.texts, pairs = [], {}, []
    for number, query in enumerate(queries):
        for doc in (f"d{number}-{j}" for j in range(6)):
            text = " ".join(draw.sample(words, draw.randrange(2, 8)))
            shop.human.append((query, doc, draw.randrange(4)))
            shop.texts[doc] = text
            pairs.append(LabelledPair(query, f"title: {text}", shop.human[-1][2]))
    shop.write()
    fitted = BaselineJudge.fit(pairs, load_rubric())
    remembered, learned = kappa_of(fitted, pairs), kappa_of(fitted.out_of_fold(), pairs)
    assert remembered > learned + 0.1
    document = call(*baseline()).json
    assert document["n"] == 36
    assert document["figures"]["kappa"]["point"] == pytest.approx(learned, abs=1e-6)


def test_the_baseline_learns_what_can_be_learned(call, shop):
    """Relevant documents hold the query's words, the others do not."""
    for i, query in enumerate(shop.before):
        for doc in shop.texts:
            if doc.startswith((f"h{i}-", f"n{i}-")):
                words = query if shop.texts[doc][-1] in "ES" else "something else"
                shop.texts[doc] = f"{words} {doc}"
    shop.write()
    document = call(*baseline()).json
    assert document["judge"]["version"].startswith("baseline-")
    assert document["judge"]["family"] == "none"
    assert document["figures"]["f1"]["point"] > 0.6
    certificate = read_certificate(shop.folder / document["certificate"])
    words = shop.review("--judge", "baseline", "--fill", "--json", judge=None)
    (use,) = call(*words).json["judge"]["grades"]
    assert use["fingerprint"] == certificate.fingerprint
    assert use["family"] == "none"


def test_a_baseline_that_learned_from_other_labels_has_no_certificate(call, shop):
    call(*baseline())
    shop.human = shop.human[:-10]
    shop.write()
    words = shop.review("--judge", "baseline", "--fill", "--json", judge=None)
    (use,) = call(*words).json["judge"]["grades"]
    assert "no calibration certificate" in use["certificate_problem"]


# --- hygiene


def test_declared_tuning_queries_among_the_labels_are_refused_before_any_call(call, shop):
    (shop.folder / "tuned.csv").write_text("query\nquery 7\nquery elsewhere\n")
    done = call(*by_judge(shop, "--tuning", "tuned.csv"), "--quiet")
    assert done.code == 5
    assert "'query 7'" in done.complaint
    assert shop.calls == 0
    assert not (shop.folder / "certificates").exists()


def test_tuning_queries_elsewhere_are_recorded_by_hash(call, shop):
    (shop.folder / "tuned.csv").write_text("query\nquery elsewhere\n")
    document = call(*by_judge(shop, "--tuning", "tuned.csv")).json
    assert document["hygiene"]["tuning_queries"] == 1
    certificate = read_certificate(shop.folder / document["certificate"])
    assert certificate.tuning_hash == document["hygiene"]["tuning_hash"] is not None


def test_the_split_leaves_out_the_tuning_part(call, shop):
    document = call(*by_judge(shop, "--split")).json
    assert 0 < document["hygiene"]["left_out"] == 450 - document["n"]
    assert document["hygiene"]["split_hash"] is not None


def test_the_queries_of_few_shot_examples_are_kept_apart_and_recorded(call, shop):
    (shop.folder / "relgate.toml").write_text("few_shot = 1\n")
    hygiene = call(*by_judge(shop)).json["hygiene"]
    assert hygiene["tuning_queries"] >= 1
    assert hygiene["left_out"] > 0
    assert None not in (hygiene["tuning_hash"], hygiene["split_hash"])


def test_the_least_number_of_labels_counts_for_recorded_grades_too(call, llmjudge):
    done = call(*llmjudge, "--min-labels", "5000", "--quiet")
    assert done.code == 2
    assert "4423 labels with a grade" in done.complaint


def test_a_teams_own_policy_decides_the_level(call, shop):
    (shop.folder / "ours.toml").write_text('name = "ours"\nmin_labels = 451\n')
    document = call(*by_judge(shop, "--policy", "ours.toml")).json
    assert (document["policy"], document["level"]) == ("ours", "insufficient")
    assert document["policy_terms"]["min_labels"] == 451
    assert document["needs"][0]["labels"] == 1


def test_strata_and_locales_come_from_the_query_table(call, shop):
    lines = [f"{q},{'ab'[i % 2]},{('de', 'en')[i % 3 == 0]}" for i, q in enumerate(shop.before)]
    (shop.folder / "queries.csv").write_text("query,stratum,locale\n" + "\n".join(lines) + "\n")
    done = call(*by_judge(shop, "--queries", "queries.csv"))
    groups = [(g["kind"], g["name"], g["n_queries"]) for g in done.json["groups"]]
    assert groups == [
        ("stratum", "a", 23), ("stratum", "b", 22), ("locale", "de", 30), ("locale", "en", 15),
    ]  # fmt: skip


def test_labels_with_a_stratum_column_need_no_query_table(call, shop):
    rows = [f"{q},{d},{g},{'xy'[int(q[6:]) % 2]}" for q, d, g in shop.human]
    (shop.folder / "labels.csv").write_text("query,doc_id,grade,stratum\n" + "\n".join(rows) + "\n")
    words = by_judge(shop)
    words[words.index("judgments.csv")] = "labels.csv"
    assert [g["name"] for g in call(*words).json["groups"]] == ["x", "y"]


def test_a_disagreement_shows_both_reasons_and_the_text(call, shop):
    shop.human[0] = ("query 0", "h0-0", 3)  # its text says class I
    rows = [f"{q},{d},{g},{'I saw it' if d == 'h0-0' else ''}" for q, d, g in shop.human]
    (shop.folder / "labels.csv").write_text("query,doc_id,grade,reason\n" + "\n".join(rows) + "\n")
    words = [*by_judge(shop, "--out", "report")]
    words[words.index("judgments.csv")] = "labels.csv"
    (worst,) = call(*words).json["disagreements"]
    assert (worst["human"], worst["human_reason"]) == (3, "I saw it")
    assert (worst["judge"], worst["judge_reason"]) == (0, "as its text says")
    assert worst["document"] == "title: item h0-0 class I"
    for name in ("calibration.md", "calibration.html"):
        page = (shop.folder / "report" / name).read_text(encoding="utf-8")
        assert all(text in page for text in ("I saw it", "as its text says", "class I"))


# --- several judges


def two_judges(shop, *more: str) -> list[str]:
    return [
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), *more,
    ]  # fmt: skip


def test_a_judge_and_recorded_grades_are_compared_beside_baseline_and_constants(call, shop):
    rows = [f"{q},{d},{max(0, g - 1)}" for q, d, g in shop.human if not d.endswith("-9")]
    (shop.folder / "old.csv").write_text("query,doc_id,grade\n" + "\n".join(rows) + "\n")
    done = call(*two_judges(shop, "--grades", "old.csv", "--json", "--out", "out"))
    assert done.code == 0
    document = done.json
    assert [j["kind"] for j in document["judges"]] == [
        "judge", "judge", "baseline", "constant", "constant",
    ]  # fmt: skip
    assert [j["coverage"] for j in document["judges"][:3]] == [1.0, 0.9, 1.0]
    assert (document["n"], document["n_labels"]) == (405, 450)
    asked, old, *_ = document["judges"]
    assert asked["figures"]["kappa"]["point"] == 1.0
    assert old["figures"]["kappa"]["point"] < 0.5
    assert asked["costs"]["seconds_per_thousand"] > 0
    assert old["costs"]["seconds_per_thousand"] is None
    first = document["differences"][0]
    assert (first["first"], first["second"]) == (shop.judge(), "old.csv")
    assert first["figures"]["kappa"]["low"] > 0
    (certificate,) = document["certificates"]  # of the judge that was asked
    assert read_certificate(shop.folder / certificate).fingerprint == asked["fingerprint"]
    written = json.loads((shop.folder / "out/comparison.json").read_text(encoding="utf-8"))
    assert {k: v for k, v in document.items() if k != "certificates"} == written
    assert "old.csv" in (shop.folder / "out/comparison.md").read_text(encoding="utf-8")


def test_two_judges_ask_no_more_calls_than_one_budget(call, shop):
    words = two_judges(shop, "--judge", shop.judge("broken"), "--max-calls", "50", "--json")
    call(*words)
    assert shop.calls <= 50


def test_a_plan_of_several_judges_names_each_and_asks_none(call, shop):
    words = two_judges(shop, "--judge", shop.judge("broken"), "--dry-run", "--json")
    plans = call(*words).json["judges"]
    assert [plan["judge"] for plan in plans] == [shop.judge(), shop.judge("broken")]
    assert all(plan["pairs"] == 450 for plan in plans)
    assert shop.calls == 0


def test_columns_of_one_file_are_judges_to_compare(call, llmjudge):
    done = call(*llmjudge, "--grades-column", "h2oloo-fewself", "--json")
    document = done.json
    names = [j["name"] for j in document["judges"]]
    assert names[:2] == ["willia-umbrela1", "h2oloo-fewself"]
    points = [round(j["figures"]["kappa"]["point"], 4) for j in document["judges"][:2]]
    assert points == [0.2863, 0.2774]  # published: LLMJudge 2024, table 2
    assert "give --catalogue" in done.err  # why the baseline is no row


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--grades-column", "x"), "named twice"),
        (("--judge", "baseline", "--judge", "baseline"), "named twice"),
        (("--judge", "baseline", "--judge-family", "a", "--judge-family", "b"), "--judge-family"),
    ],
)
def test_judges_that_cannot_be_told_apart_are_refused(call, llmjudge, more, told):
    if more[0] == "--grades-column":
        more = ("--grades-column", "willia-umbrela1")
    done = call(*llmjudge, *more, "--quiet")
    assert done.code == 2
    assert told in done.complaint


@pytest.mark.parametrize(
    "flag",
    [("--dry-run",), ("--max-calls", "3"), ("--max-cost", "1"), ("--judge-family", "x"),
     ("--cache", "c")],
)  # fmt: skip
def test_a_flag_on_calls_is_refused_where_none_is_made(call, llmjudge, flag):
    done = call(*llmjudge, *flag, "--quiet")
    assert done.code == 2
    assert f"{flag[0]} is for judges that are asked" in done.complaint


def test_a_folder_that_cannot_be_written_is_found_before_any_call(call, shop):
    (shop.folder / "taken").write_text("a file")
    done = call(*by_judge(shop, "--out", "taken/x"), "--quiet")
    assert done.code == 6
    assert "cannot be written" in done.complaint
    assert shop.calls == 0


def by_raters(folder, *, worse: bool, raters=("ann", "bob")):
    """Two people who guess a quarter of the pairs, and a judge who does a fifth or most."""
    draw = random.Random(7)  # noqa: S311 - a planted judge
    rows, grades = ["query_id,doc_id,grade,rater"], ["query_id,doc_id,grade"]
    for i in range(1200):
        truth = draw.randrange(4)
        for rater in raters:
            seen = truth if draw.random() < 0.75 else draw.randrange(4)
            rows.append(f"q{i // 4},d{i},{seen},{rater}")
        judged = draw.randrange(4) if draw.random() < (0.8 if worse else 0.2) else truth
        grades.append(f"q{i // 4},d{i},{judged}")
    (folder / "raters.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "grades.csv").write_text("\n".join(grades) + "\n", encoding="utf-8")
    return [
        "calibrate", "--human", "raters.csv", "--grades", "grades.csv", "--raters", "first",
        "--policy", "people",
    ]  # fmt: skip


@pytest.mark.parametrize(("worse", "level"), [(False, "trusted"), (True, "untrusted")])
def test_the_policy_people_holds_a_judge_to_what_people_reach(call, tmp_path, worse, level):
    words = by_raters(tmp_path, worse=worse)
    document = call(*words, "--out", "c", "--json").json
    assert (document["level"], document["n_people"]) == (level, 1200)
    assert (document["figures"]["over_people"]["low"] >= -0.05) is not worse
    for name in ("calibration.md", "calibration.html"):
        page = (tmp_path / "c" / name).read_text(encoding="utf-8")
        assert "judge over people, quadratic kappa" in page
    assert "The judge beside people, 1,200 pairs that two or more graded" in call(*words).out


def test_the_policy_people_says_that_it_takes_two_raters(call, tmp_path):
    done = call(*by_raters(tmp_path, worse=False, raters=("ann",)), "--json")
    assert (done.code, done.json["level"]) == (0, "insufficient")
    assert "no pair was graded by two people or more" in str(done.json["reasons"])


def test_raters_who_differ_are_refused_unless_a_way_to_settle_it_is_named(call, tmp_path):
    done = call(*(w for w in by_raters(tmp_path, worse=False) if w not in ("--raters", "first")))
    assert done.code == 2
    assert "--raters" in done.complaint


def test_labels_are_not_measured_against_themselves_by_two_names(call, tmp_path):
    by_raters(tmp_path, worse=False, raters=("ann",))
    for column in ("--human-column", "--grades-column"):
        done = call("calibrate", "--human", "raters.csv", "--grades", "raters.csv", column, "grade")
        assert (done.code, "the same file; name two columns" in done.err) == (2, True)
