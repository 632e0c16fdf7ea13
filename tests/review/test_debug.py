"""Pointers to Splainer and Quepid: plain addresses, from settings that are checked.

Splainer's own reading (its repository, app/scripts/main.js): the fragment after `?`, split at `&`
and `=`, `+` to blank, decoded once; keys `solr`, or `esUrl` and `esQuery`, or `osUrl` and
`osQuery`, and `fieldSpec`.
"""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, unquote

import pytest

from relgate.eval.project import Project, read_project
from relgate.eval.review.debug import DebugTools, Splainer
from relgate.judge.redact import redact
from relgate.rubrics.errors import InputError

TEXTS = [
    "red shoe",
    'a"b\\c',
    "50% off & more=1 #x",
    "caf\u00e9 \u978b",
    "a+b",
    "</script>",
    "\ud800",
]
SOLR = Splainer("solr", "http://localhost:8983/solr/shop/select?q={query}&defType=edismax")
ES = Splainer(
    "es",
    "http://localhost:9200/shop/_search",
    '{"query": {"match": {"title": "{query}"}}}',
    "id title:name price",
)


def as_splainer_reads(link: str) -> dict[str, str]:
    fragment = link.partition("#")[2]
    pairs = (pair.split("=", 1) for pair in fragment[fragment.index("?") + 1 :].split("&"))
    return {unquote(name): unquote(value.replace("+", " ")) for name, value in pairs}


@pytest.mark.parametrize("text", TEXTS)
def test_solr_gets_back_its_address_with_the_query_in_it(text):
    read = as_splainer_reads(SOLR.link(text))
    assert read.keys() == {"solr"}
    query = parse_qs(read["solr"].partition("?")[2])
    assert query == {"q": [text.replace("\ud800", "?")], "defType": ["edismax"]}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("engine", ["es", "os"])
def test_elasticsearch_and_opensearch_get_back_their_body(text, engine):
    read = as_splainer_reads(Splainer(engine, ES.url, ES.query, ES.fields).link(text))
    assert read[f"{engine}Url"] == ES.url
    assert json.loads(read[f"{engine}Query"]) == {"query": {"match": {"title": text}}}
    assert read["fieldSpec"] == "id title:name price"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("target", [SOLR, ES])
def test_a_link_holds_nothing_but_characters_of_an_address(text, target):
    assert re.fullmatch(r"https://splainer\.io/#\?[\w.~%=&-]+", target.link(text), re.ASCII)


def test_without_settings_it_says_what_to_do():
    said = DebugTools().pointers("red shoe")
    assert (said["splainer"], said["quepid"]) == (None, None)
    assert 'request for "red shoe" into Splainer' in said["how"]
    assert "Quepid" in said["how"]


def test_settings_of_a_project_become_links(tmp_path):
    (tmp_path / "relgate.toml").write_text(
        'quepid = "https://quepid.example/case/7"\n'
        'splainer = { engine = "solr", url = "http://s:8983/solr/x/select?q={query}" }\n'
    )
    said = read_project(None, folder=tmp_path).debug_tools().pointers("red shoe")
    assert said["splainer"].startswith("https://splainer.io/#?solr=http%3A%2F%2Fs%3A8983")
    assert said["quepid"] == "https://quepid.example/case/7"
    assert Project().debug_tools() == DebugTools()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('quepid = "javascript:alert(1)"', "not an http or https address"),
        ('quepid = "https://me:secret@quepid.example"', "a login in it"),
        ('quepid = "https://q.example/a b"', "characters"),
        ('quepid = "https://q.example/)x"', "characters"),
        ('quepid = "https://[x"', "no address"),
        ('splainer = { engine = "solr", url = "http://s/select" }', "url has no {query}"),
        (
            'splainer = { engine = "solr", url = "http://s?q={query}", query = "x" }',
            "for es and os",
        ),
        ('splainer = { engine = "es", url = "http://s/_search" }', "has no {query}"),
        ('splainer = { engine = "es", url = "http://s", query = "{query}" }', "not JSON"),
        ('splainer = { engine = "vespa", url = "http://s" }', "engine"),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path, line, fault):
    (tmp_path / "relgate.toml").write_text(line + "\n")
    with pytest.raises(InputError, match=re.escape(fault)) as caught:
        read_project(None, folder=tmp_path)
    assert "secret" not in redact(str(caught.value))  # as the command line prints it
