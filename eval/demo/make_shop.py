"""Turns the reviewable description of the made-up shop into its product file. I/O at the end only.

`python -m relgate.eval.demo.make_shop` writes `data/products.jsonl` from `data/shop.toml`. Every
choice is drawn from a hash of the product's place, not from a random generator, so any Python
version on any machine writes the same bytes.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relgate.eval.demo.data_files import DATA
from relgate.eval.demo.draws import draw

__all__ = ["main", "make_products", "products_text"]

_GERMAN_SHARE = 0.45
_TWO_COLORS_SHARE = 0.3
_COLOR_IN_TITLE_SHARE = 0.6
_CENTS = (0.0, 0.5, 0.9, 0.95)


def _pick(options: Sequence[Any], *key: object) -> Any:  # noqa: ANN401 - options come from TOML
    return options[int(draw(*key) * len(options))]


def _pick_two(options: Sequence[str], *key: object) -> tuple[str, str]:
    first = _pick(options, *key)
    return first, _pick([o for o in options if o != first], *key, "second")


def _colors(kind: Mapping[str, Any], *key: object) -> list[str]:
    colors: list[str] = kind["colors"]
    if len(colors) > 1 and draw(*key, "two") < _TWO_COLORS_SHARE:
        return list(_pick_two(colors, *key, "color"))
    return [_pick(colors, *key, "color")]


def _category(category: str, gender: str) -> str:
    return category if gender == "unisex" else f"{category} > {gender}"


def _title(shop: Mapping[str, Any], kind: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """Brand, model, noun, gender and often the colour, in the order the language has them."""
    key, german = item["key"], item["lang"] == "de"
    noun = kind["de" if german else "en"][key[1] % len(kind["de" if german else "en"])]
    gender = shop["genders"][item["gender"]][german]
    model = _pick(shop["models"], *key, "model")
    color = ""
    if draw(*key, "color in title") < _COLOR_IN_TITLE_SHARE:
        color = f" {shop['colors'][item['colors'][0]]}" if german else f", {item['colors'][0]}"
    words = [item["brand"], model, noun, gender] if german else [item["brand"], model, gender, noun]
    return " ".join(word for word in words if word) + color


def _product(shop: Mapping[str, Any], kind: Mapping[str, Any], number: int) -> dict[str, Any]:
    key = (kind["key"], number)
    low, high = kind["price"]
    lang = "de" if draw(*key, "lang") < _GERMAN_SHARE else "en"
    item: dict[str, Any] = {
        "key": key,
        "lang": lang,
        "brand": _pick(shop[kind["brands"]], *key, "brand"),
        "colors": _colors(kind, *key),
        "gender": _pick(kind["genders"], *key, "gender"),
    }
    material = _pick(kind["materials"], *key, "material")
    lines = _pick_two(kind[f"lines_{lang}"], *key, "lines")
    price = int(low + draw(*key, "price") * (high - low)) + _pick(_CENTS, *key, "cents")
    return {
        "title": _title(shop, kind, item),
        "brand": item["brand"],
        "price": price,
        "currency": "EUR",
        "category": _category(kind["category"], item["gender"]),
        "type": kind["key"],
        "colors": item["colors"],
        "gender": item["gender"],
        "styles": kind["styles"],
        "occasions": [_pick(kind["occasions"], *key, "occasion")],
        "material": material,
        "lang": lang,
        "description": " ".join([*lines, shop["materials"][material][lang == "de"]]),
    }


def make_products(shop: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All products of the shop, in an order unrelated to their type, ids `p001` and up."""
    made = [
        (draw(kind["key"], number, "order"), _product(shop, kind, number))
        for kind in shop["type"]
        for number in range(kind["count"])
    ]
    made.sort(key=lambda pair: pair[0])
    return [{"id": f"p{n:03d}", **product} for n, (_, product) in enumerate(made, start=1)]


def products_text(shop_toml: str) -> str:
    """The text of `products.jsonl`: one product a line.

    Args:
        shop_toml: the text of `shop.toml`.
    """
    products = make_products(tomllib.loads(shop_toml))
    return "".join(json.dumps(product, ensure_ascii=False) + "\n" for product in products)


def main(folder: Path = DATA) -> None:
    """Writes `products.jsonl` beside `shop.toml` in `folder`."""
    text = products_text((folder / "shop.toml").read_text(encoding="utf-8"))
    (folder / "products.jsonl").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
