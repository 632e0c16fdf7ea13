"""The way to a store, on disk or on a server. I/O."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from relgate.cache.base import MemoryStore, Store
from relgate.cache.guard import FILE_NAME
from relgate.cache.redis_store import RedisStore, redis_url
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["DEFAULT_DIRECTORY", "open_store"]

DEFAULT_DIRECTORY: Final = ".relgate/cache"
"""Where the cache is unless something else is said, below the working directory."""

_log = logging.getLogger(__name__)


def open_store(directory: str | Path = DEFAULT_DIRECTORY, *, required: bool = False) -> Store:
    """The cache in `directory`, made if it is not there (mode 0700), or on a Redis server.

    A damaged file is renamed to `*.corrupt-<utc time>` and a fresh one started, with one warning.
    A place that cannot be written is read, with one warning, and nothing is kept for later runs.

    Args:
        directory: where the cache is, or `redis://host:port/db`, `rediss://...`,
            `unix:///path/of/socket`.
        required: raise where grades cannot be stored, instead of warning.

    Raises:
        CacheUnavailableError: what is there is not a cache of ours (a directory, FIFO or link in
            the file's place, another program's database, a planted trigger or view, a newer
            format), the disk is full, or the server cannot be reached; with `required`, also a
            place that cannot be written.
    """
    url = redis_url(directory)
    if url is not None:
        return RedisStore(url, required=required)
    from relgate.cache.disk import DiskStore  # noqa: PLC0415 - diskcache only where it is used

    folder = Path(directory)
    problem = _make(folder)
    if problem is None:
        return DiskStore(folder, required=required)
    if required:
        raise CacheUnavailableError(
            f"{folder}: {problem}; make it writable, or drop the demand for a cache"
        )
    if os.path.lexists(folder / FILE_NAME):
        _log.warning("cache %s: %s: it is read, but new grades are not kept", folder, problem)
        return DiskStore(folder, read_only=True)
    _log.warning("cache %s: %s: grades are not kept for later runs", folder, problem)
    return MemoryStore()


def _make(folder: Path) -> str | None:
    """Make `folder`; why nothing can be written there, or None.

    Raises:
        CacheUnavailableError: something that is no folder stands in the way.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise CacheUnavailableError(
            f"{folder}: is no directory; name another cache directory"
        ) from error
    except OSError as error:
        return str(error.strerror)
    files = [folder / FILE_NAME] if (folder / FILE_NAME).is_file() else []
    writable = all(os.access(path, os.W_OK) for path in (folder, *files))
    return None if writable else "not writable"
