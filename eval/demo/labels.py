"""The rule that labels the example: stated constraints against attributes. Pure.

The rule, in full. A query states a need: the product types that it asks for, and, where the query
says so, a brand, colour, gender, price bound, material or occasion. Several accepted values are
alternatives.

1. A product CONFLICTS with the query when the query names
   - a gender, and the product is for another one (a unisex product is for everybody);
   - a colour, and the product does not come in it;
   - a price bound, and the product costs more.
2. A product of an asked-for type is
   - I (0, Irrelevant) when it conflicts;
   - E (3, Exact) when it also has every brand, material and occasion that the query names;
   - S (2, Substitute) otherwise: the same need, not exactly met.
3. A product of one of the query's substitute types is I when it conflicts, S otherwise.
4. A product of one of the query's complement types (bought or worn together with what was asked
   for) is I when it is for another gender, C (1, Complement) otherwise: nobody asks that the socks
   have the colour of the shoes.
5. Everything else is I.

The text of the query and of the product play no part, and neither does any search engine. Labels
made by a rule are consistent in a way that people's are not: agreement with them says nothing
about agreement with people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ESCI_OF_GRADE", "Need", "conflicts", "grade"]

ESCI_OF_GRADE = ("I", "C", "S", "E")
"""The ESCI letter of each grade 0..3."""

_EXACT, _SUBSTITUTE, _COMPLEMENT, _IRRELEVANT = 3, 2, 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a query asks for. An empty tuple, or None, means that the query does not say.

    Attributes:
        types: product types that are asked for; empty when the shop sells no such thing.
        substitutes: types that serve the same need.
        complements: types bought or worn together with it.
        brands: accepted brands.
        colors: accepted colours.
        genders: accepted genders, besides unisex.
        materials: accepted materials.
        occasions: accepted occasions.
        max_price: the highest price accepted, in the shop's currency.
    """

    types: tuple[str, ...] = ()
    substitutes: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    genders: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    occasions: tuple[str, ...] = ()
    max_price: float | None = None


def _wrong_gender(need: Need, product: Mapping[str, Any]) -> bool:
    return bool(need.genders) and product["gender"] not in (*need.genders, "unisex")


def conflicts(need: Need, product: Mapping[str, Any]) -> bool:
    """Whether the product has a wrong gender or colour, or costs too much (point 1 of the rule)."""
    wrong_color = bool(need.colors) and not set(need.colors) & set(product["colors"])
    too_dear = need.max_price is not None and product["price"] > need.max_price
    return _wrong_gender(need, product) or wrong_color or too_dear


def _has_the_rest(need: Need, product: Mapping[str, Any]) -> bool:
    return (
        (not need.brands or product["brand"] in need.brands)
        and (not need.materials or product["material"] in need.materials)
        and (not need.occasions or bool(set(need.occasions) & set(product["occasions"])))
    )


def grade(need: Need, product: Mapping[str, Any]) -> int:
    """The grade 0..3 of a product for a need, by the rule of this module's docstring.

    Args:
        need: what the query asks for.
        product: with `type`, `brand`, `price`, `colors`, `gender`, `material`, `occasions`.
    """
    if product["type"] in need.complements:
        return _IRRELEVANT if _wrong_gender(need, product) else _COMPLEMENT
    if product["type"] not in need.types + need.substitutes or conflicts(need, product):
        return _IRRELEVANT
    exact = product["type"] in need.types and _has_the_rest(need, product)
    return _EXACT if exact else _SUBSTITUTE
