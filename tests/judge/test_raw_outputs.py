"""Real, unparsed replies of two Llama 3 models: most of them are no clean JSON."""

from __future__ import annotations

import json
from pathlib import Path

from relgate.judge.parse import parse_reply
from relgate.judge.types import GenerateReply
from relgate.rubrics import Label, Rubric

# The field's own 0-3 labels; the prompt of that study asked for JSON with `relevance`.
GRADED = Rubric(
    tag="graded", system="s", labels=tuple(Label(str(g), f"g{g}", g) for g in (3, 2, 1, 0)),
    floor=2, label_field="relevance", label_noun="grade", candidate_noun="passages",
)  # fmt: skip


def test_no_real_reply_breaks_the_parser_and_most_singles_are_read(shared: Path) -> None:
    folder = shared / "data" / "llmjudge" / "raw_outputs"
    replies = 0
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            text = json.loads(line)["raw_output"]
            rows = parse_reply(GenerateReply(str(text)), ["1", "2", "3", "4"], GRADED).rows
            assert len(rows) == 4
            replies += 1
    assert replies == 1731 * 3 + 575 + 591  # the data's README
