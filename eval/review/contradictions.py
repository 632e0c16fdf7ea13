"""What a file of scores says against itself, or against the other side's. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from relgate.eval.lists.types import match_key
from relgate.eval.runs.types import Run
from relgate.eval.wording import counted

__all__ = ["contradictions", "rated_otherwise", "unlike_ratings"]


def contradictions(run: Run) -> tuple[str, ...]:
    """One sentence for each score of a file that cannot be: not a number, or above 0 on nothing."""
    return () if run.given is None else tuple(_said(run))


def _said(run: Run) -> Iterator[str]:
    given = run.given
    if given is None:
        return
    if given.metric_score is not None and not isfinite(given.metric_score):
        yield f"the aggregate in the {run.name} file is {given.metric_score}, not a number"
    for query, docs in zip(run.queries, run.docs, strict=True):
        own = given.queries.get(query.id)
        score = None if own is None else own.metric_score
        if score is None:
            continue
        if not isfinite(score):
            yield f'the score of "{query.shown}" in the {run.name} file is {score}, not a number'
        elif docs is not None and not docs and score > 0:
            yield f'"{query.shown}" scores {score:.4f} in the {run.name} file and returned nothing'


def unlike_ratings(before: Run, after: Run) -> tuple[str, ...]:
    """One sentence for each document that the two files rate differently for one query."""
    if before.given is None or after.given is None:
        return ()
    out: list[str] = []
    for query in before.queries:
        was, now = before.given.queries.get(query.id), after.given.queries.get(query.id)
        if was is None or now is None or was.ratings is None or now.ratings is None:
            continue
        later = {match_key(doc): rating for doc, rating in now.ratings.items()}
        for doc, rating in was.ratings.items():
            other = later.get(match_key(doc), rating)
            if other != rating:
                out.append(f'{doc} of "{query.shown}" is {rating:g} before and {other:g} after')
    return tuple(out)


def rated_otherwise(run: Run, listed: Sequence[Mapping[str, int]], best: int) -> str | None:
    """One sentence on documents that the file rates otherwise than the list, which counts.

    Args:
        run: with the ratings that the engine was sent.
        listed: {document's key: grade} of each query of the run, by the list.
        best: the list's best grade. Ratings above it or with a fraction are of another scale,
            and say nothing.
    """
    if run.given is None:
        return None
    found: list[str] = []
    for query, grades in zip(run.queries, listed, strict=True):
        own = run.given.queries.get(query.id)
        for doc, rating in ((own and own.ratings) or {}).items():
            if rating > best or not float(rating).is_integer():
                return None
            grade = grades.get(match_key(doc), rating)
            if grade != rating:
                found.append(
                    f'{doc} of "{query.shown}" is {rating:g} there and {grade} in the list'
                )
    if not found:
        return None
    return (
        f"{run.name}: the file was made with other ratings than the list, which counts, for "
        f"{counted(len(found), 'document', 'documents')}: {found[0]}"
    )
