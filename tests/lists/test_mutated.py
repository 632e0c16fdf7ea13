"""Mutated files: whatever comes, only an error of ours leaves a reader, in one line.

A reader that lets a KeyError through must fail here: `test_the_check_finds_a_planted_fault`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from relgate.eval.catalogue import read_catalogue
from relgate.eval.lists.docids import DocIds
from relgate.eval.lists.raters import Raters
from relgate.eval.lists.read import LIST_FORMATS, read_list
from relgate.eval.lists.types import SCALES
from relgate.eval.queries import read_queries
from relgate.eval.runs.read import RUN_FORMATS, read_run
from relgate.rubrics.errors import RelgateError

MUTANTS = 500
MANY = 10_000

ROWS = [{"query_id": "1", "query": "rot", "doc_id": f"p{n}", "grade": n % 4} for n in range(4)]
JUDGED = {"rating": 3.0, "user_email": "a@x.org", "explanation": "fits"}
RRE = {"template": "q.json", "placeholders": {"$query": "red"}}
LISTS = [
    'query,docid,rating,source\nred shoes,p1,3.0,human\noak desk,,,\n"two\nlines",p2,1,llm\n',
    "q1 0 p1 3\nq1 0 p2 0\nq2 0 p1 1\n",
    "\n".join(map(json.dumps, ROWS)),
    json.dumps(ROWS),
    json.dumps({"requests": [{"id": "q", "ratings": [{"_index": "i", "_id": "p", "rating": 3}]}]}),
    json.dumps({"queries": [{"query_text": "q", "ratings": [{"doc_id": "p", "rating": 1}]}]}),
    json.dumps({"case_id": 1, "ratings": [{"query_text": "q", "doc_id": "p", "rating": 3}]}),
    json.dumps({"docs": {"1": []}, "queries": [{"query_id": 1, "query_text": "q"}]}),
    json.dumps({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "p", "rating": "3.0"}]}]}),
    json.dumps({"query_doc_pairs": [{"query_text": "q", "doc_id": "p", "judgements": [JUDGED]}]}),
    json.dumps({"topics": [{"query_groups": [{"queries": [RRE], "relevant_documents": {}}]}]}),
    json.dumps({"queries": [RRE | {"relevant_documents": {"3": ["p1"], "p2": {"gain": 1}}}]}),
    "# qid:1: red shoes*1\n3\tqid:1\t1:9.8\t2:0.4 # p1\tred shoes\n0 qid:2 # p2 oak desk\n",
    "query,docid,Ann,Bo\nred shoes,p1,3.0,3\noak desk,p2,,1\n",
    "id\tquery_id\tproduct_id\tlabel\n0\t0\t25434\tExact\n1\t1\t12\tIrrelevant\n",
]
HIT = {"hit": {"_index": "i", "_id": "p1", "_score": 4.2}, "rating": 3}
DETAIL = {
    "metric_score": 0.5,
    "unrated_docs": ["p7", {"_id": "p8"}],
    "hits": [HIT],
    "metric_details": {"dcg": {"dcg": 7.0, "normalized_dcg": 0.5}},
}
RUNS = [
    "q1 Q0 p1 1 9.5 tag\nq1 Q0 p2 2 9.1 tag\nq2 Q0 p1 1 3 tag\n",
    json.dumps({"metric_score": 0.5, "details": {"q": DETAIL}, "failures": {"r": {"error": {}}}}),
    json.dumps({"rank_eval": {"quality_level": 0, "details": {"q": {"unknown_docs": []}}}}),
    json.dumps({"metric": "recall@10", "details": {"q": {"metric_score": 1}}}),
    json.dumps({"docs": {"1": [{"id": "a"}]}, "queries": [{"query_id": 1, "query_text": "q"}]}),
    json.dumps({"rot": ["a", "b"], "blau": []}),
    "run,qid,query,docid,rank,score\nA,1,rot,a,1,2.5\nA,1,rot,b,2,2\nA,2,blau,,,\n",
    '{"query_id": "1", "query": "rot", "docs": ["a"]}\n{"query": "b", "failure": "timeout"}\n',
]
CATALOGUES = [
    "id,title,price\np1,Red shoe,10\np2,Oak desk,\n",
    '{"id": "p1", "title": "Red shoe"}\n{"_id": "p2", "_source": {"title": "Oak desk"}}\n',
    json.dumps([{"id": 1, "title": "Red shoe", "colors": ["red"]}]),
]
QUERIES = [
    "query_id,query,head,weight,set\n1,red shoes,yes,10.5,core\n2,oak desk,,,shadow\n",
    json.dumps({"queries": [{"id": "1", "text": "red", "head": True, "stratum": "a"}]}),
]
SNIPPETS = [
    *(b'"', b"'", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b",", b";", b"{"),
    *(b"[", b"}", b"]", b":", b"NaN", b"-1", b"1e999", b"null", b"true", b"\\ud800", b"{}", b"[]"),
    *(b'""', b"\xc3\x28", b"\x1f\x8b", b"9" * 40, b" ", b"\xe2\x80\xa8", b'{"a":', b"Infinity"),
]


def mutated(seed: bytes, rng: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.randint(0, 12))
        match rng.randrange(5):
            case 0:
                data[at:end] = b""
            case 1:
                data[at:at] = rng.choice(SNIPPETS)
            case 2:
                data[at:end] = rng.choice(SNIPPETS)
            case 3:
                data[at:at] = data[at:end] * 2
            case _:
                data[at:] = b""
    return bytes(data)


def unexpected(
    read: Callable[[Path, random.Random], object],
    seeds: list[str],
    folder: Path,
    *,
    mutants: int = MUTANTS,
) -> tuple[list[str], int]:
    """What a reader let through, and how many of the mutants it refused."""
    rng = random.Random(20)  # noqa: S311 - no secret
    path = folder / "mutant"
    escaped: list[str] = []
    refused = 0
    for _ in range(mutants):
        data = mutated(rng.choice(seeds).encode(), rng)
        path.write_bytes(data)
        try:
            read(path, rng)
        except RelgateError as error:
            refused += 1
            if "\n" in str(error):
                escaped.append(f"two lines: {error}")
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            escaped.append(f"{type(error).__name__} {error} on {data!r}")
    return escaped, refused


def _list(path: Path, rng: random.Random) -> object:
    return read_list(
        path,
        scale=SCALES[rng.choice(["0-3", "0-3", "esci", "wands", "esci-100"])],
        format=rng.choice([None, None, *LIST_FORMATS]),
        grade_column=rng.choice([None, None, "rating"]),
        raters=rng.choice(list(Raters)),
        doc_ids=DocIds(composite=rng.random() < 0.1),
    )


def _run(path: Path, rng: random.Random) -> object:
    return read_run(path, format=rng.choice([None, None, *RUN_FORMATS]))


def _catalogue(path: Path, rng: random.Random) -> object:
    catalogue = read_catalogue(path, id_field=rng.choice([None, "id"]))
    return [catalogue.candidate(doc_id) for doc_id in catalogue.ids]


def _queries(path: Path, _: random.Random) -> object:
    return read_queries(path)


@pytest.mark.parametrize(
    ("read", "seeds"),
    [(_list, LISTS), (_run, RUNS), (_catalogue, CATALOGUES), (_queries, QUERIES)],
    ids=["list", "run", "catalogue", "queries"],
)
@pytest.mark.parametrize("mutants", [MUTANTS, pytest.param(MANY, marks=pytest.mark.soak)])
def test_only_our_own_error_leaves_a_reader(tmp_path, read, seeds, mutants):
    escaped, refused = unexpected(read, seeds, tmp_path, mutants=mutants)
    assert not escaped
    assert mutants / 4 < refused < mutants  # the mutants are neither all sound nor all broken


def test_only_our_own_error_leaves_the_reader_of_damaged_parquet(tmp_path):
    table = pa.table({"query": ["a", "b"], "docid": ["1", "2"], "grade": [3, 1]})
    parquet.write_table(table, tmp_path / "seed")
    seed = (tmp_path / "seed").read_bytes()
    rng = random.Random(20)  # noqa: S311 - no secret
    refused = 0
    for _ in range(MUTANTS):
        (tmp_path / "mutant").write_bytes(seed[:4] + mutated(seed[4:], rng))
        try:
            _list(tmp_path / "mutant", rng)
        except RelgateError:
            refused += 1
    assert refused > MUTANTS / 4


def test_the_check_finds_a_planted_fault(tmp_path):
    def careless(path: Path, _: random.Random) -> object:
        return json.loads(path.read_bytes())["details"]

    escaped, _ = unexpected(careless, RUNS, tmp_path, mutants=50)
    assert any(text.startswith("KeyError") for text in escaped)
