"""A refresh on real shop data: the plan, the calls and the report are exactly what was changed.

Labels and texts are those of quepid_haystack. What a person rated there is a person's judgment; the
pairs that nobody rated are graded by a scripted judge. Expected numbers are counted in the data.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import zlib
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from relgate.cache.keys import text_hash
from relgate.eval.lists.read import read_list
from relgate.eval.lists.types import SCALES

JUDGE = """
import json, re, zlib
from pathlib import Path

def grade(request):
    query = re.search(r"Shopper query: (.*)", request.prompt)[1]
    rows = []
    with (Path(__file__).parent / "seen.jsonl").open("a") as file:
        found = re.findall(r"^(\\d+)\\. (.*)$", request.prompt, re.MULTILINE)
        file.write(json.dumps([query, [text for _, text in found]]) + "\\n")
    for ref, text in found:
        number = zlib.crc32((query + text).encode())
        if "Second edition." in request.system:
            number //= 4
        rows.append({"id": ref, "esci": "ICSE"[number % 4], "reason": "by lot"})
    return json.dumps({"grades": rows})
"""


def grade_of(query: str, text: str, *, second_edition: bool) -> int:
    """What the scripted judge says, said again."""
    number = zlib.crc32((query + text).encode())
    return (number // 4 if second_edition else number) % 4


@dataclass
class Story:
    """A folder with the shop as it was when it was judged."""

    folder: Path
    texts: dict[str, str]
    people: dict[tuple[str, str], int]
    machine: set[tuple[str, str]]
    queries: dict[str, str]

    def catalogue(self) -> None:
        rows = [{"id": doc, "text": text} for doc, text in self.texts.items()]
        write(self.folder / "catalogue.jsonl", rows)

    def relgate(self, *words: str) -> dict:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "relgate.eval", *words, "--json", "--quiet"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def refresh(self, old: str, new: str, *more: str) -> dict:
        return self.relgate(
            "refresh", "--judgments", old, "--catalogue", "catalogue.jsonl", "--queries",
            "queries.jsonl", "--judge", "python:lots:grade", "--run", "after.json", "--out", new,
            *more,
        )  # fmt: skip

    def seen(self) -> list[tuple[str, list[str]]]:
        """The calls since the last look: query and texts."""
        path = self.folder / "seen.jsonl"
        if not path.exists():
            return []
        calls = [tuple(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
        path.unlink()
        return calls


def write(path: Path, rows: list) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture(scope="module")
def story(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Story:
    data = shared / "data" / "quepid_haystack"
    if not data.is_dir():
        pytest.skip("no quepid_haystack in the shared data")
    with (data / "book_pairs.tsv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file, delimiter="\t"))
    for row in pairs:
        row["query_id"] = row["query_id"] or row["query"]  # two queries of the book have no id
    folder = tmp_path_factory.mktemp("haystack")
    made = Story(
        folder,
        texts={row["doc_id"]: row["title"] for row in pairs},
        people={
            (row["query_id"], row["doc_id"]): int(float(row["rating"]))
            for row in pairs
            if row["rating"]
        },
        machine={(row["query_id"], row["doc_id"]) for row in pairs if not row["rating"]},
        queries={row["query_id"]: row["query"] for row in pairs},
    )
    made.catalogue()
    write(folder / "queries.jsonl", [{"id": i, "query": t} for i, t in made.queries.items()])
    (folder / "lots.py").write_text(JUDGE)
    write(
        folder / "people.jsonl",
        [
            {
                "query_id": query, "query": made.queries[query], "doc_id": doc, "grade": grade,
                "source": "human", "rater": "r1", "judged_at": "2023-11-01",
                "text_hash": text_hash(made.texts[doc]),
            }
            for (query, doc), grade in made.people.items()
        ],
    )  # fmt: skip
    docs = {q: [row["doc_id"] for row in pairs if row["query_id"] == q] for q in made.queries}
    write(folder / "pool.jsonl", [{"query_id": q, "docs": found} for q, found in docs.items()])
    snapshot = data / "native" / "quepid_snapshot_with-vector.json"
    (folder / "after.json").write_bytes(snapshot.read_bytes())
    made.relgate(
        "fill", "--judgments", "people.jsonl", "--run", "pool.jsonl", "--catalogue",
        "catalogue.jsonl", "--queries", "queries.jsonl", "--judge", "python:lots:grade", "--all",
        "--out", "judged.jsonl",
    )  # fmt: skip
    made.seen()
    return made


def expected_calls(story: Story, pairs: set[tuple[str, str]]) -> int:
    """Ten texts a call, each text of a query once; no title in this data talks to a judge."""
    texts = {(query, story.texts[doc]) for query, doc in pairs}
    return sum(math.ceil(n / 10) for n in Counter(query for query, _ in texts).values())


def shown(story: Story, pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(story.queries[query], story.texts[doc]) for query, doc in pairs}


def test_the_list_is_what_the_data_says(story):
    # README of the data: 577 + 259 + 138 + 384 ratings, 1,062 pairs without
    assert (len(story.people), len(story.machine)) == (1358, 1062)
    rows = read_list(story.folder / "judged.jsonl", scale=SCALES["0-3"]).judgments
    assert rows.counts_by_source() == {"human": 1358, "judge": 1062}


def test_untouched_it_is_fresh(story):
    done = story.refresh("judged.jsonl", "same.jsonl")
    assert done["states"] == {
        "judge": {"fresh": 1062, "stale": 0, "gone": 0, "unknown": 0},
        "people": {"fresh": 1358, "stale": 0, "gone": 0, "unknown": 0},
    }
    assert (done["asked"], done["calls"], story.seen()) == (0, 0, [])
    same, old = (
        read_list(story.folder / name, scale=SCALES["0-3"]).judgments
        for name in ("same.jsonl", "judged.jsonl")
    )
    assert list(same.rows()) == list(old.rows())
    assert done["runs"][0]["delta"] == 0


@dataclass(frozen=True)
class Moved:
    """What the shop's change does to the pairs.

    Attributes:
        retired: their document is gone.
        for_people: graded by people, the text is another.
        by_text: graded by the judge, the text is another.
        left: graded by the judge, the document is there.
    """

    retired: set[tuple[str, str]]
    for_people: set[tuple[str, str]]
    by_text: set[tuple[str, str]]
    left: set[tuple[str, str]]


@pytest.fixture(scope="module")
def moved(story) -> Moved:
    """The shop changes 50 texts and takes 20 documents away."""
    docs = sorted(story.texts)
    changed, gone = set(docs[::30][:50]), set(docs[7::70][:20])
    assert (len(changed), len(gone), changed & gone) == (50, 20, set())
    for doc in changed:
        story.texts[doc] += " (renewed)"
    for doc in gone:
        del story.texts[doc]
    story.catalogue()
    retired = {pair for pair in (*story.people, *story.machine) if pair[1] in gone}
    for_people = {pair for pair in story.people if pair[1] in changed}
    by_text = {pair for pair in story.machine if pair[1] in changed}
    assert min(map(len, (retired, for_people, by_text))) > 10
    return Moved(retired, for_people, by_text, story.machine - retired)


@dataclass(frozen=True)
class Made:
    """A refresh: what was foretold, what it says, and the calls that the judge saw."""

    plan: dict[str, Any]
    done: dict[str, Any]
    calls: list[Any]


def made(story, old: str, new: str) -> Made:
    plan = story.refresh(old, new, "--dry-run")
    assert story.seen() == []
    return Made(plan, story.refresh(old, new), story.seen())


@pytest.fixture(scope="module")
def renewed(story, moved) -> Made:  # noqa: ARG001 - it comes after that
    """After the change of texts and documents: new.jsonl."""
    return made(story, "judged.jsonl", "new.jsonl")


@pytest.fixture(scope="module")
def reissued(story, renewed) -> Made:  # noqa: ARG001 - it comes after that
    """After the second edition of the rubric too: newer.jsonl."""
    edition = files("relgate.rubrics").joinpath("esci-v1.md").read_text("utf-8").rstrip()
    (story.folder / "second.md").write_text(edition + " Second edition.\n", "utf-8")
    (story.folder / "relgate.toml").write_text('rubric = "second.md"\n')
    return made(story, "new.jsonl", "newer.jsonl")


def test_50_texts_and_20_documents(story, moved, renewed):
    plan, done, calls = renewed.plan, renewed.done, renewed.calls
    assert (plan["plan"]["pairs"], plan["plan"]["cached"]) == (len(moved.by_text), 0)
    assert plan["plan"]["calls"] == expected_calls(story, moved.by_text)
    assert len(calls) == done["calls"] == plan["plan"]["calls"]
    assert {(query, text) for query, texts in calls for text in texts} == shown(
        story, moved.by_text
    )
    assert (done["asked"], done["graded"]) == (len(moved.by_text), len(moved.by_text))
    assert done["retired"] == len(moved.retired)
    assert done["for_people"] == len(moved.for_people)
    assert done["why"] == {
        "judge": {
            "document-gone": len(moved.retired & story.machine),
            "text-changed": len(moved.by_text),
        },
        "people": {
            "document-gone": len(moved.retired - story.machine),
            "text-changed": len(moved.for_people),
        },
    }
    assert done["judgments_out"] == 2420 - len(moved.retired)
    assert done["still_stale"] == []


def test_a_rubric_over_the_result(story, moved, reissued):
    plan, done, calls = reissued.plan, reissued.done, reissued.calls
    assert plan["plan"]["pairs"] == len(moved.left)
    assert plan["plan"]["calls"] == expected_calls(story, moved.left)
    assert len(calls) == done["calls"] == plan["plan"]["calls"]
    assert {(query, text) for query, texts in calls for text in texts} == shown(story, moved.left)
    assert done["why"]["judge"] == {"rubric-changed": len(moved.left)}
    assert done["why"]["people"] == {"text-changed": len(moved.for_people)}
    assert (done["graded"], done["retired"]) == (len(moved.left), 0)
    expected = Counter(
        tuple(
            grade_of(story.queries[query], story.texts[doc], second_edition=edition)
            for edition in (False, True)
        )
        for query, doc in moved.left
    )
    assert {(m["from"], m["to"]): m["pairs"] for m in done["moves"]} == expected
    assert done["changed"] == sum(n for (old, new), n in expected.items() if old != new)


@pytest.mark.usefixtures("reissued")
def test_who_asks_a_third_time_pays_nothing(story):
    done = story.refresh("newer.jsonl", "newest.jsonl")
    assert (done["asked"], done["calls"], story.seen()) == (0, 0, [])


@pytest.mark.usefixtures("reissued")
def test_everything_at_once_adds_up(story):
    """The list as it was first, against the shop and the rubric as they are now."""
    done = story.refresh("judged.jsonl", "at-once.jsonl")
    left = {pair for pair in story.machine if pair[1] in story.texts}
    assert done["asked"] == len(left)
    assert (done["calls"], done["cached"]) == (0, len(shown(story, left)))  # graded a moment ago
    assert done["why"]["judge"]["rubric-changed"] == done["asked"] == done["graded"]
    assert done["judgments_out"] + done["retired"] == 2420
    at_once, newer = (
        {
            (row.query.id, row.doc_id): (row.grade, row.provenance.judge_version, row.text_hash)
            for row in read_list(story.folder / name, scale=SCALES["0-3"]).judgments.rows()
        }
        for name in ("at-once.jsonl", "newer.jsonl")
    )
    assert at_once == newer
