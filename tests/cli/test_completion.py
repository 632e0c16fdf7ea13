"""Completion in the shell: click's own, over commands that are loaded when they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relgate.eval.cli.app import COMMANDS

BIN = Path(sys.executable).parent

# What a shell hands over: the words so far, and which of them is being typed.
ASKED = {
    "bash": lambda words: (" ".join(words), str(len(words) - 1)),
    "zsh": lambda words: (" ".join(words), str(len(words) - 1)),
    "fish": lambda words: (" ".join(words), words[-1]),
}


def bash(script: str, **env: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        ["bash", "--noprofile", "--norc", "-c", script],  # noqa: S607
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **env},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def offered(shell: str, *words: str) -> set[str]:
    """The words that relgate gives a shell."""
    typed, place = ASKED[shell](["relgate", *words])
    said = bash(
        "relgate", _RELGATE_COMPLETE=f"{shell}_complete", COMP_WORDS=typed, COMP_CWORD=place
    )
    lines = said.splitlines()
    if shell == "zsh":  # kind, word, help, in lines of their own
        return set(lines[1::3])
    return {line.partition(",")[2].split("\t")[0] for line in lines if line}


@pytest.mark.parametrize("shell", ASKED)
def test_commands_groups_options_and_their_values_are_offered(shell):
    assert offered(shell, "") >= set(COMMANDS)
    assert offered(shell, "rev") == {"review"}
    assert offered(shell, "certificate", "") == {"show", "verify", "compare"}
    assert {"--before", "--after", "--judgments"} <= offered(shell, "review", "--")
    assert offered(shell, "review", "--gain", "e") == {"exp2"}


@pytest.mark.parametrize("shell", ASKED)
def test_nothing_is_offered_for_what_there_is_not(shell):
    assert offered(shell, "nonsens") == set()
    assert offered(shell, "review", "--nonsens") == set()


@pytest.mark.parametrize("shell", ASKED)
def test_each_shell_gets_a_script_of_its_own(shell):
    script = bash("relgate", _RELGATE_COMPLETE=f"{shell}_source")
    assert "_RELGATE_COMPLETE" in script
    assert f"{shell}_complete" in script


def test_bash_completes_by_the_line_that_the_page_gives(root):
    page = (root / "docs" / "commands.md").read_text("utf-8")
    (line,) = [x for x in page.splitlines() if "bash_source" in x]
    asked = "COMP_WORDS=(relgate cache st); COMP_CWORD=2; _relgate_completion relgate st cache"
    said = bash(f'{line}\ncomplete -p relgate\n{asked}\necho "${{COMPREPLY[@]}}"')
    registered, completed = said.splitlines()
    assert registered == "complete -o nosort -F _relgate_completion relgate"
    assert completed == "stats"


def test_completion_loads_nothing_heavy():
    code = (
        "import sys\nfrom relgate.eval.cli import main\nsys.argv = ['relgate']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pydantic', 'sklearn', 'openai'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "_RELGATE_COMPLETE": "bash_complete", "COMP_WORDS": "relgate ",
             "COMP_CWORD": "1"},
    )  # fmt: skip
    assert "plain,review" in done.stdout
    assert done.stderr == "[]\n"
