"""What a judge must show before its grades may decide something. Pure.

F1 alone trusts a judge that calls everything relevant (0.889 on a natural mix); kappa alone
misleads when nearly all labels are alike; five labels say nothing. So the default policy wants
enough labels on both sides of the floor, F1 and quadratic kappa over a bar, and both better than
a constant judge, each by the lower end of its interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType

from relgate.eval.agreement.intervals import Figure
from relgate.rubrics.errors import UsageError

__all__ = [
    "OVER_PEOPLE",
    "POLICIES",
    "Bar",
    "Evidence",
    "Level",
    "TrustPolicy",
    "bars_of",
    "level_of",
    "policy_named",
]


OVER_PEOPLE = "over_people"
"""The figure of a policy relative to people: judge-person less person-person agreement."""


class Level(StrEnum):
    """How far a judge may be trusted.

    `insufficient`: the labels cannot tell. `untrusted`: it falls short. `provisional`: the points
    pass, but a lower 95 % bound does not, or people did not make the labels. `trusted`: it passes.
    """

    INSUFFICIENT = "insufficient"
    UNTRUSTED = "untrusted"
    PROVISIONAL = "provisional"
    TRUSTED = "trusted"


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """The bars, as data.

    Attributes:
        name: how reports call it.
        min_labels: least number of compared pairs.
        min_each_side: least number of human labels at or above the floor, and below it.
        f1_bar: least F1 at the floor, or None.
        quadratic_kappa_bar: least quadratic kappa, or None.
        beat_constant: F1 must exceed that of the judge that calls everything relevant, and kappa
            at the floor must exceed 0.
        by_lower_bound: `trusted` asks it of the lower end of the interval; else of the point.
        people_only: labels not made by people give `provisional` at most.
        max_error_rate: greatest share of asked pairs without a grade, or None. Above it the
            failed pairs may be the hard ones, and the rest says too little.
        people_margin: by how much, in quadratic kappa, judge and person may agree less than person
            and person on the pairs that two or more people graded, 0..0.5; None does not ask.
    """

    name: str
    min_labels: int = 100
    min_each_side: int = 30
    f1_bar: float | None = 0.80
    quadratic_kappa_bar: float | None = 0.60
    beat_constant: bool = True
    by_lower_bound: bool = True
    people_only: bool = True
    max_error_rate: float | None = 0.02
    people_margin: float | None = None

    @property
    def terms(self) -> dict[str, float | int | bool | None]:
        """All bars but the name: two policies of equal terms ask the same."""
        bars = asdict(self)
        del bars["name"]
        return bars


POLICIES: Mapping[str, TrustPolicy] = MappingProxyType(
    {
        "default": TrustPolicy("default"),
        # the judge document's own bar: point F1 >= 0.80 on 5 labels. A judge of true F1 0.55
        # passes it in a fifth of all draws, which is why it is not the default.
        "seed": TrustPolicy(
            "seed",
            min_labels=5,
            min_each_side=0,
            quadratic_kappa_bar=None,
            beat_constant=False,
            by_lower_bound=False,
            max_error_rate=None,
        ),
        # no absolute bar: trained assessors often agree less than 0.6 on graded relevance. A
        # margin of 0 would ask a judge to be shown better than people, hence one above it.
        "people": TrustPolicy("people", f1_bar=None, quadratic_kappa_bar=None, people_margin=0.05),
    }
)
"""The policies that `--policy` knows."""


def policy_named(name: str) -> TrustPolicy:
    """A preset by name. Raises UsageError for an unknown one."""
    try:
        return POLICIES[name]
    except KeyError:
        raise UsageError(
            f"no trust policy {name!r}; one of: {', '.join(sorted(POLICIES))}, or a .toml file"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What `level_of` looks at.

    Attributes:
        figures: by the names of `all_figures`.
        n: compared pairs.
        n_relevant: those that people put at or above the floor.
        error_rate: share of asked pairs without a grade, 0..1.
        label_sources: who made the compared labels: counts by `human`, `rule`, `import`.
        n_people: pairs that two or more people and the judge graded.
    """

    figures: Mapping[str, Figure]
    n: int
    n_relevant: int
    error_rate: float
    label_sources: Mapping[str, int]
    n_people: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One thing that a policy asks of a figure.

    Attributes:
        figure: its name.
        label: how people call it.
        least: the least value that passes.
        strict: a value equal to `least` does not pass.
    """

    figure: str
    label: str
    least: float
    strict: bool = False

    def passed_by(self, value: float | None) -> bool:
        """Whether a value passes; None and NaN never do."""
        if value is None:
            return False
        return value > self.least if self.strict else value >= self.least

    @property
    def text(self) -> str:
        """The bar as people read it."""
        return f"{'> ' if self.strict else '>= '}{self.least:.2f}"


def level_of(evidence: Evidence, policy: TrustPolicy) -> tuple[Level, tuple[str, ...]]:
    """The level that the evidence earns under a policy, and why, one sentence a reason."""
    bars = bars_of(policy)
    lacking = _lacking(evidence, policy, bars)
    if lacking:
        return Level.INSUFFICIENT, lacking
    figures = evidence.figures
    short = tuple(
        f"{bar.label} {figures[bar.figure].point:.3f} is not {bar.text}"
        for bar in bars
        if not bar.passed_by(figures[bar.figure].point)
    )
    if short:
        return Level.UNTRUSTED, short
    doubts = _doubts(evidence, policy, bars)
    if doubts:
        return Level.PROVISIONAL, doubts
    return Level.TRUSTED, tuple(_passed(bar, figures[bar.figure]) for bar in bars)


def bars_of(policy: TrustPolicy) -> list[Bar]:
    """What a policy asks of the figures."""
    bars: list[Bar] = []
    if policy.f1_bar is not None:
        bars.append(Bar("f1", "F1 at the floor", policy.f1_bar))
    if policy.quadratic_kappa_bar is not None:
        bars.append(Bar("kappa_quadratic", "quadratic kappa", policy.quadratic_kappa_bar))
    if policy.beat_constant:
        bars.append(
            Bar("f1_gain", "F1 over that of a judge that calls all relevant", 0, strict=True)
        )
        bars.append(Bar("floor_kappa", "kappa at the floor", 0, strict=True))
    if policy.people_margin is not None:
        label = "quadratic kappa of judge and person, over that of two people"
        bars.append(Bar(OVER_PEOPLE, label, 0 - policy.people_margin))
    return bars


def _lacking(evidence: Evidence, policy: TrustPolicy, bars: list[Bar]) -> tuple[str, ...]:
    out: list[str] = []
    if evidence.n < policy.min_labels:
        out.append(f"{evidence.n} labels compared, {policy.min_labels} needed")
    sides = (("at or above", evidence.n_relevant), ("below", evidence.n - evidence.n_relevant))
    out += [
        f"{count} labels {side} the floor, {policy.min_each_side} needed"
        for side, count in sides
        if count < policy.min_each_side
    ]
    if policy.people_margin is not None and evidence.n_people < policy.min_labels:
        out.append(
            f"{evidence.n_people} pairs graded by two people or more and the judge, "
            f"{policy.min_labels} needed"
        )
    most = policy.max_error_rate
    if most is not None and not evidence.error_rate <= most:
        out.append(
            f"{evidence.error_rate:.1%} of the pairs got no grade, at most {most:.1%} allowed: "
            "those left may be the easy ones"
        )
    out += [
        f"{bar.label} is undefined on these labels"
        + (f": {evidence.figures[bar.figure].why}" if evidence.figures[bar.figure].why else "")
        for bar in bars
        if evidence.figures[bar.figure].point is None
    ]
    return tuple(out)


def _doubts(evidence: Evidence, policy: TrustPolicy, bars: list[Bar]) -> tuple[str, ...]:
    out: list[str] = []
    if policy.by_lower_bound:
        for bar in bars:
            low = evidence.figures[bar.figure].low
            if low is None:
                out.append(f"{bar.label} has no interval (it takes two queries or more)")
            elif not bar.passed_by(low):
                out.append(f"the lower 95 % bound of {bar.label}, {low:.3f}, is not {bar.text}")
    others = {k: v for k, v in evidence.label_sources.items() if k != "human" and v}
    if policy.people_only and others:
        made = ", ".join(f"{n} by {source}" for source, n in sorted(others.items()))
        out.append(f"labels not made by people ({made}) say nothing about agreement with people")
    return tuple(out)


def _passed(bar: Bar, figure: Figure) -> str:
    ends = "" if figure.low is None else f" (95 %: {figure.low:.3f} to {figure.high:.3f})"
    return f"{bar.label} {figure.point:.3f}{ends} is {bar.text}"
