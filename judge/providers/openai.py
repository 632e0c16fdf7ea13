"""OpenAI, and any endpoint that speaks its protocol. Reads the environment; the SDK loads late."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from relgate.judge.providers.settings import OPENAI_ENV, access

if TYPE_CHECKING:
    from relgate.judge.providers.openai_client import OpenAIGenerate
    from relgate.judge.providers.replay import Wire

__all__ = ["openai_generate"]


def openai_generate(
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout_s: float = 60.0,
    api: Literal["chat", "responses"] = "chat",
    wire: Wire | None = None,
) -> OpenAIGenerate:
    """A `generate` over the openai SDK, its own retries off.

    Args:
        api_key: the key; by default OPENAI_API_KEY. An endpoint named by `base_url` may need
            none: a placeholder is sent when there is no key. When there is one, it is sent there.
        base_url: another endpoint of the same protocol, usually ending in `/v1`; by default
            OPENAI_BASE_URL, else OpenAI itself.
        timeout_s: the limit of one call, seconds, from its start to the last byte.
        api: `chat` for chat completions, which every compatible endpoint has, or `responses`.
        wire: asked in place of the network; for batches.

    Raises:
        ProviderUnavailableError: no key, or an impossible one.
        UsageError: `base_url` or `timeout_s` cannot be meant.
    """
    way = access(OPENAI_ENV, os.environ, api_key=api_key, base_url=base_url, timeout_s=timeout_s)
    from relgate.judge.providers.openai_client import OpenAIGenerate  # noqa: PLC0415 - 0.5 s SDK

    return OpenAIGenerate(
        api_key=way.key,
        base_url=way.url,
        timeout_s=way.timeout_s,
        api=api,
        wire=wire,
    )
