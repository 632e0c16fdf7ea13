"""Reading and writing whole files."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import pytest
from refusals import refusal

from relgate.eval import files
from relgate.eval.files import read_json, read_text, write_text_atomic
from relgate.rubrics.errors import InputError, PlatformError


def _refused(path: Path, word: str, *, line: int | None = None) -> str:
    return refusal(read_json, path, word, line=line)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": "\xc3\xa9"}',
        b'\xef\xbb\xbf{"a": "\xc3\xa9"}',
        '{"a": "é"}'.encode("utf-16"),
        b"\xfe\xff" + '{"a": "é"}'.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16 little", "utf-16 big"],
)
def test_utf_8_and_marked_utf_16_are_read(tmp_path, raw):
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    assert read_json(path) == {"a": "é"}


def test_gzip_is_known_by_its_content_also_in_several_members(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\0" * 512)
    assert read_text(path) == "one\ntwo\n"


def test_line_ends_are_kept(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\r\nb\rc\n")
    assert read_text(path) == "a\r\nb\rc\n"


@pytest.mark.parametrize(
    ("raw", "word", "line"),
    [
        (b"", "empty", None),
        (b"\xef\xbb\xbf \n", "empty", None),
        ('{"a": 1}'.encode("utf-16-le"), "UTF-16 without", 1),
        ("query,docid,rating\nrot,p1,3\n".encode("utf-16-be"), "UTF-16 without", 1),
        (b'{\n"a": "caf\xe9"}', "not UTF-8: byte 11 is 0xe9", 2),
        ("x\ny".encode("utf-16") + b"\x00", "not UTF-16", 2),
        ('{"a": 1}'.encode("utf-32"), "UTF-32", None),
        (b"PK\x03\x04rest", "zip", None),
        (b"PAR1rest", "Parquet", None),
        (gzip.compress(b'{"a": 1}' * 200, mtime=0)[:-20], "gzip", None),
        (b'{"a": [1, 2', "ends too early", 1),
        (b'{"a":\n "unfinished', "ends too early", 2),
        (b'{"a": 1,\n}', "not JSON", 2),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "MAX_DEPTH", None),
        (b"[" * 100_000, "MAX_DEPTH", None),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long", None),
        (b'{"q1": 1,\n"q2": 2,\n"q1": 3}', "'q1' stands twice", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_faulty_file_is_refused_in_one_line_with_place_and_mend(tmp_path, raw, word, line):
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    _refused(path, word, line=line)


def test_nesting_up_to_the_limit_is_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" * 100 + "]" * 100)
    assert isinstance(read_json(path), list)


def test_nan_is_left_to_the_rules(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": NaN, "b": -Infinity}')
    value = read_json(path)
    assert isinstance(value, dict)
    assert value["a"] != value["a"]


def test_missing_file_folder_and_odd_path_are_named(tmp_path):
    _refused(tmp_path / "none.json", "no such file")
    _refused(tmp_path, "is a folder")
    with pytest.raises(InputError, match="cannot be read"):
        read_text("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("{}")
    path.chmod(0)
    _refused(path, "permission")


def test_the_size_limit_is_named_for_plain_and_unpacked_text(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    plain.write_bytes(b" " * 1001)
    packed.write_bytes(gzip.compress(os.urandom(400).hex().encode() * 2))
    _refused(plain, "MAX_BYTES")
    _refused(packed, "MAX_BYTES")


def test_a_gzip_bomb_is_refused_by_its_ratio_but_a_small_dense_file_is_not(tmp_path):
    bomb, small = tmp_path / "bomb.gz", tmp_path / "small.gz"
    bomb.write_bytes(gzip.compress(b"a" * 5_000_000))
    small.write_bytes(gzip.compress(b"a" * 900_000))
    _refused(bomb, "MAX_GZIP_RATIO")
    assert len(read_text(small)) == 900_000


def test_writing_makes_the_folder_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "deep" / "er" / "a.txt"
    write_text_atomic(path, "é\r\n")
    assert path.read_bytes() == b"\xc3\xa9\r\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_writing_keeps_permissions_and_follows_a_link(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text_atomic(link, "new")
    assert path.read_text() == "new"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failed_write_keeps_the_old_file_and_no_part_of_the_new(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(PlatformError, match=r"a\.txt: the disk is full: about 3 bytes are needed"):
        write_text_atomic(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_in_the_way_is_a_platform_error_that_names_it(tmp_path):
    with pytest.raises(PlatformError, match="cannot be written"):
        write_text_atomic(tmp_path, "x")
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(PlatformError, match="cannot be written"):
        write_text_atomic(blocked / "below.txt", "x")


def test_half_a_surrogate_pair_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="surrogate"):
        write_text_atomic(tmp_path / "a.txt", "a\ud800b")
    assert not list(tmp_path.iterdir())
