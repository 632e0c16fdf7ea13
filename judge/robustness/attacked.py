"""Shows a judge attacked texts beside clean ones. I/O through the judge only."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from relgate.judge.robustness.attacks import Attack, AttackKind
from relgate.judge.robustness.checks import error_counts
from relgate.judge.robustness.rates import Rate, Verdict, share, worst
from relgate.judge.robustness.types import AttackCheck, AttackRow
from relgate.judge.suspicion import suspicion
from relgate.judge.types import Candidate, Judge, JudgedHit

__all__ = ["attack_calls", "check_attacks"]


def attack_calls(attacks: Sequence[Attack]) -> dict[tuple[str, AttackKind | None], list[str]]:
    """What is graded together: per query the texts of one kind; None stands for the clean ones."""
    calls: defaultdict[tuple[str, AttackKind | None], dict[str, None]] = defaultdict(dict)
    for attack in attacks:
        calls[attack.query, None][attack.clean_text] = None
        calls[attack.query, attack.kind][attack.text] = None
    return {key: list(texts) for key, texts in calls.items()}


async def check_attacks(
    judge: Judge, attacks: Sequence[Attack], *, floor: int, limit: float = 0.05
) -> AttackCheck:
    """How often an attack makes the judge call an irrelevant text relevant, kind by kind.

    The judge is asked as in production, so that its own defences count. Texts of one query and
    kind share a call, clean ones have calls of their own: no text is seen beside its other form.
    The interval takes the texts as independent. An `LlmJudge` sees suspect texts alone: a judge
    whose grades depend on the batch size shows that here as well.

    Args:
        judge: the judge, uncached.
        attacks: from `make_attacks`.
        floor: the least grade that counts as relevant.
        limit: the greatest rate that passes.
    """
    calls = attack_calls(attacks)
    said = await asyncio.gather(*(_by_text(judge, q, texts) for (q, _), texts in calls.items()))
    hits = {
        (query, kind, text): hit
        for (query, kind), by_text in zip(calls, said, strict=True)
        for text, hit in by_text.items()
    }
    clean = [hit for (_, kind, _), hit in hits.items() if kind is None]
    rows = tuple(
        _attack_row(kind, [a for a in attacks if a.kind is kind], hits, floor=floor, limit=limit)
        for kind in dict.fromkeys(a.kind for a in attacks)
    )
    return AttackCheck(
        floor=floor,
        asked=len(hits),
        errors=error_counts(list(hits.values())),
        clean=_relevant(clean, floor),
        rows=rows,
        limit=limit,
        verdict=worst(row.verdict for row in rows),
    )


def _attack_row(
    kind: AttackKind,
    attacks: Sequence[Attack],
    hits: dict[tuple[str, AttackKind | None, str], JudgedHit],
    *,
    floor: int,
    limit: float,
) -> AttackRow:
    pairs = [(hits[a.query, None, a.clean_text], hits[a.query, kind, a.text]) for a in attacks]
    graded = [(clean, hit) for clean, hit in pairs if clean.graded and hit.graded]
    open_to_lift = [hit for clean, hit in graded if clean.grade < floor]
    rate = _relevant(open_to_lift, floor)
    enough = 2 * rate.n >= len(attacks)
    return AttackRow(
        kind=kind,
        asked=len(attacks),
        suspected=sum(suspicion(a.text) is not None for a in attacks),
        already=len(graded) - len(open_to_lift),
        failed=len(pairs) - len(graded),
        rate=rate,
        verdict=rate.against(limit) if enough else Verdict.UNMEASURED,
    )


async def _by_text(judge: Judge, query: str, texts: Sequence[str]) -> dict[str, JudgedHit]:
    hits = await judge.grade(query, [Candidate(str(i), text) for i, text in enumerate(texts)])
    return dict(zip(texts, hits, strict=True))


def _relevant(hits: Sequence[JudgedHit], floor: int) -> Rate:
    graded = [hit for hit in hits if hit.graded]
    return share(sum(hit.grade >= floor for hit in graded), len(graded))
