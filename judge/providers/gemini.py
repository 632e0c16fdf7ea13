"""Google's Gemini API. Reads the environment; the SDK loads late."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from relgate.judge.providers.settings import GEMINI_ENV, access

if TYPE_CHECKING:
    from relgate.judge.providers.gemini_client import GeminiGenerate
    from relgate.judge.providers.replay import Wire

__all__ = ["gemini_generate"]


def gemini_generate(
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    api_version: str | None = None,
    timeout_s: float = 60.0,
    thinking_budget: int | None = None,
    wire: Wire | None = None,
) -> GeminiGenerate:
    """A `generate` over the google-genai SDK, its own retries and continuations off.

    Args:
        api_key: the key; by default GOOGLE_API_KEY, else GEMINI_API_KEY. An endpoint named by
            `base_url` may need none: a placeholder is sent when there is no key.
        base_url: another endpoint of the same protocol; by default GOOGLE_GEMINI_BASE_URL, else
            Google itself.
        api_version: `v1`, `v1beta`; by default GOOGLE_GENAI_API_VERSION, else the SDK's own.
        timeout_s: the limit of one call, seconds, from its start to the last byte.
        thinking_budget: tokens for thinking; they count against `max_output_tokens`. 0 turns
            thinking off where the model allows it, None leaves it to the model.
        wire: asked in place of the network; for batches.

    Raises:
        ProviderUnavailableError: no key, or an impossible one.
        UsageError: `base_url` or `timeout_s` cannot be meant.
    """
    way = access(GEMINI_ENV, os.environ, api_key=api_key, base_url=base_url, timeout_s=timeout_s)
    from relgate.judge.providers.gemini_client import GeminiGenerate  # noqa: PLC0415 - heavy SDK

    return GeminiGenerate(
        api_key=way.key,
        base_url=way.url,
        api_version=api_version,
        timeout_s=way.timeout_s,
        thinking_budget=thinking_budget,
        wire=wire,
    )
