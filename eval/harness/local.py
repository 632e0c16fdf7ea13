"""Engines in this process: a Python callable, and the embedded full-text engine. I/O."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from relgate.eval.catalogue import Catalogue, read_catalogue
from relgate.eval.demo.engine import Engine as FullText
from relgate.eval.demo.engine import Synonyms, parse_synonyms
from relgate.eval.files import read_text
from relgate.eval.harness.config import EngineConfig, Patch
from relgate.eval.harness.pick import HitPaths, hits_of
from relgate.eval.harness.types import Call, EngineError, Hit, Reply
from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import UsageError

__all__ = ["CallableEngine", "EmbeddedEngine", "named_callable", "open_embedded"]

_PATHS = HitPaths("", "id", "score", "title")
_DEEP = 10_000
_OFFERED = ("size", "filters", "locale", "surface", "stages", "seed")


class CallableEngine:
    """Any Python callable: `search(text, ...)`, sync or async.

    It is given what its signature names of `size`, `filters`, `locale`, `surface`, `stages` and
    `seed`. It returns ids, or objects with `id` and perhaps `score` and `title`, best first; or
    `{"hits": [...], "about": {...}}`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._names = _accepted(function)

    def about(self) -> Mapping[str, str]:
        """Nothing: what it knows it says with each answer."""
        return {}

    def close(self) -> None:
        """Nothing is held."""

    def search(self, call: Call) -> Reply:
        """What the callable returns.

        Raises:
            EngineError: it returns something else.
        """
        given = {name: getattr(call, name) for name in self._names}
        found = self._function(call.text, **given)
        if inspect.isawaitable(found):
            from relgate.judge.sync import run_sync  # noqa: PLC0415 - asyncio

            found = run_sync(_awaited(found))
        if isinstance(found, Mapping):
            table = cast("Mapping[str, Any]", found)
            told = cast("Mapping[object, object]", table.get("about") or {})
            about = {str(name): str(value) for name, value in told.items()}
            return Reply(_hits(table.get("hits")), about)
        return Reply(_hits(found))


async def _awaited(value: Any) -> Any:  # noqa: ANN401 - whatever the callable gives
    return await value


def _hits(found: Any) -> tuple[Hit, ...]:  # noqa: ANN401 - whatever the callable gives
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise EngineError(f"the callable returned {type(found).__name__}, not a list of hits")
    entries: list[Json] = list(found)  # pyright: ignore[reportUnknownArgumentType]
    plain: list[Json] = [{"id": e} if isinstance(e, (str, int)) else e for e in entries]
    return hits_of(plain, _PATHS)


def _accepted(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return _OFFERED
    return tuple(name for name in _OFFERED if name in parameters)


def named_callable(name: str) -> Callable[..., Any]:
    """The callable that `module:function` names; modules of the working folder count.

    Raises:
        UsageError: no such module or function.
    """
    module, colon, function = name.partition(":")
    if not colon:
        raise UsageError(f"{name!r} names no callable; write module:function")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{name!r} cannot be imported: {error}") from error
    if not callable(found):
        raise UsageError(f"{name!r} is {type(found).__name__}, and cannot be called")
    return found  # type: ignore[no-any-return]


class EmbeddedEngine:
    """The embedded full-text engine over a catalogue, with filters on the products' fields.

    Args:
        catalogue: what is searched.
        synonyms: what words are searched as, before any stage.
        stage_synonyms: {(stage, setting): the synonyms of that setting}.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        synonyms: Synonyms,
        stage_synonyms: Mapping[tuple[str, str], Synonyms],
    ) -> None:
        self._catalogue = catalogue
        self._synonyms = synonyms
        self._stage_synonyms = stage_synonyms
        products = [{**(catalogue.product(i) or {}), "id": i} for i in catalogue.ids]
        self._index = FullText(products, any_thread=True)
        self._lock = threading.Lock()

    def about(self) -> Mapping[str, str]:
        """How many products it was built over."""
        return {"products": str(len(self._catalogue))}

    def close(self) -> None:
        """Releases the index."""
        self._index.close()

    def search(self, call: Call) -> Reply:
        """The products that hold a word of the query and pass its filters."""
        synonyms = dict(self._synonyms)
        for pair in call.stages.items():
            synonyms |= self._stage_synonyms.get(pair, {})
        depth = _DEEP if call.filters else call.size
        with self._lock:
            found = self._index.search(call.text, depth, synonyms=synonyms)
        kept = [doc_id for doc_id in found if self._passes(doc_id, call.filters)]
        hits = (Hit(i, title=self._catalogue.title(i)) for i in kept[: call.size])
        return Reply(tuple(hits))

    def _passes(self, doc_id: str, filters: Mapping[str, Any]) -> bool:
        product = self._catalogue.product(doc_id) or {}
        return all(_matches(product.get(name), wanted) for name, wanted in filters.items())


def _matches(value: object, wanted: object) -> bool:
    have, want = _several(value), _several(wanted)
    return any(one == other or str(one) == str(other) for one in have for other in want)


def _several(value: object) -> tuple[object, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(cast("Iterable[object]", value))
    return (value,)


def open_embedded(config: EngineConfig, patches: Mapping[tuple[str, str], Patch]) -> EmbeddedEngine:
    """The embedded engine over the catalogue that `config` names.

    Raises:
        UsageError: no catalogue named.
        InputError: a fault of the catalogue or of a synonym file.
    """
    if config.catalogue is None:
        raise UsageError('an engine of kind embedded needs catalogue = "products.jsonl"')
    return EmbeddedEngine(
        read_catalogue(config.catalogue),
        _synonyms(config.synonyms),
        {pair: _synonyms(patch.synonyms) for pair, patch in patches.items() if patch.synonyms},
    )


def _synonyms(path: Path | None) -> Synonyms:
    return {} if path is None else parse_synonyms(read_text(path), path=path)
