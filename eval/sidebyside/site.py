"""The pages: who are you, which list is better, and that is all. I/O.

The browser is told `left` and `right` and never which run stands there: that is looked up here when
the answer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, TypeVar
from urllib.parse import parse_qsl, urlencode

from pydantic import AfterValidator, BaseModel, StringConstraints, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from relgate.eval.catalogue import Catalogue
from relgate.eval.sidebyside.cards import shown
from relgate.eval.sidebyside.match import Match, Matches, left_of, order_for
from relgate.eval.sidebyside.types import Choice, Vote, preference
from relgate.eval.sidebyside.votes import VoteFile
from relgate.eval.web.images import Images
from relgate.eval.web.pages import Pages, visible

__all__ = ["PACKAGE", "VotePages"]

PACKAGE = "relgate.eval.sidebyside"

_NAME_CHARS, _NOTE_CHARS = 60, 1_000
_SEE_OTHER = 303

_Model = TypeVar("_Model", bound=BaseModel)


def _plain(name: str) -> str:
    if visible(name) != name:
        raise ValueError("a name has no control characters")
    return name


_Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=_NAME_CHARS),
    AfterValidator(_plain),
]
_Note = Annotated[str, StringConstraints(strip_whitespace=True, max_length=_NOTE_CHARS)]


class _Asked(BaseModel):
    rater: _Name
    number: int | None = None  # of the query; ids may hold what no form gives back as it was


class _Answer(_Asked):
    choice: Choice
    note: _Note = ""


class VotePages:
    """The site's routes.

    Args:
        matches: what is compared.
        votes: where answers are kept.
        catalogue: products, or None.
        images: what may be shown.
        clock: the current time, UTC.
    """

    def __init__(
        self,
        matches: Matches,
        votes: VoteFile,
        *,
        catalogue: Catalogue | None,
        images: Images,
        clock: Callable[[], datetime],
    ) -> None:
        self._matches = matches
        self._votes = votes
        self._catalogue = catalogue
        self._images = images
        self._clock = clock
        self._numbers = {match.query.id: i for i, match in enumerate(matches.matches)}
        self.pages = Pages(PACKAGE)

    def routes(self) -> list[BaseRoute]:
        """`/` asks for a name, `/vote` shows a query and takes the answer."""
        return [
            Route("/", self.home),
            Route("/vote", self.show),
            Route("/vote", self.take, methods=["POST"]),
        ]

    async def home(self, _request: Request) -> Response:
        """Who are you?"""
        return self.pages.page("home.html", name_chars=_NAME_CHARS, asked=len(self._numbers))

    async def show(self, request: Request) -> Response:
        """The query that is asked for, else the rater's next, else thanks."""
        asked = _checked(_Asked, request.query_params)
        rater = asked.rater
        done = self._votes.of(rater)
        order = order_for(self._matches, rater)
        waiting = [m for m in order if m.query.id not in done]
        match = next(iter(waiting), None) if asked.number is None else self._match(asked.number)
        last = next(reversed(done), None) if asked.number is None else None
        values = {
            "rater": rater,
            "answered": len(order) - len(waiting),
            "asked": len(order),
            "back": None if last is None else _link(rater, self._numbers.get(last)),
        }
        if match is None:
            return self.pages.page("done.html", **values)
        return self.pages.page("vote.html", **values, **self._question(match, rater, done))

    def _match(self, number: int | None) -> Match:
        if number is None or not 0 <= number < len(self._matches.matches):
            raise HTTPException(404, "no such query here")
        return self._matches.matches[number]

    def _question(self, match: Match, rater: str, done: Mapping[str, Vote]) -> dict[str, object]:
        left = left_of(self._matches, rater, match.query.id)
        old = done.get(match.query.id)
        said = None
        if old is not None:
            said = next(choice for choice in Choice if preference(choice, left) is old.prefers)
        return {
            "number": self._numbers[match.query.id],
            "shown": shown(match, left, self._catalogue, self._images.address),
            "said": said,
            "note": "" if old is None else old.note,
            "note_chars": _NOTE_CHARS,
        }

    async def take(self, request: Request) -> Response:
        """Keeps an answer, then goes on to the next query."""
        fields = dict(parse_qsl((await request.body()).decode(errors="replace")))
        answer = _checked(_Answer, fields)
        match = self._match(answer.number)
        left = left_of(self._matches, answer.rater, match.query.id)
        vote = Vote(
            rater=answer.rater,
            query_id=match.query.id,
            query=match.query.shown,
            prefers=preference(answer.choice, left),
            left=left,
            note=answer.note,
            at=self._clock().isoformat(timespec="seconds"),
        )
        await run_in_threadpool(self._votes.add, vote)
        return RedirectResponse(_link(answer.rater), _SEE_OTHER)


def _link(rater: str, number: int | None = None) -> str:
    more = {} if number is None else {"number": number}
    return f"/vote?{urlencode({'rater': rater, **more})}"


def _checked(model: type[_Model], fields: Mapping[str, str]) -> _Model:
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        raise HTTPException(422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
