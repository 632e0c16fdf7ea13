# pyright: basic
"""The store on a Redis server, for machines that share no disk. I/O.

The only module that imports redis, an extra. Rows and claims are plain keys under one prefix; a
row is stored and its claim ended in one transaction. What outlives a crash of the server is the
server's own setting: `appendonly yes` with `appendfsync always` keeps what a disk would keep.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from relgate.cache.base import StoreStats
from relgate.cache.claims import is_gone
from relgate.rubrics.errors import CacheUnavailableError

__all__ = ["RedisStore", "redis_url", "shown_place"]

_GRADE: Final = "relgate:1:grade:"
_CLAIM: Final = "relgate:1:claim:"
_CHUNK: Final = 500
_OPEN_TRIES: Final = 3
_TRIES: Final = 40  # waits of up to a second: a restart of the server is outlived
_LONGEST_WAIT_S: Final = 1.0
_ANSWER_S: Final = 30.0
_DOWN_S: Final = 30.0

# KEYS: claims; ARGV: owner, milliseconds, owners known to be gone.
# Returns the places of those that are now the owner's, and who holds the others.
_CLAIM_SCRIPT: Final = """
local gone, mine, others = {}, {}, {}
for i = 3, #ARGV do gone[ARGV[i]] = true end
for i, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  if not holder or holder == ARGV[1] or gone[holder] then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    mine[#mine + 1] = i
  else
    others[#others + 1] = holder
  end
end
return {mine, others}
"""
_RELEASE_SCRIPT: Final = """
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 0
"""

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


def redis_url(place: str | Path) -> str | None:
    """The address in `place`, or None when it is a folder.

    A path that was made of an address has lost one of its slashes; it is given back.
    """
    found = re.match(r"(?:.*/)?(rediss?|unix):/+(.+)$", str(place))
    if found is None:
        return None
    slash = "/" if found[1] == "unix" and "@" not in found[2].partition("/")[0] else ""
    return f"{found[1]}://{slash}{found[2]}"


def shown_place(place: str | Path) -> str:
    """A folder as it is, an address without its password."""
    url = redis_url(place)
    if url is None:
        return str(place)
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class RedisStore:
    """A `Store` on a Redis server; get one with `relgate.cache.open_store`.

    Args:
        url: `redis://host:port/db`, `rediss://...` or `unix:///path`; it may hold a password,
            which appears in no message.
        required: whether a grade that cannot be stored must stop the run.

    Raises:
        CacheUnavailableError: the package is not installed, or the server cannot be reached.
    """

    def __init__(self, url: str, *, required: bool = False) -> None:
        self.required = required
        self._place = shown_place(url)
        self._turn = threading.Lock()
        self._found = self._written = 0
        self._warned = False
        self._down: tuple[float, str] | None = None
        try:
            self._redis: Any = import_module("redis")
        except ImportError as error:
            raise CacheUnavailableError(
                f"{self._place}: the package redis is missing; pip install 'relgate[redis]'"
            ) from error
        self._look_at_server(url)
        self._client = self._connect(url, tries=_TRIES)

    def _connect(self, url: str, *, tries: int) -> Any:  # noqa: ANN401 - loaded lazily
        errors = self._redis.exceptions
        wait = self._redis.backoff.ExponentialBackoff(cap=_LONGEST_WAIT_S, base=0.05)
        try:
            return self._redis.Redis.from_url(
                url,
                socket_timeout=_ANSWER_S,
                socket_connect_timeout=5,
                retry=self._redis.retry.Retry(wait, tries),
                retry_on_error=[errors.ConnectionError, errors.TimeoutError],
            )
        except ValueError as error:
            raise CacheUnavailableError(f"{self._place}: is no address of a server") from error

    def _look_at_server(self, url: str) -> None:
        """Reach the server, and say where it keeps less than a disk would."""
        client = self._connect(url, tries=_OPEN_TRIES)
        try:
            persistence, memory = client.info("persistence"), client.info("memory")
        except self._redis.exceptions.NoPermissionError:
            client.ping()
            persistence, memory = {"aof_enabled": 1}, {}
        except self._redis.exceptions.RedisError as error:
            raise CacheUnavailableError(f"{self._place}: {error}") from error
        finally:
            client.close()
        if not persistence.get("aof_enabled"):
            _log.warning(
                "cache %s: its append-only file is off: a crash of the server loses paid grades; "
                "set appendonly yes and appendfsync always",
                self._place,
            )
        if memory.get("maxmemory") and memory.get("maxmemory_policy") != "noeviction":
            _log.warning(
                "cache %s: it drops keys when its memory is full (%s): paid grades among them; "
                "set maxmemory-policy noeviction",
                self._place,
                memory.get("maxmemory_policy"),
            )

    def _do(self, work: Callable[[], _T]) -> _T:
        """The result of `work`; a server that was given up is left alone for a while."""
        now = time.monotonic()
        if self._down is not None and now < self._down[0]:
            raise CacheUnavailableError(self._down[1])
        try:
            return work()
        except self._redis.exceptions.RedisError as error:
            said = f"{self._place}: {error}"
            if isinstance(error, self._redis.exceptions.ConnectionError):
                self._down = (time.monotonic() + _DOWN_S, said)
            raise CacheUnavailableError(said) from error

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The values of those `keys` that are stored; what cannot be read is a miss."""
        wanted = sorted(set(keys))
        found: dict[str, str] = {}
        try:
            for start in range(0, len(wanted), _CHUNK):
                found |= self._get(wanted[start : start + _CHUNK])
        except CacheUnavailableError as error:
            self._warn(error)
        with self._turn:
            self._found += len(found)
        return found

    def _get(self, keys: Sequence[str]) -> dict[str, str]:
        values = self._do(lambda: self._client.mget([f"{_GRADE}{key}" for key in keys]))
        return {
            key: value.decode("utf-8", "replace")
            for key, value in zip(keys, values, strict=True)
            if value is not None
        }

    def _warn(self, error: CacheUnavailableError) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("cache %s: rows that cannot be read are taken as misses", error)

    def put_many(self, items: Mapping[str, str], *, owner: str | None = None) -> int:
        """Store `items`, and end the claims of `owner` on them, in one transaction; how many.

        Raises:
            CacheUnavailableError: none of them is known to be stored.
        """
        if not items:
            return 0

        def put() -> None:
            with self._client.pipeline(transaction=True) as line:
                line.mset({f"{_GRADE}{key}": value for key, value in items.items()})
                if owner is not None:
                    claims = [f"{_CLAIM}{key}" for key in items]
                    line.eval(_RELEASE_SCRIPT, len(claims), *claims, owner)
                line.execute()

        self._do(put)
        with self._turn:
            self._written += len(items)
        return len(items)

    def delete_many(self, keys: Iterable[str]) -> int:
        """Forget the rows under `keys`; how many there were.

        Raises:
            CacheUnavailableError: the server does not do it.
        """
        names = [f"{_GRADE}{key}" for key in keys]
        return int(self._do(lambda: self._client.unlink(*names))) if names else 0

    def scan(self) -> Iterator[tuple[str, str] | None]:
        """Every row in turn, without claims; None for one that is no text.

        The server may name a row twice while others are written.

        Raises:
            CacheUnavailableError: the server stopped answering.
        """
        names = self._client.scan_iter(match=f"{_GRADE}*", count=_CHUNK)
        while page := self._do(lambda: list(islice(names, _CHUNK))):
            keys = [name.decode("utf-8", "replace").removeprefix(_GRADE) for name in page]
            found = self._get(keys)
            for key in keys:
                yield (key, found[key]) if key in found else None

    def claim_many(self, keys: Iterable[str], *, owner: str, seconds: float) -> set[str]:
        """Claim `keys` for `owner`; those that are now its own.

        Raises:
            CacheUnavailableError: claims cannot be kept.
        """
        wanted = sorted(set(keys))
        mine: set[str] = set()
        for start in range(0, len(wanted), _CHUNK):
            mine |= self._claim(wanted[start : start + _CHUNK], owner, seconds)
        return mine

    def _claim(self, keys: list[str], owner: str, seconds: float) -> set[str]:
        gone: set[str] = set()
        known = cache(is_gone)
        while True:
            mine, others = self._claim_once(keys, owner, seconds, sorted(gone))
            dead = {holder for holder in others if known(holder)}
            if dead <= gone:
                return mine
            gone |= dead

    def _claim_once(
        self, keys: list[str], owner: str, seconds: float, gone: list[str]
    ) -> tuple[set[str], set[str]]:
        names = [f"{_CLAIM}{key}" for key in keys]
        milliseconds = max(1, round(seconds * 1_000))
        mine, others = self._do(
            lambda: self._client.eval(_CLAIM_SCRIPT, len(names), *names, owner, milliseconds, *gone)
        )
        return {keys[i - 1] for i in mine}, {holder.decode("utf-8", "replace") for holder in others}

    def release_many(self, keys: Iterable[str], *, owner: str) -> None:
        """End the claims of `owner` on `keys`.

        Raises:
            CacheUnavailableError: the server does not do it; they will expire.
        """
        names = [f"{_CLAIM}{key}" for key in keys]
        if names:
            self._do(lambda: self._client.eval(_RELEASE_SCRIPT, len(names), *names, owner))

    def stats(self) -> StoreStats:
        """What was read and written so far."""
        with self._turn:
            return StoreStats(
                place=self._place,
                writable=True,
                found=self._found,
                refused=0,
                written=self._written,
            )

    def close(self) -> None:
        """Give back the connections. May be called twice."""
        self._client.close()
