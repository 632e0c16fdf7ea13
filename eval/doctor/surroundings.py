"""Python, packages, the files of golden sets, the files of CI systems. Reads them: I/O."""

from __future__ import annotations

import sys
from importlib import metadata, util
from pathlib import Path

from relgate.eval.doctor.types import Check, State
from relgate.eval.project import Project

__all__ = ["ci_check", "extra_checks", "golden_check", "python_check"]

_EXTRAS = {
    "parquet": "pyarrow",
    "large": "duckdb",
    "redis": "redis",
    "ray": "ray",
    "web": "starlette",
}
_FOR = {
    "parquet": "Parquet files",
    "large": "lists larger than memory",
    "redis": "a cache on a Redis server",
    "ray": "fills over a Ray cluster",
    "web": "local pages that people grade on",
}

_CI_FILES = (".gitlab-ci.yml", ".gitlab-ci.yaml", ".pre-commit-config.yaml", "azure-pipelines.yml")
_CI_FOLDERS = (".github/workflows", ".github/actions", ".ci", ".circleci", ".buildkite")
_MOST_BYTES = 200_000


def python_check() -> Check:
    """The interpreter, and relgate itself."""
    here = ".".join(map(str, sys.version_info[:3]))
    return Check("python", State.OK, f"Python {here}, relgate {metadata.version('relgate')}")


def extra_checks(project: Project) -> list[Check]:
    """Packages beyond the core: all in one line, and a fault for each that the settings need."""
    there = {name: util.find_spec(package) is not None for name, package in _EXTRAS.items()}
    lacking = [name for name, found in there.items() if not found]
    said = [
        f"{name} ({_FOR[name]}){'' if found else ' is not installed'}"
        for name, found in there.items()
    ]
    state = State.MISSING if lacking else State.OK
    return [
        Check("extras", state, ", ".join(said)),
        *(
            Check(
                name,
                State.FAULT,
                f"{needed}: {_EXTRAS[name]} is not installed",
                run=f"pip install 'relgate[{name}]'",
                exit_code=6,
            )
            for name in lacking
            if (needed := _needs(name, project)) is not None
        ),
    ]


def _needs(extra: str, project: Project) -> str | None:
    """Which setting cannot do without it."""
    from relgate.cache.redis_store import redis_url, shown_place  # noqa: PLC0415 - with the cache

    if extra == "redis":
        return None if redis_url(project.cache) is None else shown_place(project.cache)
    if extra == "ray":
        return 'engine = "ray"' if project.engine == "ray" else None
    if extra != "parquet":
        return None
    files = (project.judgments, project.catalogue, project.queries)
    return next((str(f) for f in files if f is not None and f.suffix == ".parquet"), None)


def golden_check(folder: Path) -> Check:
    """The files that `relgate run` and `relgate drift` work with, where they usually lie."""
    there = [
        name
        for name in ("engine.toml", "budgets.json", "baseline/relevance.json")
        if (folder / name).is_file()
    ]
    if "baseline/relevance.json" in there:
        return Check("baseline", State.OK, f"found {', '.join(there)}")
    if "engine.toml" in there:
        return Check(
            "baseline",
            State.MISSING,
            "engine.toml is there, and no baseline/relevance.json to hold a run against",
            run="relgate baseline set out/relevance.json --rationale '...'",
        )
    return Check("baseline", State.MISSING, "no engine.toml: no golden set is replayed here")


def ci_check(folder: Path) -> Check:
    """Whether a file of a CI system calls relgate."""
    files = [folder / name for name in _CI_FILES]
    files += [f for name in _CI_FOLDERS for f in sorted((folder / name).glob("**/*"))]
    calling = [str(f.relative_to(folder)) for f in files if _calls(f)]
    if calling:
        return Check("ci", State.OK, f"relgate is called in {', '.join(calling)}")
    return Check("ci", State.MISSING, "no file of a CI system here calls relgate: see docs/ci.md")


def _calls(path: Path) -> bool:
    try:
        return path.is_file() and b"relgate" in path.read_bytes()[:_MOST_BYTES]
    except OSError:
        return False
