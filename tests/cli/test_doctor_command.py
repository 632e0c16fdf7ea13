"""`relgate doctor`: what is set up, what is missing, what to run next; nothing asked or made."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relgate.eval.doctor.look import look

KEY = "sk-proj-doctor0123456789abcdefghij"


def states(done) -> dict[str, str]:
    return {check["name"]: check["state"] for check in done.json["checks"]}


def said(done, name: str) -> str:
    return next(check["says"] for check in done.json["checks"] if check["name"] == name)


def settings(folder: Path, **values: object) -> None:
    rows = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (folder / "relgate.toml").write_text("\n".join(rows) + "\n", "utf-8")


@pytest.fixture
def project(shop):
    """A project with all its parts but a certificate."""
    settings(
        shop.folder,
        judgments="judgments.csv",
        judgments_source="human",
        catalogue="catalogue.jsonl",
        judge=shop.judge(),
        judge_family="ours",
        system_models=["gemini-2.5-flash"],
    )
    return shop


def everything_below(folder: Path) -> dict[str, float]:
    return {str(p): p.stat().st_mtime_ns for p in sorted(folder.rglob("*"))}


def test_an_empty_folder_has_no_fault_and_begins_with_init(call):
    done = call("doctor", "--json")
    assert done.code == 0
    assert done.json["sound"] is True
    assert done.json["next"][0] == "relgate init"
    assert states(done)["settings"] == "missing"


@pytest.mark.usefixtures("project")
def test_what_is_there_is_counted(call):
    done = call("doctor", "--json")
    assert done.code == 0, done.out
    assert "450 judgments of 45 queries (450 by human)" in said(done, "judgments")
    assert "720 products" in said(done, "catalogue")
    assert "450 of the 450 judged documents" in said(done, "catalogue")
    assert states(done)["judge"] == "ok"
    assert done.json["next"][-1] == "relgate review --before BEFORE --after AFTER --fill"


def test_nothing_is_asked_and_nothing_is_made(process, project):
    before = everything_below(project.folder)
    assert process("doctor").code == 0
    assert everything_below(project.folder) == before
    assert project.calls == 0


@pytest.mark.usefixtures("project")
def test_the_terminal_says_what_the_json_says(call):
    words = call("doctor").out
    for check in call("doctor", "--json").json["checks"]:
        assert check["name"] in words
        assert check["state"] in words
    assert "Next:" in words


@pytest.mark.parametrize(
    ("judge", "name"),
    [("openai:gpt-4.1-mini", "OPENAI_API_KEY"), ("gemini:gemini-2.5-flash", "GOOGLE_API_KEY")],
)
def test_a_key_is_needed_where_the_judge_needs_one_and_is_never_shown(
    call, tmp_path, monkeypatch, judge, name
):
    settings(tmp_path, judge=judge)
    without = call("doctor", "--json")
    assert (without.code, states(without)["key"]) == (6, "fault")
    assert name in said(without, "key")
    monkeypatch.setenv(name, KEY)
    found = call("doctor", "--json")
    assert (found.code, states(found)["key"]) == (0, "ok")
    assert KEY not in found.out + found.err


def test_a_key_in_the_wrong_place_is_not_shown_either(call, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings(tmp_path, judge=f"nobody:{KEY}", judgments=f"{KEY}.csv")
    done = call("doctor", "--json")
    assert done.code == 2
    assert KEY not in done.out + done.err


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"judgments": "gone.csv"}, ("judgments", 2)),
        ({"catalogue": "gone.jsonl"}, ("catalogue", 2)),
        ({"queries": "gone.csv"}, ("queries", 2)),
        ({"change": "gone.toml"}, ("change", 2)),
        ({"judgmets": "a.csv"}, ("settings", 2)),
        ({"judge": "gpt-4"}, ("judge", 2)),
        ({"judge": "python:nowhere:f"}, ("judge", 2)),
        ({"judge": "openai:gpt-4.1", "system_models": ["gpt-4o"]}, ("family", 5)),
        ({"cache": "redis://127.0.0.1:1/0"}, ("cache", 6)),
    ],
)
def test_each_fault_is_found_and_gives_its_exit_code(call, tmp_path, monkeypatch, values, expected):
    name, code = expected
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings(tmp_path, **values)
    done = call("doctor", "--json")
    assert (states(done)[name], done.code) == ("fault", code), done.out
    assert done.json["sound"] is False
    assert "Traceback" not in done.err


def test_several_faults_end_in_the_code_of_the_first(call, tmp_path):
    settings(tmp_path, judgments="gone.csv", judge="openai:gpt-4.1")
    done = call("doctor", "--json")
    assert [c["name"] for c in done.json["checks"] if c["state"] == "fault"] == ["judgments", "key"]
    assert done.code == 2
    assert len(done.json["next"]) == 2


def test_a_judge_that_learns_from_a_file_with_a_fault_is_no_second_fault(call, project):
    settings(project.folder, judgments="gone.csv", catalogue="catalogue.jsonl", judge="baseline")
    done = call("doctor", "--json")
    assert [c["name"] for c in done.json["checks"] if c["state"] == "fault"] == ["judgments"]
    assert states(done)["judge"] == "missing"


def test_a_judge_without_enough_labels_of_people_is_sent_to_get_them_and_calibrate_again(
    call, project
):
    project.human = project.human[:60]  # of six queries: too few to tell
    project.write()
    settings(
        project.folder,
        judgments="judgments.csv",
        judgments_source="rule",
        catalogue="catalogue.jsonl",
        judge="baseline",
        system_models=[],
    )
    done = call(
        "calibrate", "--human", "judgments.csv", "--human-source", "rule", "--judge", "baseline",
        "--catalogue", "catalogue.jsonl", "--out", "calibration",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = call("doctor", "--json")
    assert (states(found)["certificate"], found.code) == ("fault", 1)
    assert found.json["next"] == [
        "relgate sample --run BEFORE --run AFTER --out sheet.csv",
        "relgate label --sheet sheet.csv --out more.jsonl",
        (
            "relgate lists merge judgments.csv more.jsonl --policy human-first "
            "--judgments-source rule --out labels.jsonl"
        ),
        "relgate calibrate --human labels.jsonl --judge baseline --catalogue catalogue.jsonl",
    ]


def test_a_judge_whose_figures_fall_short_is_sent_to_another_one(call, shop):
    """No number of labels mends a point below the bar: docs/calibration.md."""
    (shop.folder / "wrong.py").write_text(
        "import json\n\n\ndef grade(request):\n"
        "    rows = [{'id': str(n), 'esci': 'I', 'reason': 'r'} for n in range(1, 60)]\n"
        "    return json.dumps({'grades': rows[: request.candidates]})\n",
        encoding="utf-8",
    )
    settings(
        shop.folder,
        judgments="judgments.csv",
        catalogue="catalogue.jsonl",
        judge="python:wrong:grade",
        judge_family="our-rules",
        system_models=[],
    )
    done = call("calibrate", "--human", "judgments.csv", "--json")
    assert done.json["level"] == "untrusted", done.err
    assert call("doctor", "--json").json["next"] == [
        (
            "relgate calibrate --human judgments.csv --judge python:wrong:grade "
            "--judge OTHER_JUDGE --catalogue catalogue.jsonl"
        )
    ]


def test_a_catalogue_of_other_ids_is_a_fault(call, project):
    (project.folder / "catalogue.jsonl").write_text('{"id": "x", "title": "a shoe"}\n', "utf-8")
    done = call("doctor", "--json")
    assert states(done)["catalogue"] == "fault"
    assert "0 of the 450" in said(done, "catalogue")


def test_a_damaged_cache_is_a_fault(call, tmp_path):
    folder = tmp_path / ".relgate" / "cache"
    folder.mkdir(parents=True)
    (folder / "cache.db").write_bytes(b"no database, but something else" * 100)
    before = everything_below(tmp_path)
    done = call("doctor", "--json")
    assert (states(done)["cache"], done.code) == ("fault", 6)
    assert everything_below(tmp_path) == before


def calibrate(call, project) -> None:
    done = call(
        "calibrate", "--human", "judgments.csv", "--judge", project.judge(), "--catalogue",
        "catalogue.jsonl", "--out", "calibration",
    )  # fmt: skip
    assert done.code == 0, done.err


def test_a_certificate_is_found_expires_and_is_of_one_judge(call, project):
    assert states(call("doctor", "--json"))["certificate"] == "missing"
    calibrate(call, project)
    done = call("doctor", "--json")
    assert states(done)["certificate"] == "ok"
    assert "holds until" in said(done, "certificate")

    later = look(
        None, folder=Path(), environ=os.environ, now=datetime.now(UTC) + timedelta(days=400)
    )
    (check,) = [c for c in later.checks if c.name == "certificate"]
    assert (check.state.value, later.exit_code) == ("fault", 1)
    assert "expired" in check.says
    assert any(step.startswith("relgate calibrate --human judgments.csv") for step in later.steps)

    text = (project.folder / "relgate.toml").read_text("utf-8")
    (project.folder / "relgate.toml").write_text(f"{text}batch_size = 3\n", "utf-8")
    other = call("doctor", "--json")
    assert states(other)["certificate"] == "missing"


def test_an_edited_certificate_is_a_fault(call, project):
    calibrate(call, project)
    (file,) = (project.folder / "certificates").glob("*.json")
    file.write_text(file.read_text("utf-8").replace('"trusted"', '"provisional"'), "utf-8")
    done = call("doctor", "--json")
    assert (states(done)["certificate"], done.code) == ("fault", 2)


def test_undeclared_models_are_missing_and_not_wrong(call, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings(tmp_path, judge="openai:gpt-4.1")
    done = call("doctor", "--json")
    assert (states(done)["family"], done.code) == ("missing", 0)


def test_ci_files_and_the_baseline_are_looked_for(call, tmp_path):
    assert states(call("doctor", "--json"))["ci"] == "missing"
    workflow = tmp_path / ".github" / "workflows" / "relevance.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("run: pytest\n", "utf-8")
    assert states(call("doctor", "--json"))["ci"] == "missing"
    workflow.write_text("run: relgate review\n", "utf-8")
    (tmp_path / "engine.toml").write_text("", "utf-8")
    done = call("doctor", "--json")
    assert said(done, "ci") == "relgate is called in .github/workflows/relevance.yml"
    assert states(done)["baseline"] == "missing"
    (tmp_path / "baseline").mkdir()
    (tmp_path / "baseline" / "relevance.json").write_text("{}", "utf-8")
    assert states(call("doctor", "--json"))["baseline"] == "ok"


def test_a_package_is_a_fault_where_the_settings_need_it(call, tmp_path, monkeypatch):
    monkeypatch.setattr("relgate.eval.doctor.surroundings.util.find_spec", lambda _name: None)
    plain = call("doctor", "--json")
    assert (states(plain)["extras"], plain.code) == ("missing", 0)
    assert "parquet (Parquet files) is not installed" in said(plain, "extras")
    assert "parquet" not in states(plain)
    settings(tmp_path, catalogue="products.parquet")
    done = call("doctor", "--json")
    assert states(done)["parquet"] == "fault"
    assert done.code == 6
    assert "pip install 'relgate[parquet]'" in done.json["next"]
