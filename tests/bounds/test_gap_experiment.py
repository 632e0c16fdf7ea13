"""Hidden labels of TREC DL 2021: what zero-fill and a judge's fill do, and what few grades do.

Published figures are those of data/trec_dl21_runs/README.md and gapfill_reference.csv. Its labels
are hidden by `default_rng(seed).random(n) < share` over the rows of the labels' file, seeds 0-4.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from relgate.eval.bounds.means import mean_bounds
from relgate.eval.bounds.order import next_documents
from relgate.eval.bounds.pool import Pool, make_pool
from relgate.eval.bounds.query import delta_bounds
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source
from relgate.eval.metrics.align import align
from relgate.eval.metrics.conventions import Conventions, Metric
from relgate.eval.metrics.score import score_runs
from relgate.eval.runs.types import Run

Grades = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, list[str]]]
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass
class Track:
    """The labels of people and of a judge, in the file's order, and what 63 systems returned."""

    rows: list[tuple[str, str]]
    human: Grades
    judge: Grades
    runs: Rankings
    reference: dict[tuple[float, str], tuple[float, float]]

    def hidden(self, share: float, seed: int) -> set[tuple[str, str]]:
        drawn = np.random.default_rng(seed).random(len(self.rows)) < share
        return {row for row, is_hidden in zip(self.rows, drawn, strict=True) if is_hidden}

    def without(self, hidden: set[tuple[str, str]]) -> Grades:
        out: Grades = {q: {} for q in self.human}
        for q, d in self.rows:
            if (q, d) not in hidden:
                out[q][d] = self.human[q][d]
        return out

    def filled(self, hidden: set[tuple[str, str]]) -> Grades:
        out: Grades = {q: {} for q in self.human}
        for q, d in self.rows:
            out[q][d] = (self.judge if (q, d) in hidden else self.human)[q][d]
        return out


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


@pytest.fixture(scope="module")
def track(shared: Path) -> Track:
    human: Grades = defaultdict(dict)
    judge: Grades = defaultdict(dict)
    rows = []
    for row in rows_of(shared / "data/trec_dl_llm/pairs.tsv.gz"):
        if row["track"] == "dl21":
            rows.append((row["qid"], row["docid"]))
            human[row["qid"]][row["docid"]] = int(row["human"])
            judge[row["qid"]][row["docid"]] = int(row["umbrela_gpt4o"])
    runs: Rankings = defaultdict(lambda: defaultdict(list))
    for row in rows_of(shared / "data/trec_dl21_runs/runs_top50.tsv.gz"):  # in rank order
        if int(row["rank"]) <= 10:
            runs[row["run"]][row["qid"]].append(row["docid"])
    with (shared / "data/trec_dl21_runs/gapfill_reference.csv").open(encoding="utf-8") as file:
        reference = {
            (float(row["hidden"]), row["method"]): (float(row["mae"]), float(row["tau"]))
            for row in csv.DictReader(file)
        }
    return Track(rows, dict(human), dict(judge), {n: dict(r) for n, r in runs.items()}, reference)


def means(track: Track, grades: Mapping[str, Mapping[str, int]]) -> np.ndarray:
    """Mean NDCG@10 of the 63 systems, in trec_eval's conventions."""
    builder = ListBuilder(SCALES["0-3"])
    for q, docs in grades.items():
        for doc, grade in docs.items():
            builder.add(Query(q), doc, grade, Provenance(Source.HUMAN))
    judgments = builder.build()
    runs = [
        Run(name, tuple(map(Query, found)), tuple(map(tuple, found.values())))
        for name, found in sorted(track.runs.items())
    ]
    scores = score_runs(judgments, runs, align(judgments, runs), Conventions.trec_eval(10))
    return np.array([s.mean(Metric.NDCG).value for s in scores])


def figures(track: Track, share: float) -> dict[str, tuple[float, float]]:
    """(MAE, tau) of zero-fill and of the judge's fill, means over the seeds."""
    truth = means(track, track.human)
    found = defaultdict(list)
    for seed in range(5):
        hidden = track.hidden(share, seed)
        for method, grades in (
            ("unrated=0", track.without(hidden)),
            ("fill umbrela_gpt4o", track.filled(hidden)),
        ):
            got = means(track, grades)
            found[method].append((np.abs(got - truth).mean(), kendalltau(got, truth).statistic))
    return {method: tuple(np.mean(rows, axis=0)) for method, rows in found.items()}


def check_published(track: Track, share: float) -> None:
    for method, got in figures(track, share).items():
        assert got == pytest.approx(track.reference[share, method], abs=6e-5), (share, method)


def test_a_judge_alone_gives_the_published_figures(track: Track) -> None:
    truth, got = means(track, track.human), means(track, track.judge)
    published = track.reference[1.0, "fill umbrela_gpt4o"]
    assert (np.abs(got - truth).mean(), kendalltau(got, truth).statistic) == pytest.approx(
        published, abs=6e-5
    )


def test_half_of_the_labels_hidden_gives_the_published_figures(track: Track) -> None:
    check_published(track, 0.5)


@pytest.mark.soak
@pytest.mark.parametrize("share", SHARES)
def test_the_published_table_is_reproduced(track: Track, share: float) -> None:
    check_published(track, share)


# ---- Verdict-driven fill: the sign of the mean delta of two systems ----

CONVENTIONS = Conventions()
WAVE = 10


@dataclass
class Signed:
    """How a fill that stops when the sign is settled ended."""

    sign: int
    asked: int
    pairs: int
    delta: float


def sign_of(low: float, high: float) -> int | None:
    """The sign that every fill gives; None while it is open."""
    if low > 1e-9:
        return 1
    if high < -1e-9:
        return -1
    return 0 if high - low < 1e-9 else None


def settle(track: Track, one: str, two: str, hidden: set[tuple[str, str]]) -> Signed:
    known = track.without(hidden)
    queries = sorted(known)

    def pool(q: str) -> Pool:
        before, after = track.runs[one].get(q, []), track.runs[two].get(q, [])
        askable = [d for d in dict.fromkeys((*before, *after)) if (q, d) in hidden]
        return make_pool(known[q], before, after, CONVENTIONS, max_grade=3, askable=askable)

    pools = [pool(q) for q in queries]
    bounds = [delta_bounds(p, CONVENTIONS) for p in pools]
    pairs, asked = sum(len(p.docs) for p in pools), 0
    while True:
        low = np.array([b.low for b in bounds])
        high = np.array([b.high for b in bounds])
        sure = np.array([p.has_ideal for p in pools])
        maybe = ~sure & np.array([bool(p.docs) for p in pools])
        mean = mean_bounds(low, high, sure, maybe)
        sign = sign_of(mean.low, mean.high)
        if sign is not None:
            return Signed(sign, asked, pairs, (mean.low + mean.high) / 2)
        width = np.nan_to_num(high - low) + maybe
        for at, docs in next_documents(pools, width, size=WAVE, k=10).items():
            asked += len(docs)
            known[queries[at]].update((d, track.judge[queries[at]][d]) for d in docs)
            pools[at] = pool(queries[at])
            bounds[at] = delta_bounds(pools[at], CONVENTIONS)


def whole(track: Track, one: str, two: str, hidden: set[tuple[str, str]]) -> float:
    """The mean delta when everything hidden within the top 10 of either is filled."""
    known = track.without(hidden)
    deltas = []
    for q, grades in known.items():
        before, after = track.runs[one].get(q, []), track.runs[two].get(q, [])
        grades.update((d, track.judge[q][d]) for d in {*before, *after} if (q, d) in hidden)
        pool = make_pool(grades, before, after, CONVENTIONS, max_grade=3, askable=())
        deltas.append(delta_bounds(pool, CONVENTIONS).low)
    return float(np.nanmean(deltas))


def experiment(track: Track, n: int, seed: int) -> list[tuple[Signed, float]]:
    """`n` random pairs of systems, each with 10 to 90 % of the labels hidden."""
    rng = np.random.default_rng(seed)
    names = sorted(track.runs)
    out = []
    for number in range(n):
        one, two = rng.choice(names, 2, replace=False).tolist()
        hidden = track.hidden(SHARES[number % 5], int(rng.integers(5)))
        out.append((settle(track, one, two, hidden), whole(track, one, two, hidden)))
    return out


def check_signs(found: list[tuple[Signed, float]]) -> None:
    for settled, delta in found:
        assert settled.sign == (0 if abs(delta) < 1e-9 else int(np.sign(delta)))
        assert settled.asked <= settled.pairs


def test_few_grades_give_the_sign_that_all_of_them_give(track: Track) -> None:
    found = experiment(track, 10, seed=1)
    check_signs(found)
    assert sum(s.asked for s, _ in found) < sum(s.pairs for s, _ in found)


@pytest.mark.soak
def test_the_sign_of_200_pairs_of_systems(track: Track) -> None:
    """0 exceptions; the quartiles of the share of grades needed are printed (`pytest -s`)."""
    found = experiment(track, 200, seed=0)
    check_signs(found)
    shares = np.array([s.asked / s.pairs if s.pairs else 0.0 for s, _ in found])
    deltas = np.abs([delta for _, delta in found])
    report = {"all": shares}
    edges = (0, 0.02, 0.05, 0.1, 1)
    for low, high in pairwise(edges):
        report[f"|delta| {low}-{high}"] = shares[(deltas >= low) & (deltas < high)]
    for number, share in enumerate(SHARES):
        report[f"hidden {share}"] = shares[number::5]
    rows = {
        name: [len(part), *np.quantile(part, [0.25, 0.5, 0.75]).round(3).tolist()]
        for name, part in report.items()
        if len(part)
    }
    print(json.dumps(rows, indent=1))  # noqa: T201 - the figures of this experiment
    assert np.median(shares) < 1
