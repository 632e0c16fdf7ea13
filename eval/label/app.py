"""The pages: who are you, grade, and for the owner how it goes. HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from relgate.eval.label.desk import Desk, Outcome, rater_name
from relgate.eval.label.figures import figures
from relgate.eval.label.language import LANGUAGES, Language, language
from relgate.eval.label.shown import keys_of, last_of
from relgate.eval.label.types import MAX_NAME_CHARS, MAX_NOTE_CHARS, SKIP_REASONS
from relgate.eval.web.access import need, roles_of
from relgate.eval.web.pages import Pages
from relgate.eval.web.site import json_body
from relgate.rubrics.errors import UsageError

__all__ = ["OWNER", "RATER", "LabelSite"]

OWNER = "owner"
RATER = "rater"

_Id = Annotated[str, Field(min_length=1, max_length=64)]
_Note = Annotated[str, Field(max_length=MAX_NOTE_CHARS)]


class _Sent(BaseModel):
    """What every answer has: its own id, so that one sent twice counts once."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: _Id
    rater: str
    lang: str = LANGUAGES[0]


class _Grade(_Sent):
    pair: _Id
    grade: int
    note: _Note = ""


class _Skip(_Sent):
    pair: _Id
    why: str
    note: _Note = ""


class _Of(_Sent):
    of: _Id


@dataclass(frozen=True, slots=True)
class LabelSite:
    """The site of one labelling.

    Attributes:
        desk: the pairs and the answers.
        pages: templates.
        default: the language where a rater's browser asks for none of ours.
    """

    desk: Desk
    pages: Pages
    default: str = LANGUAGES[0]

    @property
    def routes(self) -> list[BaseRoute]:
        """Every route, for `relgate.eval.web.site.site`."""
        return [
            Route("/", self.who),
            Route("/grade", self.grade_page),
            Route("/answer/grade", self.grade, methods=["POST"]),
            Route("/answer/skip", self.skip, methods=["POST"]),
            Route("/answer/undo", self.undo, methods=["POST"]),
            Route("/answer/reveal", self.reveal, methods=["POST"]),
            Route("/owner", self.owner),
            Route("/owner/figures", self.owner_figures),
        ]

    async def who(self, request: Request) -> Response:
        """Asks for the rater's name and language."""
        roles = roles_of(request)
        if RATER not in roles:
            return RedirectResponse("/owner", 303)
        return self._who(self._language(request), is_owner=OWNER in roles)

    def _who(self, spoken: Language, *, is_owner: bool, bad_name: bool = False) -> Response:
        return self.pages.page(
            "who.html",
            **_spoken(spoken),
            languages=[language(code) for code in LANGUAGES],
            is_owner=is_owner,
            bad_name=bad_name,
            most=MAX_NAME_CHARS,
        )

    async def grade_page(self, request: Request) -> Response:
        """The page on which a rater grades."""
        need(request, RATER)
        spoken = self._language(request)
        name = rater_name(request.query_params.get("rater", ""))
        if name is None:
            return self._who(spoken, is_owner=OWNER in roles_of(request), bad_name=True)
        rater = self.desk.board.named(name)
        return self.pages.page(
            "grade.html",
            **_spoken(spoken),
            **self._work(rater),
            rubric=self.desk.rubric,
            skip_reasons=SKIP_REASONS,
        )

    async def grade(self, request: Request) -> Response:
        """Keeps a grade."""
        need(request, RATER)
        sent = await json_body(request, _Grade)
        rater = self._rater(sent)
        done = self.desk.grade(rater, sent.id, sent.pair, sent.grade, sent.note)
        label = self.desk.rubric.label_for_grade(sent.grade)
        return self._told(sent, rater, done, grade=f"{label.code} {label.name}")

    async def skip(self, request: Request) -> Response:
        """Keeps that a pair was skipped, and why."""
        need(request, RATER)
        sent = await json_body(request, _Skip)
        rater = self._rater(sent)
        return self._told(
            sent, rater, self.desk.skip(rater, sent.id, sent.pair, sent.why, sent.note)
        )

    async def undo(self, request: Request) -> Response:
        """Takes an answer back."""
        need(request, RATER)
        sent = await json_body(request, _Of)
        rater = self._rater(sent)
        return self._told(sent, rater, self.desk.undo(rater, sent.id, sent.of))

    async def reveal(self, request: Request) -> Response:
        """Shows the judge's grade of a pair that was answered."""
        need(request, RATER)
        sent = await json_body(request, _Of)
        rater = self._rater(sent)
        return self._told(sent, rater, self.desk.reveal(rater, sent.id, sent.of))

    async def owner(self, request: Request) -> Response:
        """Progress and agreement."""
        need(request, OWNER)
        return self.pages.page("owner.html", **self._figures())

    async def owner_figures(self, request: Request) -> Response:
        """The part of the owner's page that changes."""
        need(request, OWNER)
        return self.pages.page("figures.html", **self._figures())

    def _figures(self) -> dict[str, Any]:
        rubric = self.desk.rubric
        found = figures(self.desk.board, n_grades=rubric.max_grade + 1)
        return {**_spoken(language("en")), "found": found, "rubric": rubric}

    def _rater(self, sent: _Sent) -> str:
        name = rater_name(sent.rater)
        if name is None:
            raise UsageError("no name; load the page again")
        return self.desk.board.named(name)

    def _told(self, sent: _Sent, rater: str, done: Outcome, **values: str) -> Response:
        """What became of it, and the next pair."""
        spoken = language(sent.lang)
        html = self.pages.text("work.html", **_spoken(spoken), **self._work(rater))
        said = spoken.words[done.value].format(**values)
        return JSONResponse({"html": html, "said": said, "kept": done.kept})

    def _work(self, rater: str) -> dict[str, Any]:
        board, rubric = self.desk.board, self.desk.rubric
        done = len(board.answers(rater))
        return {
            "rater": rater,
            "task": self.desk.next_for(rater),
            "done": done,
            "all": done + board.left_for(rater),
            "choices": [(label, keys_of(label)) for label in rubric.labels],
            "last": last_of(self.desk, rater),
            "most": MAX_NOTE_CHARS,
        }

    def _language(self, request: Request) -> Language:
        asked = request.query_params.get("lang")
        if asked in LANGUAGES:
            return language(asked)
        wanted = request.headers.get("accept-language", "").lower().split(",")
        heard = [part.strip().partition(";")[0].partition("-")[0] for part in wanted]
        return language(next((code for code in heard if code in LANGUAGES), self.default))


def _spoken(spoken: Language) -> dict[str, Any]:
    return {"lang": spoken.code, "dir": spoken.dir, "t": spoken.words}
