"""The gain of a reranker is measured by a review that can also see a loss."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from relgate.eval.catalogue import read_catalogue
from relgate.eval.demo.data_files import read_products, read_queries
from relgate.eval.demo.example import Example, write_example
from relgate.eval.demo.labels import grade
from relgate.eval.runs.read import read_run
from relgate.eval.runs.write import write_run
from relgate.judge.types import Candidate, JudgedHit

PRODUCTS = {str(row["id"]): row for row in read_products()}
NEEDS = {query.text: query.need for query in read_queries()}


class ByRule:
    """A judge that knows the rule, and says `turn(grade)`."""

    version, fingerprint, model, family, batch_size = "rule@0", "f", None, "none", 10

    def __init__(self, turn: Callable[[int], int]) -> None:
        self.turn = turn

    async def grade(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        grades = [self.turn(grade(NEEDS[query], PRODUCTS[c.id])) for c in candidates]
        return [JudgedHit(c.id, g, "ICSE"[g], "r") for c, g in zip(candidates, grades, strict=True)]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        return asyncio.run(self.grade(query, candidates))


@pytest.fixture(scope="module")
def script(root: Path) -> ModuleType:
    path = root / "examples" / "rerank_service" / "measure_gain.py"
    spec = importlib.util.spec_from_file_location("measure_gain", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    return write_example(tmp_path_factory.mktemp("shop"))


def reviewed(script: ModuleType, example: Example, name: str, turn: Callable[[int], int]) -> Any:
    folder = example.before.parent
    run = read_run(example.before)
    new = asyncio.run(script.reranked(run, ByRule(turn), read_catalogue(example.catalogue)))
    after = folder / f"{name}.jsonl"
    write_run(after, new)
    return new, script.review(example, after, script.rule_list(example, folder / "rule.csv"))


def test_the_list_holds_the_rules_grade_of_every_returned_document_and_no_judges(
    script: ModuleType, example: Example
):
    lines = script.rule_list(example, example.before.parent / "all.csv").read_text().splitlines()
    run = read_run(example.before)
    assert len(lines) - 1 == sum(len(docs or ()) for docs in run.docs)
    assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {"rule"}


def test_a_judge_that_knows_the_rule_gains_and_loses_no_query(script, example):
    new, (code, document) = reviewed(script, example, "right", lambda g: g)
    assert document["verdict"] == "APPROVE"
    assert code == 0
    assert document["aggregate"]["ndcg"]["delta"] > 0.05
    assert document["coverage"]["unrated"]["mean_share_after"] == 0
    before = read_run(example.before)
    for old, docs in zip(before.docs, new.docs, strict=True):
        assert sorted(old or ()) == sorted(docs or ())  # an order, nothing else


def test_a_judge_that_turns_the_rule_around_is_blocked(script, example):
    _, (code, document) = reviewed(script, example, "wrong", lambda g: 3 - g)
    assert document["verdict"] == "BLOCK"
    assert code == 3
    assert document["aggregate"]["ndcg"]["delta"] < -0.05


def test_a_judge_that_calls_everything_irrelevant_changes_nothing(script, example):
    new, (_, document) = reviewed(script, example, "constant", lambda _g: 0)
    assert new.docs == read_run(example.before).docs
    assert document["aggregate"]["ndcg"]["delta"] == 0


def test_a_judge_that_calls_everything_exact_is_no_gain(script, example):
    # the document's blend lifts what stands below a bound of the weights; see docs/judge.md
    _, (code, document) = reviewed(script, example, "all-exact", lambda _g: 3)
    assert document["aggregate"]["ndcg"]["delta"] < 0
    assert code == 3


def rerank(example: Example, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`relgate rerank` of the shop's first stage with the baseline judge."""
    return subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "relgate.eval", "rerank", "--json", "--run", example.before,
         "--catalogue", example.catalogue, "--queries", example.queries,
         "--judgments", example.judgments, "--judge", "baseline",
         "--out", folder / "reranked.jsonl", *more],
        cwd=folder, capture_output=True, check=True, text=True,
    )  # fmt: skip


def test_one_weight_can_be_given_and_a_weight_of_1_is_the_first_stage(example, tmp_path):
    done = rerank(example, tmp_path, "--weight", "1")
    assert read_run(tmp_path / "reranked.jsonl").docs == read_run(example.before).docs
    assert json.loads(done.stdout)["reordered"] == 0
    assert "on its own pairs the new order flatters it" in done.stderr


def test_the_judge_that_reranked_may_not_evaluate(script, example, tmp_path):
    # by its fingerprint; by its version the page's figures show it (tests/docs)
    (fingerprint,) = json.loads(rerank(example, tmp_path).stdout)["ranker_judges"]
    after = tmp_path / "reranked.jsonl"
    code, said = script.evaluated_by_itself(example, after, fingerprint)
    assert code == 5
    assert f"judge {fingerprint} also reranks" in said
    code, document = script.evaluated_by_itself(example, after, "other-v1@00000000")
    assert code in {0, 1, 3, 4}, document  # a verdict: another judge is free to evaluate
