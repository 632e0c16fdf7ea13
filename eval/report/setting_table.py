"""The settings of `relgate.toml` as Markdown, made from the model that reads it.

Pure but for `python -m`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from relgate.eval.project import Project

__all__ = ["setting_table"]

_HEAD = """\
# Settings: relgate.toml

Made from the code by `make docs`; do not edit. `relgate init` writes a commented file to start
from. A flag of the same name overrides the file, the file overrides the default. Paths are
relative to the file. An unknown key is refused, with the nearest known one.

| key | what it takes | default | meaning |
|---|---|---|---|
"""

_TAIL = """
The numbers under `[budgets]` are listed with the
[reviewer's rules](rules.md#every-number-is-a-setting). Other files have pages of their own: the
[change description](change.md), the [trust policy](calibration.md#policy),
[engines and budgets of golden sets](drift.md).
"""

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
}


def setting_table() -> str:
    """The page `docs/settings.md`."""
    schema = Project.model_json_schema()
    meanings = _meanings()
    rows = [
        f"| `{name}` | {_kind(field, schema)} | {_default(field)} | {meanings[name]} |"
        for name, field in schema["properties"].items()
    ]
    return _HEAD + "\n".join(rows) + "\n" + _TAIL


def _meanings() -> dict[str, str]:
    """The entries of the docstring's `Attributes:`."""
    _, _, attributes = inspect.cleandoc(Project.__doc__ or "").partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def _kind(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What a key takes, in the words of somebody who writes TOML."""
    if "anyOf" in field:
        kinds = [part for part in field["anyOf"] if part.get("type") != "null"]
        return " or ".join(_kind(part, schema) for part in kinds)
    if "$ref" in field:
        inner = schema["$defs"][field["$ref"].rpartition("/")[2]]
        return f"table of {', '.join(f'`{key}`' for key in inner['properties'])}"
    if "enum" in field:
        return ", ".join(f'`"{value}"`' for value in field["enum"])
    if field["type"] == "array":
        return f"list of {_kind(field['items'], schema)}"
    if field["type"] == "object":
        return f"table, a name each: {_kind(field['additionalProperties'], schema)}"
    word = "path" if field.get("format") == "path" else _WORDS[field["type"]]
    return word + _range(field)


def _range(field: Mapping[str, Any]) -> str:
    bounds = {
        "minimum": "from {:g}",
        "exclusiveMinimum": "above {:g}",
        "maximum": "to {:g}",
        "exclusiveMaximum": "below {:g}",
    }
    said = [words.format(field[key]) for key, words in bounds.items() if key in field]
    return f", {' '.join(said)}" if said else ""


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    if value is None or value == []:
        return "none"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


if __name__ == "__main__":
    print(setting_table(), end="")  # noqa: T201 - a page on stdout is this module's job as a program
