"""The examples for CI systems: valid by their published schemas, and their steps run.

Steps run in bash with what the CI system would give. `gh` alone is stood in for, by a script that
notes its words: it would reach the network.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

DIFF = "+++ b/config/synonyms.txt"
BIN = Path(sys.executable).parent


def load(path: Path) -> Any:
    """YAML 1.2 as far as these files go: `on` is a word, not true."""
    return yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - builds text only


def run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - our own examples
        command, cwd=folder, env={**os.environ, "PATH": path, **env}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def bash(script: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A step as GitHub and GitLab run it."""
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], folder, **env)


@pytest.fixture
def project(shop, tmp_path) -> Path:
    """A repository with two commits; the second adds a synonym. The after side is better."""
    for query, docs in shop.before.items():
        shop.after[query] = docs[::-1]
    shop.write()
    (tmp_path / "relevance").mkdir()
    for name in ("before.jsonl", "after.jsonl", "judgments.csv"):
        (tmp_path / name).rename(tmp_path / "relevance" / name)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/synonyms.txt").write_text("a, b\n", "utf-8")
    (tmp_path / "relgate.toml").write_text('judgments_source = "human"\n', "utf-8")
    git = "git -c user.name=t -c user.email=t@example.com -c commit.gpgsign=false"
    done = bash(
        f"git init -q -b main . && git add . && {git} commit -qm one && echo 'c, d' >> "
        f"config/synonyms.txt && {git} commit -qam two",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", "github/action.yml"),
        ("github-workflows", "github/workflow.yml"),
        ("gitlab-ci", "gitlab/relgate.gitlab-ci.yml"),
    ],
)
def test_the_yaml_is_valid_by_the_published_schema(root, tmp_path, schema, file):
    words = [str(BIN / "check-jsonschema"), "--builtin-schema", f"vendor.{schema}"]
    path = root / "examples/ci" / file
    assert run([*words, str(path)], tmp_path).returncode == 0
    bad = load(path)  # the planted fault: the check can fail
    bad.pop("runs", None)
    bad["on" if "on" in bad else "relevance-review"] = {"no-such-key": {"x": 1}}
    (tmp_path / "bad.yml").write_text(json.dumps(bad), "utf-8")
    assert run([*words, str(tmp_path / "bad.yml")], tmp_path).returncode == 1


# --- GitHub

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def _filled(text: str, values: dict[str, str]) -> str:
    return EXPRESSION.sub(lambda match: values[match[1]], text)


class Action:
    """Runs the composite action's steps in order, as the runner does."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.action = load(root / "examples/ci/github/action.yml")
        self.folder = folder
        self.outputs: dict[str, str] = {}
        self.said = ""
        (folder / "temp").mkdir()
        (folder / "bin").mkdir()
        gh = folder / "bin/gh"
        gh.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > gh.txt\n', "utf-8")
        gh.chmod(0o755)

    def run(self, **inputs: str) -> int:
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        known = {name: one.get("default", "") for name, one in self.action["inputs"].items()}
        assert set(given) <= set(known)
        values = {f"inputs.{name}": value for name, value in {**known, **given}.items()}
        values["github.event.pull_request.number"] = "7"
        for step in self.action["runs"]["steps"]:
            if "if" in step:
                name, sign, word = step["if"].split()
                if (values[name] == word.strip("'")) is not (sign == "=="):
                    continue
            assert "${{" not in step["run"]  # inputs are data, never script
            env = {name: _filled(text, values) for name, text in step.get("env", {}).items()}
            code = self._step(step["run"], env)
            if code:
                return code
            values |= {f"steps.review.outputs.{k}": v for k, v in self.outputs.items()}
        return 0

    def _step(self, script: str, env: dict[str, str]) -> int:
        out = self.folder / "output.txt"
        out.write_text("", "utf-8")
        done = bash(
            script, self.folder, **env, GITHUB_ACTIONS="true", GITHUB_OUTPUT=str(out),
            GITHUB_STEP_SUMMARY=str(self.folder / "summary.md"),
            RUNNER_TEMP=str(self.folder / "temp"), GITHUB_SHA="abc1234", PIP_NO_INDEX="1",
        )  # fmt: skip
        self.said += done.stdout + done.stderr
        pairs = (line.split("=", 1) for line in out.read_text("utf-8").splitlines())
        self.outputs.update(dict(pairs))
        return done.returncode


SIDES = {"before": "relevance/before.jsonl", "after": "relevance/after.jsonl"}
LIST = {"judgments": "relevance/judgments.csv"}


@pytest.fixture
def action(root, project) -> Action:
    return Action(root, project)


def test_the_action_passes_a_better_search(action, project):
    code = action.run(**SIDES, **LIST, base="HEAD~1", comment="true")
    assert code == 0, action.said
    review = json.loads((project / "relgate-report/review.json").read_text("utf-8"))
    assert (review["verdict"], review["change"]["sha"]) == ("APPROVE", "abc1234")
    assert review["change"]["types"] == ["synonyms"]
    assert action.outputs == {"exit-code": "0", "report": "relgate-report"}
    words = (project / "gh.txt").read_text("utf-8").split()
    assert words[:3] == ["pr", "comment", "7"]
    assert words[-1] == "relgate-report/review.md"
    assert (project / "summary.md").read_text("utf-8").startswith("## Search relevance review")


def test_the_action_fails_as_the_verdict_says(action, project):
    worse = {"before": SIDES["after"], "after": SIDES["before"]}
    assert action.run(**worse, **LIST) == 3
    assert action.outputs["exit-code"] == "3"
    assert "::error title=relgate R4 aggregate::" in action.said
    assert (project / "relgate-report/junit.xml").is_file()
    assert not (project / "gh.txt").exists()


def test_the_action_softens_by_fail_on_and_reports_all_the_same(action, project):
    worse = {"before": SIDES["after"], "after": SIDES["before"]}
    assert action.run(**worse, **LIST, fail_on="refuse", out="elsewhere") == 0
    review = json.loads((project / "elsewhere/review.json").read_text("utf-8"))
    assert review["verdict"] == "BLOCK"


def test_bad_input_fails_the_action(action):
    assert action.run(before="nowhere.json", after=SIDES["after"]) == 2
    assert "nowhere.json: no such file" in action.said


def test_an_input_is_no_script(action, project):
    assert action.run(before="$(touch hit); `touch hit`", after=SIDES["after"]) == 2
    assert not (project / "hit").exists()


def test_the_example_workflow_gives_the_actions_own_inputs(root):
    (job,) = load(root / "examples/ci/github/workflow.yml")["jobs"].values()
    (step,) = [s for s in job["steps"] if s.get("uses", "").startswith("./")]
    assert (root / step["uses"] / "action.yml").is_file()
    action = load(root / "examples/ci/github/action.yml")
    assert set(step["with"]) <= set(action["inputs"])
    needed = {name for name, one in action["inputs"].items() if one.get("required") == "true"}
    assert needed <= set(step["with"])


# --- GitLab


def test_the_gitlab_job_runs(root, project):
    job = load(root / "examples/ci/gitlab/relgate.gitlab-ci.yml")["relevance-review"]
    env = {**job["variables"], "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    env |= {"BEFORE": SIDES["before"], "AFTER": SIDES["after"], "PIP_NO_INDEX": "1"}
    assert bash("git branch -f base HEAD~1 && git remote add origin .", project).returncode == 0
    env["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "base"
    for script in (*job["before_script"], *job["script"]):
        done = bash(script, project, **env)
        assert done.returncode == 0, done.stderr
    review = json.loads((project / "relgate-report/review.json").read_text("utf-8"))
    assert review["change"]["types"] == ["synonyms"]
    assert (project / job["artifacts"]["reports"]["junit"]).is_file()
    assert all((project / path).is_dir() for path in job["artifacts"]["paths"])


# --- pre-commit


@pytest.fixture
def pre_commit(root, project):
    """The hooks of the manifest under the example's arguments, run by pre-commit itself.

    The one thing that differs: they run in this environment rather than in one that pre-commit
    would fetch.
    """
    hooks = {hook["id"]: hook for hook in load(root / ".pre-commit-hooks.yaml")}
    (repo,) = load(root / "examples/ci/pre-commit/.pre-commit-config.yaml")["repos"]
    local = [{**hooks[use["id"]], **use, "language": "system"} for use in repo["hooks"]]
    for hook in local:
        hook["pass_filenames"] = json.loads(hook["pass_filenames"])  # the loader builds text
    text = json.dumps({"repos": [{"repo": "local", "hooks": local}]})
    (project / ".pre-commit-config.yaml").write_text(text, "utf-8")
    home = project / "home"

    def run_hook(*words: str) -> subprocess.CompletedProcess[str]:
        assert bash("git add -A .", project).returncode == 0
        words = (str(BIN / "pre-commit"), "run", *words, "--all-files", "--color", "never")
        return run(list(words), project, PRE_COMMIT_HOME=str(home), HOME=str(project))

    return run_hook


def test_the_manifest_and_the_example_are_valid(root, tmp_path):
    check = str(BIN / "pre-commit")
    manifest, config = root / ".pre-commit-hooks.yaml", root / "examples/ci/pre-commit"
    assert run([check, "validate-manifest", str(manifest)], tmp_path).returncode == 0
    example = str(config / ".pre-commit-config.yaml")
    assert run([check, "validate-config", example], tmp_path).returncode == 0
    assert run([check, "validate-manifest", example], tmp_path).returncode != 0


def test_the_hooks_pass_and_fail_with_what_they_look_at(pre_commit, project):
    review = ("relgate-review", "--hook-stage", "pre-push")
    for words in (("relgate-lists-check",), review):
        done = pre_commit(*words)
        assert done.returncode == 0, done.stdout
        assert "Passed" in done.stdout
    swap = "cd relevance && mv before.jsonl x && mv after.jsonl before.jsonl && mv x after.jsonl"
    assert bash(swap, project).returncode == 0
    done = pre_commit(*review)
    assert done.returncode == 1
    assert "exit code: 3" in done.stdout
    assert "BLOCK" in done.stdout
    (project / "relevance/judgments.csv").write_text("query,doc_id,grade\nq,d,9\n", "utf-8")
    done = pre_commit("relgate-lists-check")
    assert done.returncode == 1
    assert "judgments.csv:2" in done.stdout


# --- pytest


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], folder)


def test_the_example_test_passes_and_fails(root, project):
    for file in (root / "examples/ci/pytest").iterdir():
        if file.is_file():
            shutil.copy(file, project / "relevance")
    done = run_pytest(project / "relevance")
    assert done.returncode == 0, done.stdout
    (project / "relevance/after.jsonl").write_text(
        (project / "relevance/before.jsonl").read_text("utf-8").replace("h1-", "x1-"), "utf-8"
    )
    done = run_pytest(project / "relevance")
    assert done.returncode == 1
    assert "BLOCK: aggregate dropped" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_commands_of_the_page_are_those_of_the_examples(root):
    page = (root / "docs/ci.md").read_text("utf-8")
    for path in re.findall(r"\]\(\.\./(examples/ci/[^)]*|\.pre-commit-hooks\.yaml)\)", page):
        assert (root / path).exists(), path
    assert "examples/ci/github/action.yml" in page
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    words = [shlex.split(line, comments=True) for b in blocks for line in b.splitlines() if line]
    assert {w[1] for w in words if w[0] == "relgate"} >= {"review", "explain", "report"}
