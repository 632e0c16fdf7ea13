"""Which judge a name stands for, and the way to its model. Imports the user's code: I/O."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, assert_never, cast

from relgate.judge.decide import Decide
from relgate.judge.providers.batches import Batches
from relgate.judge.providers.decisions import gemini_decide, openai_decide
from relgate.judge.providers.gemini import gemini_generate
from relgate.judge.providers.openai import openai_generate
from relgate.judge.providers.replay import RequestBook, replayed
from relgate.judge.providers.settings import GEMINI_ENV, OPENAI_ENV, access, checked_url
from relgate.judge.redact import one_line, redact
from relgate.judge.types import Generate
from relgate.rubrics.errors import UsageError

__all__ = [
    "JUDGE_FORMS",
    "JudgeSpec",
    "batches_for",
    "check_batchable",
    "decide_for",
    "generate_for",
    "parse_judge_spec",
]

JUDGE_FORMS = (
    "baseline",
    "openai:MODEL",
    "gemini:MODEL",
    "openai-decisions:MODEL",
    "gemini-decisions:MODEL",
    "compatible:MODEL@URL",
    "python:module:function",
)
"""How a judge may be named."""

Kind = Literal[
    "baseline",
    "openai",
    "gemini",
    "openai-decisions",
    "gemini-decisions",
    "compatible",
    "python",
]
_BY_MODEL: Mapping[str, Kind] = {
    "openai": "openai",
    "gemini": "gemini",
    "openai-decisions": "openai-decisions",
    "gemini-decisions": "gemini-decisions",
}

# Either part may hold an `@` or a `:` of its own; the address starts at the first `@http`.
_COMPATIBLE = re.compile(r"(?P<model>\S+?)@(?P<url>https?://\S+)", re.IGNORECASE)
_PYTHON = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge by name; `str()` gives the name back.

    Attributes:
        kind: which of the forms.
        model: the model asked for; None for `baseline` and `python`.
        base_url: the endpoint, for `compatible`.
        module: the user's module, for `python`.
        function: the user's function in it, for `python`.
    """

    kind: Kind
    model: str | None = None
    base_url: str | None = None
    module: str | None = None
    function: str | None = None

    def __str__(self) -> str:
        match self.kind:
            case "baseline":
                return "baseline"
            case "openai" | "gemini" | "openai-decisions" | "gemini-decisions":
                return f"{self.kind}:{self.model}"
            case "compatible":
                return f"compatible:{self.model}@{self.base_url}"
            case "python":
                return f"python:{self.module}:{self.function}"


def parse_judge_spec(text: str) -> JudgeSpec:
    """The judge that `text` names, in one of `JUDGE_FORMS`.

    Raises:
        UsageError: it is none of the forms, or a URL that is none, or one with credentials.
    """
    kind, _, rest = text.strip().partition(":")
    if kind == "baseline" and text.strip() == kind:
        return JudgeSpec("baseline")
    if kind in _BY_MODEL and rest and not any(c.isspace() for c in rest):
        return JudgeSpec(_BY_MODEL[kind], model=rest)
    if kind == "compatible" and (found := _COMPATIBLE.fullmatch(rest)):
        return JudgeSpec("compatible", model=found["model"], base_url=checked_url(found["url"]))
    if kind == "python" and (found := _PYTHON.fullmatch(rest)):
        return JudgeSpec("python", module=found["module"], function=found["function"])
    raise UsageError(f"{redact(text)!r} names no judge; write one of: {', '.join(JUDGE_FORMS)}")


def check_batchable(spec: JudgeSpec) -> None:
    """Refuses a judge whose provider has no batch API that we speak.

    Raises:
        UsageError: any but `openai:` and `gemini:`.
    """
    if spec.kind not in {"openai", "gemini"}:
        raise UsageError(f"{spec} cannot be asked in batches; only openai:MODEL and gemini:MODEL")


def generate_for(
    spec: JudgeSpec,
    *,
    timeout_s: float = 60.0,
    api: Literal["chat", "responses"] = "chat",
    book: RequestBook | None = None,
) -> Generate:
    """The `generate` behind `spec`; the caller passes `spec.model` on in each request.

    Args:
        spec: any judge but the baseline, which has no model to call, and those over `decisions`,
            for which see `decide_for`.
        timeout_s: the limit of one call, seconds; the user's own function keeps its own.
        api: for `openai`, which of its two protocols.
        book: for `openai` and `gemini`, asked in place of the provider: see `replay`.

    Raises:
        UsageError: the user's module or function is not there or cannot be used; the baseline; a
            judge over `decisions`; a book for a judge that has no batches.
        ProviderUnavailableError: no API key.
    """
    if book is not None:
        check_batchable(spec)
    wire = None if book is None else book.answer
    match spec.kind:
        case "openai":
            found = openai_generate(timeout_s=timeout_s, api=api, wire=wire)
            return found if book is None else replayed(found, book)
        case "compatible":
            return openai_generate(base_url=spec.base_url, timeout_s=timeout_s)
        case "gemini":
            made = gemini_generate(timeout_s=timeout_s, wire=wire)
            return made if book is None else replayed(made, book)
        case "python":
            return _user_function(spec)
        case "baseline":
            raise UsageError("the baseline judge calls no model")
        case "openai-decisions" | "gemini-decisions":
            raise UsageError(f"{spec} answers in probabilities, which is not wanted here")
        case _:
            assert_never(spec.kind)


def batches_for(
    spec: JudgeSpec, *, timeout_s: float = 60.0, api: Literal["chat", "responses"] = "chat"
) -> Batches:
    """The batch API behind a judge. Reads the environment; the SDK loads here.

    Args:
        spec: an `openai:` or `gemini:` judge.
        timeout_s: the limit of one call, seconds; moving a file may take longer.
        api: for `openai`, which of its two protocols the requests speak.

    Raises:
        UsageError: another judge, or an address that cannot be meant.
        ProviderUnavailableError: no key.
    """
    check_batchable(spec)
    variables = OPENAI_ENV if spec.kind == "openai" else GEMINI_ENV
    way = access(variables, os.environ, timeout_s=timeout_s)
    if spec.kind == "openai":
        from relgate.judge.providers.openai_batch import OpenAIBatches  # noqa: PLC0415 - heavy SDK

        return OpenAIBatches(api_key=way.key, base_url=way.url, timeout_s=way.timeout_s, api=api)
    from relgate.judge.providers.gemini_batch import GeminiBatches  # noqa: PLC0415 - heavy SDK

    return GeminiBatches(api_key=way.key, base_url=way.url, timeout_s=way.timeout_s)


def decide_for(spec: JudgeSpec, *, timeout_s: float = 60.0) -> Decide:
    """The `decide` behind `spec`; the caller passes `spec.model` on in each request.

    Args:
        spec: a judge over `decisions`.
        timeout_s: the limit of one call, seconds.

    Raises:
        UsageError: any other judge.
        ProviderUnavailableError: no API key.
    """
    match spec.kind:
        case "openai-decisions":
            return openai_decide(timeout_s=timeout_s)
        case "gemini-decisions":
            return gemini_decide(timeout_s=timeout_s)
        case _:
            raise UsageError(f"{spec} answers in words, not in probabilities")


def _user_function(spec: JudgeSpec) -> Generate:
    module = _user_module(spec)
    name = spec.function or ""
    function = getattr(module, name, None)
    if function is None:
        near = difflib.get_close_matches(name, [n for n in vars(module) if n[:1] != "_"], n=1)
        mend = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"{spec}: module {spec.module!r} has no function {name!r}{mend}")
    if not callable(function):
        raise UsageError(f"{spec}: {name!r} is a {type(function).__name__}, not a function")
    return cast("Generate", function)


def _user_module(spec: JudgeSpec) -> ModuleType:
    """The user's module, found from the current directory first, as `python FILE` finds it."""
    here = os.getcwd()  # noqa: PTH109 - sys.path holds text
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()  # the file may be younger than the last look at the folder
    try:
        return importlib.import_module(spec.module or "")
    except ModuleNotFoundError as error:
        if error.name is not None and f"{spec.module}.".startswith(f"{error.name}."):
            raise UsageError(
                f"{spec}: no module {error.name!r} here or among the installed packages"
            ) from None
        raise UsageError(f"{spec}: {spec.module} needs {error.name!r}, not installed") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
        said = one_line(f"{type(error).__name__}: {error}")
        raise UsageError(f"{spec}: importing {spec.module} failed: {said}") from None
