"""Types of change in diffs: found where they stand, and nothing where there is none.

The diffs are example data written for these tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from relgate.eval.change_diff import read_diff
from relgate.eval.detect.detect import Found
from relgate.eval.review.change import ChangeType
from relgate.rubrics.errors import InputError

DIFFS = Path(__file__).parent / "diffs"
ES, QUERY = "search/index/products.json", "search/query.json"
OS_PIPE, OS_SET = "opensearch/pipeline.yml", "opensearch/settings.yml"
SCHEMA, SOLRCONFIG = "solr/conf/managed-schema.xml", "solr/conf/solrconfig.xml"
SD, SERVICES = "app/schemas/product.sd", "app/services.xml"

# diff -> type -> places, read off the diffs by hand
PLACES = {
    "elasticsearch": {
        "analyzer": {f"{ES}:6", f"{ES}:13"},
        "synonyms": {f"{ES}:9", f"{ES}:9 (removed)"},
        "mappings": {f"{ES}:24"},
        "embedding-model": {f"{ES}:27"},
        "hnsw-params": {f"{ES}:30", f"{ES}:31"},
        "hybrid-weights": {f"{QUERY}:4"},
        "query-template": {f"{QUERY}:11"},
        "filter-logic": {f"{QUERY}:13"},
        "reranker": {f"{QUERY}:22"},
    },
    "opensearch": {
        "hybrid-weights": {f"{OS_PIPE}:8"},
        "embedding-model": {f"{OS_PIPE}:11"},
        "reranker": {f"{OS_PIPE}:15"},
        "hnsw-params": {f"{OS_SET}:1"},
    },
    "solr": {
        "analyzer": {f"{SCHEMA}:13"},
        "synonyms": {f"{SCHEMA}:14"},
        "hnsw-params": {f"{SCHEMA}:17"},
        "mappings": {f"{SCHEMA}:18"},
        "query-template": {f"{SOLRCONFIG}:43"},
        "filter-logic": {f"{SOLRCONFIG}:44"},
        "reranker": {f"{SOLRCONFIG}:45"},
    },
    "vespa": {
        "mappings": {f"{SD}:4"},
        "analyzer": {f"{SD}:5"},
        "hnsw-params": {f"{SD}:11"},
        "query-template": {f"{SD}:17"},
        "reranker": {f"{SD}:20"},
        "embedding-model": {f"{SERVICES}:4"},
    },
    "plain_files": {
        "synonyms": {"config/synonyms_en.txt:6"},
        "rewriter": {"config/querqy_rules.txt:2"},
        "analyzer": {"config/stopwords_en.txt:2 (removed)"},
        "query-template": {"templates/search.mustache:1"},
    },
    "quiet": {},
}


def read(name: str) -> Found:
    return read_diff(DIFFS / f"{name}.diff")


@pytest.mark.parametrize("name", PLACES)
def test_each_engines_changes_are_found_where_they_stand(name):
    found: dict[str, set[str]] = {}
    for one in read(name).detected:
        found.setdefault(one.kind.value, set()).add(one.place)
    assert found == PLACES[name]
    assert read(name).unclear == ()


def test_every_type_of_change_is_in_some_diff():
    assert {kind for places in PLACES.values() for kind in places} == {k.value for k in ChangeType}


def test_a_diff_of_prose_ci_and_indentation_shows_nothing():
    quiet = read("quiet")
    assert (quiet.detected, quiet.unclear, quiet.files) == ((), (), 4)


def test_what_could_be_two_things_is_said_and_not_guessed():
    found = read("unclear")
    assert found.detected == ()
    assert [line.partition(" changed")[0] for line in found.unclear] == [
        "search/part.json:40: m",
        "search/part.json:41: filter",
    ]


def _diff(path: str, old: list[str], new: list[str], context: tuple[str, ...] = ()) -> str:
    body = [*(f" {x}" for x in context), *(f"-{x}" for x in old), *(f"+{x}" for x in new)]
    counts = f"-1,{len(old) + len(context)} +1,{len(new) + len(context)}"
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", f"@@ {counts} @@", *body]) + "\n"


def _kinds(tmp_path, text: str) -> list[str]:
    (tmp_path / "pr.diff").write_text(text, "utf-8")
    return [kind.value for kind in read_diff(tmp_path / "pr.diff").kinds]


@pytest.mark.parametrize(
    ("path", "old", "new", "kinds"),
    [
        ("search/i.json", '{"hnsw": {"m": 16}}', '{"hnsw": {"m": 32}}', ["hnsw-params"]),
        ("search/i.json", '{"analysis": {"filter": 1}}', '{"analysis": {"filter": 2}}',
         ["analyzer"]),
        ("search/q.json", '{"bool": {"filter": 1}}', '{"bool": {"filter": 2}}', ["filter-logic"]),
        ("app/index.py", ' "ef_construction": 100,', ' "ef_construction": 200,', ["hnsw-params"]),
        ("app/index.py", "ef_construction = 100", "ef_construction = 200", []),
        ("solr/params.properties", "defType=dismax", "defType=edismax", ["query-template"]),
        ("deploy/model.yml", "embedding_model: e5-small", "embedding_model: e5-base",
         ["embedding-model"]),
        ("search/q.yml", "num_candidates: 100", "num_candidates: 50", ["hnsw-params"]),
        ("search/q.yml", "# num_candidates: 100", "# num_candidates: 50", []),
        ("web/app.json", '"boost": 1', '"boost": 2', []),
        ("search/app.json", '"boost": 1', '"boost": 2', ["query-template"]),
    ],
)  # fmt: skip
def test_one_changed_line(tmp_path, path, old, new, kinds):
    assert _kinds(tmp_path, _diff(path, [old], [new])) == kinds


def test_a_line_that_only_moved_is_no_change(tmp_path):
    lines = ['  "ef_construction": 100,', '  "dims": 384,']
    assert _kinds(tmp_path, _diff("search/i.json", lines, lines[::-1])) == []


def test_git_renames_binaries_and_deletions_are_read(tmp_path):
    text = (
        "diff --git a/old.txt b/new.txt\nsimilarity index 100%\nrename from old.txt\n"
        "rename to new.txt\ndiff --git a/x.bin b/x.bin\nindex 1..2 100644\n"
        "Binary files a/x.bin and b/x.bin differ\n"
        "diff --git a/config/synonyms.txt b/config/synonyms.txt\ndeleted file mode 100644\n"
        "--- a/config/synonyms.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a, b\n"
    )
    (tmp_path / "pr.diff").write_text(text, "utf-8")
    found = read_diff(tmp_path / "pr.diff")
    assert [d.place for d in found.detected] == ["config/synonyms.txt:1 (removed)"]
    assert found.files == 3


@pytest.mark.parametrize(
    "text",
    ["hello\n", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "@@ -1 +1 @@\n-a\n+b\n", " \n"],
)
def test_what_is_no_diff_is_refused_with_the_mend(tmp_path, text):
    (tmp_path / "pr.diff").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"pr\.diff: ") as caught:
        read_diff(tmp_path / "pr.diff")
    assert "\n" not in str(caught.value)
