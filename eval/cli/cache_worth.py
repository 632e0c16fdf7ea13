"""What cached grades cost, and what they saved so far, in tokens and by the price table. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from relgate.cache.report import CacheStats, JudgeModel
from relgate.cache.saved import Tokens
from relgate.judge.prices import PRICES_AS_OF, Price

__all__ = ["JudgeWorth", "cache_worth", "worth_document", "worth_lines"]


@dataclass(frozen=True, slots=True)
class JudgeWorth:
    """The grades of one judge and model.

    Attributes:
        judge: who made them.
        held: grades in the cache.
        saved: grades that runs got from it, by the records that they left.
        price: what the model costs today; None when nobody knows.
    """

    judge: JudgeModel
    held: Tokens
    saved: Tokens
    price: Price | None

    @property
    def paid_usd(self) -> float | None:
        """What the grades cost; None without a price or a count of tokens."""
        return self.held.usd(self.price)

    @property
    def saved_usd(self) -> float | None:
        """What runs did not have to pay; None likewise."""
        return self.saved.usd(self.price)

    def cells(self) -> list[str]:
        """A row of the table."""
        known = self.held.grades > self.held.uncounted
        return [
            self.judge.version,
            self.judge.model or "-",
            f"{self.held.grades:,}",
            f"{self.held.prompt + self.held.completion:,}" if known else "-",
            _usd(self.paid_usd),
            _usd(self.saved_usd),
        ]


def cache_worth(
    stats: CacheStats, price_of: Callable[[str | None], Price | None]
) -> list[JudgeWorth]:
    """One entry a judge and model that the cache knows, sorted."""
    return [
        JudgeWorth(
            judge=judge,
            held=stats.by_judge.get(judge, Tokens()),
            saved=stats.saved.get(judge, Tokens()),
            price=price_of(judge.model or None),
        )
        for judge in sorted({*stats.by_judge, *stats.saved})
    ]


def worth_lines(judges: Sequence[JudgeWorth]) -> list[str]:
    """Money saved, and what is not in that sum."""
    saved = sum((judge.saved for judge in judges), start=Tokens())
    if not saved.grades:
        return ["money saved: none on record; a run that is served from the cache records it"]
    counted = f"{saved.prompt:,} tokens in and {saved.completion:,} out"
    lines = [f"{saved.grades:,} grades served to runs that ended; they had cost {counted}"]
    amount = _total([judge.saved_usd for judge in judges])
    if amount is not None:
        lines.append(f"money saved: about {_usd(amount)} USD at prices of {PRICES_AS_OF}")
    else:
        lines.append("money saved: unknown (no count of tokens, or no price of the model)")
    if saved.uncounted:
        lines.append(f"not in it: {saved.uncounted:,} served grades without recorded tokens")
    unpriced = sum(j.saved.grades - j.saved.uncounted for j in judges if j.price is None)
    if unpriced:
        lines.append(f"not in it: {unpriced:,} served grades of models without a price")
    return lines


def worth_document(judges: Sequence[JudgeWorth]) -> dict[str, Any]:
    """The same for machines; money is null where it is unknown."""
    saved = sum((judge.saved for judge in judges), start=Tokens())
    return {
        "served": saved.grades,
        "served_uncounted": saved.uncounted,
        "saved_usd": _total([judge.saved_usd for judge in judges]),
        "prices_as_of": PRICES_AS_OF,
        "by_judge": [
            {
                "version": worth.judge.version,
                "model": worth.judge.model,
                "rows": worth.held.grades,
                "uncounted": worth.held.uncounted,
                "prompt_tokens": worth.held.prompt,
                "completion_tokens": worth.held.completion,
                "paid_usd": worth.paid_usd,
                "served": worth.saved.grades,
                "saved_prompt_tokens": worth.saved.prompt,
                "saved_completion_tokens": worth.saved.completion,
                "saved_usd": worth.saved_usd,
            }
            for worth in judges
        ],
    }


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def _usd(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.4f}"
