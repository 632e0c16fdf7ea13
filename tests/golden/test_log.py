"""A golden set from a query log: personal data goes, no band of traffic drowns another."""

from __future__ import annotations

import pytest

from relgate.eval.golden.log import LogRow, draw_queries
from relgate.eval.golden.log_file import read_live_ids, read_log
from relgate.eval.golden.scrub import KINDS, personal_data
from relgate.rubrics.errors import InputError, UsageError

# 4111 1111 1111 1111 is the test card number of the card networks; the IBAN is the example of the
# standard; 078-05-1120 is the invalidated number of the wallet advertisement; 192.0.2.0/24 and
# 2001:db8::/32 are reserved for documentation (RFC 5737, RFC 3849).
PLANTED = {
    "email address": ["write to ann.b@example.org", "Ärger@exämple.org passwort"],
    "access token": ["sk-proj-abcdefghijklmnop", "eyJhbGciOiJIUzI1NiJ9.eyJz"],
    "address with a token": ["https://x.example/a?b=1&token=abc"],
    "IP address": ["ping 192.0.2.17", "2001:db8::8a2e:370:7334"],
    "card number": ["4111 1111 1111 1111", "pay 4111-1111-1111-1111", "4111111111111111"],
    "IBAN": ["DE89 3704 0044 0532 0130 00", "de89370400440532013000"],
    "social security number": ["ssn 078-05-1120"],
    "phone number": ["call +49 30 901820"],
}


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, ts in PLANTED.items() for t in ts])
def test_each_kind_of_personal_data_is_found(kind, text):
    assert personal_data(text) == kind


def test_every_kind_has_a_planted_case():
    assert set(PLANTED) == set(KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "red shoes size 42", "iphone 14 256gb", "4111111111111112", "ean 4006381333931",
        "sku 00-123-4567", "firmware 12.1.3", "ratio 1:2:3:4", "2026-11-30", "@home decor",
        "256.300.1.1 hose", "de12 stecker", "30 901820 schraube", "a@b",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text):
    assert personal_data(text) is None


def test_national_phone_numbers_need_a_region():
    assert personal_data("030 901820", region="DE") == "phone number"
    assert personal_data("030 901820") is None


def _rows():
    """Traffic like a shop's: one giant, some in the middle, many rare."""
    return [
        LogRow("giant", 900),
        *(LogRow(f"middle {i}", 90) for i in range(10)),
        *(LogRow(f"rare {i}", 3) for i in range(300)),
        *(LogRow(f"lost {i}", 2, hits=0) for i in range(40)),
    ]


def test_head_torso_and_tail_share_the_sample_whatever_their_traffic():
    drawn = draw_queries(_rows(), version="v1", size=20)
    assert drawn.bands == {"head": (1, 1), "torso": (10, 8), "tail": (300, 8), "failed": (40, 3)}
    assert len(drawn.golden.queries) == 20
    assert sum(q.failure_mode == "zero-hit" for q in drawn.golden.queries) == 3
    assert [q.text for q in drawn.golden.queries if q.head] == ["giant"]


def test_the_same_seed_draws_the_same_and_another_another():
    one, two, other = (draw_queries(_rows(), version="v", size=20, seed=s) for s in (1, 1, 2))
    assert one == two
    assert {q.text for q in one.golden.queries} != {q.text for q in other.golden.queries}


def test_a_query_has_the_same_id_in_every_set():
    ids = [
        {q.text: q.id for q in draw_queries(_rows(), version=v, size=500).golden.queries}
        for v in ("v1", "v2")
    ]
    assert ids[0] == ids[1]
    assert len(set(ids[0].values())) == len(ids[0]) == 351


def test_forms_of_one_query_are_counted_together_and_the_commonest_is_shown():
    rows = [LogRow("Red-Shoes", 2), LogRow("red shoes", 5), LogRow("red  shoes", 1)]
    (query,) = draw_queries(rows, version="v", size=5).golden.queries
    assert (query.text, query.weight) == ("red shoes", 8)


def test_personal_data_in_any_form_drops_the_query_and_is_counted_not_shown():
    rows = [LogRow("ann@example.org"), LogRow("lamp"), LogRow("few", users=2), LogRow("  ")]
    drawn = draw_queries(rows, version="v", size=5)
    assert [q.text for q in drawn.golden.queries] == ["lamp"]
    assert drawn.dropped == {"email address": 1, "of fewer than 3 users": 1, "blank": 1}


def test_a_log_with_nothing_left_is_refused():
    with pytest.raises(UsageError, match="no query of the log is left"):
        draw_queries([LogRow("ann@example.org")], version="v", size=5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", 'query,count,hits,filters\nlamp,3,0,"{""a"": [1, ""b""]}"\n'),
        ("l.tsv", 'q\tn\tresults\tfilter\nlamp\t3\t0\t{"a": [1, "b"]}\n'),
        ("l.jsonl", '{"text": "lamp", "count": 3, "hits": 0, "filters": {"a": [1, "b"]}}\n'),
        ("l.json", '[{"text": "lamp", "count": 3, "hits": 0, "filters": {"a": [1, "b"]}}]'),
    ],
)
def test_a_log_is_read_in_each_form(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_log(tmp_path / name) == (LogRow("lamp", 3, hits=0, filters={"a": (1, "b")}),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("term,count\nlamp,1\n", "no column for the text"),
        ("query,count\nlamp,many\n", r"l\.csv:2: count 'many'"),
        ("query,count\nlamp,nan\n", r"l\.csv:2: count 'nan'"),
        ("query,hits\nlamp,1.5\n", r"l\.csv:2: hits '1.5'"),
        ("query,filters\nlamp,brand\n", r"l\.csv:2: not JSON"),
    ],
)
def test_a_faulty_log_is_refused_with_its_line(tmp_path, text, said):
    (tmp_path / "l.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_log(tmp_path / "l.csv")


def test_live_ids_come_from_a_catalogue_and_an_empty_one_says_gone(tmp_path):
    (tmp_path / "c.csv").write_text("url,id,title\nhttps://a,1,x\nhttps://b,,y\n")
    assert read_live_ids(tmp_path / "c.csv") == {"https://a": "1", "https://b": None}
    (tmp_path / "c.csv").write_text("url,id\nhttps://a,1\nhttps://a,2\n")
    with pytest.raises(InputError, match=r"c\.csv:3: .*two ids"):
        read_live_ids(tmp_path / "c.csv")


def test_live_ids_come_from_a_json_map_too(tmp_path):
    path = tmp_path / "ids.json"
    path.write_text('{"https://a": "1", "https://b": null}', encoding="utf-8")
    assert read_live_ids(path) == {"https://a": "1", "https://b": None}
    path.write_text('{"locator": "https://a", "id": "1"}', encoding="utf-8")  # one line of JSONL
    assert read_live_ids(path) == {"https://a": "1"}
    path.write_text('{"https://a": {"id": "1"}}', encoding="utf-8")
    with pytest.raises(InputError, match="https://a"):
        read_live_ids(path)
