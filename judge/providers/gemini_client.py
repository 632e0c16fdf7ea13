"""Calls over the google-genai SDK. I/O; importing it loads the SDK."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, cast

import httpx2
from google import genai
from google.genai import types

from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.gemini_reply import failure_of, reply_of
from relgate.judge.providers.loops import LoopLocal, tls_context
from relgate.judge.providers.replay import Wire, transport
from relgate.judge.types import CallError, GenerateReply, GenerateRequest, GradeError

__all__ = ["GOOGLE", "GeminiClient", "GeminiGenerate", "gemini_clients"]

GOOGLE = "https://generativelanguage.googleapis.com"


@dataclass(frozen=True, slots=True)
class GeminiClient:
    """The SDK's client, and the HTTP client below it."""

    sdk: genai.Client
    http: httpx2.AsyncClient


def gemini_clients(
    *,
    api_key: str,
    base_url: str,
    api_version: str | None,
    timeout_s: float,
    wire: Wire | None = None,
) -> LoopLocal[GeminiClient]:
    """Clients for one endpoint, one an event loop, the SDK's own retries off."""
    below = None if wire is None else transport(wire)

    def make() -> GeminiClient:
        # A client of ours, for the SDK would otherwise take aiohttp where it is installed, with
        # hidden retries and other exceptions; and follow redirects, key in hand.
        http = httpx2.AsyncClient(verify=tls_context(), follow_redirects=False, transport=below)
        options = types.HttpOptions(
            base_url=base_url,
            api_version=api_version,
            timeout=math.ceil(timeout_s * 1000),
            # without it `generate_content` tries once, but `decisions` five times
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_async_client=http,
            client_args={"verify": tls_context()},
            async_client_args={"ssl": tls_context()},  # else it reads the trust store again
        )
        # enterprise=False: the environment must not send the key to another service
        sdk = genai.Client(enterprise=False, api_key=api_key, http_options=options)
        return GeminiClient(sdk, http)

    async def close(client: GeminiClient) -> None:
        await client.http.aclose()
        client.sdk.close()

    return LoopLocal(make, close)


class GeminiGenerate:
    """A `generate` over the google-genai SDK; see `gemini_generate` for its parts.

    One call is one HTTP request: a schema that the API refuses ends the call, it is not dropped.
    """

    mode: Literal["json_schema"] = "json_schema"
    """How the reply's form is asked for; as `OpenAIGenerate.mode`, so that a report can say it."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        api_version: str | None,
        timeout_s: float,
        thinking_budget: int | None,
        wire: Wire | None,
    ) -> None:
        self._base_url = base_url or GOOGLE
        self._api_version = api_version
        self._thinking_budget = thinking_budget
        self._clients = gemini_clients(
            api_key=api_key,
            base_url=self._base_url,
            api_version=api_version,
            timeout_s=timeout_s,
            wire=wire,
        )
        self._attempts = Attempts(
            failure_of, base_url=self._base_url, key=api_key, timeout_s=timeout_s
        )

    def __repr__(self) -> str:
        return f"GeminiGenerate(base_url={self._base_url!r}, api_version={self._api_version!r})"

    async def __call__(self, request: GenerateRequest, /) -> GenerateReply:
        """Answers `request`.

        Raises:
            CallError: every failure of the SDK, of the connection, or of the endpoint.
        """
        model = request.model
        if model is None:
            raise CallError(GradeError.PROVIDER, "no model named; give one", fatal=True)
        return await self._attempts.make(lambda: self._generate(request, model))

    async def aclose(self) -> None:
        """Closes the running loop's connections; the instance stays usable."""
        await self._clients.aclose()

    async def _generate(self, request: GenerateRequest, model: str) -> GenerateReply:
        client = await self._clients.get()
        models = cast("Any", client.sdk.aio.models)  # its own types are unknown in part
        response: types.GenerateContentResponse = await models.generate_content(
            model=model, contents=request.prompt, config=self._config(request)
        )
        return reply_of(response)

    def _config(self, request: GenerateRequest) -> types.GenerateContentConfig:
        thinking = self._thinking_budget
        return types.GenerateContentConfig(
            system_instruction=request.system or None,
            temperature=request.temperature,
            max_output_tokens=request.max_output_tokens,
            response_mime_type="application/json",
            # not response_schema: the SDK would rewrite that one, and the API refuse the result
            response_json_schema=dict(request.schema),
            thinking_config=(
                None if thinking is None else types.ThinkingConfig(thinking_budget=thinking)
            ),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,  # each hop would be another request, paid for unseen
        )
