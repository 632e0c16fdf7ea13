"""`relgate review`: the whole chain in one command."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from relgate.eval.agreement.certificate import read_certificate

# Figures of the Quepid case: computed apart from relgate, in the data's README.md.
QUEPID = "data/quepid_haystack/native"


@pytest.fixture
def quepid(shared):
    folder = shared / QUEPID
    return [
        "review",
        "--before", folder / "quepid_snapshot_no-vector.json",
        "--after", folder / "quepid_snapshot_with-vector.json",
        "--judgments", folder / "quepid_basic_ratings.csv",
        "--k", "10",
    ]  # fmt: skip


def rules(review, state: str) -> set[str]:
    return {o["rule"] for o in review["checked"] if o["state"] == state}


def test_the_quepid_change_needs_work(process, quepid, tmp_path):
    done = process(*quepid, "--out", "report")
    assert done.code == 1
    review = json.loads((tmp_path / "report/review.json").read_text(encoding="utf-8"))
    assert review["verdict"] == "NEEDS-WORK"
    assert review["exit_code"] == 1
    ndcg = review["aggregate"]["ndcg"]
    assert (round(ndcg["before"], 4), round(ndcg["after"], 4), ndcg["n"]) == (0.5204, 0.5516, 129)
    assert review["coverage"]["queries"] == 135
    assert review["coverage"]["no_ideal"] == 6
    assert review["coverage"]["unrated"]["mostly_unrated"] == 40
    paired = [q["delta"] for q in review["queries"] if q["delta"] is not None]
    assert (sum(d < -1e-9 for d in paired), sum(d < -0.1 for d in paired)) == (54, 45)
    assert rules(review, "failed") == {"R5", "R7"}
    assert {f["rule"] for f in review["findings"] if f["severity"] == "NEEDS-WORK"} == {"R5", "R7"}
    text = (tmp_path / "report/review.md").read_text(encoding="utf-8")
    assert "**NEEDS-WORK**" in text
    assert "| 0.5204 | 0.5516 | +0.0312 |" in text
    assert "NEEDS-WORK" in done.out
    assert "0.5204" in done.out


def test_queries_without_an_ideal_count_as_zero_by_option(call, quepid):
    review = call(*quepid, "--no-ideal", "zero", "--json", "--quiet").json
    ndcg = review["aggregate"]["ndcg"]
    assert (round(ndcg["before"], 4), round(ndcg["after"], 4), ndcg["n"]) == (0.4973, 0.5271, 135)
    assert review["conventions"]["no_ideal"] == "zero"


def test_json_is_all_that_stands_on_stdout(process, quepid):
    done = process(*quepid, "--json")
    assert done.code == 1
    review = done.json
    assert {
        "verdict", "exit_code", "findings", "checked", "not_checked", "aggregate", "queries",
        "coverage", "judge", "conventions",
    } <= set(review)  # fmt: skip
    assert "read as quepid-snapshot" in done.err


def test_quiet_leaves_only_the_result(call, quepid):
    done = call(*quepid, "--quiet")
    assert done.err == ""
    assert "NEEDS-WORK" in done.out


def test_the_same_review_twice_is_the_same_to_the_byte(call, quepid, tmp_path):
    for name in ("one", "two"):
        call(*quepid, "--out", name, "--quiet")
    for file in ("review.json", "review.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


# --- two bare files: the reviewer's own cases (reference/rules.md, acceptance cases 2 and 3)


def lay_rank_eval(path, score: float, details: dict[str, float], unrated: int = 0) -> None:
    docs = [f"u{i}" for i in range(unrated)]
    value = {
        "metric_score": score,
        "details": {q: {"metric_score": s, "unrated_docs": docs} for q, s in details.items()},
    }
    path.write_text(json.dumps(value), encoding="utf-8")


CASE_2 = (
    (0.781, {"blue_jeans": 0.72, "wireless_mouse": 0.81, "yoga_mat": 0.78, "coffee_table": 0.79}),
    (0.812, {"blue_jeans": 0.76, "wireless_mouse": 0.83, "yoga_mat": 0.81, "coffee_table": 0.81}),
)
BARE = ("review", "--before", "before.json", "--after", "after.json")


def lay_case(folder, before, after, unrated: int = 0) -> None:
    lay_rank_eval(folder / "before.json", *before, unrated=unrated)
    lay_rank_eval(folder / "after.json", *after, unrated=unrated)


def test_two_bare_files_can_approve(process, tmp_path):
    lay_case(tmp_path, *CASE_2)
    done = process(*BARE)
    assert done.code == 0
    assert "APPROVE" in done.out
    assert "+0.031" in done.out


def test_a_stale_list_refuses_and_names_no_other_verdict(call, tmp_path):
    before = (0.701, {"q1": 0.70, "q2": 0.71})
    lay_case(tmp_path, before, (0.694, {"q1": 0.69, "q2": 0.70}), unrated=6)
    done = call(*BARE, "--out", "report")
    assert done.code == 4
    text = (tmp_path / "report/review.md").read_text(encoding="utf-8")
    for shown in (done.out, text):
        assert "REFUSE" in shown
        assert not any(word in shown for word in ("APPROVE", "NEEDS-WORK", "BLOCK"))
        assert "unrated" in shown


@pytest.mark.parametrize(
    ("after", "verdict", "codes"),  # codes under --fail-on needs-work (also unsaid), block, refuse
    [
        (0.812, "APPROVE", (0, 0, 0)),
        (0.785, "NEEDS-WORK", (1, 0, 0)),
        (0.701, "BLOCK", (3, 3, 0)),
        (None, "REFUSE", (4, 4, 4)),
    ],
)
def test_fail_on_lets_milder_verdicts_pass_and_changes_no_word(
    call, tmp_path, after, verdict, codes
):
    details = CASE_2[0][1]
    lay_case(tmp_path, CASE_2[0], (after, details))
    default = call(*BARE, "--json", "--quiet")
    assert (default.json["verdict"], default.code) == (verdict, codes[0])
    for word, code in zip(("needs-work", "block", "refuse"), codes, strict=True):
        done = call(*BARE, "--json", "--fail-on", word)
        assert (done.json["verdict"], done.code) == (verdict, code)
        said = f"exit code 0, since fail_on is {word}" in done.err
        assert said is (code == 0 and verdict != "APPROVE")
        (tmp_path / "relgate.toml").write_text(f'fail_on = "{word}"\n')
        assert call(*BARE, "--quiet").code == code
        (tmp_path / "relgate.toml").unlink()


# --- settings, flags, environment


def test_settings_are_read_and_flags_override_them(call, shop):
    (shop.folder / "relgate.toml").write_text(
        'judgments = "judgments.csv"\njudgments_source = "human"\nk = 5\nno_ideal = "zero"\n'
    )
    words = ("review", *shop.sides(), "--json", "--quiet")
    by_file = call(*words).json["conventions"]
    assert (by_file["k"], by_file["no_ideal"]) == (5, "zero")
    by_flag = call(*words, "--k", "7").json["conventions"]
    assert (by_flag["k"], by_flag["no_ideal"]) == (7, "zero")


def test_paths_in_the_settings_are_relative_to_their_file(call, shop, monkeypatch):
    (shop.folder / "relgate.toml").write_text('judgments = "judgments.csv"\nout = "report"\n')
    elsewhere = shop.folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    done = call(
        "review", "--before", "../before.jsonl", "--after", "../after.jsonl",
        "--config", "../relgate.toml", "--quiet",
    )  # fmt: skip
    assert done.err == ""
    assert (shop.folder / "report/review.json").is_file()
    assert list(elsewhere.iterdir()) == []


def test_a_budget_of_the_settings_counts(call, tmp_path):
    lay_case(tmp_path, CASE_2[0], (0.785, CASE_2[0][1]))
    assert call(*BARE, "--quiet").code == 1
    (tmp_path / "relgate.toml").write_text("[budgets]\nmin_improvement = 0.003\n")
    assert call(*BARE, "--quiet").code == 0


def test_head_queries_are_named_by_flag(call, tmp_path):
    details = CASE_2[1][1] | {"blue_jeans": 0.60}
    lay_case(tmp_path, CASE_2[0], (0.812, details))
    done = call(*BARE, "--head-query", "blue_jeans", "--json", "--quiet")
    assert done.code == 1
    (found,) = [f for f in done.json["findings"] if f["rule"] == "R6"]
    assert found["queries"] == ["blue_jeans"]
    assert [q["id"] for q in done.json["queries"] if q["head"]] == ["blue_jeans"]


def test_flags_override_the_change_file(call, tmp_path):
    lay_case(tmp_path, *CASE_2)
    (tmp_path / "change.toml").write_text(
        'type = "synonyms"\nintent = "improve"\ndescription = "of the file"\nsha = "1111111"\n'
    )
    words = (*BARE, "--change", "change.toml", "--json", "--quiet")
    change = call(*words).json["change"]
    assert (change["types"], change["intent"], change["sha"]) == (
        ["synonyms"],
        "improve",
        "1111111",
    )
    more = ("--type", "analyzer", "--intent", "neutral", "--description", "mine", "--sha", "222")
    change = call(*words, *more).json["change"]
    assert (change["types"], change["intent"]) == (["analyzer"], "neutral")
    assert (change["description"], change["sha"]) == ("mine", "222")


def test_what_no_rule_looks_at_is_said(call, tmp_path):
    lay_case(tmp_path, *CASE_2)
    (tmp_path / "change.toml").write_text("ground_truth = { recomputed = true }\n")
    done = call(*BARE, "--change", "change.toml", "--json", "--quiet")
    said = "ground_truth counts for a change of type embedding-model only"
    assert said in done.json["warnings"]


@pytest.mark.parametrize("name", ["GITHUB_SHA", "CI_COMMIT_SHA"])
def test_the_commit_comes_from_the_ci_environment(call, tmp_path, monkeypatch, name):
    lay_case(tmp_path, *CASE_2)
    assert call(*BARE, "--json", "--quiet").json["change"] is None
    monkeypatch.setenv(name, "abc1234")
    assert call(*BARE, "--json", "--quiet").json["change"]["sha"] == "abc1234"
    assert call(*BARE, "--json", "--quiet", "--sha", "def").json["change"]["sha"] == "def"
    (tmp_path / "change.toml").write_text('sha = "of the file"\n')
    done = call(*BARE, "--json", "--quiet", "--change", "change.toml")
    assert done.json["change"]["sha"] == "of the file"


# --- the fill


def test_without_a_fill_the_shops_list_is_too_thin(call, shop):
    done = call(*shop.review("--json", judge=None))
    assert (done.code, done.json["verdict"]) == (4, "REFUSE")
    assert done.json["coverage"]["unrated"]["mostly_unrated"] == shop.n


def test_a_fill_grades_the_gaps_and_says_coverage_before_and_after(call, shop):
    done = call(*shop.review("--json"))
    coverage, fill = done.json["coverage"], done.json["judge"]["fill"]
    assert coverage["unrated_before_fill"]["mostly_unrated"] == shop.n
    assert coverage["unrated_before_fill"]["mean_share_after"] == pytest.approx(0.6)
    assert coverage["unrated"]["mostly_unrated"] == 0
    assert coverage["unrated"]["mean_share_after"] == 0
    assert coverage["by_source"] == {"human": len(shop.human), "judge": shop.new}
    assert (fill["asked"], fill["graded"], fill["cached"]) == (shop.new, shop.new, 0)
    assert fill["calls"] == shop.calls == shop.n
    # 3 3 3 2 2 2 and four of 3 3 2 2 at the top, against 0 0 0 1 1 2 2 2 3 3: far better
    assert done.json["aggregate"]["ndcg"]["delta"] > 0.3


def test_filled_grades_carry_who_made_them(call, shop, read_jsonl):
    begin = datetime.now(UTC).replace(microsecond=0)
    done = call(*shop.review("--out", "report", "--json"))
    rows = read_jsonl(shop.folder / "report/judgments.jsonl")
    (use,) = done.json["judge"]["grades"]
    made = [row for row in rows if row["source"] == "judge"]
    assert len(made) == shop.new
    for row in made:
        assert row["judge_version"] == use["version"]
        assert row["judge_version"].startswith("esci-v1@")
        assert row["fingerprint"] == use["fingerprint"]
        assert begin <= datetime.fromisoformat(row["judged_at"]) <= datetime.now(UTC)
        assert row["reason"] == "as its text says"
        assert len(row["text_hash"]) == 64
        letter = shop.texts[row["doc_id"]][-1]
        assert row["grade"] == "ICSE".index(letter)


def test_people_outrank_judges(call, shop, read_jsonl):
    """People say 0 of a document whose text says 3: it is not even asked about."""
    shop.human.append(("query 0", "n0-0", 0))
    shop.write()
    assert shop.texts["n0-0"].endswith("class E")
    done = call(*shop.review("--out", "report", "--json"))
    assert done.json["judge"]["fill"]["asked"] == shop.new - 1
    rows = read_jsonl(shop.folder / "report/judgments.jsonl")
    (row,) = [r for r in rows if r["doc_id"] == "n0-0"]
    assert (row["source"], row["grade"]) == ("human", 0)


def test_a_second_run_makes_no_call_and_says_the_same(call, shop):
    first = call(*shop.review("--json", "--out", "one")).json
    calls = shop.calls
    second = call(*shop.review("--json", "--out", "two")).json
    assert calls > 0
    assert shop.calls == calls
    fill = second["judge"]["fill"]
    assert (fill["calls"], fill["cached"], fill["graded"]) == (0, shop.new, shop.new)
    for report in (first, second):
        del report["judge"]["fill"]
    assert first == second
    one, two = ((shop.folder / n / "judgments.jsonl").read_bytes() for n in ("one", "two"))
    assert one == two  # the cache keeps when a grade was made


def test_an_edited_function_gets_neither_grades_nor_certificate_of_the_old_one(process, shop):
    """Case C10: code that was edited must not be served what the old code said."""
    assert process(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--json",
    ).json["level"] == "trusted"  # fmt: skip
    words = shop.review(*DECLARED, "--judge-family", "our-rules", "--json")
    before = process(*words).json["judge"]
    path = shop.folder / f"{shop.module}.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    after = process(*words).json["judge"]
    assert before["grades"][0]["certificate_problem"] is None
    assert "no calibration certificate" in after["grades"][0]["certificate_problem"]
    assert (after["fill"]["cached"], after["fill"]["calls"]) == (0, shop.n)


def test_the_same_model_at_another_address_is_another_judge(call, server, monkeypatch):
    rows = [{"id": str(i), "esci": "E", "reason": "r"} for i in range(1, 11)]
    message = {"role": "assistant", "content": json.dumps({"grades": rows})}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    server.body = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
    }  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    words = ("judge", "q", "--text", "t", "--judge", "openai:m-1", "--json")
    seen = []
    for url in (server.url, server.url, server.url.replace("127.0.0.1", "localhost")):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        seen.append((call(*words).json["judge"]["fingerprint"], len(server.seen)))
    assert seen[0] == seen[1]
    assert seen[1][0] != seen[2][0]
    assert [calls for _, calls in seen] == [1, 1, 2]


def test_a_fill_of_whole_runs_goes_deeper_than_k(call, shop):
    shallow = call(*shop.review("--k", "3", "--json")).json["judge"]["fill"]
    assert shallow["asked"] == 3 * shop.n
    words = shop.review("--k", "3", "--json")
    words[words.index("--fill") : words.index("--fill") + 1] = ["--fill", "all"]
    assert call(*words).json["judge"]["fill"]["asked"] == shop.new


def test_a_list_that_was_filled_is_reviewed_without_a_judge(call, shop):
    call(*shop.review("--out", "report", "--quiet"))
    calls = shop.calls
    done = call(
        "review", *shop.sides(), "--judgments", "report/judgments.jsonl", "--json", "--quiet"
    )
    assert shop.calls == calls
    assert done.json["judge"]["fill"] is None
    assert [use["grades"] for use in done.json["judge"]["grades"]] == [shop.new]
    assert "R15" in rules(done.json, "failed")


def test_a_query_without_a_text_is_said_to_be_judged_by_its_id(call, shop):
    for name in ("before", "after"):
        run = getattr(shop, name)
        renamed = {f"{i}": docs for i, docs in enumerate(run.values())}
        (shop.folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({"query_id": q, "docs": d}) + "\n" for q, d in renamed.items())
        )
    lines = [f"{q.removeprefix('query ')} 0 {doc} {grade}\n" for q, doc, grade in shop.human]
    (shop.folder / "judgments.csv").write_text("".join(lines))
    done = call(*shop.review("--json", "--quiet"))
    (note,) = [w for w in done.json["warnings"] if "no text in any file" in w]
    assert note.startswith("45 queries")
    (shop.folder / "queries.csv").write_text(
        "query_id,query\n" + "".join(f"{i},words {i}\n" for i in range(shop.n))
    )
    done = call(*shop.review("--queries", "queries.csv", "--json", "--quiet"))
    assert not any("no text in any file" in w for w in done.json["warnings"])


# --- the certificate


def calibrated(call, shop, *more: str):
    """A certificate on people's labels; the scripted judge agrees with all 450."""
    done = call(
        "calibrate", "--human", "judgments.csv", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--json", *more,
    )  # fmt: skip
    assert done.code == 0
    return done.json


NO_MODELS = ("--system-model", "none", "--judge-family", "our-rules")
DECLARED = ("--system-model", "claude-sonnet-4", "--judge-family", "openai")


def test_without_a_certificate_the_verdict_is_needs_work_at_best(call, shop):
    done = call(*shop.review(*DECLARED, "--json"))
    assert (done.code, done.json["verdict"]) == (1, "NEEDS-WORK")
    assert {f["rule"] for f in done.json["findings"] if f["severity"] != "APPROVE"} == {"R15"}
    (use,) = done.json["judge"]["grades"]
    assert "no calibration certificate" in use["certificate_problem"]


@pytest.mark.parametrize("declared", [DECLARED, NO_MODELS])
def test_with_a_trusted_certificate_the_same_review_can_approve(call, shop, declared):
    document = calibrated(call, shop, *declared[2:])
    assert document["level"] == "trusted"
    done = call(*shop.review(*declared, "--json", "--out", "report"))
    assert (done.code, done.json["verdict"]) == (0, "APPROVE")
    assert {"R15", "R16", "R19"} <= rules(done.json, "passed")
    assert done.json["judge"]["grades"][0]["certificate_problem"] is None


def test_filled_grades_carry_the_certificate_of_their_judge(call, shop, read_jsonl):
    document = calibrated(call, shop)
    certificate = read_certificate(document["certificate"])
    call(*shop.review("--out", "report", "--quiet"))
    rows = read_jsonl(shop.folder / "report/judgments.jsonl")
    assert {r["certificate"] for r in rows if r["source"] == "judge"} == {
        certificate.certificate_id
    }


def test_an_expired_certificate_caps_again(call, shop, monkeypatch):
    calibrated(call, shop, "--days", "30")
    words = shop.review(*DECLARED, "--json")
    for days, verdict in ((29, "APPROVE"), (31, "NEEDS-WORK"), (-1, "NEEDS-WORK")):
        moment = datetime.now(UTC) + timedelta(days=days)
        monkeypatch.setattr("relgate.eval.cli.cmd_review.now", lambda moment=moment: moment)
        assert call(*words).json["verdict"] == verdict


def test_a_certificate_of_another_judge_caps(call, shop):
    """The same rubric, another batch size: another fingerprint."""
    calibrated(call, shop)
    (shop.folder / "relgate.toml").write_text("batch_size = 3\n")
    assert call(*shop.review(*DECLARED, "--json")).json["verdict"] == "NEEDS-WORK"


def test_a_certificate_that_was_edited_is_refused(call, shop):
    path = shop.folder / calibrated(call, shop)["certificate"]
    path.write_text(path.read_text(encoding="utf-8").replace('"n": 450', '"n": 451'))
    done = call(*shop.review(*DECLARED, "--quiet"))
    assert done.code == 2
    assert "certificate_id does not match" in done.complaint


@pytest.mark.parametrize(
    ("flip", "level", "verdict"),
    [(0, "trusted", "APPROVE"), (1, "untrusted", "NEEDS-WORK")],
)
def test_only_a_judge_that_agrees_with_people_is_trusted(call, shop, flip, level, verdict):
    """Planted fault: people mean the opposite of what the judge reads in every text."""
    if flip:
        shop.human = [(q, doc, 3 - grade) for q, doc, grade in shop.human]
        shop.before = {q: docs[::-1] for q, docs in shop.before.items()}
        shop.write()
    assert calibrated(call, shop)["level"] == level
    done = call(*shop.review(*DECLARED, "--json"))
    assert (done.json["verdict"] == "APPROVE") is (verdict == "APPROVE")
    assert ("R15" in rules(done.json, "passed")) is (verdict == "APPROVE")


def test_labels_that_nobody_vouches_for_certify_nothing(call, shop):
    """Labels of unstated origin are no people's: provisional at most, and the cap stays."""
    (shop.folder / "relgate.toml").write_text('judgments = "judgments.csv"\n')
    done = call("calibrate", "--catalogue", "catalogue.jsonl", "--judge", shop.judge(), "--json")
    assert done.json["level"] == "provisional"
    assert call(*shop.review(*DECLARED, "--json")).json["verdict"] == "NEEDS-WORK"
