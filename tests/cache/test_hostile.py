"""What a prepared cache file may try, and what does not happen."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from pathlib import Path

import diskcache
import pytest

from relgate.cache import cache_stats, open_store
from relgate.cache.disk import TextDisk
from relgate.cache.schema import EXPECTED_SCHEMA, FILE_FORMAT, SETTINGS
from relgate.rubrics.errors import CacheUnavailableError


def bomb(target: Path) -> bytes:
    """A pickle that makes the directory `target` when it is loaded; written by hand."""
    return b"cposix\nmkdir\n(V" + str(target).encode() + b"\nI448\ntR."


def blob(data: bytes) -> str:
    return f"x'{data.hex()}'"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "pwned"


@pytest.fixture(autouse=True)
def _in_time():
    """Nothing a file holds may hang a run: the table says 5 s."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 5


# --- rows -----------------------------------------------------------------------------------


def test_the_planted_pickles_are_live_in_plain_diskcache(filled, plant, target):
    """The control: without it the tests below would pass on a dud."""
    plant(filled, f"UPDATE Cache SET mode = 4, value = {blob(bomb(target))} WHERE rowid = 1")  # noqa: S608 - planting
    with sqlite3.connect(filled / "cache.db") as con:
        (key,) = con.execute("SELECT key FROM Cache WHERE rowid = 1").fetchone()
    con.close()
    with diskcache.Cache(str(filled)) as cache:
        cache.get(key)
    assert target.is_dir()


PLANTED_VALUES = {
    "pickle": "mode = 4, value = {bomb}",
    "pickle that says raw": "mode = 1, value = {bomb}",
    "pickle in a file": "mode = 4, value = NULL, filename = '../secret'",
    "text file": "mode = 3, value = NULL, filename = '../secret'",
    "binary file": "mode = 2, value = NULL, filename = '../secret'",
    "absolute file": "mode = 3, value = NULL, filename = '{secret}'",
    "text with a file name": "filename = '../secret'",
    "number": "value = 3",
    "null": "value = NULL",
    "mode none": "mode = 0",
    "unknown mode": "mode = 99",
    "cut json": "value = substr(value, 1, length(value) / 2)",
    "other row's value": "value = (SELECT value FROM Cache WHERE rowid = 2)",
    "altered grade": "value = replace(value, '\"grade\":', '\"grade\":1')",
    "not utf-8": "value = CAST(x'ff00fe' AS TEXT)",
    "two megabytes": "value = replace(hex(zeroblob(1000000)), '00', '[[')",
    "pickled key": "raw = 0, key = {bomb}",
    "text key that says pickled": "raw = 0",
    "blob key": "key = CAST(key AS BLOB)",
    "number key": "key = 7",
}


@pytest.mark.parametrize("kind", PLANTED_VALUES)
def test_a_planted_row_is_a_miss_and_runs_nothing_and_the_rest_is_served(
    filled, plant, target, second_run, kind
):
    """C08. The row is paid for again, 1 call; the other eleven are hits."""
    secret = target.with_name("secret")
    secret.write_bytes(bomb(target))
    change = PLANTED_VALUES[kind].format(bomb=blob(bomb(target)), secret=secret)
    plant(filled, f"UPDATE Cache SET {change} WHERE rowid = 1")  # noqa: S608 - planting

    assert (cache_stats(filled).rows, cache_stats(filled).invalid) == (11, 1)
    inner, cached = second_run(filled)
    assert len(inner.graded_texts) == 1
    assert cached.hits == 11
    assert cache_stats(filled).rows == 12
    inner, _ = second_run(filled)
    assert inner.calls == []
    assert not target.exists()
    assert secret.read_bytes() == bomb(target)


def test_refused_rows_are_counted(filled, plant):
    plant(filled, "UPDATE Cache SET mode = 4 WHERE rowid <= 3")
    store = open_store(filled)
    with sqlite3.connect(filled / "cache.db") as con:
        keys = [key for (key,) in con.execute("SELECT key FROM Cache")]
    con.close()
    assert len(store.get_many(keys)) == 9
    assert (store.stats().found, store.stats().refused) == (9, 3)
    store.close()


@pytest.mark.parametrize(
    ("key", "value"), [(1, "x"), (b"k", "x"), (("a", "b"), "x"), ("n", 1), ("o", None), ("p", b"x")]
)
def test_only_text_goes_in(folder, key, value):
    store = open_store(folder)
    with pytest.raises(TypeError):
        store.put_many({"good": "row", key: value})
    assert store.get_many(["good"]) == {}  # all or none
    assert store.put_many({"good": "row"}) == 1  # and the store still works
    store.close()


@pytest.mark.parametrize(
    "row",
    [
        (4, None, b"x", False),
        (4, "../secret", None, False),
        (3, "../secret", None, False),
        (1, "../secret", "x", False),
        (1, None, b"x", False),
        (1, None, 3, False),
        (1, None, "x", True),
    ],
)
def test_the_disk_hands_out_no_foreign_value(tmp_path, row):
    with pytest.raises(ValueError, match="foreign"):
        TextDisk(str(tmp_path)).fetch(*row)


@pytest.mark.parametrize(("key", "raw"), [(b"x", 0), ("y", 0), (b"z", 1), (3, 1)])
def test_the_disk_hands_out_no_foreign_key(tmp_path, key, raw):
    with pytest.raises(ValueError, match="foreign"):
        TextDisk(str(tmp_path)).get(key, raw)


def test_iterating_over_the_library_s_own_cache_unpickles_no_key(filled, plant, target):
    """C08: any documented way to open the cache."""
    plant(filled, f"UPDATE Cache SET raw = 0, key = {blob(bomb(target))} WHERE rowid = 1")  # noqa: S608 - planting
    with diskcache.Cache(str(filled), disk=TextDisk) as cache:
        with pytest.raises(ValueError, match="foreign"):
            list(cache)
        with pytest.raises(ValueError, match="foreign"):
            cache.peekitem(last=False)
    assert not target.exists()


def test_the_disk_removes_no_file(tmp_path):
    (tmp_path / "secret").write_text("kept")
    disk = TextDisk(str(tmp_path / "cache"))
    disk.remove("../secret")
    disk.remove(str(tmp_path / "secret"))
    assert (tmp_path / "secret").read_text() == "kept"


# --- schema ---------------------------------------------------------------------------------


def test_the_expected_schema_is_that_of_a_fresh_cache_of_the_installed_library(tmp_path):
    with diskcache.Cache(str(tmp_path), disk=TextDisk, **SETTINGS):
        con = sqlite3.connect(tmp_path / "cache.db")
        rows = set(con.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
        con.close()
    assert rows == EXPECTED_SCHEMA


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
"""Yields 1 for ever."""

FOREIGN = {
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON Cache BEGIN UPDATE Cache SET value = 'E'; END"],
    "trigger under a known name": [
        "DROP TRIGGER Settings_size_delete",
        """CREATE TRIGGER Settings_size_delete AFTER INSERT ON Cache
        BEGIN UPDATE Cache SET value = 'E'; END""",
    ],
    "view": ["CREATE VIEW v AS SELECT 1"],
    "table as an endless view": [
        "DROP TABLE Cache",
        f"""CREATE VIEW Cache AS {ENDLESS} SELECT i AS rowid, i AS key, 1 AS raw, 1 AS mode,
        NULL AS filename, 'x' AS value FROM n""",  # noqa: S608 - planting
    ],
    "settings as an endless view": [
        "DROP TABLE Settings",
        f"CREATE VIEW Settings AS {ENDLESS} SELECT i AS key, i AS value FROM n",  # noqa: S608 - planting
    ],
    "extra table": ["CREATE TABLE extra (x)"],
    "extra index": ["CREATE INDEX extra ON Cache (value)"],
    "generated column": ["ALTER TABLE Cache ADD COLUMN g AS (zeroblob(1000000000))"],
    "virtual table": ["CREATE VIRTUAL TABLE f USING fts5(x)"],
    "another program's": ["DROP TABLE Cache", "CREATE TABLE Cache (id, name)"],
    "newer format": [f"PRAGMA user_version = {FILE_FORMAT + 1}"],
    "negative format": ["PRAGMA user_version = -1"],
    "pragma in a setting": ["INSERT INTO Settings VALUES ('sqlite_temp_store_directory', '/')"],
    "attribute in a setting": ["INSERT INTO Settings VALUES ('_disk', 'x')"],
    "journal mode": ["UPDATE Settings SET value = 'off' WHERE key = 'sqlite_journal_mode'"],
    "text for a number": [
        "UPDATE Settings SET value = '1; DROP TABLE Cache' WHERE key = 'sqlite_cache_size'"
    ],
    "many settings": [
        """INSERT INTO Settings WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        LIMIT 100000) SELECT 'x' || i, i FROM n"""
    ],
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_schema_setting_or_format_is_refused_in_one_line_and_left_as_it_is(
    filled, plant, kind
):
    """S06."""
    plant(filled, *FOREIGN[kind])
    before = (filled / "cache.db").read_bytes()
    for look in (open_store, cache_stats):
        with pytest.raises(CacheUnavailableError) as caught:
            look(filled)
        message = str(caught.value)
        assert str(filled / "cache.db") in message
        assert "\n" not in message
        assert caught.value.exit_code == 6
    assert (filled / "cache.db").read_bytes() == before


def test_a_start_that_was_killed_leaves_part_of_the_schema_and_is_completed(folder, second_run):
    folder.mkdir()
    con = sqlite3.connect(folder / "cache.db")
    con.execute("CREATE TABLE Settings ( key TEXT NOT NULL UNIQUE, value)")
    con.close()
    second_run(folder)
    assert cache_stats(folder).rows == 12


def test_a_clean_cache_is_opened_without_a_word(filled, second_run, caplog):
    """The counterpart: the checks above stay quiet on a sound file."""
    with caplog.at_level(logging.DEBUG, logger="relgate"):
        inner, _ = second_run(filled)
    assert inner.calls == []
    assert [r for r in caplog.records if r.name.startswith("relgate")] == []
    assert sorted(p.name for p in filled.iterdir()) == ["cache.db", "cache.lock"]


# --- damage ---------------------------------------------------------------------------------


def damaged_and_set_aside(folder: Path, second_run, caplog) -> None:
    before = (folder / "cache.db").read_bytes()
    with pytest.raises(CacheUnavailableError, match="damaged"):
        cache_stats(folder)
    with caplog.at_level(logging.WARNING):
        inner, cached = second_run(folder)
    assert len(inner.graded_texts) == 12
    assert cached.stored == 12
    asides = [p for p in folder.glob("cache.db.corrupt-*") if not p.name.endswith(("-wal", "-shm"))]
    assert [p.read_bytes() for p in asides] == [before]
    assert len(caplog.records) == 1
    assert asides[0].name in caplog.text
    assert (cache_stats(folder).rows, cache_stats(folder).set_aside) == (12, 1)


@pytest.mark.parametrize("share", [n / 20 for n in range(20)])
def test_a_file_cut_at_any_of_twenty_places_is_set_aside(filled, second_run, caplog, share):
    """C07; the first of the twenty is an empty file."""
    size = (filled / "cache.db").stat().st_size
    os.truncate(filled / "cache.db", int(size * share))
    damaged_and_set_aside(filled, second_run, caplog)


def test_random_bytes_are_set_aside(folder, second_run, caplog):
    folder.mkdir()
    (folder / "cache.db").write_bytes(os.urandom(50_000))
    damaged_and_set_aside(folder, second_run, caplog)


def test_a_text_file_is_set_aside(folder, second_run, caplog):
    folder.mkdir()
    (folder / "cache.db").write_text('{"grades": []}')
    damaged_and_set_aside(folder, second_run, caplog)


def test_pages_overwritten_inside_are_set_aside(filled, second_run, caplog):
    with (filled / "cache.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(3 * 4096))
    damaged_and_set_aside(filled, second_run, caplog)


def test_a_rollback_journal_beside_the_file_is_never_replayed(filled, second_run, caplog):
    """It may name another file, which SQLite would then delete."""
    (filled / "cache.db-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + b"\0" * 4096)
    with caplog.at_level(logging.WARNING):
        second_run(filled)
    kept = {p.name.rpartition("Z")[2] for p in filled.glob("cache.db.corrupt-*")}
    assert kept == {"", "-journal"}


def test_a_log_without_its_database_is_kept(folder, second_run, caplog):
    folder.mkdir()
    (folder / "cache.db-wal").write_bytes(b"grades that were paid for")
    with caplog.at_level(logging.WARNING):
        second_run(folder)
    (aside,) = folder.glob("cache.db.corrupt-*")
    assert aside.name.endswith("-wal")
    assert aside.read_bytes() == b"grades that were paid for"


# --- other things in its place --------------------------------------------------------------


def _place(kind: str, path: Path, outside: Path) -> None:
    if kind == "directory":
        path.mkdir()
    elif kind == "FIFO":
        os.mkfifo(path)
    elif kind == "symbolic link":
        path.symlink_to(outside)
    elif kind == "link to nowhere":
        path.symlink_to(outside.parent / "nowhere")


@pytest.mark.parametrize("kind", ["directory", "FIFO", "symbolic link", "link to nowhere"])
@pytest.mark.parametrize("name", ["cache.db", "cache.db-wal", "cache.db-shm", "cache.lock"])
def test_a_directory_fifo_or_link_in_a_files_place_is_refused_and_left(
    filled, tmp_path, kind, name
):
    outside = tmp_path / "outside"
    outside.write_text("not yours")
    path = filled / name
    path.unlink(missing_ok=True)
    _place(kind, path, outside)
    with pytest.raises(CacheUnavailableError, match=name):
        open_store(filled)
    assert os.path.lexists(path)
    assert outside.read_text() == "not yours"
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_the_directorys_place_is_refused(tmp_path):
    (tmp_path / "cache").write_text("a file")
    for folder in (tmp_path / "cache", tmp_path / "cache" / "below"):
        with pytest.raises(CacheUnavailableError, match="no directory"):
            open_store(folder)


def test_a_directory_name_that_diskcache_would_expand_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ELSEWHERE", "other")
    with pytest.raises(CacheUnavailableError, match=r"\$"):
        open_store(tmp_path / "$ELSEWHERE")
    assert not (tmp_path / "other").exists()
