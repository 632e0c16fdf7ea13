"""The trend page: every run in the table, failures and new sets marked, text from data inert."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from relgate.eval.drift.artifact import artifact_text
from relgate.eval.drift.history import Entry, append, read_history
from relgate.eval.drift.means import means_of
from relgate.eval.drift.trend import trend_html
from relgate.eval.drift.types import Artifact, Measured, MeasuredQuery, Signal
from relgate.eval.report.html.numbers import ABSENT
from relgate.rubrics.errors import InputError

HOSTILE = "<script>alert(1)</script>"


def entry(day: int, ndcg: float | None = 0.8, **more) -> Entry:
    means = {Signal.NDCG: ndcg, Signal.EMPTY: 0.0}
    made = Entry(f"2026-03-{day:02}T12:00:00+00:00", "abc1234", "v1", "as is", means, "pass")
    return replace(made, **more)


def cells(page: str, table: str = "run-figures") -> list[list[str]]:
    (body,) = re.findall(rf'id="{table}".*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    rows = re.findall(r"<tr.*?>(.*?)</tr>", body, re.DOTALL)
    texts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(re.sub(r"<[^>]*>", " ", t).split()) for t in row] for row in texts]


def marks(page: str, chart: str = "ndcg-chart") -> tuple[int, int]:
    """Crosses and dashed upright lines of a chart; crosses alone are drawn filled with `bad`."""
    (svg,) = [part for part in page.split("<svg")[1:] if f'"{chart}-title"' in part]
    svg = svg.partition("</svg>")[0]
    return svg.count("fill-bad"), svg.count('stroke-dasharray="6,4.5"')


def test_a_row_a_run_and_combination_with_its_figures():
    on = [entry(day, 0.7 + day / 100, stages="rewriter=on") for day in (1, 2)]
    off = [entry(day, None, stages="rewriter=off", sha=None) for day in (1, 2)]
    page = trend_html([on[0], replace(off[0], sha="abc1234"), on[1]])
    assert [(row[0], row[4], row[5], row[6]) for row in cells(page)] == [
        ("1", "1", "0.7100", ABSENT), ("1", "2", ABSENT, ABSENT), ("2", "1", "0.7200", ABSENT),
    ]  # fmt: skip
    assert cells(page, "stage-names") == [["1", "rewriter=on", "2"], ["2", "rewriter=off", "1"]]
    assert (
        f"First to last run, by combination of stages: 1: 0.7100 to 0.7200; 2: {ABSENT} to {ABSENT}"
        in page
    )


def test_a_chart_a_signal_that_was_measured():
    page = trend_html([entry(1), entry(2)])
    assert [name for name in ("ndcg", "mrr", "empty-rate") if f'"{name}-chart-title"' in page] == [
        "ndcg", "empty-rate",
    ]  # fmt: skip


def test_failures_and_new_golden_sets_are_marked():
    quiet = trend_html([entry(1), entry(2, 0.5), entry(3)])
    assert marks(quiet) == (0, 0)
    loud = trend_html(
        [entry(1), entry(2, 0.5, outcome="fail"), entry(3, golden_version="v2", outcome="mismatch")]
    )
    assert marks(loud) == (2, 1)
    assert [row[3] for row in cells(loud)] == ["v1", "v1", "v2 changed"]
    assert [row[-1] for row in cells(loud)] == ["pass", "fail", "mismatch"]
    assert ">MISMATCH<" in loud


def test_two_runs_of_one_second_stay_two():
    page = trend_html([entry(1, 0.5), entry(1, 0.6)])
    assert [row[0] for row in cells(page)] == ["1", "2"]


def test_no_run_and_one_run_have_a_page():
    empty = trend_html([])
    assert "NO RUNS" in empty
    assert "<svg" not in empty
    one = trend_html([entry(1)])
    assert ">PASS<" in one
    assert len(cells(one)) == 1


def test_text_from_data_is_shown_and_does_nothing():
    page = trend_html(
        [entry(1, sha=HOSTILE, golden_version=HOSTILE, stages=HOSTILE, at=HOSTILE)] * 2
    )
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_same_entries_give_the_same_bytes():
    entries = [entry(day, 0.5 + day / 50) for day in range(1, 12)]
    assert trend_html(entries) == trend_html(list(entries))


def test_a_history_reads_back_as_it_was_written(tmp_path):
    path = tmp_path / "history.jsonl"
    append(path, [entry(1)])
    assert append(path, [entry(2, None, outcome="warn")]) == read_history(path)
    assert read_history(path) == [entry(1), entry(2, None, outcome="warn")]


@pytest.mark.parametrize(
    "fault", [{"means": {"ndgc": 0.5}}, {"outcome": "great"}, {"means": {"ndcg": "high"}}]
)
def test_a_line_that_is_no_entry_is_named(tmp_path, fault):
    path = tmp_path / "history.jsonl"
    append(path, [entry(1), entry(2)])
    first, second = path.read_text("utf-8").splitlines()
    path.write_text(f"{first}\n{json.dumps(json.loads(second) | fault)}\n", "utf-8")
    with pytest.raises(InputError, match=r"history\.jsonl:2: no entry of a history"):
        read_history(path)


@pytest.fixture
def drift(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    queries = tuple(MeasuredQuery(f"q{i}", f"text {i}", 0.8, 0.7, 0.5, 10) for i in range(4))
    measured = Artifact("v1", (Measured({}, queries, means_of(queries)),))
    for name in ("now.json", "was.json"):
        (tmp_path / name).write_text(artifact_text(measured), "utf-8")
    return lambda *more: call("drift", "--current", "now.json", "--baseline", "was.json", *more)


def test_each_run_joins_the_history_and_the_page(drift, tmp_path):
    for n in (1, 2):
        done = drift("--history", "h.jsonl", "--trend", "trend.html", "--sha", f"c{n}")
        assert done.code == 0, done.err
    rows = cells((tmp_path / "trend.html").read_text("utf-8"))
    assert [(row[0], row[2], row[5], row[-1]) for row in rows] == [
        ("1", "c1", "0.8000", "pass"), ("2", "c2", "0.8000", "pass"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--trend", "t.html"), "--history"),
        (("--history", "was.json"), "would be written over"),
        (("--history", "h.jsonl", "--trend", "now.json"), "would be written over"),
        (("--history", "h.jsonl", "--trend", "h.jsonl"), "name two files"),
    ],
)
def test_a_trend_without_a_history_and_one_over_an_input_refuse(drift, tmp_path, more, said):
    before = (tmp_path / "was.json").read_bytes()
    done = drift(*more)
    assert done.code == 2
    assert said in done.err
    assert (tmp_path / "was.json").read_bytes() == before
    assert not (tmp_path / "h.jsonl").exists()
