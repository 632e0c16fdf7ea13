"""Names out of data never choose where a file is written. Case S04."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shared_cases import shared_case

from relgate.eval.agreement.certificate import read_certificates
from relgate.eval.files import file_name, inside
from relgate.rubrics.errors import PlatformError


@pytest.fixture(scope="module")
def names(shared: Path) -> list[str]:
    return shared_case(shared, "S04")["input"]["names"]


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_case_s04_a_hostile_name_becomes_a_plain_file_name(names):
    plain = [file_name(name) for name in names]
    assert len(set(plain)) == len(names)
    for name in plain:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert name.startswith("x-")


@pytest.mark.parametrize("name", ["abc123", "v1.2", "esci-v1_x", "0" * 64])
def test_a_plain_name_stays_itself(name):
    assert file_name(name) == name


@pytest.mark.parametrize("name", ["", ".hidden", "con", "NUL.json", "a" * 101, "a b", "caf\u00e9"])
def test_what_some_system_reads_otherwise_is_hashed(name):
    assert file_name(name).startswith("x-")


def test_case_s04_queries_and_documents_choose_no_path(call, tmp_path, names):
    """Ids, texts and the run's own name are hostile; only the report's folder gets files."""
    home = tmp_path / "project"
    home.mkdir()
    for side in ("before", "after"):
        rows = [{"query_id": f"{n}", "query": n, "docs": [n, "d"]} for n in names]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (home / f"{side}.jsonl").write_text(text + (" " if side == "after" else ""))
    lines = "".join(json.dumps({"query_id": n, "doc_id": n, "rating": 3}) + "\n" for n in names)
    (home / "judgments.jsonl").write_text(lines)
    before = files_of(tmp_path)
    call(
        "review", "--before", home / "before.jsonl", "--after", home / "after.jsonl",
        "--judgments", home / "judgments.jsonl", "--out", home / "report",
    )  # fmt: skip
    new = files_of(tmp_path) - before
    assert new
    assert {path.parent for path in new} == {home / "report"}


@pytest.mark.parametrize("link", ["review.json", "review.md", "judgments.jsonl"])
def test_case_s04_a_link_in_the_folder_is_not_followed_out(call, tmp_path, link):
    for side in ("before", "after"):
        (tmp_path / f"{side}.json").write_text(json.dumps({"q": ["a", "b"], "p": [side]}))
    (tmp_path / "judgments.csv").write_text("query,doc_id,rating\nq,a,3\n")
    (tmp_path / "outside.txt").write_text("keep me")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / link).symlink_to(tmp_path / "outside.txt")
    done = call(
        "review", "--before", "before.json", "--after", "after.json",
        "--judgments", "judgments.csv", "--out", "report", "--quiet",
    )  # fmt: skip
    assert done.code == 6
    assert "leads out of its folder" in done.complaint
    assert (tmp_path / "outside.txt").read_text() == "keep me"
    assert [p.name for p in (tmp_path / "report").iterdir()] == [link]


def test_a_link_within_the_folder_and_a_linked_folder_are_fine(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (real / "b").write_text("")
    (real / "a").symlink_to(real / "b")
    (tmp_path / "folder").symlink_to(real)
    assert inside(tmp_path / "folder", "a") == tmp_path / "folder" / "a"
    assert inside(tmp_path / "new", "a") == tmp_path / "new" / "a"
    (real / "c").symlink_to(tmp_path / "gone")
    with pytest.raises(PlatformError, match="leads out"):
        inside(real, "c")


def test_case_s04_a_fingerprint_out_of_a_file_chooses_no_path(call, tmp_path, names):
    """Recorded grades say who made them; the certificate is named by that."""
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    human = [{"query": f"q{i}", "doc_id": f"d{i}", "rating": i % 4} for i in range(40)]
    made = {"source": "llm", "judge_version": "v1", "model": "m", "fingerprint": names[0]}
    for name, more in (("human", {"source": "human"}), ("grades", made)):
        rows = "".join(json.dumps({**row, **more}) + "\n" for row in human)
        (home / f"{name}.jsonl").write_text(rows)
    before = files_of(tmp_path)
    done = call(
        "calibrate", "--human", home / "human.jsonl", "--grades", home / "grades.jsonl",
        "--certificates", home / "certificates",
    )  # fmt: skip
    assert done.code == 0, done.err
    (new,) = files_of(tmp_path) - before
    assert new.parent == home / "certificates"
    (found,) = read_certificates(home / "certificates")
    assert found.fingerprint == names[0]
