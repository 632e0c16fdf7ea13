"""Searches over HTTP: any JSON search by template, Elasticsearch and OpenSearch. I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from relgate.eval.golden.types import GoldenQuery
from relgate.eval.harness.config import PRESETS, EngineConfig, Patch
from relgate.eval.harness.pick import HitPaths, at, facts, hits_of
from relgate.eval.harness.rank_eval import rank_eval_request
from relgate.eval.harness.template import fill, fill_text, merged
from relgate.eval.harness.types import Call, EngineError, Reply
from relgate.eval.lists.jsontext import Json
from relgate.rubrics.errors import UsageError

if TYPE_CHECKING:
    from httpx2 import Client, Response

__all__ = ["WebEngine", "open_web"]

_SHOWN = 200
_OVERLOADED = frozenset({408, 425, 429, 500, 502, 503, 504})


class WebEngine:
    """A search over HTTP.

    Args:
        client: the connection pool.
        config: the engine's description.
        patches: {(stage, setting): what it merges in}.
        bypass: whether caches are bypassed.
    """

    def __init__(
        self,
        client: Client,
        config: EngineConfig,
        patches: Mapping[tuple[str, str], Patch],
        *,
        bypass: bool,
    ) -> None:
        self._client = client
        self._config = config
        self._patches = patches
        self._bypass = config.bypass if bypass else None
        preset = PRESETS[config.kind]
        self._paths = HitPaths(
            config.hits if config.hits is not None else preset["hits"],
            config.id if config.id is not None else preset["id"],
            config.score if config.score is not None else preset["score"],
            config.title if config.title is not None else preset["title"],
        )
        self._url = _url_of(config)

    def about(self) -> Mapping[str, str]:
        """Which concrete indices stand behind the name, and when each was made, if it tells."""
        if self._config.kind == "http":
            return {}
        found: dict[str, str] = {}
        settings = self._quietly(self._url.removesuffix("_search") + "_settings")
        for name, entry in settings.items() if isinstance(settings, dict) else ():
            made, uuid = (at(entry, f"settings.index.{k}") for k in ("creation_date", "uuid"))
            if made is not None or uuid is not None:
                found[f"index {name}"] = f"uuid {uuid}, made {made}"
        return found

    def _quietly(self, url: str) -> Json:
        """An answer that nothing depends on; None when there is none."""
        import httpx2  # noqa: PLC0415 - as below

        try:
            response = self._client.get(url, headers=self._config.headers)
            return _value(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, EngineError):
            return None

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def search(self, call: Call) -> Reply:
        """The documents for one call.

        Raises:
            EngineError: no answer, an error status, an answer that is not JSON or has no hits,
                or a partial one.
        """
        value = self._ask(call)
        if self._config.kind != "http":
            _refuse_partial(value)
        return Reply(hits_of(value, self._paths), facts(value, self._config.about))

    def rank_eval(
        self, calls: Sequence[Call], queries: Mapping[str, GoldenQuery], k: int
    ) -> tuple[Json, str | None]:
        """Many searches in one `_rank_eval` request: its answer, or why there is none."""
        first = calls[0]
        bodies = {call.query_id: fill(self._request(call)[0], call) for call in calls}
        request = rank_eval_request(calls, queries, bodies, index=self._config.index or "", k=k)
        _, params, headers = self._request(first)
        url = self._url.removesuffix("_search") + "_rank_eval"
        params.pop("request_cache", None)  # not a parameter of _rank_eval
        try:
            return self._send(
                "POST", url, _texts(params, first), _texts(headers, first), request
            ), None
        except EngineError as error:
            return None, str(error)

    def _ask(self, call: Call) -> Json:
        body, params, headers = self._request(call)
        url = fill_text(self._url, call, lambda text: quote(text, safe=""))
        filled = None if body is None else fill(body, call)
        return self._send(
            self._config.method, url, _texts(params, call), _texts(headers, call), filled
        )

    def _request(self, call: Call) -> tuple[Json, dict[str, str], dict[str, str]]:
        """Body, parameters and headers as templates, stages and bypass merged in."""
        body: Json = self._config.body
        params, headers = dict(self._config.params), dict(self._config.headers)
        patches = [self._patches[pair] for pair in call.stages.items()]
        for patch in (*patches, *([] if self._bypass is None else [self._bypass])):
            body = merged(body if body is not None else {}, patch.body) if patch.body else body
            params |= patch.params
            headers |= patch.headers
        return body, params, headers

    def _send(
        self, method: str, url: str, params: dict[str, str], headers: dict[str, str], body: Json
    ) -> Json:
        import httpx2  # noqa: PLC0415 - only a live engine needs it

        try:
            address = httpx2.URL(url).copy_merge_params(params)  # `params=` drops the url's own
            response = self._client.request(method, address, headers=headers, json=body)
        except httpx2.TimeoutException as error:
            raise EngineError(f"time-out ({type(error).__name__})", again=True) from error
        except httpx2.TransportError as error:
            raise EngineError(_one_line(f"no connection: {error}"), again=True) from error
        except httpx2.InvalidURL as error:
            raise EngineError(f"{url} is no address: {error}") from error
        return _value(response)


def _texts(templates: Mapping[str, str], call: Call) -> dict[str, str]:
    """Parameters and headers; one whose value is not known is left out."""
    filled = {name: fill(template, call) for name, template in templates.items()}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in filled.items()
        if value is not None
    }


def _value(response: Response) -> Json:
    if response.status_code in _OVERLOADED:
        raise EngineError(_status(response), again=True)
    if not response.is_success:
        raise EngineError(_status(response))
    try:
        value: Json = response.json()
    except ValueError as error:
        raise EngineError(f"the answer is not JSON: {_one_line(response.text)!r}") from error
    return value


def _status(response: Response) -> str:
    return _one_line(f"HTTP {response.status_code}: {response.text}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]


def _refuse_partial(value: Json) -> None:
    """Elasticsearch answers 200 with what the shards that answered hold: that is no answer."""
    if at(value, "timed_out") is True:
        raise EngineError("partial: the search timed out inside the engine", again=True)
    failed, total = at(value, "_shards.failed"), at(value, "_shards.total")
    if isinstance(failed, int) and failed > 0:
        raise EngineError(f"partial: {failed} of {total} shards failed", again=True)


def _url_of(config: EngineConfig) -> str:
    if not config.url:
        raise UsageError('the engine has no url; give one, say url = "${SEARCH_URL}/search"')
    if config.kind == "http":
        return config.url
    if not config.index:
        raise UsageError(f'an engine of kind {config.kind} needs index = "..."')
    return f"{config.url.rstrip('/')}/{quote(config.index, safe='')}/_search"


def open_web(
    config: EngineConfig,
    patches: Mapping[tuple[str, str], Patch],
    *,
    bypass: bool,
    timeout_s: float,
    concurrency: int,
) -> WebEngine:
    """An engine over HTTP; nothing is asked yet.

    Raises:
        UsageError: no URL, or no index.
    """
    import httpx2  # noqa: PLC0415 - only a live engine needs it

    if bypass and config.kind != "http" and config.bypass is None:
        config = config.model_copy(update={"bypass": Patch(params={"request_cache": "false"})})
    client = httpx2.Client(
        timeout=httpx2.Timeout(timeout_s),
        limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        follow_redirects=False,
    )
    return WebEngine(client, config, patches, bypass=bypass)
