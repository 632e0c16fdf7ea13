"""What grading takes, for `docs/scale.md`: tokens of real prompts, money, and hours under limits.

`python -m relgate.eval.demo.sizing docs/scale.md` puts the tables between the page's marks. I/O.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random

from relgate.eval.demo.data_files import read_products, read_queries
from relgate.eval.demo.engine import Engine
from relgate.eval.gaps.plan import plan_batches
from relgate.eval.scale import Limits, floor_s, simulate
from relgate.judge.llm import make_llm_judge
from relgate.judge.prices import PRICES, PRICES_AS_OF, cost_usd
from relgate.judge.prompt import candidate_summary
from relgate.judge.tokens import TokenRange
from relgate.judge.types import Candidate

__all__ = ["PromptSize", "hours_table", "money_table", "prompt_size", "shop_size", "sizing_tables"]

BEGIN, END = "<!-- made by `make docs` -->\n", "<!-- to here -->"
BATCH = 10
_DEPTH = 20
_MODELS = ("gpt-4.1-nano", "gpt-4.1-mini", "gpt-4.1", "gemini-2.5-flash-lite")
_PAIRS = (10_000, 1_000_000, 10_000_000)
_HOURS_PAIRS = 10_000_000
_CENTS_BELOW = 10
_MEDIAN_S = 2.0  # an assumption, as the page says
_SPREAD = 0.5  # of the logarithm: 95 % of replies within 2.3 times the median
_SCENARIOS = (
    Limits(8, 500, 200_000),
    Limits(64, 5_000, 2_000_000),
    Limits(64, 5_000, 20_000_000),
    Limits(512, 30_000, 150_000_000),
    Limits(64),
    Limits(512),
)


@dataclass(frozen=True, slots=True)
class PromptSize:
    """What the judge's own prompts come to.

    Attributes:
        name: of what data.
        pairs: how many pairs were rendered.
        calls: in how many calls.
        prompt: tokens sent, the system prompt included.
        reply: tokens back, thinking not included.
    """

    name: str
    pairs: int
    calls: int
    prompt: TokenRange
    reply: TokenRange

    def scaled(self, pairs: int) -> tuple[int, TokenRange, TokenRange]:
        """(calls, tokens sent, tokens back) of so many pairs alike, batches filled as they were."""
        times = pairs / self.pairs
        sent, back = (
            TokenRange(round(tokens.least * times), round(tokens.most * times))
            for tokens in (self.prompt, self.reply)
        )
        return round(self.calls * times), sent, back


def prompt_size(name: str, batches: Iterable[tuple[str, Sequence[Candidate]]]) -> PromptSize:
    """Renders the prompts for these queries and documents; nothing is asked."""
    held = list(batches)
    judge = make_llm_judge(lambda _: "", batch_size=BATCH)
    calls, prompt, reply = plan_batches(judge, held)
    return PromptSize(name, sum(len(own) for _, own in held), calls, prompt, reply)


def shop_size() -> PromptSize:
    """That of the example shop: every query with its first 20 documents."""
    products = {str(p["id"]): p for p in read_products()}
    with Engine(products.values()) as engine:
        found = [(query.text, engine.search(query.text, _DEPTH)) for query in read_queries()]
    return prompt_size(
        "the example shop",
        [
            (text, [Candidate(doc, candidate_summary(products[doc])) for doc in docs])
            for text, docs in found
            if docs
        ],
    )


def size_row(size: PromptSize) -> str:
    """A row of the table of prompts."""
    a, b = (
        f"{tokens.least / size.pairs:,.0f} to {tokens.most / size.pairs:,.0f}"
        for tokens in (size.prompt, size.reply)
    )
    return f"| {size.name} | {size.pairs:,} | {size.calls:,} | {a} | {b} |"


def _millions(tokens: TokenRange) -> str:
    return f"{tokens.least / 1e6:,.1f} to {tokens.most / 1e6:,.1f}"


def _usd(value: float) -> str:
    return f"{value:,.2f}" if value < _CENTS_BELOW else f"{value:,.0f}"


def money_table(size: PromptSize) -> str:
    """Calls, tokens and money of several numbers of pairs."""
    head = [f"{m}, USD" for m in _MODELS]
    lines = [
        f"| pairs | calls | tokens sent, M | tokens back, M | {' | '.join(head)} |",
        f"|---:|---:|---:|---:|{'---:|' * len(head)}",
    ]
    for pairs in _PAIRS:
        calls, sent, back = size.scaled(pairs)
        costs: list[str] = []
        for model in _MODELS:
            low, high = (
                cost_usd(PRICES[model], prompt_tokens=p, completion_tokens=c)
                for p, c in ((sent.least, back.least), (sent.most, back.most))
            )
            costs.append(f"{_usd(low)} to {_usd(high)}")
        lines.append(
            f"| {pairs:,} | {calls:,} | {_millions(sent)} | {_millions(back)} "
            f"| {' | '.join(costs)} |"
        )
    return "\n".join(lines)


def hours_table(size: PromptSize, pairs: int) -> str:
    """Hours under limits: the floor of each limit, and the simulation."""
    calls, sent, back = size.scaled(pairs)
    tokens = round((sent.most + back.most) / calls)
    latencies_s = _latencies(calls)
    mean_s = sum(latencies_s) / calls
    lines = [
        "| at once | requests/min | tokens/min | floor, h | set by | simulated, h | in flight |",
        "|---:|---:|---:|---:|---|---:|---:|",
    ]
    for limits in _SCENARIOS:
        floors = floor_s(calls, latency_s=mean_s, tokens=tokens, limits=limits)
        bound = max(floors, key=lambda name: floors[name])
        run = simulate(latencies_s, [tokens], limits)
        shown = [
            "-" if value is None else f"{value:,}"
            for value in (limits.requests_per_minute, limits.tokens_per_minute)
        ]
        lines.append(
            f"| {limits.concurrency} | {' | '.join(shown)} | {floors[bound] / 3600:,.1f} "
            f"| {bound.replace('_', ' ')} | {run.seconds / 3600:,.1f} | {run.in_flight:,.0f} |"
        )
    return "\n".join(lines)


def _latencies(calls: int) -> list[float]:
    """Seconds a reply takes, scattered as replies are: many quick, a few slow. Seeded."""
    draw = Random(7).lognormvariate  # noqa: S311 - no secret
    return [draw(log(_MEDIAN_S), _SPREAD) for _ in range(calls)]


def sizing_tables() -> str:
    """The part of `docs/scale.md` that is made: it rests on the example shop."""
    size = shop_size()
    return (
        "| prompts of | pairs | calls | tokens sent a pair | tokens back a pair |\n"
        f"|---|---:|---:|---:|---:|\n{size_row(size)}\n\n"
        f"Money at the prices of {PRICES_AS_OF}:\n\n{money_table(size)}\n\n"
        f"Hours of {_HOURS_PAIRS:,} pairs:\n\n{hours_table(size, _HOURS_PAIRS)}\n"
    )


def renew(page: Path) -> None:
    """Makes the tables of the page anew."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}{sizing_tables()}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    renew(Path(sys.argv[1]))
