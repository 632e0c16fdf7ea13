from __future__ import annotations

import ast
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path

import pytest

import relgate.cache
from relgate.cache import MemoryStore, open_store
from relgate.cache.disk import DiskStore
from relgate.cache.guard import connect
from relgate.cache.reader import Reader
from relgate.rubrics.errors import CacheUnavailableError


def test_what_is_put_is_got_by_another_store_later(folder):
    first = open_store(folder)
    assert first.put_many({"a": "1", "b": "2"}) == 2
    first.close()
    second = open_store(folder)
    assert second.get_many(["b", "a", "c", "a"]) == {"a": "1", "b": "2"}
    stats = second.stats()
    assert (stats.found, stats.refused, stats.written, stats.writable) == (2, 0, 0, True)
    second.close()


def test_nothing_in_nothing_out(folder):
    store = open_store(folder)
    assert store.put_many({}) == 0
    assert store.get_many([]) == {}
    store.close()


def test_a_value_put_twice_is_replaced(folder):
    store = open_store(folder)
    store.put_many({"a": "1"})
    store.put_many({"a": "2"})
    assert store.get_many(["a"]) == {"a": "2"}
    store.close()


def test_three_thousand_writes_of_two_kilobytes_are_all_kept(folder):
    """C09."""
    store = open_store(folder)
    rows = {f"key {n}": f"{n} " + "x" * 2_000 for n in range(3_000)}
    for start in range(0, 3_000, 100):
        store.put_many(dict(list(rows.items())[start : start + 100]))
    assert store.get_many(rows) == rows
    store.close()
    store = open_store(folder)
    assert store.get_many(rows) == rows
    store.close()


def test_a_long_value_stays_in_the_row_and_makes_no_file(folder):
    store = open_store(folder)
    store.put_many({"long": "x" * 500_000})
    assert store.get_many(["long"]) == {"long": "x" * 500_000}
    store.close()
    assert sorted(p.name for p in folder.iterdir()) == ["cache.db", "cache.lock"]


def test_eight_threads_lose_nothing(folder):
    store = open_store(folder)

    def work(worker: int) -> None:
        for n in range(50):
            store.put_many({f"{worker}/{n}": "row"})
            assert store.get_many([f"{worker}/{n}"])

    threads = [threading.Thread(target=work, args=(w,)) for w in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.get_many(f"{w}/{n}" for w in range(8) for n in range(50))) == 400
    store.close()


def test_two_stores_of_one_process_share_a_cache(folder):
    one, two = open_store(folder), open_store(folder)
    one.put_many({"a": "1"})
    two.put_many({"b": "2"})
    assert one.get_many(["a", "b"]) == two.get_many(["a", "b"]) == {"a": "1", "b": "2"}
    one.close()
    two.close()


def test_a_closed_store_says_so_and_closing_twice_is_no_fault(folder):
    store = open_store(folder)
    store.close()
    store.close()
    with pytest.raises(CacheUnavailableError, match="closed"):
        store.put_many({"a": "1"})


def test_a_damaged_page_met_while_reading_is_a_miss_with_one_warning(folder, caplog):
    store = open_store(folder)
    store.put_many({f"{n}": "x" * 1_000 for n in range(200)})
    store.close()
    store = open_store(folder)
    with (folder / "cache.db").open("r+b") as file:  # after the checks at the start
        file.seek(3 * 4096)
        file.write(b"\xff" * 40 * 4096)
    assert len(store.get_many(map(str, range(200)))) < 200
    store.get_many(map(str, range(200)))
    assert len(caplog.records) == 1
    store.close()


def test_looking_through_a_cut_file_that_was_not_checked_ends(filled):
    """A damaged tree can lead in a circle; a check that runs out of time does not find it."""
    size = (filled / "cache.db").stat().st_size
    for share in range(20):
        copy = filled / f"cut-{share}.db"
        shutil.copy(filled / "cache.db", copy)
        os.truncate(copy, size * share // 20)
        with contextlib.suppress(sqlite3.Error):
            reader = Reader(copy, frozen=True)
            with contextlib.closing(reader):
                assert sum(1 for _ in islice(reader.scan(), 1_000)) <= 12


def test_a_failed_write_leaves_the_store_usable(folder, plant):
    store = open_store(folder)
    plant(folder, "CREATE TRIGGER t BEFORE INSERT ON Cache BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(CacheUnavailableError, match="no"):
        store.put_many({"a": "1"})
    plant(folder, "DROP TRIGGER t")
    assert store.put_many({"a": "1"}) == 1
    store.close()


def test_memory_keeps_rows_for_the_run_and_says_that_none_outlives_it():
    store = MemoryStore()
    assert store.put_many({"a": "1"}) == 0
    assert store.get_many(["a", "b"]) == {"a": "1"}
    assert not store.stats().writable
    store.close()


def test_read_only_writes_no_row_and_no_lock(filled):
    store = DiskStore(filled, read_only=True)
    with sqlite3.connect(filled / "cache.db") as con:
        keys = [key for (key,) in con.execute("SELECT key FROM Cache")]
    con.close()
    before = (filled / "cache.db").read_bytes()
    assert len(store.get_many(keys)) == 12
    assert store.put_many({"a": "1"}) == 0
    assert not store.stats().writable
    store.close()
    assert (filled / "cache.db").read_bytes() == before


def test_importing_the_package_imports_no_database_and_no_validator():
    code = (
        "import sys, relgate.cache\n"
        "heavy = {'diskcache', 'pydantic', 'sqlite3', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "relgate.cache.grade_key\n"
        "assert 'diskcache' not in sys.modules\n"
        "relgate.cache.cache_stats('nowhere')\n"
        "assert 'diskcache' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - this interpreter, texts of ours


def test_every_public_name_can_be_had():
    assert all(getattr(relgate.cache, name) is not None for name in relgate.cache.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = relgate.cache.nothing


def test_no_module_of_ours_imports_a_format_that_runs_code(root: Path):
    """C08."""
    banned = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "pickletools"}
    assert imports_of(b"import os, pickle as p\nfrom marshal import loads") & banned == {
        "pickle",
        "marshal",
    }
    sources = [
        p for top in ("judge", "cache", "eval", "rubrics") for p in (root / top).rglob("*.py")
    ]
    assert len(sources) > 20
    found = {p.name: imports_of(p.read_bytes()) & banned for p in sources}
    assert {name: what for name, what in found.items() if what} == {}


def test_one_module_imports_diskcache(root: Path):
    sources = [
        p for top in ("judge", "cache", "eval", "rubrics") for p in (root / top).rglob("*.py")
    ]
    assert [p.name for p in sources if "diskcache" in imports_of(p.read_bytes())] == ["disk.py"]


def imports_of(source: bytes) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_a_reader_from_before_the_log_sees_what_is_written_into_it(filled: Path):
    """A place that can be written is never opened as one that nobody writes."""
    path = filled / "cache.db"
    assert not path.with_name("cache.db-wal").exists()
    count = "SELECT count(*) FROM Cache"
    with (
        contextlib.closing(connect(path, frozen=False)) as reader,
        contextlib.closing(sqlite3.connect(path)) as writer,
    ):
        before = reader.execute(count).fetchone()[0]
        writer.execute("INSERT INTO Cache (key, raw, value) VALUES ('later', 1, 'x')")
        writer.commit()
        assert reader.execute(count).fetchone()[0] == before + 1
