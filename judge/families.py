"""Which family a model belongs to, and the two honesty rules built on it. Pure.

A judge of the pipeline's own family flatters it (measured at family level, up to +0.21), so it is
refused, and so is a judge whose family nobody can tell. Names arrive in many dresses:
`openrouter/google/gemini-2.5-flash`, `us.anthropic.claude-3-haiku-20240307-v1:0`,
`models/gemini-2.0-flash`, `ft:gpt-4o-mini:acme::abc`, `bedrock/anthropic.claude-3-haiku`.
An Azure deployment name says nothing about the model behind it: it must be declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from relgate.rubrics.errors import CircularityError, FamilySeparationError, UsageError

__all__ = [
    "NO_FAMILY",
    "check_circularity",
    "check_family_separation",
    "family_of",
    "judge_family",
]

NO_FAMILY = "none"
"""The family of a judge that rests on no language model; never the same as another."""

# Family -> how its models' names begin, once the dress is off. Digits and dashes may follow.
_STEMS: dict[str, tuple[str, ...]] = {
    "google": ("gemini", "gemma", "palm", "bison", "text-bison", "medgemma"),
    "openai": (
        "gpt", "chatgpt", "o1", "o2", "o3", "o4", "o5", "o6", "o7", "o8", "o9", "davinci",
        "babbage", "text-embedding", "codex",
    ),
    "anthropic": ("claude",),
    "meta": ("llama", "meta-llama", "codellama"),
    "mistral": (
        "mistral", "ministral", "mixtral", "codestral", "magistral", "pixtral", "open-mistral",
    ),
    "alibaba": ("qwen", "qwq", "gte-qwen"),
    "deepseek": ("deepseek",),
    "xai": ("grok",),
    "amazon": ("nova", "titan", "amazon-nova", "amazon-titan"),
    "cohere": ("command", "embed-english", "embed-multilingual", "cohere", "c4ai", "aya"),
    "voyage": ("voyage", "rerank-"),
    "microsoft": ("phi-", "phi3", "phi4", "wizardlm"),
    "zhipu": ("glm", "chatglm"),
    "moonshot": ("kimi", "moonshot"),
    "nvidia": ("nemotron",),
    "ibm": ("granite",),
}  # fmt: skip

# A distilled model answers as its teacher taught it, whatever its base is called.
_TEACHERS: tuple[tuple[str, str], ...] = (("deepseek-r1-distill", "deepseek"),)

# Names that stand for a deployment, not for a model.
_OPAQUE = re.compile(r"^(azure|azure_ai|python)[/:]")
_DRESS = re.compile(r"^(us|eu|apac|jp|au|ca|global|us-gov)\.")
_JUDGE_ID = re.compile(r"[^@\s]+@[0-9a-f]{8}|[0-9a-f]{16,64}")
_VENDOR = re.compile(r"^[a-z0-9-]+\.(?=[a-z])")


def family_of(model: str | None) -> str | None:
    """The family of `model`, or None when the name does not tell.

    A name that is itself a family's (`openai`) is that family; `none` and `baseline` are none.
    """
    if model is None or not (name := model.strip().casefold()):
        return None
    if name in (NO_FAMILY, "baseline"):
        return NO_FAMILY
    if name in _STEMS:
        return name
    if _OPAQUE.match(name):
        return None
    bare = _undress(name)
    for stem, family in _TEACHERS:
        if bare.startswith(stem):
            return family
    return next(
        (family for family, stems in _STEMS.items() if any(_begins(bare, stem) for stem in stems)),
        None,
    )


def _undress(name: str) -> str:
    name = name.rsplit("/", 1)[-1]
    for prefix in ("ft:", "models:", "tunedmodels:"):
        name = name.removeprefix(prefix)
    if ":" in name:  # openai:gpt-4o, but also claude-3-haiku-20240307-v1:0 and gpt-4o:acme
        head, _, tail = name.partition(":")
        known = any(_begins(_VENDOR.sub("", _DRESS.sub("", head)), s) for s in _all_stems())
        name = head if known or not tail else tail
    return _VENDOR.sub("", _DRESS.sub("", name))


def _all_stems() -> Iterable[str]:
    return (stem for stems in _STEMS.values() for stem in stems)


def _begins(name: str, stem: str) -> bool:
    """Whether `name` begins with `stem` as a word: `o1-mini` but not `o1x`, `gpt4` and `gpt-4`."""
    if not name.startswith(stem):
        return False
    rest = name[len(stem) :]
    return not rest or stem.endswith("-") or not rest[0].isalpha()


def judge_family(model: str | None, declared: str | None) -> str | None:
    """The judge's family: by its model's name, else as declared, else None.

    Args:
        model: the judge's model name.
        declared: what the user says, in any case; `none` is for judges without a language model
            that relgate itself makes, and cannot be declared.

    Raises:
        FamilySeparationError: the declaration contradicts the name, or is `none`.
    """
    told = family_of(model)
    said = None if declared is None else declared.strip().casefold() or None
    if said == NO_FAMILY:
        raise FamilySeparationError(
            "family 'none' cannot be declared; for a judge without a language model give a name of "
            "your own, for example 'our-rules'"
        )
    if told is not None and said is not None and (family_of(said) or said) != told:
        raise FamilySeparationError(
            f"judge {model!r} is of family {told!r} by its name, and {declared!r} is declared; "
            "leave the declaration out"
        )
    return told or (None if said is None else family_of(said) or said)


def check_family_separation(
    *,
    judge_model: str | None,
    family: str | None = None,
    system_models: Iterable[str],
    override: bool = False,
) -> str | None:
    """Refuses a judge whose family is, or may be, that of a model in the pipeline.

    Args:
        judge_model: the judge's model name. What it tells outranks `family`.
        family: the judge's own word for its family (`judge.family`), in any case and under any
            name that `family_of` knows; `none` for a judge without a language model.
        system_models: every model that writes, rewrites or reranks what is judged.
        override: let it pass, and return the sentence that every report must then show.

    Returns:
        None when separation holds; with `override`, the sentence to print.

    Raises:
        FamilySeparationError: same family, a family on either side that nobody can tell, or a
            family that the model's name contradicts.
    """
    problem = _family_problem(judge_model, family, list(system_models))
    if problem is None:
        return None
    if override:
        return f"family separation overridden by name: {problem}"
    raise FamilySeparationError(problem)


def _family_problem(
    judge_model: str | None, family: str | None, system_models: list[str]
) -> str | None:
    told, said = family_of(judge_model), None if family is None else family.strip().casefold()
    said = said and (family_of(said) or said)
    if told and said and told != said:
        return (
            f"judge {judge_model!r} is of family {told!r} by its name, and {family!r} by its own "
            "word; leave that word out"
        )
    judges = told or said
    if not system_models or judges == NO_FAMILY:
        return None
    if judges is None:
        return (
            f"the family of judge {judge_model!r} cannot be told from its name; "
            "declare it with --judge-family"
        )
    for model in system_models:
        family = family_of(model)
        if family is None:
            return (
                f"the family of system model {model!r} cannot be told from its name; declare the "
                "family itself in system_models, for example 'google'"
            )
        if family == judges:
            return (
                f"judge {judge_model!r} and system model {model!r} are both of family {family!r}: "
                "it would judge its own kind; take a judge of another family"
            )
    return None


def check_circularity(
    *, version: str, fingerprint: str | None, ranker_judges: Iterable[str], override: bool = False
) -> str | None:
    """Refuses a judge that also made the ranking it would evaluate.

    Args:
        version: `<tag>@<hash>` of the evaluating judge. It pins the rubric, so that two models
            under one rubric share it; a fingerprint tells them apart.
        fingerprint: of the evaluating judge, None when a list does not tell.
        ranker_judges: versions or fingerprints of the judges that rerank inside the pipeline.
        override: let it pass, and return the sentence that every report must then show.

    Returns:
        None when the judges differ; with `override`, the sentence to print.

    Raises:
        CircularityError: the same judge on both sides, as far as its names tell.
        UsageError: an entry that is neither a version nor a fingerprint.
    """
    for entry in ranker_judges:
        if not _JUDGE_ID.fullmatch(entry):
            raise UsageError(
                f"ranker judge {entry!r} is neither a version (esci-v1@068b13cf) nor a "
                "fingerprint; `relgate rerank` prints both"
            )
        if entry not in {version, fingerprint}:
            continue
        problem = (
            f"judge {entry} also reranks the results it would evaluate; evaluate with another "
            "judge, or name the ranker by its fingerprint if it is another model"
        )
        if override:
            return f"circularity overridden by name: {problem}"
        raise CircularityError(problem)
    return None
