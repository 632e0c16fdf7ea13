"""The example repositories, run for real: commands, the workflow's steps, baselines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

BIN = Path(sys.executable).parent
CHANGE = "running, jogging, sprint, marathon\n"  # the README's: two ways, and far too wide
GIT = "git -c user.name=t -c user.email=t@example.com -c commit.gpgsign=false"


def bash(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A step as GitHub runs it."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "RELGATE_"))}
    environ["PATH"] = f"{BIN}{os.pathsep}{environ['PATH']}"
    return subprocess.run(  # noqa: S603 - our own examples
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=folder, env={**environ, **env}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


def commands(readme: Path) -> list[str]:
    """The lines of a README's shell blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def figures(path: Path) -> list[tuple[dict[str, str], list[dict[str, Any]]]]:
    """What must not differ: every query of every combination; not when, and not how fast."""
    artifact = json.loads(path.read_text("utf-8"))
    return [(run["stages"], run["per_query"]) for run in artifact["runs"]]


@pytest.fixture
def examples(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "examples/shop_ci", tmp_path / "shop_ci")
    shutil.copytree(root / "examples/hybrid_stack", tmp_path / "hybrid_stack")
    return tmp_path


@pytest.fixture
def shop(examples: Path) -> Path:
    return examples / "shop_ci"


def review(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "review.json").read_text("utf-8"))
    return found


def test_the_shops_data_are_what_its_script_writes(root, shop):
    done = bash("rm golden.json catalogue.jsonl && python make_data.py", shop)
    assert done.returncode == 0, done.stderr
    for name in ("golden.json", "catalogue.jsonl"):
        assert (shop / name).read_bytes() == (root / "examples/shop_ci" / name).read_bytes()


def test_the_shops_readme_counts_its_queries(shop):
    queries = json.loads((shop / "golden.json").read_text("utf-8"))["queries"]
    with_filter = sum("filters" in query for query in queries)
    text = (shop / "README.md").read_text("utf-8")
    assert (
        f"{len(queries)} queries with graded products, {with_filter} of them with a filter" in text
    )


def test_the_shops_readme_from_the_first_run_to_the_next_baseline(shop):
    run, drift, run_after, drift_after, compare, rebase = commands(shop / "README.md")
    assert bash(f"{run} && {drift}", shop).returncode == 0
    assert figures(shop / "out/relevance.json") == figures(shop / "baseline/relevance.json")
    with (shop / "synonyms.txt").open("a", encoding="utf-8") as file:
        file.write(CHANGE)
    assert CHANGE.strip() in (shop / "README.md").read_text("utf-8")
    assert bash(run_after, shop).returncode == 0
    assert bash(drift_after, shop).returncode == 3
    reviewed = bash(f"{compare} --out report", shop)
    assert reviewed.returncode in {1, 3, 4}, reviewed.stderr
    found = review(shop / "report")
    assert found["aggregate"][found["primary"]]["delta"] < 0
    assert list(found["coverage"]["by_source"]) == ["rule"]  # never told as people's
    assert bash(rebase.replace("out/relevance", "after/relevance"), shop).returncode == 0
    assert bash(drift_after, shop).returncode == 0
    assert (shop / "RELEVANCE_NOTES.md").read_text("utf-8").count("\n## ") == 2


def test_the_hybrid_stacks_readme(examples):
    stack = examples / "hybrid_stack"
    run, drift, compare = commands(stack / "README.md")
    done = bash(f"{run} && {drift}", stack)
    assert done.returncode == 0, done.stderr
    measured = figures(stack / "out/relevance.json")
    assert measured == figures(stack / "baseline/relevance.json")
    settings = [tuple(sorted(stages.items())) for stages, _ in measured]
    assert len(set(settings)) == 4
    assert len({json.dumps(queries) for _, queries in measured}) == 4  # every stage does something
    reviewed = bash(f"{compare} --out report", stack)
    assert reviewed.returncode in {0, 1, 3, 4}, reviewed.stderr
    assert len(review(stack / "report")["queries"]) == 50
    pinned = f"{run.replace('--out out', '--out pinned')} --stage vector=on"
    assert bash(pinned, stack).returncode == 0
    assert bash(drift.replace("out/", "pinned/"), stack).returncode == 3


def test_the_whole_chain_in_one_script(shop):
    """Two runs around a synonym change, a review with a fill on them, and the alarm."""
    text = (shop / "synonyms.txt").read_text("utf-8")
    (shop / "wide.txt").write_text(text + CHANGE, "utf-8")
    done = bash("./chain.sh wide.txt", shop)
    assert done.returncode == 3, done.stderr
    found = review(shop / "out/review")
    fill = found["judge"]["fill"]
    assert fill["graded"] == fill["asked"] > 0
    assert found["coverage"]["by_source"].keys() == {"rule", "judge"}
    assert found["coverage"]["unrated"]["mean_share_after"] == 0
    codes = {"APPROVE": 0, "NEEDS-WORK": 1, "BLOCK": 3, "REFUSE": 4}
    assert f"relgate review: exit code {codes[found['verdict']]}\n" in done.stdout
    alarm = json.loads((shop / "out/drift/drift.json").read_text("utf-8"))
    hard = [finding for finding in alarm["findings"] if finding["level"] == "hard"]
    assert {finding["stages"] for finding in hard} == {"synonyms=on"}


# --- the workflow


def workflow(shop: Path) -> dict[str, Any]:
    text = (shop / ".github/workflows/relevance.yml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - texts only
    return loaded


def script(shop: Path, job: str, name: str) -> str:
    (step,) = [s for s in workflow(shop)["jobs"][job]["steps"] if s.get("name") == name]
    text: str = step["run"]
    assert "${{" not in text  # what comes from outside is data, never script
    return text


def test_the_workflow_is_valid_by_the_published_schema(shop):
    check = "check-jsonschema --builtin-schema vendor.github-workflows"
    assert bash(f"{check} .github/workflows/relevance.yml", shop).returncode == 0
    bad = {**workflow(shop), "on": {"no-such-event": {}}}
    (shop / "bad.yml").write_text(json.dumps(bad), "utf-8")
    assert bash(f"{check} bad.yml", shop).returncode == 1


def test_the_workflow_wakes_on_every_file_that_it_measures_by(shop):
    wakes = set(workflow(shop)["on"]["pull_request"]["paths"])
    for name in ("golden.json", "engine.toml", "budgets.json", "catalogue.jsonl", "synonyms.txt"):
        assert name in wakes
        assert (shop / name).is_file()
    owned = (shop / ".github/CODEOWNERS").read_text("utf-8")
    assert re.search(r"^/golden\.json\s+@", owned, re.MULTILINE)
    assert re.search(r"^/baseline/\s+@", owned, re.MULTILINE)
    steps = workflow(shop)["jobs"]["drift"]["steps"]
    assert steps[-1]["uses"].startswith("actions/upload-artifact@")
    assert steps[-1]["if"] == "always()"


@pytest.mark.parametrize(
    ("event", "change", "code"), [("pull_request", CHANGE, 3), ("schedule", "", 0)]
)
def test_the_gates_steps_run(shop, event, change, code):
    with (shop / "synonyms.txt").open("a", encoding="utf-8") as file:
        file.write(change)
    for name in ("Check the golden set", "Measure"):
        done = bash(script(shop, "drift", name), shop)
        assert done.returncode == 0, done.stdout + done.stderr
    summary = str(shop / "summary.md")
    done = bash(script(shop, "drift", "Drift"), shop, EVENT=event, GITHUB_STEP_SUMMARY=summary)
    assert done.returncode == code, done.stderr
    assert Path(summary).read_text("utf-8").startswith("## Relevance drift: ")
    assert (shop / "out/drift/drift.json").is_file()
    assert (shop / "out/trend.html").is_file() == (event == "schedule")


REBASE = "echo >> baseline/relevance.json; echo why >> RELEVANCE_NOTES.md"


@pytest.mark.parametrize(
    ("edits", "code", "said"),
    [
        ("echo 'a => b' >> synonyms.txt", 0, ""),
        (REBASE, 0, ""),
        (f"{REBASE}; echo 'a => b' >> synonyms.txt", 1, "- synonyms.txt"),
        (f"{REBASE}; echo x > ::warning::x", 1, "- ::warning::x"),
        (f"{REBASE}; git mv budgets.json baseline/b.json", 1, "- budgets.json"),
        ("echo >> baseline/relevance.json", 1, "no reason"),
    ],
)
def test_a_new_baseline_comes_alone_and_with_its_reason(shop, edits, code, said):
    begin = f"git init -q -b main . && git add . && {GIT} commit -qm one && git checkout -qb pr"
    done = bash(f"{begin} && {{ {edits}; }} && git add . && {GIT} commit -qm two", shop)
    assert done.returncode == 0, done.stderr
    done = bash(
        script(shop, "rebaseline", "A new baseline comes alone, with its reason"), shop, BASE="main"
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout
