"""What the model is shown: candidate text, the user message, the reply schema. Pure.

The shape is the judge document's. Product ids never enter the prompt: the list number is the
one reference a reply may use, so an id that looks like a number cannot be mistaken for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from relgate.judge.types import Example
from relgate.rubrics import Rubric

__all__ = [
    "MAX_DESCRIPTION_CHARS",
    "MAX_EXAMPLE_CHARS",
    "MAX_QUERY_CHARS",
    "MAX_TEXT_CHARS",
    "candidate_fields",
    "candidate_summary",
    "judge_schema",
    "one_line",
    "references",
    "render_prompt",
]

MAX_TEXT_CHARS = 1_500
"""A candidate's text is cut here, so that one page cannot crowd out the rest of its batch."""

MAX_QUERY_CHARS = 500
MAX_DESCRIPTION_CHARS = 240
MAX_EXAMPLE_CHARS = 400

_ELLIPSIS = "…"

# Name shown -> the keys a catalogue may use for it, in the judge document's order. Gender is ours:
# the rubric makes a wrong gender Irrelevant, and a judge cannot apply what it cannot see.
_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("title", ("title", "name", "product_title")),
    ("brand", ("brand", "product_brand")),
    ("price", ("price",)),
    ("category", ("category", "categories", "product_class")),
    ("type", ("type", "product_type")),
    ("colors", ("colors", "color", "product_color")),
    ("gender", ("gender",)),
    ("occasions", ("occasions", "occasion")),
    ("styles", ("styles", "style")),
    ("material", ("material", "materials")),
    ("pattern", ("pattern",)),
    ("fit", ("fit",)),
    ("description", ("description", "product_description")),
)


def one_line(text: str, max_chars: int) -> str:
    r"""`text` on one line of at most `max_chars` characters.

    White space runs become one blank; other control, format and surrogate characters are shown
    as escapes (`\x1b`), so that no document can forge a line of the prompt.
    """
    flat = " ".join(text[: 8 * max_chars].split())
    clean = flat if flat.isprintable() else "".join(_visible(c) for c in flat)
    return clean if len(clean) <= max_chars else clean[: max_chars - 1] + _ELLIPSIS


def _visible(char: str) -> str:
    if unicodedata.category(char) in {"Cc", "Cf", "Cs"}:
        return char.encode("unicode_escape", "surrogatepass").decode("ascii")
    return char


def candidate_summary(product: Mapping[str, Any]) -> str:
    """A product as the judge sees it: `name: value` pairs joined by a bar, empty ones left out.

    The price is always shown when known: a judge that cannot see it cannot confirm "under 5000".
    A product without any known field gives the empty string.
    """
    return " | ".join(f"{name}: {value}" for name, value in candidate_fields(product))


def candidate_fields(product: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The fields of a product that a judge sees, by name, in the judge document's order."""
    parts: list[tuple[str, str]] = []
    for name, keys in _FIELDS:
        value = next((text for key in keys if (text := _value_text(product.get(key)))), "")
        if name == "price":
            value = _price_text(product)
        if name == "description":
            value = one_line(value, MAX_DESCRIPTION_CHARS)
        if value:
            parts.append((name, value))
    return tuple(parts)


def _price_text(product: Mapping[str, Any]) -> str:
    """Amount and currency; the price may also be an object of its own that has both."""
    price, currency = product.get("price"), product.get("currency")
    if isinstance(price, Mapping):
        own = cast("Mapping[str, object]", price)
        price, currency = own.get("amount", own.get("value")), own.get("currency", currency)
    amount = _value_text(price)
    return " ".join(filter(None, [amount, _value_text(currency)])) if amount else ""


def _value_text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping):
        return ""
    if isinstance(value, Iterable):
        items = cast("Iterable[object]", value)
        return ", ".join(text for item in items if (text := _value_text(item)))
    return str(value)


def references(count: int) -> list[str]:
    """The references a reply to `count` candidates may use, in prompt order: `1`, `2` ..."""
    return [str(i) for i in range(1, count + 1)]


def render_prompt(
    query: str, texts: Sequence[str], rubric: Rubric, examples: Sequence[Example] = ()
) -> str:
    """The user message for one batch, in the given order; few-shot examples go before it."""
    codes = "|".join(label.code for label in rubric.labels)
    lines = [
        *_example_lines(examples, rubric),
        f"Shopper query: {one_line(query, MAX_QUERY_CHARS)}",
        f"Candidate {rubric.candidate_noun}:",
        *(
            f"{ref}. {one_line(text, MAX_TEXT_CHARS)}"
            for ref, text in zip(references(len(texts)), texts, strict=True)
        ),
        (
            f"Return one {rubric.label_noun} ({codes}) per candidate with a short reason. "
            "Keep the original candidate order."
        ),
        "Use the candidate's list number as its id.",
    ]
    return "\n".join(lines)


def _example_lines(examples: Sequence[Example], rubric: Rubric) -> list[str]:
    if not examples:
        return []
    return [
        f"Graded examples (query => candidate => {rubric.label_noun}):",
        *(
            f"- {one_line(e.query, MAX_QUERY_CHARS)} => {one_line(e.text, MAX_EXAMPLE_CHARS)} "
            f"=> {e.label}"
            for e in examples
        ),
        "",
    ]


def judge_schema(rubric: Rubric) -> dict[str, Any]:
    """JSON Schema of a reply: `grades` of {id, label, reason}, all required, nothing else."""
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            rubric.label_field: {
                "type": "string",
                "enum": [label.code for label in rubric.labels],
            },
            "reason": {"type": "string"},
        },
        "required": ["id", rubric.label_field, "reason"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"grades": {"type": "array", "items": row}},
        "required": ["grades"],
        "additionalProperties": False,
    }
