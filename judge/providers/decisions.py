"""Class probabilities over the `decisions` API of OpenAI and of Gemini. Reads the environment.

Never run against a real provider: neither was within reach. Requests and replies follow the types
of the installed SDKs (openai 3.57, google-genai 3.6), and the tests run those SDKs over a socket
against a server of our own that answers in that form. What the real services refuse, charge for,
or round may differ. The openai SDK says that its API serves the model `gpt-6-luna` alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from relgate.judge.providers.settings import GEMINI_ENV, OPENAI_ENV, access

if TYPE_CHECKING:
    from relgate.judge.providers.gemini_decisions import GeminiDecide
    from relgate.judge.providers.openai_decisions import OpenAIDecide

__all__ = ["gemini_decide", "openai_decide"]


def openai_decide(
    *, api_key: str | None = None, base_url: str | None = None, timeout_s: float = 60.0
) -> OpenAIDecide:
    """A `decide` over the openai SDK, its own retries off. Never run against OpenAI itself.

    Args:
        api_key: the key; by default OPENAI_API_KEY. An endpoint named by `base_url` may need
            none: a placeholder is sent when there is no key.
        base_url: another endpoint of the same protocol; by default OPENAI_BASE_URL, else OpenAI.
        timeout_s: the limit of one call, seconds, from its start to the last byte.

    Raises:
        ProviderUnavailableError: no key, or an impossible one.
        UsageError: `base_url` or `timeout_s` cannot be meant.
    """
    way = access(OPENAI_ENV, os.environ, api_key=api_key, base_url=base_url, timeout_s=timeout_s)
    from relgate.judge.providers.openai_decisions import OpenAIDecide  # noqa: PLC0415 - heavy SDK

    return OpenAIDecide(
        api_key=way.key,
        base_url=way.url,
        timeout_s=way.timeout_s,
    )


def gemini_decide(
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    api_version: str | None = None,
    timeout_s: float = 60.0,
) -> GeminiDecide:
    """A `decide` over the google-genai SDK, its own retries off. Never run against Google itself.

    Args:
        api_key: the key; by default GOOGLE_API_KEY, else GEMINI_API_KEY. An endpoint named by
            `base_url` may need none: a placeholder is sent when there is no key.
        base_url: another endpoint of the same protocol; by default GOOGLE_GEMINI_BASE_URL, else
            Google itself.
        api_version: `v1`, `v1beta`; by default GOOGLE_GENAI_API_VERSION, else the SDK's own.
        timeout_s: the limit of one call, seconds, from its start to the last byte.

    Raises:
        ProviderUnavailableError: no key, or an impossible one.
        UsageError: `base_url` or `timeout_s` cannot be meant.
    """
    way = access(GEMINI_ENV, os.environ, api_key=api_key, base_url=base_url, timeout_s=timeout_s)
    from relgate.judge.providers.gemini_decisions import GeminiDecide  # noqa: PLC0415 - heavy SDK

    return GeminiDecide(
        api_key=way.key,
        base_url=way.url,
        api_version=api_version,
        timeout_s=way.timeout_s,
    )
