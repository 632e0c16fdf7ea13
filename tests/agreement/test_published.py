"""Real labels of people and judges: the published figures come out."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from relgate.eval.agreement.calibrate import Terms, calibrate_pairs
from relgate.eval.agreement.calibration import Calibration
from relgate.eval.agreement.confusion import confusion_table, floor_table, kappa
from relgate.eval.agreement.pairs import UNGRADED, GradedPairs, match_grades, recorded_judge
from relgate.eval.agreement.policy import Level
from relgate.eval.agreement.sk import sk_kappa
from relgate.eval.lists.build import ListBuilder
from relgate.eval.lists.types import SCALES, Provenance, Query, Source

RAG24_FILE = "data/rag24_9judges/pairs.tsv"


def tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def llmjudge(shared: Path) -> list[dict[str, str]]:
    return tsv(shared / "data/llmjudge/test_human_and_33_llm.tsv")


def test_all_132_published_kappas_of_the_llmjudge_challenge(
    shared: Path, llmjudge: list[dict[str, str]]
):
    """Rahmani et al., arXiv 2502.13908, tables 2-5: 33 submissions, plain and binarised 3 ways.

    The labels 5 (twice, RMITIR-llama70B) and 10 (once, h2oloo-zeroshot2) are clipped to 3, as the
    authors' own notebook does before it computes agreement.
    """
    with (shared / "data/llmjudge/published_and_computed.csv").open(encoding="utf-8") as file:
        published = [r for r in csv.DictReader(file) if r["labels_available"] == "True"]
    human = np.array([int(row["human"]) for row in llmjudge])
    columns = ("pub_kappa_4point", "pub_kappa_0_123", "pub_kappa_01_23", "pub_kappa_012_3")
    checked = 0
    for row in published:
        given = np.array([int(float(r[row["submission"]])) for r in llmjudge])
        table = confusion_table(human, np.clip(given, 0, 3), n_grades=4)
        tables = [table, *(floor_table(table, floor=f) for f in (1, 2, 3))]
        for column, one in zip(columns, tables, strict=True):
            expected = float(row[column])
            assert float(kappa(one)) == pytest.approx(expected, abs=5.1e-5), row["submission"]
            assert sk_kappa(one) == pytest.approx(expected, abs=5.1e-5), row["submission"]
            checked += 1
    assert checked == 132


def test_recorded_grades_of_willia_umbrela1_give_the_published_figures(
    llmjudge: list[dict[str, str]],
):
    human, grades = ListBuilder(SCALES["0-3"]), ListBuilder(SCALES["0-3"])
    by_judge = Provenance(Source.JUDGE, model="gpt-4o", judge_version="umbrela@1", fingerprint="f1")
    for row in llmjudge:
        query = Query(row["qid"])
        human.add(query, row["docid"], int(row["human"]), Provenance(Source.HUMAN))
        grades.add(query, row["docid"], int(row["willia-umbrela1"]), by_judge)
    recorded = grades.build()
    result = calibrate_pairs(
        match_grades(human.build(), recorded),
        scale=SCALES["0-3"],
        judge=recorded_judge(recorded),
    )
    kappas = [result.figures[f"kappa{w}"].point for w in ("", "_linear", "_quadratic")]
    assert kappas == pytest.approx([0.2863, 0.3963, 0.5044], abs=5.1e-5)
    assert (result.n, result.n_queries, result.coverage) == (4423, 25, 1.0)
    assert result.human_counts == (2005, 1233, 808, 377)
    assert result.judge.model == "gpt-4o"
    assert result.level is Level.UNTRUSTED


def test_the_authors_confusion_matrices_of_gpt4_on_dl19_to_dl21(shared: Path):
    # data/trec_dl_llm/README.md: identical, cell by cell, to the authors' figures
    expected = {
        "dl19": "3344 1289 460 65 262 727 490 122 101 409 826 468 136 88 229 244",
        "dl20": "5308 1714 593 165 388 831 529 192 53 300 448 219 58 124 189 275",
        "dl21": "2641 1105 469 123 315 1223 1037 488 46 556 1082 657 0 38 372 676",
    }
    kappas = {  # same file, computed with scikit-learn
        "dl19": (0.3385, 0.4717, 0.5807),
        "dl20": (0.3254, 0.4385, 0.5426),
        "dl21": (0.3463, 0.4928, 0.6220),
    }
    with gzip.open(shared / "data/trec_dl_llm/pairs.tsv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for track, cells in expected.items():
        mine = [r for r in rows if r["track"] == track]
        human = [int(r["human"]) for r in mine]
        table = confusion_table(human, [int(float(r["umbrela_gpt4"])) for r in mine], n_grades=4)
        assert table.ravel().tolist() == [int(x) for x in cells.split()]
        found = [float(kappa(table, weights=w)) for w in ("none", "linear", "quadratic")]
        assert found == pytest.approx(kappas[track], abs=5.1e-5)


def rag24(rows: list[dict[str, str]], corpus: str, judge: str) -> GradedPairs:
    mine = [r for r in rows if r["corpus"] == corpus]
    ids = list(dict.fromkeys(r["query_id"] for r in mine))
    at = {query_id: i for i, query_id in enumerate(ids)}
    failed = sum(not r[judge] for r in mine)
    return GradedPairs(
        query=np.array([at[r["query_id"]] for r in mine]),
        human=np.array([int(r["human"]) for r in mine]),
        judge=np.array([int(float(r[judge])) if r[judge] else UNGRADED for r in mine]),
        queries=tuple(Query(i) for i in ids),
        doc_ids=tuple(r["doc_id"] for r in mine),
        errors={"missing": failed} if failed else {},
        sources={"human": len(mine)},
    )


def calibrate(pairs: GradedPairs) -> Calibration:
    return calibrate_pairs(pairs, scale=SCALES["0-3"], terms=Terms(resamples=200))


def test_every_quadratic_kappa_of_the_nine_judges_with_failures_left_out(shared: Path):
    rows = tsv(shared / RAG24_FILE)
    with (shared / "data/rag24_9judges/published_and_computed.csv").open() as file:
        published = list(csv.DictReader(file))
    checked = 0
    for row in published:
        if row["published_kappa_quadratic"] and row["judge"] in rows[0]:
            if row["corpus"] == "beir-scifact":
                continue
            pairs = rag24(rows, row["corpus"], row["judge"])
            result = calibrate(pairs)
            expected = float(row["published_kappa_quadratic"])
            assert result.figures["kappa_quadratic"].point == pytest.approx(expected, abs=5.1e-5)
            assert (result.n, result.n_asked) == (int(row["n_valid"]), int(row["n_total"]))
            checked += 1
    assert checked == 18  # 9 judges and UMBRELA on RAG 2024, 8 on TREC-COVID


def test_failed_grades_are_no_zeros_and_leave_the_level_insufficient(shared: Path):
    pairs = rag24(tsv(shared / RAG24_FILE), "trec-rag-2024", "gemini_2_5_pro")
    result = calibrate(pairs)
    assert result.figures["kappa_quadratic"].point == pytest.approx(0.5513, abs=5.1e-5)
    assert result.coverage == pytest.approx(92 / 537)
    assert result.errors == {"missing": 445}
    assert result.level is Level.INSUFFICIENT
    # the planted mistake: with failures as 0 it would have been 0.0661
    as_zero = confusion_table(pairs.human, np.maximum(pairs.judge, 0), n_grades=4)
    assert float(kappa(as_zero, weights="quadratic")) == pytest.approx(0.0661, abs=5.1e-5)


@pytest.mark.parametrize("judge", ["gpt_4o", "claude_sonnet_4_6", "gemma_4_26b"])
def test_a_corpus_with_one_human_grade_is_undefined_and_not_0(shared: Path, judge: str):
    """All 300 human labels of scifact are 3; the authors print kappa 0.0 for every judge."""
    result = calibrate(rag24(tsv(shared / RAG24_FILE), "beir-scifact", judge))
    for name in ("kappa", "kappa_linear", "kappa_quadratic", "floor_kappa"):
        assert result.figures[name].point is None
        assert result.figures[name].low is None
    assert result.level is Level.INSUFFICIENT
    assert any("people used one grade only, 3" in w for w in result.warnings)


def test_a_corpus_of_one_query_has_points_and_no_intervals(shared: Path):
    result = calibrate(rag24(tsv(shared / RAG24_FILE), "trec-covid", "gpt_4o"))
    assert result.n_queries == 1
    assert result.figures["kappa_quadratic"].point == pytest.approx(0.3874, abs=5.1e-5)
    assert result.figures["kappa_quadratic"].low is None
    assert any("no intervals" in w for w in result.warnings)
