"""`--engine ray`: what it says before any worker is there."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

ray_is_there = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed: pip install 'relgate[ray]'"
)


def fill(shop, *more: str, judge: str | None = None) -> list[str]:
    return [
        "fill", "--run", "before.jsonl", "--judgments", "judgments.csv",
        "--judgments-source", "human", "--catalogue", "catalogue.jsonl",
        "--judge", judge or shop.judge("grade"), "--out", "filled.jsonl", "--engine", "ray", *more,
    ]  # fmt: skip


def test_without_ray_it_says_in_one_line_what_to_install(call, shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = call(*fill(shop))
    assert done.code == 6
    assert "the package ray is missing; pip install 'relgate[ray]'\n" in done.err
    assert shop.calls == 0


def test_the_baseline_has_nothing_to_spread_and_says_so(call, shop):
    done = call(*fill(shop, "--run", "after.jsonl", judge="baseline"))
    assert done.code == 0
    assert "nothing for engine ray to do" in done.err


def test_a_judge_of_the_pipelines_family_is_refused_before_ray_is_started(call, shop, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    done = call(*fill(shop, "--system-model", "gpt-4.1", judge="openai:gpt-4.1-mini"))
    assert done.code == 5


@ray_is_there
def test_an_address_where_nothing_listens_is_one_line(call, shop):
    done = call(*fill(shop, "--run", "after.jsonl", "--ray-address", "127.0.0.1:1"))
    assert done.code == 6
    assert "no Ray cluster at 127.0.0.1:1" in done.err
    assert shop.calls == 0


@ray_is_there
def test_a_plan_starts_no_cluster(call, shop):
    plan = call(*fill(shop, "--run", "after.jsonl", "--dry-run", "--json")).json
    assert plan["pairs"] == shop.new


def test_importing_the_commands_imports_no_ray():
    code = (
        "import sys, relgate.eval.judges, relgate.eval.cli.cmd_fill;"
        "sys.exit('ray' in sys.modules or 'pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
