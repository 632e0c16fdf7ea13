"""Reading through all of a cache, wherever it is, without changing it. I/O: reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from relgate.cache.guard import FILE_NAME, State, inspect
from relgate.cache.reader import Reader
from relgate.cache.redis_store import RedisStore, redis_url
from relgate.cache.rows import StoredRow, decode_row
from relgate.cache.store import DEFAULT_DIRECTORY
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["contents", "valid_rows"]


@contextmanager
def contents(
    place: str | Path = DEFAULT_DIRECTORY,
) -> Generator[Iterator[tuple[str, str] | None]]:
    """Every row of the cache in `place`, without claims: key and text, None for a foreign row.

    A missing cache holds nothing. On disk nothing is written: no directory, row or lock.

    Raises:
        CacheUnavailableError: what is there is not a cache of ours, it is damaged, or the server
            does not answer.
    """
    url = redis_url(place)
    if url is not None:
        with closing(RedisStore(url)) as store:
            yield store.scan()
        return
    path = Path(place) / FILE_NAME
    state = inspect(path, frozen=True)
    if state.state is State.DAMAGED:
        raise CacheUnavailableError(
            f"{path}: damaged ({state.reason}); the next run sets it aside and starts a fresh one"
        )
    if state.state is State.ABSENT:
        yield iter(())
        return
    try:
        with closing(Reader(path, frozen=True)) as reader:
            yield reader.scan()
    except sqlite3.Error as error:
        raise CacheUnavailableError(f"{path}: cannot be read ({error})") from error


@contextmanager
def valid_rows(
    place: str | Path = DEFAULT_DIRECTORY,
) -> Generator[Iterator[tuple[str, StoredRow]]]:
    """Every grade that could be served, with its key; errors as `contents`."""
    with contents(place) as rows:
        yield (
            (item[0], row)
            for item in rows
            if item is not None and (row := decode_row(item[1], key=item[0])) is not None
        )
