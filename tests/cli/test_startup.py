"""What starting up may import, by the modules that are loaded and not by a clock."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "aiohttp", "asyncio", "diskcache", "google", "httpx2", "jinja2", "matplotlib", "numpy",
    "openai", "pandas", "pyarrow", "pydantic", "rich", "scipy", "sklearn", "starlette", "uvicorn",
}  # fmt: skip

COMMAND = """
import sys
sys.argv = ["relgate", *{words!r}]
from relgate.eval.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""

COMMANDS_ALL = """
from importlib import import_module
from relgate.eval.cli.app import COMMANDS
for name in COMMANDS:
    import_module(f"relgate.eval.cli.cmd_{name.replace('-', '_')}")
"""


def loaded_by(code: str, folder) -> set[str]:
    """Top-level modules that `code` loads in an interpreter of its own."""
    code = f"import sys\nbare = set(sys.modules)\n{code}\nimport json\n"
    code += "print('\\n' + json.dumps(sorted({m.split('.')[0] for m in set(sys.modules) - bare})))"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import relgate.judge",
        "import relgate.eval.cli",
        "from relgate.judge import make_llm_judge\nmake_llm_judge(lambda request: '')",
        COMMAND.format(words=["--help"]),
        COMMAND.format(words=["--version"]),
        COMMANDS_ALL,
    ],
)
def test_starting_up_loads_nothing_heavy(code, tmp_path):
    loaded = loaded_by(code, tmp_path)
    assert "relgate" in loaded
    assert loaded & HEAVY == set()


def test_the_guard_sees_what_is_heavy(tmp_path):
    """The planted fault: a judge that grades needs its event loop."""
    code = (
        "from relgate.judge import Candidate, make_llm_judge\n"
        "make_llm_judge(lambda request: '').grade_sync('q', [Candidate('a', 'b')])"
    )
    assert loaded_by(code, tmp_path) & HEAVY == {"asyncio"}


def test_help_of_one_command_imports_no_other(tmp_path):
    code = COMMAND.format(words=["gaps", "--help"])
    code += "\nprint(sorted(m for m in sys.modules if 'cli.cmd_' in m), file=sys.stderr)"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == "['relgate.eval.cli.cmd_gaps']\n"
