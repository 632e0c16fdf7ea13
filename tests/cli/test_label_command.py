"""`relgate label` on the command line: what is refused, what is kept, the list that comes out."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from relgate.eval.label.answers import KIND, AnswerFile, Head
from relgate.eval.label.types import Act, Answer
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES, Source

AT = "2026-11-30T10:00:00+00:00"


@pytest.fixture
def answered(tmp_path):
    """Answers of three raters on four pairs: alike, settled by a third, in dispute, skipped."""
    grades = {
        "a": {"ann": 3, "ben": 3},
        "b": {"ann": 3, "ben": 0, "cem": 1},
        "c": {"ann": 2, "ben": 1},
        "d": {"ann": 0},
    }
    path = tmp_path / "answers.jsonl"
    with AnswerFile(path, Head(KIND, "key", 5, "esci-v1@068b13cf", 3)) as file:
        for doc, given in grades.items():
            for rater, grade in given.items():
                file.add(
                    Answer(
                        f"{rater}{doc}", Act.GRADE, rater, "q1", "red shoe", doc, AT, grade=grade
                    )
                )
        file.add(Answer("s1", Act.SKIP, "ann", "q1", "red shoe", "e", AT, skip="query"))
    return path


@contextmanager
def served(folder: Path, *words: str):
    """The command as a process; gives it and the lines of its links."""
    command = [sys.executable, "-m", "relgate.eval", "label", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.kill()


def stopped(process) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=30)


def test_the_exported_list_has_rater_time_and_source(call, answered, tmp_path):
    done = call("label", "export", "--answers", answered, "--out", "labels.csv")
    assert done.code == 0, done.err
    assert done.out == (
        "3 judgments in labels.csv: 2 by several raters, 1 of them settled; 1 in dispute left out\n"
    )
    found = read_list(tmp_path / "labels.csv", scale=SCALES["0-3"]).judgments
    rows = {row.doc_id: row for row in found.rows()}
    assert {doc: row.grade for doc, row in rows.items()} == {"a": 3, "b": 1, "d": 0}
    assert {row.provenance.source for row in rows.values()} == {Source.HUMAN}
    assert (rows["a"].provenance.rater, rows["a"].provenance.judged_at) == ("ann", AT)
    assert rows["b"].provenance.rater is None
    assert rows["a"].query.text == "red shoe"


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_every_answer_is_what_agreement_reads(ending, call, answered):
    out = f"all.{ending}"
    done = call("label", "export", "--answers", answered, "--out", out, "--every-answer", "--json")
    assert done.json == {"out": out, "grades": 8, "raters": 3}
    found = call("agreement", out, "--json").json["people"]
    assert found["units"] == 3
    status = call("label", "status", "--answers", answered, "--json").json
    by_pair = {(row["one"], row["two"]): row["kappa"] for row in status["agreement"]}
    same = {(row["one"], row["two"]): row["kappa"] for row in found["pairs"]}
    assert by_pair == {pair: pytest.approx(kappa, abs=1e-5) for pair, kappa in same.items()}
    assert status["alpha_ordinal"] == pytest.approx(
        found["figures"]["alpha_ordinal"]["point"], abs=1e-5
    )


def test_status_says_how_far_people_are(call, answered):
    done = call("label", "status", "--answers", answered)
    assert done.code == 0
    assert "3 of 5 pairs graded, 1 in dispute" in done.out
    assert "skipped: query 1" in done.out
    found = call("label", "status", "--answers", answered, "--json").json
    assert [(r["rater"], r["graded"], r["skipped"]) for r in found["raters"]] == [
        ("ann", 4, 1), ("ben", 3, 0), ("cem", 1, 0),
    ]  # fmt: skip


def test_a_torn_line_is_said_and_the_rest_exported(call, answered):
    with answered.open("a") as file:
        file.write('{"id": "torn')
    done = call("label", "export", "--answers", answered, "--out", "labels.jsonl")
    assert "a last line was cut short (12 bytes); it was never acknowledged" in done.err
    assert done.code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--sheet, --run or --review, one of the three"),
        (("--sheet", "s.csv", "--review", "judgments.csv"), "one of the three"),
        (("--sheet", "no.csv"), "no.csv: no such file"),
        (("--sheet", "s.csv", "--budget", "3"), "--budget goes with --run"),
        (("--sheet", "s.csv", "--sheet", "s.csv"), "--answers is missing"),
        (("--review", "judgments.csv", "--judge-grades", "s.csv"), "leave out --judge-grades"),
        (("--sheet", "s.csv", "--third", " "), "is no name"),
        (("--sheet", "s.csv", "--dual", "1.5"), "1.5 is not in the range"),
        (("--sheet", "s.csv", "--out", "labels.txt"), "end it in"),
        (("--sheet", "s.csv", "--out", "s.csv"), "it is an input"),
        (("--sheet", "s.csv", "--answers", "a.jsonl", "--out", "a.jsonl"), "holds the answers"),
        (("--sheet", "s.csv", "--rubric", "no-such"), "no rubric"),
        (("--sheet", "s.csv", "--host", "0.0.0.0"), "--allow-network"),  # noqa: S104 - refused
        (("--sheet", "s.csv", "--images", "nowhere"), "no such folder"),
        (("--sheet", "s.csv", "--image-host", "https://a.b"), "is no host"),
        (("--sheet", "s.csv", "--answers", "judgments.csv"), "judgments.csv"),
        (("--sheet", "s.csv", "--links", "judgments.csv"), "no file of links"),
        (("--sheet", "s.csv", "--judge-grades", "judgments.csv", "--scale", "0-4"), "scale 0-4"),
        (("--review", "judgments.csv", "--answers", "a.jsonl"), "--catalogue"),
        (("--review", "judgments.csv", "--answers", "a.jsonl", "--catalogue", "catalogue.jsonl"),
         "no judge graded any pair"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_said_in_one_line(words, said, call, shop):
    (shop.folder / "s.csv").write_text("query,doc_id,grade,text\nred shoe,a,,Shoe\n")
    before = (shop.folder / "judgments.csv").read_bytes()
    done = call("label", *words)
    assert done.code == 2, done.err
    assert said in done.err.splitlines()[-1] or said in done.err.splitlines()[-2]
    assert (shop.folder / "judgments.csv").read_bytes() == before


def test_without_the_extra_one_line_says_what_to_install(call, shop, monkeypatch):
    monkeypatch.setattr("relgate.eval.web.installed.find_spec", lambda _name: None)
    done = call("label", "--sheet", "s.csv")
    assert (done.code, shop.n > 0) == (6, True)
    assert "pip install 'relgate[web]'" in done.complaint


def test_links_are_printed_once_and_a_stop_says_what_is_kept(shop):
    (shop.folder / "s.csv").write_text("query,doc_id,grade,text\nred shoe,a,,Shoe\n")
    with served(shop.folder, "--sheet", "s.csv", "--links", "links.json") as process:
        first = [process.stdout.readline().split() for _ in range(2)]
        out, err = stopped(process)
    assert process.returncode == 0
    assert [role for role, _ in first] == ["rater", "owner"]
    assert out == ""
    assert err.splitlines()[-1] == (
        "relgate: stopped; 0 of 1 pairs are graded, all answers are kept"
    )
    assert "Traceback" not in err
    tokens = [url.partition("token=")[2] for _, url in first]
    assert not any(token in err for token in tokens)
    assert (shop.folder / "links.json").stat().st_mode & 0o777 == 0o600
    assert (shop.folder / "s.answers.jsonl").stat().st_mode & 0o777 == 0o600
    with served(shop.folder, "--sheet", "s.csv", "--links", "links.json") as process:
        assert [process.stdout.readline().split() for _ in range(2)] == first
    with served(shop.folder, "--sheet", "s.csv", "--json", "--quiet") as process:
        links = json.loads(process.stdout.readline())["links"]
        assert links["rater"] not in {url for _, url in first}
        assert all(len(url.partition("token=")[2]) == 32 for url in links.values())


def test_a_second_server_on_the_same_answers_is_refused(shop, process):
    (shop.folder / "s.csv").write_text("query,doc_id,grade,text\nred shoe,a,,Shoe\n")
    with served(shop.folder, "--sheet", "s.csv") as running:
        running.stdout.readline()
        done = process("label", "--sheet", shop.folder / "s.csv")
        assert done.code == 2
        assert "another relgate writes to it" in done.err


def test_a_pool_is_drawn_as_sample_draws_it(call, shop):
    runs = ("--run", "before.jsonl", "--run", "after.jsonl", "--catalogue", "catalogue.jsonl")
    call("sample", *runs, "--budget", "30", "--out", "sheet.csv")
    with (shop.folder / "sheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    with served(shop.folder, *runs, "--budget", "30", "--answers", "a.jsonl") as process:
        process.stdout.readline()
        stopped(process)
    with served(shop.folder, "--sheet", "sheet.csv", "--answers", "a.jsonl") as process:
        assert process.stdout.readline().startswith("rater"), process.stderr.read()
