"""Bad input ends in one line that says what, where and how to mend, and in exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LIST = b"query,doc_id,grade\nred shoes,a,3\nred shoes,b,0\n"
RUN = b'{"query": "red shoes", "docs": ["a", "b", "x"]}\n'

# kind of fault: the file that has it, its bytes (None: there is none), what the line must hold
FAULTS: dict[str, tuple[str, bytes | None, tuple[str, ...]]] = {
    "missing file": ("list.csv", None, ("list.csv: no such file", "check the path")),
    "wrong column": (
        "list.csv",
        b"query,sku_code,grade\nred shoes,a,3\n",
        ("list.csv:1: ", "'sku_code'", "; "),
    ),
    "grade 7 on a 0-3 scale": (
        "list.csv",
        b"query,doc_id,grade\nred shoes,a,3\nred shoes,b,7\n",
        ("list.csv:3: ", "7", "0-3", "; correct the grade"),
    ),
    "NaN as a grade": (
        "list.csv",
        b"query,doc_id,grade\nred shoes,a,NaN\n",
        ("list.csv:2: 'NaN' is no grade", "0-3", "; use a whole number"),
    ),
    "NaN as a score": (
        "after.jsonl",
        b"q1 Q0 a 1 nan tag\n",
        ("after.jsonl:1: score 'nan'", "'a'", "; mend the score"),
    ),
    "two grades for one pair": (
        "list.csv",
        b"query,doc_id,grade\nred shoes,a,3\nred shoes,a,0\n",
        ("list.csv: ", "'red shoes' 'a': 3 and 0 (lines 2 and 3)", "; keep one grade"),
    ),
    "no overlap of ids": (
        "list.csv",
        b"query,doc_id,grade\nred shoes,k1,3\nred shoes,k2,0\n",
        ("list.csv: no judged id occurs", "'k1'", "'a'", "; use the list that was made on this"),
    ),
    "UTF-16 without a mark": (
        "list.csv",
        LIST.decode().encode("utf-16-le"),
        ("list.csv:1: ", "UTF-16", "; save it as UTF-8"),
    ),
    "empty file": ("list.csv", b"", ("list.csv: the file is empty", "; export it again")),
    "blank file": ("list.csv", b" \n\n", ("list.csv: the file is empty", "; export it again")),
    "truncated JSON": (
        "after.jsonl",
        json.dumps({"red shoes": ["a", "b"]}, indent=1).encode()[:-6],
        ("after.jsonl:", "; "),
    ),
    "not UTF-8": (
        "list.csv",
        b"query,doc_id,grade\nred sh\xf6es,a,3\n",
        ("list.csv:2: not UTF-8", "0xf6", "; save it as UTF-8"),
    ),
    "a folder": ("list.csv/", b"", ("list.csv: is a folder", "; name a file in it")),
    "not a run": ("after.jsonl", LIST, ("after.jsonl: not known as a run", "; state its format")),
}


def lay(folder: Path, name: str | None = None, data: bytes | None = None) -> None:
    files: dict[str, bytes | None] = {"list.csv": LIST, "before.jsonl": RUN, "after.jsonl": RUN}
    if name is not None and name.endswith("/"):
        del files[name[:-1]]
        (folder / name).mkdir()
    elif name is not None:
        files[name] = data
    for file, content in files.items():
        if content is not None:
            (folder / file).write_bytes(content)


REVIEW = ("review", "--before", "before.jsonl", "--after", "after.jsonl")
WITH_LIST = (*REVIEW, "--judgments", "list.csv", "--quiet", "--out", "report")


def test_the_same_files_without_a_fault_are_reviewed(call, tmp_path):
    lay(tmp_path)
    done = call(*WITH_LIST)
    assert done.code in {0, 1, 3, 4}
    assert done.err == ""
    assert (tmp_path / "report/review.json").is_file()


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_input_is_one_line_and_exit_code_2(call, tmp_path, kind):
    name, data, told = FAULTS[kind]
    lay(tmp_path, name, data)
    done = call(*WITH_LIST)
    assert done.code == 2
    for part in ("relgate: ", *told):
        assert part in done.complaint
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("kind", ["missing file", "grade 7 on a 0-3 scale", "truncated JSON"])
def test_a_process_prints_no_traceback(process, tmp_path, kind):
    name, data, told = FAULTS[kind]
    lay(tmp_path, name, data)
    done = process(*WITH_LIST)
    assert done.code == 2
    assert all(part in done.complaint for part in told)
    assert "Traceback" not in done.err
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("command", ["score", "gaps"])
@pytest.mark.parametrize("kind", ["wrong column", "no overlap of ids", "truncated JSON"])
def test_the_other_readers_of_lists_and_runs_refuse_alike(call, tmp_path, command, kind):
    name, data, told = FAULTS[kind]
    lay(tmp_path, name, data)
    done = call(command, "--run", "after.jsonl", "--judgments", "list.csv", "--quiet")
    assert done.code == 2
    assert all(part in done.complaint for part in told)


def test_a_byte_order_mark_is_no_fault(call, tmp_path):
    lay(tmp_path, "list.csv", b"\xef\xbb\xbf" + LIST.replace(b"\n", b"\r\n"))
    done = call("score", "--run", "after.jsonl", "--judgments", "list.csv", "--json")
    assert done.code == 0
    assert done.json["runs"][0]["means"]["ndcg"]["value"] == 1.0


def test_utf_16_with_its_mark_is_no_fault(call, tmp_path):
    lay(tmp_path, "list.csv", LIST.decode().encode("utf-16"))
    assert call("score", "--run", "after.jsonl", "--judgments", "list.csv").code == 0


@pytest.mark.parametrize("place", ["aggregate", "detail"])
@pytest.mark.parametrize("word", ["NaN", "Infinity", "null"])
def test_a_given_score_that_is_not_finite_gives_no_verdict(call, tmp_path, word, place):
    """rules.md R3: every figure is a finite number, or REFUSE."""
    scores = {"aggregate": "0.5", "detail": "0.5"}
    lay_rank_eval(tmp_path / "before.json", **scores)
    lay_rank_eval(tmp_path / "after.json", **(scores | {place: word}))
    done = call("review", "--before", "before.json", "--after", "after.json", "--json", "--quiet")
    assert done.code == 4
    assert done.json["verdict"] == "REFUSE"
    assert {finding["rule"] for finding in done.json["findings"]} == {"R3"}


@pytest.mark.parametrize("place", ["aggregate", "detail"])
def test_a_given_score_that_is_text_is_bad_input(call, tmp_path, place):
    scores = {"aggregate": "0.5", "detail": "0.5"}
    lay_rank_eval(tmp_path / "before.json", **scores)
    lay_rank_eval(tmp_path / "after.json", **(scores | {place: '"x"'}))
    done = call("review", "--before", "before.json", "--after", "after.json", "--quiet")
    assert done.code == 2
    assert "after.json: metric_score of" in done.complaint


def lay_rank_eval(path: Path, *, aggregate: str, detail: str) -> None:
    path.write_text(
        f'{{"metric_score": {aggregate}, '
        f'"details": {{"q1": {{"metric_score": {detail}, "unrated_docs": []}}}}}}'
    )


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("review", "--bogus"), ("No such option", "--bogus")),
        (("reviw",), ("No such command", "reviw")),
        ((*WITH_LIST, "--k", "0"), ("--k", "0 is not in the range")),
        ((*WITH_LIST, "--fail-on", "never"), ("--fail-on", "'never'", "refuse")),
        ((*WITH_LIST, "--scale", "1-5"), ("no scale '1-5'", "0-3")),
        ((*WITH_LIST, "--floor", "4"), ("floor 4", "0-3", "; lower the floor")),
        ((*WITH_LIST, "--format", "xls"), ("no list format 'xls'", "csv")),
        ((*WITH_LIST, "--type", "synonym"), ("unknown type of change 'synonym'", "synonyms")),
        ((*WITH_LIST, "--fill"), ("--fill needs a judge", "--judge")),
        (
            (*WITH_LIST, "--judge", "gpt-4.1", "--catalogue", "list.csv"),
            ("'gpt-4.1' names no judge", "openai:MODEL"),
        ),
        (
            (*WITH_LIST, "--judge", "python:nowhere:grade", "--catalogue", "list.csv"),
            ("no module 'nowhere'",),
        ),
        ((*WITH_LIST, "--judge", "baseline"), ("--catalogue is missing", "relgate.toml")),
        (
            (*WITH_LIST, "--judge", "compatible:m@http://u:pw-secret@h/v1", "--catalogue", "x"),
            (),
        ),
        ((*REVIEW, "--quiet"), ("before.jsonl: the file holds no scores", "--judgments")),
        ((*WITH_LIST, "--config", "nope.toml"), ("nope.toml: no such file",)),
        ((*WITH_LIST, "--change", "nope.toml"), ("nope.toml: no such file",)),
        ((*WITH_LIST, "--queries", "nope.csv"), ("nope.csv: no such file",)),
        (("fill", "--run", "after.jsonl", "--out", "x.xlsx"), ("no judge",)),
        (("judge", " ", "--text", "t", "--judge", "python:a:b"), ("the query is empty",)),
        (("judge", "q", "--judge", "python:a:b"), ("nothing to judge",)),
        (("calibrate", "--policy", "lax"), ("no judge",)),
        (("rubric", "show", "nope"), ("no rubric 'nope'", "esci-v1")),
        (("cache", "stats", "--config", "nope.toml"), ("nope.toml: no such file",)),
    ],
)
def test_a_command_that_cannot_be_meant_is_one_line_and_exit_code_2(call, tmp_path, args, told):
    lay(tmp_path)
    done = call(*args)
    assert done.code == 2
    for part in told:
        assert part in done.complaint
    assert "pw-secret" not in done.err
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('judgmnts = "x"', ("unknown key 'judgmnts'", "did you mean 'judgments'?")),
        ("zzz = 1", ("unknown key 'zzz'", "known are judgments, ")),
        ("k = 0", ("k is 0", "1 or more")),
        ("k = true", ("k: ", "integer", "True")),
        ('k = "10"', ("k: ", "integer", "'10'")),
        ('gain = "log"', ("gain: ", "'exp2' or 'linear'", "'log'")),
        ('scale = "1-5"', ("no scale '1-5'", "0-3")),
        ("[budgets]\nmax_mean_drp = 0.1", ("'max_mean_drp'", "did you mean 'max_mean_drop'?")),
        ("[budgets]\nmax_p = -1", ("max_p is -1.0", "0 or more")),
        ("[budgets]\nmax_p = nan", ("max_p is nan", "0 or more")),
        ("[budgets]\nmax_error_rate = true", ("budgets.max_error_rate", "number", "True")),
        ("[budgets]\ntop_rank = 2.5", ("top_rank is 2.5", "whole number")),
    ],
)
def test_a_fault_of_the_settings_names_file_and_key(call, tmp_path, text, told):
    lay(tmp_path)
    (tmp_path / "relgate.toml").write_text(text)
    done = call(*WITH_LIST)
    assert done.code == 2
    assert "relgate.toml: " in done.complaint
    for part in told:
        assert part in done.complaint
    assert not (tmp_path / "report").exists()


def test_settings_that_are_no_toml_name_the_line(call, tmp_path):
    lay(tmp_path)
    (tmp_path / "relgate.toml").write_text("k = 10\nfloor = \n")
    done = call(*WITH_LIST)
    assert done.code == 2
    assert "relgate.toml:2: not TOML" in done.complaint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('type = "synonym"', ("unknown type of change 'synonym'", "one of: query-template")),
        ('typ = "synonyms"', ("unknown key 'typ'", "did you mean 'type'?")),
        ('intent = "better"', ("intent: ", "'improve' or 'neutral'")),
        ("head_queries = 3", ("head_queries", "3")),
    ],
)
def test_a_fault_of_the_change_file_names_file_and_key(call, tmp_path, text, told):
    lay(tmp_path)
    (tmp_path / "change.toml").write_text(text)
    done = call(*WITH_LIST, "--change", "change.toml")
    assert done.code == 2
    assert "change.toml: " in done.complaint
    for part in told:
        assert part in done.complaint


# --- an input is never written over


def test_fill_writes_over_no_input(call, shop):
    before = (shop.folder / "judgments.csv").read_bytes()
    for out in ("judgments.csv", "before.jsonl", "catalogue.jsonl", "./judgments.csv"):
        done = call(
            "fill", "--run", "before.jsonl", "--judgments", "judgments.csv",
            "--catalogue", "catalogue.jsonl", "--judge", shop.judge(), "--out", out,
        )  # fmt: skip
        assert done.code == 2
        assert "it is an input" in done.complaint
    assert (shop.folder / "judgments.csv").read_bytes() == before
    assert shop.calls == 0


def test_rerank_writes_over_no_input(call, shop):
    before = (shop.folder / "before.jsonl").read_bytes()
    done = call(
        "rerank", "--run", "before.jsonl", "--catalogue", "catalogue.jsonl",
        "--judge", shop.judge(), "--out", "before.jsonl",
    )  # fmt: skip
    assert done.code == 2
    assert "it is an input" in done.complaint
    assert (shop.folder / "before.jsonl").read_bytes() == before
    assert shop.calls == 0


def test_a_review_writes_over_no_input(call, shop):
    """A second round is tempting: the first one's list is `report/judgments.jsonl`."""
    (shop.folder / "report").mkdir()
    (shop.folder / "judgments.csv").rename(shop.folder / "report/judgments.jsonl")
    before = (shop.folder / "report/judgments.jsonl").read_bytes()
    done = call(
        "review", *shop.sides(), "--judgments", "report/judgments.jsonl", "--catalogue",
        "catalogue.jsonl", "--judge", shop.judge(), "--fill", "--out", "report",
    )  # fmt: skip
    assert done.code == 2
    assert "it is an input" in done.complaint
    assert (shop.folder / "report/judgments.jsonl").read_bytes() == before
    assert shop.calls == 0


def test_init_writes_over_no_settings(call, tmp_path):
    (tmp_path / "relgate.toml").write_text("k = 5\n")
    done = call("init")
    assert done.code == 2
    assert "is there already" in done.complaint
    assert (tmp_path / "relgate.toml").read_text() == "k = 5\n"


# --- what is odd but no mistake


def test_a_command_without_words_shows_its_help(call):
    done = call()
    assert done.code == 2
    assert done.err.startswith("Usage: relgate")
    assert "\n  review " in done.err


def test_a_reader_that_leaves_sees_no_traceback_and_no_pass(shop):
    words = [sys.executable, "-m", "relgate.eval", *shop.review("--out", "report", judge=None)]
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        err = process.stderr.read().decode()
    assert "Traceback" not in err
    assert process.returncode not in {0, None}
    assert (shop.folder / "report/review.json").is_file()


@pytest.mark.parametrize(("column", "said"), [("title", False), ("text", False), ("txt", True)])
def test_a_catalogue_without_titles_is_remarked_on(call, shop, column, said):
    rows = [{"id": doc, column: text} for doc, text in shop.texts.items()]
    (shop.folder / "catalogue.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert ("no product has a title" in call(*shop.review()).err) is said
