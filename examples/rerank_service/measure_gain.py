# noqa: INP001 - a script beside its readme, no package
"""Measures what reranking gains on the bundled shop, by `relgate review`, and prints it.

The shop's first-stage run is reranked with the baseline judge, which learned from the shop's stale
labels, and reviewed against itself on a list that holds the label rule's grade of every returned
document: no grade of a judge is in it. Twice: with the judge as it is, which has seen many of the
pairs that it reranks, and out of fold, where each labelled query is graded by a model that did not
see it. Beside them stand one weight for all ranks, and a judge that calls everything Exact, which
has read nothing. The labels are made by rule, so the figures mean nothing for real data.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from relgate.eval.catalogue import Catalogue, read_catalogue
from relgate.eval.demo.data_files import read_products, read_queries
from relgate.eval.demo.example import Example, write_example
from relgate.eval.demo.labels import grade
from relgate.eval.judges import open_judge
from relgate.eval.lists.read import read_list
from relgate.eval.project import Project
from relgate.eval.runs.read import read_run
from relgate.eval.runs.types import Run
from relgate.eval.runs.write import write_run
from relgate.judge import Candidate, Judge, JudgedHit, llm_rerank
from relgate.judge.rerank import DEFAULT_WEIGHTS

Weights = Sequence[tuple[int | None, float]]
ONE_WEIGHT: Weights = ((None, 0.6),)
LAST_BITS = 1e-9  # a smaller drop is none, as in the review
HEADER = (
    "| judge | weights | queries | NDCG@10 before | reranked | delta | 95 % interval | worse | "
    "verdict | exit code |\n|---|---|---:|---:|---:|---:|---|---:|---|---:|"
)


def rule_list(example: Example, path: Path) -> Path:
    """Writes the rule's grade of every document that the first stage returned; its path."""
    needs = {query.id: query for query in read_queries()}
    products = {str(row["id"]): row for row in read_products()}
    lines = ["query_id,doc_id,grade,source"]
    run = read_run(example.before)
    for query, docs in zip(run.queries, run.docs, strict=True):
        need = needs[query.id].need
        lines += [f"{query.id},{doc},{grade(need, products[doc])},rule" for doc in docs or ()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class AllExact:
    """A judge that has read nothing."""

    version = fingerprint = "all-exact@0"
    model: str | None = None
    family: str | None = "none"
    batch_size = 50

    async def grade(
        self,
        query: str,  # noqa: ARG002 - the protocol's name
        candidates: Sequence[Candidate],
    ) -> list[JudgedHit]:
        """Exact, each of them."""
        return [JudgedHit(candidate.id, 3, "E", "") for candidate in candidates]

    def grade_sync(self, query: str, candidates: Sequence[Candidate]) -> list[JudgedHit]:
        """As `grade`."""
        return asyncio.run(self.grade(query, candidates))


async def reranked(
    run: Run, judge: Judge, catalogue: Catalogue, weights: Weights = DEFAULT_WEIGHTS
) -> Run:
    """The run in the order that `llm_rerank` gives it."""
    docs: list[tuple[str, ...] | None] = []
    for query, found in zip(run.queries, run.docs, strict=True):
        hits = [catalogue.candidate(doc) or Candidate(doc, "") for doc in found or ()]
        order = await llm_rerank(judge, query.shown, hits, weights=weights)
        docs.append(tuple(hit.id for hit in order))
    return replace(run, name="reranked", docs=tuple(docs), given=None)


def review(example: Example, after: Path, judgments: Path, *more: str) -> tuple[int, Any]:
    """Exit code and document of `relgate review`, of before against `after`."""
    command = [sys.executable, "-m", "relgate.eval", "review", "--json", "--quiet",
               "--before", example.before, "--after", after, "--judgments", judgments,
               "--queries", example.queries, "--intent", "improve",
               "--system-model", "none", *more]  # fmt: skip
    done = subprocess.run(  # noqa: S603 - our own command line
        command, cwd=after.parent, capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.strip()


def measure(folder: Path) -> list[str]:
    """The lines that this script prints."""
    example = write_example(folder)
    every = rule_list(example, folder / "rule.csv")
    project = Project(judgments=example.judgments, catalogue=example.catalogue)
    catalogue = read_catalogue(example.catalogue)
    labels = read_list(example.judgments, scale=project.list_scale()).judgments
    as_it_is, out_of_fold = (
        open_judge(
            "baseline",
            project,
            labels=labels,
            candidate_of=catalogue.candidate,
            out_of_fold=measured,
        ).judge
        for measured in (False, True)
    )
    before = read_run(example.before)
    after = folder / "reranked.jsonl"
    lines = [HEADER]
    variants: Sequence[tuple[str, Judge, Weights]] = (
        ("baseline, as it is", as_it_is, DEFAULT_WEIGHTS),
        ("baseline, out of fold", out_of_fold, DEFAULT_WEIGHTS),
        ("all Exact", AllExact(), DEFAULT_WEIGHTS),
        ("baseline, out of fold", out_of_fold, ONE_WEIGHT),
        ("all Exact", AllExact(), ONE_WEIGHT),
    )
    for name, judge, weights in variants:
        write_run(after, asyncio.run(reranked(before, judge, catalogue, weights)))
        shown = ", ".join(f"{weight:g}" for _, weight in weights)
        lines.append(row(f"{name} | {shown}", *review(example, after, every)))
    code, said = evaluated_by_itself(example, after, as_it_is.version)
    return [*lines, "", f"Evaluated by the judge that reranked: exit code {code}", said]


def evaluated_by_itself(example: Example, after: Path, version: str) -> tuple[int, str]:
    """What the review says when its judge is the one that made the ranking."""
    told = after.with_name("circular.toml")
    told.write_text(f"ranker_judges = [{json.dumps(version)}]\n", encoding="utf-8")
    code, said = review(
        example, after, example.judgments, "--catalogue", str(example.catalogue),
        "--judge", "baseline", "--fill", "--config", str(told),
    )  # fmt: skip
    return code, str(said)


def row(name: str, code: int, document: Any) -> str:  # noqa: ANN401 - JSON
    """One line of the table."""
    ndcg, noise = document["aggregate"]["ndcg"], document["noise"]
    worse = sum((query["delta"] or 0) < -LAST_BITS for query in document["queries"])
    cells = [
        name,
        f"{ndcg['n']}",
        f"{ndcg['before']:.3f}",
        f"{ndcg['after']:.3f}",
        f"{ndcg['delta']:+.3f}",
        f"{noise['low']:+.3f} to {noise['high']:+.3f}",
        f"{worse}",
        document["verdict"],
        f"{code}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.stdout.write("\n".join(measure(Path(place))) + "\n")
