"""relgate cache: why, verify, prune, gc, export, import, seed; also on a server."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from relgate.cache import CachedJudge, open_store
from relgate.judge.fake import FakeGenerate
from relgate.judge.llm import make_llm_judge
from relgate.judge.types import Candidate, GenerateReply, Usage

CACHE = ".relgate/cache"


@pytest.fixture
def paid(call, shop, read_jsonl):
    """A project whose gaps a judge has graded; a pair that it graded."""
    assert call(*shop.fill()).code == 0
    rows = read_jsonl(shop.folder / "filled.jsonl")
    row = next(r for r in rows if r["source"] == "judge")
    return row.get("query") or row["query_id"], row["doc_id"]


def why(shop, query, *more):
    return [
        "cache", "why", query, "--judge", shop.judge(), "--catalogue", "catalogue.jsonl",
        "--json", *more,
    ]  # fmt: skip


def toml(shop, *lines):
    (shop.folder / "relgate.toml").write_text("".join(f"{line}\n" for line in lines))


def test_a_grade_that_is_there_is_said_to_be(call, shop, paid):
    found = call(*why(shop, *paid)).json
    assert (found["cached"], found["changed"]) == (True, [])


def test_why_names_each_part_that_changed(call, shop, paid, root):
    query, doc = paid
    toml(shop, "batch_size = 7")
    assert call(*why(shop, query, doc)).json["changed"] == ["parameters"]
    toml(shop, "max_output_tokens = 500")
    assert call(*why(shop, query, doc)).json["changed"] == ["parameters"]
    toml(shop, "batch_size = 10")
    assert call(*why(shop, query, doc, "--text", "new text")).json["changed"] == ["text"]
    text = (root / "rubrics" / "esci-v1.md").read_text()
    (shop.folder / "own.md").write_text(text.replace("strict multilingual", "lenient"))
    changed = call(*why(shop, query, doc, "--rubric", "own.md")).json["changed"]
    assert changed == ["rubric"]
    toml(shop, "few_shot = 1")
    more = ("--judgments", "judgments.csv")
    assert call(*why(shop, query, doc, *more)).json["changed"] == ["template"]


def test_an_edited_function_of_the_users_is_another_endpoint(call, shop, paid):
    with (shop.folder / f"{shop.module}.py").open("a") as file:
        file.write("\n# edited\n")
    done = call(*(word for word in why(shop, *paid) if word != "--json"))
    assert "- the endpoint" in done.out
    assert call(*why(shop, *paid)).json["changed"] == ["endpoint"]


def test_why_tells_a_panel(call, shop, paid):
    toml(shop, "panel_shuffles = 3")
    assert call(*why(shop, *paid)).json["changed"] == ["panel"]
    assert call(*shop.fill()).code == 0
    assert call(*why(shop, *paid)).json["cached"]
    toml(shop, "panel_shuffles = 5")
    assert call(*why(shop, *paid)).json["changed"] == ["panel"]


def test_why_of_what_was_never_graded(call, shop, paid):
    query, _ = paid
    found = call(*why(shop, query, "--text", "unseen")).json
    assert (found["cached"], found["nearest"]) == (False, None)
    assert found["grades_of_query"] > 0
    found = call(*why(shop, "no such query", "--text", "unseen")).json
    assert (found["nearest"], found["grades_of_query"]) == (None, 0)


@pytest.mark.parametrize("more", [(), ("no-such-document",)])
def test_why_needs_a_text(call, shop, paid, more):
    done = call(*why(shop, paid[0], *more))
    assert done.code == 2
    assert "--text" in done.err


def test_why_with_the_baseline_says_that_it_is_not_cached(call, paid):
    done = call(
        "cache", "why", *paid, "--judge", "baseline", "--catalogue", "catalogue.jsonl",
        "--judgments", "judgments.csv", "--text", "x",
    )  # fmt: skip
    assert done.code == 2
    assert "not cached" in done.err


@pytest.mark.usefixtures("paid")
def test_verify_passes_on_sound_rows_and_fails_on_an_altered_one(call, shop):
    done = call("cache", "verify", "--json")
    assert (done.code, done.json["sound"], done.json["damaged"]) == (0, shop.new, 0)
    with sqlite3.connect(shop.folder / CACHE / "cache.db") as con:
        con.execute(
            "UPDATE Cache SET value = replace(value, '\"grade\":3', '\"grade\":2') WHERE rowid ="
            " (SELECT max(rowid) FROM Cache WHERE value LIKE '%\"grade\":3%')"
        )
    con.close()
    done = call("cache", "verify", "--json")
    assert (done.code, done.json["sound"], done.json["damaged"]) == (6, shop.new - 1, 1)
    assert len(done.json["damaged_keys"]) == 1


@pytest.mark.usefixtures("paid")
def test_prune_shows_first_and_does_it_with_yes(call, shop):
    version = call("rubric", "show", "--json").json["version"]
    assert call("cache", "prune", "--version", version, "--json").json == {
        "selected": shop.new,
        "deleted": 0,
    }
    assert call("cache", "stats", "--json").json["rows"] == shop.new
    for nothing in (("--version", "other@1"), ("--older-than", "1"), ("--model", "gpt")):
        done = call("cache", "prune", "--version", version, *nothing, "--yes", "--json")
        assert done.json == {"selected": 0, "deleted": 0}
    done = call("cache", "prune", "--version", "esci-v1", "--older-than", "0", "--yes", "--json")
    assert done.json == {"selected": shop.new, "deleted": shop.new}
    assert call("cache", "stats", "--json").json["rows"] == 0


@pytest.mark.usefixtures("paid")
def test_prune_of_everything_is_not_meant(call, shop):
    assert call("cache", "prune", "--yes").code == 2
    assert call("cache", "stats", "--json").json["rows"] == shop.new


@pytest.mark.usefixtures("paid")
def test_an_export_comes_back_exactly_and_is_paid_for_no_more(call, shop):
    assert call("cache", "export", "a.jsonl", "--json").json["rows"] == shop.new
    done = call("cache", "import", "a.jsonl", "--cache", "laptop", "--json")
    assert done.json == {"stored": shop.new, "there": 0}
    call("cache", "export", "b.jsonl", "--cache", "laptop")
    first, second = ((shop.folder / n).read_text().splitlines() for n in ("a.jsonl", "b.jsonl"))
    assert sorted(first) == sorted(second)
    before = shop.calls
    call(*shop.fill("--cache", "laptop", out="again.jsonl"))
    assert shop.calls == before
    done = call("cache", "import", "a.jsonl", "--cache", "laptop", "--json")
    assert done.json == {"stored": 0, "there": shop.new}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line.replace('"grade":3', '"grade":2'),
        lambda line: line[:-20],
        lambda line: line.replace('{"key":"', '{"key":"0'),
        lambda _: "[1]",
        lambda _: "[" * 100_000,
        lambda _: "null",
    ],
    ids=["altered", "cut", "key", "list", "deep", "null"],
)
@pytest.mark.usefixtures("paid")
def test_an_import_with_one_bad_line_names_it_and_stores_nothing(call, shop, spoil):
    call("cache", "export", "a.jsonl")
    lines = (shop.folder / "a.jsonl").read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if '"grade":3' in line)
    lines[place] = spoil(lines[place])
    (shop.folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    done = call("cache", "import", "a.jsonl", "--cache", "laptop")
    assert done.code == 2
    assert f"a.jsonl:{place + 1}: " in done.err
    assert "Traceback" not in done.err
    assert call("cache", "stats", "--cache", "laptop", "--json").json["rows"] == 0


@pytest.mark.usefixtures("paid")
def test_spaces_that_another_tool_put_into_an_export_do_no_harm(call, shop, read_jsonl):
    call("cache", "export", "a.jsonl")
    lines = read_jsonl(shop.folder / "a.jsonl")
    (shop.folder / "a.jsonl").write_text(
        "".join(json.dumps(x, sort_keys=True) + "\n" for x in lines)
    )
    done = call("cache", "import", "a.jsonl", "--cache", "laptop", "--json")
    assert done.json["stored"] == shop.new


@pytest.mark.usefixtures("paid")
def test_gc_deletes_what_was_set_aside_but_not_in_the_step_that_starts_a_fresh_file(call, shop):
    file = shop.folder / CACHE / "cache.db"
    file.write_bytes(b"not a database, " * 100)
    done = call("cache", "gc", "--yes")
    assert done.code == 6
    assert "damaged" in done.err
    assert call(*shop.fill(out="again.jsonl")).code == 0
    assert len(call("cache", "gc", "--json").json["files"]) == 1
    assert len(list(file.parent.glob("*.corrupt-*"))) == 1
    call("cache", "gc", "--yes")
    assert list(file.parent.glob("*.corrupt-*")) == []
    assert call("cache", "stats", "--json").json["rows"] == shop.new


@pytest.mark.usefixtures("paid")
def test_gc_where_the_cache_is_gone_keeps_what_lies_aside(call, shop):
    file = shop.folder / CACHE / "cache.db"
    file.rename(file.with_name("cache.db.corrupt-20260101T000000.000000Z"))
    assert call("cache", "gc", "--yes").code == 2
    assert len(list(file.parent.glob("*.corrupt-*"))) == 1


def seed(*more):
    return [
        "cache", "seed", "--judgments", "filled.jsonl", "--catalogue", "catalogue.jsonl", "--cache",
        "seeded", "--json", *more,
    ]  # fmt: skip


@pytest.mark.usefixtures("paid")
def test_a_seeded_cache_answers_in_place_of_the_judge(call, shop):
    assert call(*seed()).json["fit"] == shop.new
    assert call("cache", "stats", "--cache", "seeded", "--json").json["rows"] == 0
    done = call(*seed("--yes")).json
    assert (done["stored"], done["there"]) == (shop.new, 0)
    assert set(done["left_out"]) == {"not made by a judge"}
    before = shop.calls
    call(*shop.fill("--cache", "seeded", out="again.jsonl"))
    assert shop.calls == before
    assert call(*seed("--yes")).json["there"] == shop.new


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text_hash": "0" * 64}, "the document's text changed since"),
        ({"text_hash": None}, "the hash of the judged text is not recorded"),
        ({"fingerprint": None}, "the judge's fingerprint is not recorded"),
        ({"judge_version": "esci-v1@00000000"}, "made under another rubric than the project's"),
        ({"judged_at": None}, "the time is not recorded"),
        ({"doc_id": "gone"}, "the document is not in the catalogue"),
    ],
)
@pytest.mark.usefixtures("paid")
def test_a_judgment_that_cannot_be_trusted_as_a_key_is_left_out_with_the_reason(
    call, shop, change, reason, read_jsonl
):
    path = shop.folder / "filled.jsonl"
    rows = read_jsonl(path)
    one = next(i for i, r in enumerate(rows) if r["source"] == "judge")
    rows[one] = {k: v for k, v in {**rows[one], **change}.items() if v is not None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call(*seed("--yes")).json
    assert done["fit"] == shop.new - 1
    assert len(done["left_out"][reason]) == 1


@pytest.mark.usefixtures("paid")
def test_stats_says_what_it_does_not_know(call, shop):
    assert call("cache", "stats", "--json").json["saved_usd"] is None
    assert "money saved: none on record" in call("cache", "stats").out
    assert call(*shop.fill()).code == 0
    found = call("cache", "stats", "--json").json
    assert (found["served"], found["served_uncounted"], found["saved_usd"]) == (
        shop.new,
        shop.new,
        None,
    )
    said = call("cache", "stats").out
    assert "money saved: unknown" in said
    assert f"not in it: {shop.new:,} served grades without recorded tokens" in said


def test_stats_says_the_money_saved_at_todays_prices(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=250_000)
    reply = GenerateReply(text='{"grades": [{"id": "1", "esci": "E", "reason": "r"}]}', usage=usage)
    for _ in range(3):  # paid for once, served twice
        store = open_store(CACHE)
        judge = make_llm_judge(FakeGenerate(lambda _: reply), model="own-model")
        cached = CachedJudge(judge, store)
        cached.grade_sync("q", [Candidate("d", "text")])
        cached.record_saved()
        store.close()
    assert call("cache", "stats", "--json").json["saved_usd"] is None
    assert "2 served grades of models without a price" in call("cache", "stats").out
    Path("relgate.toml").write_text("[prices.own-model]\ninput = 2.0\noutput = 4.0\n")
    found = call("cache", "stats", "--json").json
    assert found["saved_usd"] == pytest.approx(2 * (2.0 + 1.0))
    (judge,) = found["by_judge"]
    assert (judge["paid_usd"], judge["served"]) == (pytest.approx(3.0), 2)
    assert "money saved: about 6.0000 USD" in call("cache", "stats").out


def test_a_place_without_a_cache_is_remarked_on(call, tmp_path):
    done = call("cache", "stats", "--cache", "elsewhere")
    assert done.code == 0
    assert "nothing is stored at" in done.err
    assert not (tmp_path / "elsewhere").exists()
