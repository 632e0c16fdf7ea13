"""The page about the judge says what the code does and what the data give."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from relgate.judge import GenerateReply, GradeError, candidate_summary, render_prompt
from relgate.judge.parse import ParsedReply, parse_reply
from relgate.judge.prompt import MAX_DESCRIPTION_CHARS, MAX_QUERY_CHARS, MAX_TEXT_CHARS
from relgate.judge.robustness.attacks import AttackKind
from relgate.rubrics import load_rubric

STUDY = replace(load_rubric("graded-v1"), label_field="relevance")


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "judge.md").read_text("utf-8")


def parsed(record: dict[str, object]) -> tuple[ParsedReply, bool]:
    """A recorded reply under the mapping that the page states; whether a brace stays open."""
    text = str(record["raw_output"])
    docs = record.get("docids")
    if isinstance(docs, list):
        refs = [f"doc-{i}" for i in range(1, len(docs) + 1)]
        mapped = re.sub(r'"pid"\s*:', '"id":', text)
    else:
        refs = ["1"]
        mapped = re.sub(r'"relevance"\s*:', '"id": "1", "relevance":', text)
    return parse_reply(GenerateReply(mapped), refs, STUDY), text.count("{") > text.count("}")


def counted(file: Path) -> str:
    """A file's line of the page's table."""
    replies = whole = cut = 0
    rows: Counter[GradeError | None] = Counter()
    for line in file.read_text("utf-8").splitlines():
        reply, unclosed = parsed(json.loads(line))
        replies += 1
        cut += unclosed
        whole += all(row.error is None for row in reply.rows)
        rows.update(row.error for row in reply.rows)
        assert reply.unknown_ids == 0
    assert set(rows) <= {None, GradeError.UNREADABLE, GradeError.MISSING}
    cells = [replies, rows.total(), rows[None], rows[GradeError.UNREADABLE],
             rows[GradeError.MISSING], whole, cut]  # fmt: skip
    return f"| `{file.stem}` | {' | '.join(f'{n:,}' for n in cells)} |"


def test_the_table_of_recorded_replies_is_what_the_parser_makes_of_them(page: str, shared: Path):
    files = sorted((shared / "data" / "llmjudge" / "raw_outputs").glob("*.jsonl"))
    assert len(files) == 5
    for line in map(counted, files):
        assert line in page


def test_what_the_data_say_of_themselves_is_what_is_counted(page: str):
    # The data's README: 224 and 1 of the single replies are rejected by json.loads, 0 of the 70B's.
    def cells(stem: str) -> list[str]:
        (line,) = re.findall(rf"^\| `{stem}` \| (.*) \|$", page, re.MULTILINE)
        return str(line).split(" | ")

    assert cells("llama3_8b_json_prompt1")[3] == "224"
    assert cells("llama3_8b_prompt4")[3] == "1"
    assert cells("llama3_70b_prompt4")[3] == "0"
    assert sum(int(cells(stem)[0].replace(",", "")) for stem in (
        "llama3_8b_json_prompt1", "llama3_8b_prompt4", "llama3_70b_prompt4", "llama3_8b_batch",
        "llama3_70b_batch",
    )) == 1731 * 3 + 575 + 591  # fmt: skip


def test_the_prompt_on_the_page_is_the_prompt(page: str):
    products = [
        {"title": "Canvas shoe", "brand": "Acme", "price": 39.9, "currency": "EUR", "color": "red"},
        {"title": "Wool socks", "price": 9.9, "currency": "EUR", "colors": ["red"]},
    ]
    prompt = render_prompt(
        "red shoes under 50", [candidate_summary(p) for p in products], load_rubric()
    )
    assert f"```text\n{prompt}\n```" in page


def test_every_error_every_attack_and_every_limit_is_named(page: str):
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \|$", page, re.MULTILINE)
    assert {kind.value for kind in GradeError} <= set(rows)
    assert "eight kinds of attack" in page
    assert len(AttackKind) == 8
    for limit in (MAX_TEXT_CHARS, MAX_QUERY_CHARS, MAX_DESCRIPTION_CHARS):
        assert f"{limit:,}" in page


def test_the_gain_on_the_page_is_the_one_that_the_script_prints(root: Path):
    page = (root / "docs" / "reranker.md").read_text("utf-8")
    script = root / "examples" / "rerank_service" / "measure_gain.py"
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=root
    )
    table, circular = done.stdout.split("\n\n")
    assert f"\n{table}\n" in page
    assert circular.startswith("Evaluated by the judge that reranked: exit code 5\n")


def test_nothing_on_the_page_waits_to_be_filled_in(page: str):
    assert not re.search(r"[A-Z]+_(TABLE|PARAGRAPH)|TODO|TBD", page)
