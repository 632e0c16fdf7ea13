"""The list of packages, their data and the commands agree with what is on the disk."""

from __future__ import annotations

import ast
import fnmatch
import re
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest

from relgate.eval.cli.app import COMMANDS

TOPS = ("judge", "eval", "cache", "rubrics")


@pytest.fixture(scope="module")
def setup(root: Path):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def folders(root: Path) -> list[Path]:
    """The packages on the disk."""
    return [
        init.parent.relative_to(root) for top in TOPS for init in (root / top).rglob("__init__.py")
    ]


def package_of(folder: Path) -> str:
    return ".".join(("relgate", *folder.parts))


def test_the_listed_packages_are_those_on_the_disk(root, setup):
    listed = setup["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(map(package_of, folders(root)))
    assert len(listed) == len(set(listed))


def test_every_folder_of_modules_is_a_package(root):
    modules = {path.parent.relative_to(root) for top in TOPS for path in (root / top).rglob("*.py")}
    assert modules == set(folders(root))


def too_long(source: str) -> list[str]:
    """What is longer than a reader keeps in mind: functions over 60 lines, a module over 400."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        f"{node.name} {node.end_lineno - node.lineno + 1}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, functions) and node.end_lineno - node.lineno >= 60
    ]
    lines = source.count("\n")
    return [*found, f"module {lines}"] if lines > 400 else found


def test_no_function_and_no_module_is_too_long(root):
    long = {
        str(path.relative_to(root)): found
        for top in TOPS
        for path in sorted((root / top).rglob("*.py"))
        if (found := too_long(path.read_text(encoding="utf-8")))
    }
    assert long == {}


def test_the_check_of_lengths_finds_what_is_one_line_too_long():
    def of(lines: int) -> str:
        return "async def f():\n" + "    pass\n" * (lines - 1)

    assert (too_long(of(60)), too_long(of(61))) == ([], ["f 61"])
    assert (too_long("x = 1\n" * 400), too_long("x = 1\n" * 401)) == ([], ["module 401"])


def test_there_is_no_folder_relgate_in_the_way_of_the_namespace(root):
    assert not (root / "relgate").exists()


def test_the_packages_are_mapped_to_their_folders(setup):
    mapped = setup["tool"]["setuptools"]["package-dir"]
    assert mapped == {f"relgate.{top}": top for top in TOPS}


def data_files(root: Path) -> list[tuple[Path, Path]]:
    """Each file that is no module, with the package whose data it is."""
    packages = set(folders(root))
    found: list[tuple[Path, Path]] = []
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            rest = path.relative_to(root)
            if path.is_dir() or path.suffix in {".py", ".pyc"} or "__pycache__" in path.parts:
                continue
            owner = next(parent for parent in rest.parents if parent in packages)
            found.append((owner, rest.relative_to(owner)))
    return found


def left_out(files: list[tuple[Path, Path]], globs: dict[str, list[str]]) -> list[str]:
    """Those that the wheel would lack. A `*` of setuptools' globs passes no slash."""
    out: list[str] = []
    for owner, rest in files:
        patterns = [*globs.get("*", ()), *globs.get(package_of(owner), ())]
        depth = len(rest.parts)
        fits = any(len(Path(p).parts) == depth and fnmatch.fnmatch(str(rest), p) for p in patterns)
        if not fits:
            out.append(str(owner / rest))
    return out


def test_every_data_file_is_in_the_wheel(root, setup):
    files = data_files(root)
    assert len(files) >= 5  # the rubric, py.typed four times, the example's data
    assert left_out(files, setup["tool"]["setuptools"]["package-data"]) == []


def test_a_data_file_of_another_kind_would_be_noticed(setup):
    globs = setup["tool"]["setuptools"]["package-data"]
    planted = [(Path("rubrics"), Path("x.bin")), (Path("rubrics"), Path("deep/x.md"))]
    assert left_out(planted, globs) == ["rubrics/x.bin", "rubrics/deep/x.md"]


# --- commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module_and_says_what_it_does(name):
    command = import_module(f"relgate.eval.cli.cmd_{name.replace('-', '_')}").command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    options = [p for p in command.params if isinstance(p, click.Option)]
    assert [p.name for p in options if not p.help] == []
    assert COMMANDS[name].endswith(".")


def test_every_module_of_a_command_is_a_command(root):
    files = (root / "eval/cli").glob("cmd_*.py")
    modules = {path.stem.removeprefix("cmd_").replace("_", "-") for path in files}
    assert modules == set(COMMANDS)


def test_the_readme_names_every_command(root):
    readme = root / "README.md"
    if not readme.exists():
        pytest.skip("no README.md yet")
    text = readme.read_text(encoding="utf-8")
    named = set(re.findall(r"\brelgate ([a-z-]+)\b", text))
    assert set(COMMANDS) <= named
