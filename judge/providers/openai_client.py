"""Calls over the openai SDK. I/O; importing it loads the SDK."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, cast

import openai

from relgate.judge.providers.attempt import Attempts
from relgate.judge.providers.loops import LoopLocal, tls_context
from relgate.judge.providers.openai_reply import chat_reply, failure_of, responses_reply
from relgate.judge.providers.openai_request import (
    Abilities,
    Mode,
    chat_format,
    prompt_for,
    responses_format,
    without_refused,
)
from relgate.judge.providers.replay import Wire, transport
from relgate.judge.types import CallError, GenerateReply, GenerateRequest, GradeError

__all__ = ["OPENAI", "OpenAIGenerate", "openai_clients"]

OPENAI = "https://api.openai.com/v1"


def openai_clients(
    *, api_key: str, base_url: str, timeout_s: float, wire: Wire | None = None
) -> LoopLocal[openai.AsyncOpenAI]:
    """Clients for one endpoint, one an event loop, the SDK's own retries off."""
    below = None if wire is None else transport(wire)

    def make() -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout_s,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=tls_context(), transport=below),
        )

    return LoopLocal(make, openai.AsyncOpenAI.close)


class OpenAIGenerate:
    """A `generate` over the openai SDK; see `openai_generate` for its parts.

    One instance serves one model: what the endpoint refuses once is not asked again. A refused
    parameter costs one more request of the same prompt; nothing else is repeated here.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        timeout_s: float,
        api: Literal["chat", "responses"],
        wire: Wire | None,
    ) -> None:
        self._key = api_key
        self._base_url = base_url or OPENAI
        self._api = api
        # older compatible servers know max_tokens alone, newer OpenAI models refuse it
        fields = ("max_completion_tokens", "max_tokens")
        self._abilities = Abilities(token_fields=fields if base_url is None else fields[::-1])
        self._clients = openai_clients(
            api_key=api_key, base_url=self._base_url, timeout_s=timeout_s, wire=wire
        )
        self._attempts = Attempts(
            failure_of, base_url=self._base_url, key=api_key, timeout_s=timeout_s
        )

    def __repr__(self) -> str:
        return f"OpenAIGenerate(base_url={self._base_url!r}, api={self._api!r}, mode={self.mode!r})"

    @property
    def mode(self) -> Mode:
        """How the reply's form is asked for, as far as the endpoint was found to go along."""
        return self._abilities.mode

    @property
    def sends_temperature(self) -> bool:
        """Whether a request's temperature is sent: False once the model has refused it."""
        return self._abilities.temperature

    async def __call__(self, request: GenerateRequest, /) -> GenerateReply:
        """Answers `request`.

        Raises:
            CallError: every failure of the SDK, of the connection, or of the endpoint.
        """
        if request.model is None:
            raise CallError(GradeError.PROVIDER, "no model named; give one", fatal=True)
        while True:
            outcome = await self._attempts.make(partial(self._once, request, self._abilities))
            if isinstance(outcome, GenerateReply):
                return outcome
            self._abilities = self._abilities.meet(outcome)

    async def aclose(self) -> None:
        """Closes the running loop's connections; the instance stays usable."""
        await self._clients.aclose()

    async def _once(
        self, request: GenerateRequest, abilities: Abilities
    ) -> GenerateReply | Abilities:
        """One HTTP request: the reply, or the abilities that remain after a refusal."""
        client = await self._clients.get()
        secrets = (self._key,)
        try:
            if self._api == "chat":
                return chat_reply(await _chat(client, request, abilities), secrets=secrets)
            return responses_reply(await _respond(client, request, abilities), secrets=secrets)
        except openai.APIStatusError as error:
            remaining = without_refused(
                abilities,
                request=request,
                status=error.status_code,
                param=error.param,
                said=f"{error.message} {error.body}",
            )
            if remaining is None:
                raise
            return remaining


async def _chat(
    client: openai.AsyncOpenAI, request: GenerateRequest, abilities: Abilities
) -> object:
    form = chat_format(request, abilities)
    limit = request.max_output_tokens
    field = abilities.token_fields[0] if abilities.token_fields else None
    return await client.chat.completions.create(
        model=request.model or "",
        messages=[
            {"role": "system", "content": request.system},
            {"role": "user", "content": prompt_for(request, abilities.mode)},
        ],
        response_format=openai.omit if form is None else cast("Any", form),
        temperature=_temperature(request, abilities),
        max_tokens=limit if limit is not None and field == "max_tokens" else openai.omit,
        max_completion_tokens=(
            limit if limit is not None and field == "max_completion_tokens" else openai.omit
        ),
    )


async def _respond(
    client: openai.AsyncOpenAI, request: GenerateRequest, abilities: Abilities
) -> object:
    form = responses_format(request, abilities)
    limit = request.max_output_tokens
    return await client.responses.create(
        model=request.model or "",
        instructions=request.system,
        input=prompt_for(request, abilities.mode),
        text=openai.omit if form is None else cast("Any", form),
        temperature=_temperature(request, abilities),
        max_output_tokens=openai.omit if limit is None else limit,
        store=False,  # the provider keeps responses by default; shoppers' queries stay ours
    )


def _temperature(request: GenerateRequest, abilities: Abilities) -> float | openai.Omit:
    if request.temperature is None or not abilities.temperature:
        return openai.omit
    return request.temperature
