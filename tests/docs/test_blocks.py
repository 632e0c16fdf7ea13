"""Every code block of the documentation is run, or says why not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from doc_blocks import Block, blocks_of
from example_files import rank_eval_files
from page_files import FILES
from scripted_model import ScriptedModel

from relgate.eval.agreement.policy_file import read_policy
from relgate.eval.change_file import read_change
from relgate.eval.change_filters import read_filters
from relgate.eval.drift.budgets import budgets_of
from relgate.eval.golden.files import read_golden
from relgate.eval.harness.config import read_engine
from relgate.eval.project import read_project
from relgate.eval.runs.read import read_run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(
    [
        *ROOT.glob("docs/**/*.md"),
        *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "SECURITY")),
    ]
)
BIN = Path(sys.executable).parent

RUN = {"sh", "python"}
READ = {"toml", "json"}
SHOWN = {"text"}  # output, and the layout of files: nothing to run

NOT_RUN = Counter(
    {
        "another test runs it": 1,
        "starts a Ray cluster; another test runs it": 1,
        "serves until it is stopped; another test runs it": 2,
        "installs a package": 5,
        "needs a provider's batches; another test runs it": 2,
        "is what CI runs": 2,
        "needs a Redis server": 1,
        "needs an Elasticsearch": 1,
    }
)
"""How many blocks are not run, by reason. A new one is counted here, or run."""

READERS: dict[str, Callable[[Path], object]] = {
    "relgate.toml": read_project,
    "change.toml": read_change,
    "ours.toml": lambda path: read_policy(str(path)),
    "engine.toml": lambda path: read_engine(path, {"SEARCH_URL": "http://x", "SEARCH_TOKEN": "t"}),
    "budgets.json": lambda path: budgets_of(json.loads(path.read_text("utf-8")), str(path)),
    "golden.json": read_golden,
    "recall.json": lambda path: read_run(path, name="recall"),
    "filter_cases.jsonl": lambda path: read_filters({"cases": path.name}, path),
}
"""By the file that a block is: the reader that users' files go through."""


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()
    yield model
    model.close()


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run(command: list[str], folder: Path, environ: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603 - our own pages
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def run_shell(block: Block, folder: Path, environ: dict[str, str]) -> str:
    """Each command's own exit code, as a shell that a person types into sees it; the output."""
    codes = folder / ".codes"
    codes.write_text("", "utf-8")
    trap = f"trap 'echo $? >> {codes}' ERR\nset -o pipefail\n"
    _, said = run(["bash", "--noprofile", "--norc", "-c", trap + block.text], folder, environ)
    found = tuple(map(int, codes.read_text("utf-8").split()))
    assert found == block.exits, f"{block.place}: exit codes {found}\n{said[-3000:]}"
    assert "Traceback" not in said, f"{block.place}\n{said[-3000:]}"
    return said


def run_python(block: Block, folder: Path, environ: dict[str, str]) -> str:
    file = folder / f"test_block{abs(hash(block.place))}.py"
    file.write_text(block.text, "utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if block.pytest else ["-W", "error"]
    code, said = run([sys.executable, *words, str(file)], folder, environ)
    assert code == 0, f"{block.place}\n{said[-3000:]}"
    return said


def printed(block: Block, said: str) -> None:
    """Each line of the block is in the output; `...` stands for anything."""
    flat = " ".join(said.split())
    for line in block.text.splitlines():
        wanted = ".*".join(re.escape(" ".join(part.split())) for part in line.split("..."))
        assert re.search(wanted, flat), f"{block.place}: {line!r} is not in\n{said[-3000:]}"


def read_file(block: Block, folder: Path) -> None:
    assert block.file is not None, f"{block.place}: say which file it is: <!-- file: NAME -->"
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, "utf-8")
    READERS[path.name](path)


def test_every_block_says_its_language_and_none_is_indented():
    odd = [
        f"{block.place}: {block.language or 'indented'}"
        for page in PAGES
        for block in blocks_of(page, ROOT)
        if block.language not in RUN | READ | SHOWN
    ]
    assert odd == []


def test_what_is_not_run_is_counted_by_its_reason():
    found = Counter(b.not_run for page in PAGES for b in blocks_of(page, ROOT) if b.not_run)
    assert found == +NOT_RUN


@pytest.mark.parametrize("page", [p for p in PAGES if blocks_of(p, ROOT)], ids=name_of)
def test_the_blocks_of_a_page_do_what_it_says(page: Path, tmp_path: Path, model: ScriptedModel):
    """In their order, in one folder that holds the bundled example and what the page speaks of."""
    rank_eval_files(tmp_path)
    (tmp_path / ".venv").symlink_to(BIN.parent)
    FILES.get(name_of(page), lambda _folder: None)(tmp_path)
    environ = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "RELGATE_"))},
        **model.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1",
        "PIP_NO_INDEX": "1",
    }  # fmt: skip
    environ.pop("CI", None)
    said = ""
    for block in blocks_of(page, ROOT):
        if block.not_run is not None:
            continue
        if block.output:
            printed(block, said)
        elif block.language == "sh":
            said = run_shell(block, tmp_path, environ)
        elif block.language == "python":
            said = run_python(block, tmp_path, environ)
        elif block.language not in SHOWN:
            read_file(block, tmp_path)


def page_with(tmp_path: Path, text: str) -> list[Block]:
    (tmp_path / "page.md").write_text(text, "utf-8")
    return blocks_of(tmp_path / "page.md", tmp_path)


@pytest.mark.parametrize(
    "text",
    ["```sh\nfalse\n```\n", "```sh\nfalse\ntrue\n```\n", "```sh\nrelgate nonsense\n```\n",
     "<!-- exits: 2 -->\n\n```sh\nfalse\n```\n", "<!-- exits: 1 -->\n\n```sh\ntrue\n```\n",
     "```sh\necho Traceback\n```\n"],
)  # fmt: skip
def test_a_planted_command_that_fails_is_found(tmp_path, text):
    environ = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    (block,) = page_with(tmp_path, text)
    with pytest.raises(AssertionError, match=r"page\.md"):
        run_shell(block, tmp_path, environ)


def test_a_planted_fault_in_python_toml_and_json_is_found(tmp_path):
    code, settings = page_with(
        tmp_path,
        "```python\n1 / 0\n```\n\n<!-- file: relgate.toml -->\n\n```toml\njudgmets = 'a'\n```\n",
    )
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_python(code, tmp_path, dict(os.environ))
    with pytest.raises(Exception, match="judgments"):
        read_file(settings, tmp_path)


def test_a_planted_output_that_is_not_printed_is_found(tmp_path):
    code, right, wrong = page_with(
        tmp_path,
        "```python\nprint('one   two')\nprint('three')\n```\n\n<!-- output -->\n\n```text\n"
        "one two\nt...e\n```\n\n<!-- output -->\n\n```text\nfour\n```\n",
    )
    said = run_python(code, tmp_path, dict(os.environ))
    printed(right, said)
    with pytest.raises(AssertionError, match="four"):
        printed(wrong, said)


def test_what_a_comment_says_holds_for_the_next_block_alone(tmp_path):
    blocks = page_with(
        tmp_path,
        "<!-- not run: why -->\n\n```sh\na\n```\n\n```sh\nb\n```\n\n"
        "<!-- not run: why -->\n\nText.\n\n```sh\nc\n```\n\n"
        "- list\n\n  <!-- exits: 4 -->\n\n  ```sh\n  d\n  ```\n\n    indented\n",
    )
    assert [(b.language, b.not_run, b.exits) for b in blocks] == [
        ("sh", "why", ()), ("sh", None, ()), ("sh", None, ()), ("sh", None, (4,)),
    ] + [("", None, ())] * (len(blocks) - 4)  # fmt: skip
