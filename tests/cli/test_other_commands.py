"""gaps, score, fill, judge, rerank, cache, rubric, init, demo, and what all commands share."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import replace
from importlib import metadata

import pytest

from relgate.eval.cli.app import COMMANDS
from relgate.eval.project import Project, read_project
from relgate.eval.review.settings import ReviewSettings

QUEPID = "data/quepid_haystack/native"


@pytest.fixture
def quepid(shared):
    folder = shared / QUEPID
    return [
        "--judgments", folder / "quepid_basic_ratings.csv",
        "--run", folder / "quepid_snapshot_no-vector.json",
        "--run", folder / "quepid_snapshot_with-vector.json",
    ]  # fmt: skip


# --- score: means of the Quepid case, computed apart from relgate, in the data's README.md


@pytest.mark.parametrize(
    ("more", "means", "n"),
    [
        ((), (0.5204, 0.5516), 129),
        (("--no-ideal", "zero"), (0.4973, 0.5271), 135),
    ],
)
def test_score_gives_the_quepid_means(call, quepid, more, means, n):
    runs = call("score", *quepid, *more, "--json").json["runs"]
    assert tuple(round(run["means"]["ndcg"]["value"], 4) for run in runs) == means
    assert [run["means"]["ndcg"]["n"] for run in runs] == [n, n]
    assert runs[0]["means"]["ndcg"]["name"] == "nDCG(gain=exp2)@10"


def test_score_names_the_convention_of_every_figure(call, quepid):
    done = call("score", *quepid, "--k", "5", "--floor", "3", "--gain", "linear")
    assert done.code == 0
    for name in ("nDCG(gain=linear)@5", "RR(floor=3)@5", "P(floor=3)@5"):
        assert name in done.out
    assert "without a relevant judgment are left apart" in done.err


def test_score_says_what_a_file_scores_otherwise(call, tmp_path):
    """A score in the file that its own documents do not give is shown, not believed."""
    (tmp_path / "list.csv").write_text("query_id,doc_id,grade\nq1,a,3\nq1,b,0\n")
    hits = [{"hit": {"_index": "i", "_id": d}, "rating": r} for d, r in (("b", 0), ("a", 3))]
    detail = {"metric_score": 0.9, "unrated_docs": [], "hits": hits}
    named = detail | {"metric_details": {"dcg": {"dcg": 6.3, "ideal_dcg": 7.0}}}
    words = ("score", "--run", "run.json", "--judgments", "list.csv")
    for entry, said in (
        (named, "q1 is 0.9000 in the file, 0.6309 here"),  # 1/log2(3)
        (detail, "does not name its metric, so its scores were not recomputed"),
    ):
        value = {"metric_score": 0.9, "details": {"q1": entry}, "failures": {}}
        (tmp_path / "run.json").write_text(json.dumps(value))
        done = call(*words)
        assert done.code == 0
        assert said in done.err
        (document,) = call(*words, "--json").json["runs"]
        assert any(said in line for line in document["cross_checks"])


# --- gaps: 370 of 1,274 results unrated before, 480 of 1,350 after (the data's README.md)


@pytest.mark.parametrize(("run", "unrated"), [("no-vector", 370), ("with-vector", 480)])
def test_gaps_counts_the_unrated_of_the_quepid_case(call, shared, run, unrated):
    folder = shared / QUEPID
    words = ("gaps", "--judgments", folder / "quepid_basic_ratings.csv")
    done = call(*words, "--run", folder / f"quepid_snapshot_{run}.json", "--json")
    assert done.json["unrated"] == unrated
    assert sum(len(q["unrated"]) for q in done.json["queries"]) == unrated


def test_gaps_counts_a_document_of_both_sides_once(call, quepid):
    found = call("gaps", *quepid, "--json").json
    assert 480 < found["unrated"] < 370 + 480
    assert found["depth"] == 10
    assert all(len(set(q["unrated"])) == len(q["unrated"]) for q in found["queries"])


def test_gaps_shows_the_thinnest_queries_first(call, quepid):
    queries = call("gaps", *quepid, "--json").json["queries"]
    shares = [len(q["unrated"]) / q["returned"] for q in queries]
    assert shares == sorted(shares, reverse=True)
    done = call("gaps", *quepid, "--all", "--k", "3")
    assert "in whole runs of" in done.out
    assert "queries more with --json" in done.out


BARE = {
    "metric_score": 0.5,
    "details": {"query 0": {"metric_score": 0.5, "unrated_docs": ["n0-0", "n0-1"]}},
}


def test_gaps_that_a_file_without_hits_names_itself_are_shown_and_filled(call, shop):
    (shop.folder / "bare.json").write_text(json.dumps(BARE))
    words = ("--run", "bare.json", "--judgments", "judgments.csv")
    (query,) = call("gaps", *words, "--json").json["queries"]
    assert query["unrated"] == ["n0-0", "n0-1"]
    more = ("--catalogue", "catalogue.jsonl", "--judge", shop.judge(), "--out", "new.jsonl")
    assert call("fill", *words, *more, "--json").json["graded"] == 2


def test_a_review_pays_for_no_grade_that_could_change_no_figure(call, shop):
    """Without hits the scores are taken as given: filled grades would be in none of them."""
    for side in ("before", "after"):
        (shop.folder / f"{side}.json").write_text(json.dumps(BARE))
    bare = {"before.jsonl": "before.json", "after.jsonl": "after.json"}
    words = [bare.get(w, w) for w in shop.review()]
    done = call(*words, "--quiet")
    assert done.code == 2
    assert "a fill would change no figure" in done.complaint
    assert shop.calls == 0


def test_one_file_on_both_sides_is_no_change_to_review(call, shop):
    same = ["before.jsonl" if w == "after.jsonl" else w for w in shop.review()]
    done = call(*same, "--quiet")
    assert done.code == 2
    assert "--before and --after are the same file" in done.complaint
    assert shop.calls == 0


# --- fill


@pytest.mark.parametrize("out", ["new.jsonl", "new.csv", "deep/er/new.jsonl"])
def test_fill_writes_a_list_that_reads_back_with_its_provenance(call, shop, out):
    assert call(*shop.fill(out=out)).code == 0
    found = call("gaps", "--judgments", out, *runs(), "--json").json
    assert found["unrated"] == 0
    done = call("review", *shop.sides(), "--judgments", out, "--json")
    assert done.json["coverage"]["by_source"] == {"human": len(shop.human), "judge": shop.new}


def runs() -> list[str]:
    return ["--run", "before.jsonl", "--run", "after.jsonl"]


def test_fill_does_not_ask_about_what_has_no_text(call, shop):
    for doc in [d for d in shop.texts if d.endswith("-5") and d.startswith("n")]:
        del shop.texts[doc]
    shop.write()
    done = call(*shop.fill("--json", out="new.jsonl"))
    assert done.json["no_text"] == shop.n
    assert done.json["asked"] == done.json["graded"] == shop.new - shop.n


@pytest.mark.parametrize("name", ["new.xlsx", "new.qrels"])
def test_fill_refuses_a_format_that_cannot_say_that_a_judge_graded(call, shop, name):
    # Read back, such grades would be somebody's, past the rules that ask for a certificate.
    done = call(*shop.fill("--quiet", out=name))
    assert done.code == 2
    assert ".jsonl or .csv" in done.complaint
    assert shop.calls == 0


def test_a_rubric_of_another_scale_is_refused_before_any_call(call, shop):
    shop.human = [(q, d, min(g, 1)) for q, d, g in shop.human]
    shop.write()
    done = call(*shop.fill("--scale", "0-1", "--quiet", out="new.jsonl"))
    assert done.code == 2
    assert "rubric esci-v1 grades 0 to 3" in done.complaint
    assert shop.calls == 0


def test_a_rubric_file_of_the_settings_is_found_beside_them(call, shop, monkeypatch):
    (shop.folder / "mine.md").write_text(
        '+++\ntag = "mine"\nfloor = 1\nlabel_field = "esci"\nlabel_noun = "class"\n'
        'candidate_noun = "pages"\n[[labels]]\ncode = "E"\nname = "Good"\ngrade = 1\n'
        '[[labels]]\ncode = "I"\nname = "Bad"\ngrade = 0\n+++\nJudge it.\n'
    )
    (shop.folder / "relgate.toml").write_text('rubric = "mine.md"\n')
    (shop.folder / "elsewhere").mkdir()
    monkeypatch.chdir(shop.folder / "elsewhere")
    done = call(
        "judge", "q", "--text", "a class E", "--judge", shop.judge(),
        "--config", "../relgate.toml", "--json",
    )  # fmt: skip
    assert done.json["judge"]["version"].startswith("mine@")
    assert done.json["hits"][0]["grade"] == 1


# --- judge


def test_judge_grades_texts_and_documents_of_the_catalogue(call, shop):
    words = ("--judge", shop.judge(), "--catalogue", "catalogue.jsonl")
    done = call("judge", "q", "n0-0", "h0-0", "--text", "some class C", *words, "--json")
    assert done.code == 0
    hits = [(h["id"], h["grade"], h["esci"]) for h in done.json["hits"]]
    assert hits == [("text 1", 1, "C"), ("n0-0", 3, "E"), ("h0-0", 0, "I")]
    shown = call("judge", "q", "n0-0", *words)
    assert "as its text says" in shown.out


def test_judge_refuses_a_document_that_it_cannot_see(call, shop):
    done = call(
        "judge", "q", "nope", "--judge", shop.judge(), "--catalogue", "catalogue.jsonl", "--quiet"
    )
    assert done.code == 2
    assert "'nope' is not in the catalogue" in done.complaint
    assert shop.calls == 0


def test_a_document_that_got_no_grade_shows_none(call, shop):
    done = call("judge", "q", "--text", "class E", "--text", "mute", "--judge", shop.judge())
    assert done.code == 0
    assert "no grade: " in done.out
    hits = call(
        "judge", "q", "--text", "class E", "--text", "mute", "--judge", shop.judge(), "--json"
    ).json["hits"]
    assert [h["grade"] for h in hits] == [3, None]


# --- rerank


def words_of_rerank(shop, out: str = "new.jsonl", *more: str) -> list[str]:
    return [
        "rerank", "--run", "before.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--out", out, *more,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("new.txt", "no run ends so; end it in one of: .jsonl, .csv, .parquet, .run, .trec"),
        ("new", "no run ends so"),
        ("new.run", "TREC cannot carry the id 'query 0'"),
    ],
)
def test_what_rerank_could_not_write_is_refused_before_any_call(call, shop, out, said):
    done = call(*words_of_rerank(shop, out))
    assert done.code == 2
    assert said in done.err
    assert (shop.calls, (shop.folder / out).exists()) == (0, False)


def test_rerank_says_a_failure_once_and_counts_its_batches(call, shop):
    done = call(*words_of_rerank(shop, "new.jsonl", "--judge", shop.judge("broken")))
    assert done.code == 6
    failed = [line for line in done.err.splitlines() if "the model is down" in line]
    assert all(line.startswith("relgate: ") for line in failed)
    counts = [re.search(r"in all ([0-9]+) candidate\(s\) of ([0-9]+) batches", f) for f in failed]
    batches = sum(int(found[2]) for found in counts if found)
    assert batches == shop.n  # a query's ten documents are one batch
    assert len(failed) == 4  # asked, and not asked once it had stopped: each at once and in all


def test_rerank_blends_ranks_and_grades_and_loses_no_document(call, shop, read_jsonl):
    done = call(*words_of_rerank(shop, "new.jsonl", "--json"))
    assert done.json["reordered"] == shop.n
    for row in read_jsonl(shop.folder / "new.jsonl"):
        assert sorted(row["docs"]) == sorted(shop.before[row["query"]])
    # w/rank + (1-w) grade/3, w .75 to 3, .60 to 10 (the judge document); grades 0001122233:
    # 1: .75; 9: .0667+.4; 10: .06+.4; 2: .375; 6: .1+.2667 ...
    first = read_jsonl(shop.folder / "new.jsonl")[0]["docs"]
    assert first[:5] == ["h0-0", "h0-8", "h0-9", "h0-1", "h0-5"]


def test_rerank_leaves_what_it_cannot_see_in_its_slot(call, shop, read_jsonl):
    for i in range(shop.n):
        del shop.texts[f"h{i}-1"]
    shop.write()
    call(*words_of_rerank(shop))
    for i, row in enumerate(read_jsonl(shop.folder / "new.jsonl")):
        assert row["docs"].index(f"h{i}-1") == 1


def test_rerank_with_the_catalogue_of_another_index_is_refused(call, shop):
    shop.texts = {f"other-{doc}": text for doc, text in shop.texts.items()}
    shop.write()
    done = call(*words_of_rerank(shop, "new.jsonl", "--quiet"))
    assert done.code == 2
    assert "no document of the run has a text" in done.complaint
    assert not (shop.folder / "new.jsonl").exists()


def test_rerank_counts_what_got_no_grade(call, shop):
    shop.texts["h0-0"] = "mute"
    shop.write()
    done = call(*words_of_rerank(shop))
    assert "1 of 450 documents got no grade" in done.out


# --- cache, rubric, init, demo


def test_cache_stats_counts_by_judge(call, shop):
    assert call("cache", "stats", "--json").json["rows"] == 0
    assert not (shop.folder / ".relgate").exists()
    call(*shop.fill(out="new.jsonl"))
    found = call("cache", "stats", "--json").json
    version = call("rubric", "show", "--json").json["version"]
    assert found["rows"] == shop.new
    assert [(j["version"], j["rows"]) for j in found["by_judge"]] == [(version, shop.new)]
    assert version in call("cache", "stats").out


def test_the_place_of_the_cache_is_a_setting(call, shop):
    call(*shop.fill("--cache", "paid", out="new.jsonl"))
    assert call("cache", "stats", "--cache", "paid", "--json").json["rows"] == shop.new
    assert not (shop.folder / ".relgate").exists()
    (shop.folder / "relgate.toml").write_text('cache = "paid"\n')
    assert call("cache", "stats", "--json").json["rows"] == shop.new


def test_rubric_show_gives_the_text_and_its_hash(call):
    rubric = call("rubric", "show", "--json").json
    assert rubric["system"].startswith("You are a strict multilingual e-commerce search relevance")
    assert rubric["version"] == f"esci-v1@{rubric['sha256'][:8]}"
    assert rubric["sha256"] == hashlib.sha256(rubric["system"].encode()).hexdigest()
    assert rubric["system"] in call("rubric", "show").out


def test_the_settings_that_init_writes_are_the_defaults(call, tmp_path):
    assert call("init").code == 0
    written = read_project(None)
    assert written.model_dump(exclude={"judge"}) == Project().model_dump(exclude={"judge"})
    assert written.judge == "baseline"
    assert written.review_settings() == ReviewSettings()
    assert (tmp_path / "relgate.toml").is_file()


def test_what_init_comments_out_is_valid_and_says_every_setting(call, tmp_path):
    call("init")
    text = (tmp_path / "relgate.toml").read_text(encoding="utf-8")
    (tmp_path / "all.toml").write_text(re.sub(r"(?m)^# (?=\w+ = )", "", text))
    project = read_project(tmp_path / "all.toml")
    assert set(project.budgets) == set(ReviewSettings().numbers())
    assert project.stratum_budgets == {"billing": 0.005}  # its example; the rest are defaults
    assert replace(project.review_settings(), stratum_budgets={}) == ReviewSettings()
    assert set(tomllib.loads((tmp_path / "all.toml").read_text())) == set(Project.model_fields)
    defaults = Project()
    for name in ("rubric", "batch_size", "concurrency", "timeout_s", "ranker_judges", "policy"):
        assert getattr(project, name) == getattr(defaults, name)


def test_the_demo_tells_its_story_and_its_folder_serves_the_commands(
    process, call, tmp_path, monkeypatch
):
    """The order of the story; no verdict of the last step is fixed here."""
    done = process("demo", "--out", "d", "--json", "--quiet")
    assert done.code == 0
    assert done.json["first_verdict"] == "REFUSE"
    last = json.loads((tmp_path / "d/3-review-filled/review.json").read_text(encoding="utf-8"))
    assert last["verdict"] == done.json["verdict"]
    page = (tmp_path / "d/3-review-filled/review.md").read_text(encoding="utf-8")
    parts = ("Change:", "Judgment coverage:", "Test set:", "### Aggregate", "### Per-query",
             "### Unrated check", "### Verdict", "### Recommended actions")  # fmt: skip
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    heads = [q["text"] for q in last["queries"] if q["head"] and (q["delta"] or 0) < -0.05]
    assert heads
    assert all(head in page for head in heads)
    monkeypatch.chdir(tmp_path / "d")
    done = call("review", "--before", "before.jsonl", "--after", "after.jsonl", "--json", "--quiet")
    assert done.code == 4
    assert done.json["verdict"] == "REFUSE"


# --- what all share


def test_version(call):
    done = call("--version")
    assert (done.code, done.out) == (0, f"relgate {metadata.version('relgate')}\n")


def test_an_unknown_command_is_one_line(process):
    done = process("frobnicate")
    assert done.code == 2
    assert "No such command 'frobnicate'" in done.complaint


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(call, command):
    done = call(command, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: relgate {command}")


@pytest.mark.parametrize("command", ["gaps", "score", "fill", "review", "rerank"])
def test_what_a_run_is_taken_for_can_be_stated(call, tmp_path, command):
    """A run that is not known says `state its format`: this is where."""
    assert "--run-format" in call(command, "--help").out
    (tmp_path / "list.csv").write_text("query_id,doc_id,grade\nq1,a,3\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 9 t\n")
    words = ("gaps", "--run", "run.txt", "--judgments", "list.csv", "--run-format")
    assert "read as trec" in call(*words, "trec").err
    refused = call(*words, "xml", "--quiet")
    assert refused.code == 2
    assert "no run format 'xml'; use one of: json, jsonl" in refused.complaint


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"init", "cache", "rubric"}))
def test_every_command_speaks_json_and_can_be_quiet(call, command):
    text = call(command, "--help").out
    assert all(flag in text for flag in ("--json", "--quiet", "--no-color"))


def test_text_from_data_cannot_drive_the_terminal(call, tmp_path):
    """Case S05: control and bidi characters are shown as escapes, in errors too."""
    evil = "\x1b[2J\x1b]0;x\x07\u202eabc"
    (tmp_path / "list.csv").write_text(f'query,doc_id,grade\n"{evil}",a,3\n', encoding="utf-8")
    run = json.dumps({"query": evil, "docs": ["a", "x"]})
    (tmp_path / "run.jsonl").write_text(run + "\n", encoding="utf-8")
    done = call("gaps", "--run", "run.jsonl", "--judgments", "list.csv")
    assert done.code == 0
    assert "\\x1b[2J" in done.out
    (tmp_path / "list.csv").write_text(f'query,doc_id,grade\n"{evil}",a,9\n', encoding="utf-8")
    bad = call("gaps", "--run", "run.jsonl", "--judgments", "list.csv")
    assert bad.code == 2
    for text in (done.out, done.err, bad.err):
        assert not any(char in text for char in "\x1b\x07\u202e")


# --- what a newcomer's files are told


def test_a_document_that_a_query_returned_twice_is_said(call, tmp_path):
    (tmp_path / "l.csv").write_text("query,doc_id,grade\nshoes,p1,3\nhats,p2,1\n")
    (tmp_path / "run.csv").write_text(
        "query,doc_id,position\nshoes,p1,1\nshoes,p1,2\nhats,p2,1\n", encoding="utf-8"
    )
    done = call("score", "--run", "run.csv", "--judgments", "l.csv")
    assert (
        'run.csv: 1 query returns a document twice or more, which counts once: "shoes"' in done.err
    )


@pytest.mark.parametrize(
    ("scale", "way"), [("0-1", "set rubric = 'binary-v1'"), ("0-4", "no built-in rubric has that")]
)
def test_a_list_of_another_scale_is_told_which_rubric_would_do(call, shop, scale, way):
    shop.human = [(query, doc, int(grade > 1)) for query, doc, grade in shop.human]
    shop.write()
    done = call(*shop.review("--scale", scale, "--floor", "1"))
    assert done.code == 2
    assert way in done.err
    assert shop.calls == 0


def test_a_table_of_queries_without_a_header_is_told_to_get_one(call, shop):
    (shop.folder / "topics.tsv").write_text("q1\tred shoes\nq2\thats\n", encoding="utf-8")
    done = call(*shop.review("--queries", "topics.tsv"))
    assert done.code == 2
    assert "a file without a header needs one: query_id, query" in done.err
