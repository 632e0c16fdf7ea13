"""Reads the description of an engine: `engine.toml`. I/O.

[engine]
kind = "http"                      # http, elasticsearch, opensearch, python, embedded
url = "${SEARCH_URL}/search"       # ${NAME} is read from the environment: secrets live there
body = { q = "{text}", filters = "{filters}", size = "{size}" }
headers = { accept-language = "{locale}", authorization = "Bearer ${SEARCH_TOKEN}" }
hits = "hits"                      # where the hits stand in the answer; `id` inside a hit
about = { index = "meta.generation", rewriter = "meta.rewriter" }

[engine.bypass]                    # merged in, so that no cache answers
headers = { cache-control = "no-cache" }

[stages.rewriter.on]               # merged in where the stage is on
body = { rewrite = true }
[stages.rewriter.off]
body = { rewrite = false }
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, ValidationError

from relgate.eval.harness.template import check_template
from relgate.eval.lists.jsontext import Json
from relgate.eval.project import first_problem, read_toml
from relgate.rubrics.errors import InputError

__all__ = ["PRESETS", "EngineConfig", "HarnessConfig", "Patch", "read_engine"]

_ENV = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_ELASTIC = {"hits": "hits.hits", "id": "_id", "score": "_score", "title": "_source.title"}

PRESETS: Mapping[str, dict[str, str]] = {
    "elasticsearch": _ELASTIC,
    "opensearch": _ELASTIC,
    "http": {"hits": "hits", "id": "id", "score": "score", "title": "title"},
}
"""Where each kind's hits stand, unless the description says otherwise."""


class Patch(BaseModel):
    """What a stage or the bypass merges into a request, or sets for a callable."""

    model_config = ConfigDict(extra="forbid")

    body: dict[str, Any] = Field(default_factory=dict[str, Any])
    params: dict[str, str] = Field(default_factory=dict[str, str])
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    synonyms: Path | None = None


class EngineConfig(BaseModel):
    """One engine. Which keys a kind needs is checked by its opener."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["http", "elasticsearch", "opensearch", "python", "embedded"]
    url: str | None = None
    index: str | None = None
    use: Literal["search", "rank_eval"] = "search"
    method: Literal["GET", "POST"] = "POST"
    params: dict[str, str] = Field(default_factory=dict[str, str])
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    body: dict[str, Any] | None = None
    hits: str | None = None
    id: str | None = None
    score: str | None = None
    title: str | None = None
    about: dict[str, str] = Field(default_factory=dict[str, str])
    bypass: Patch | None = None
    callable: str | None = None
    catalogue: Path | None = None
    synonyms: Path | None = None


class HarnessConfig(BaseModel):
    """An engine, its stages, and how it is replayed."""

    model_config = ConfigDict(extra="forbid")

    engine: EngineConfig
    stages: dict[str, dict[str, Patch]] = Field(default_factory=dict[str, dict[str, Patch]])
    concurrency: Annotated[StrictInt, Field(ge=1, le=256)] = 4
    timeout_s: Annotated[StrictFloat, Field(gt=0, le=600)] = 10.0
    retries: Annotated[StrictInt, Field(ge=0, le=10)] = 1
    warm_up: Annotated[StrictInt, Field(ge=0, le=10_000)] = 5
    seed: StrictInt = 0


def read_engine(path: Path, environ: Mapping[str, str] | None = None) -> HarnessConfig:
    """The description of an engine, with what it takes from the environment filled in.

    Paths in it are relative to it.

    Raises:
        InputError: a fault of the file, an unknown key or placeholder, or a variable that the
            environment lacks.
    """
    data = read_toml(path)
    raw = _with_environment(data, os.environ if environ is None else environ, path)
    try:
        config = HarnessConfig.model_validate(raw)
    except ValidationError as error:
        raise first_problem(error, HarnessConfig.model_fields, path) from None
    _check_templates(config, path)
    return _placed(config, path.parent)


def _with_environment(value: Json, environ: Mapping[str, str], path: Path) -> Json:
    if isinstance(value, dict):
        return {name: _with_environment(part, environ, path) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_environment(part, environ, path) for part in value]
    if not isinstance(value, str):
        return value

    def found(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise InputError(
                f"the environment has no {match[1]}", path=path, mend=f"export {match[1]}=..."
            )
        return environ[match[1]]

    return _ENV.sub(found, value)


def _check_templates(config: HarnessConfig, path: Path) -> None:
    engine = config.engine
    parts: list[tuple[str, Json]] = [("engine.url", engine.url), ("engine.body", engine.body)]
    parts += _words("engine", engine)
    patches = [("engine.bypass", engine.bypass or Patch())] + [
        (f"stages.{stage}.{setting}", patch)
        for stage, settings in config.stages.items()
        for setting, patch in settings.items()
    ]
    for where, patch in patches:
        parts.append((f"{where}.body", patch.body))
        parts += _words(where, patch)
    for where, template in parts:
        check_template(template, where, str(path))


def _words(where: str, part: EngineConfig | Patch) -> list[tuple[str, Json]]:
    named = (("params", part.params), ("headers", part.headers))
    return [
        (f"{where}.{kind}.{name}", value) for kind, texts in named for name, value in texts.items()
    ]


def _placed(config: HarnessConfig, folder: Path) -> HarnessConfig:
    """The configuration with its paths relative to where it stands."""

    def placed(path: Path | None) -> Path | None:
        return None if path is None else folder / path

    engine = config.engine.model_copy(
        update={
            "catalogue": placed(config.engine.catalogue),
            "synonyms": placed(config.engine.synonyms),
        }
    )
    stages = {
        stage: {
            name: patch.model_copy(update={"synonyms": placed(patch.synonyms)})
            for name, patch in settings.items()
        }
        for stage, settings in config.stages.items()
    }
    return config.model_copy(update={"engine": engine, "stages": stages})
