"""The file of votes: what it is of, and a line a vote. I/O."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Self

from pydantic import TypeAdapter, ValidationError

from relgate.eval.appended import Answers, AppendedFile, read_answers
from relgate.eval.sidebyside.match import Matches
from relgate.eval.sidebyside.types import Vote
from relgate.rubrics.errors import InputError

__all__ = ["KIND", "Head", "VoteFile", "head_of", "read_votes"]

KIND = "relgate side-by-side votes 1"

_VOTE: TypeAdapter[Vote] = TypeAdapter(Vote)


@dataclass(frozen=True, slots=True)
class Head:
    """What votes are of.

    Attributes:
        kind: `KIND`.
        key: as `Matches.key`: the lists, the depth and the seed.
        before: what the run before is called.
        after: likewise.
        k: how many documents of each are seen.
        seed: of the lots.
        asked: queries that are compared.
        same: queries with one list on both sides, which are not.
        undrawn: queries that differ and were not drawn.
        unknown: queries that a side lacks.
    """

    kind: str
    key: str
    before: str
    after: str
    k: int
    seed: int
    asked: int
    same: int
    undrawn: int
    unknown: int


def head_of(matches: Matches, *, before: str, after: str) -> Head:
    """The head of a file of votes on these."""
    return Head(
        kind=KIND,
        key=matches.key,
        before=before,
        after=after,
        k=matches.k,
        seed=matches.seed,
        asked=len(matches.matches),
        same=len(matches.same),
        undrawn=matches.undrawn,
        unknown=len(matches.unknown),
    )


def read_votes(path: Path) -> tuple[Head, list[Vote]]:
    """A file's head and its votes, in the order in which they were given.

    Raises:
        InputError: no such file, or a line that is no vote.
    """
    found = read_answers(path, kind=KIND)
    try:
        head = TypeAdapter(Head).validate_python(found.head)
    except ValidationError as error:
        what = f"no head of votes: {error.errors()[0]['msg']}"
        raise InputError(what, path=path, line=1, mend="check the file") from None
    return head, _votes(found)


class VoteFile:
    """Votes in memory and on disk, for one server and its threads.

    Raises:
        InputError: the file holds votes on other runs, depth or seed, or a line that is no vote.
        UsageError: another process serves it.
        PlatformError: the disk or the permissions are at fault.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self._lock = Lock()
        self._file = AppendedFile(path, asdict(head))
        self.votes: list[Vote] = _votes(self._file.found)
        self.torn = self._file.found.torn

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process serve the file."""
        self._file.close()

    def add(self, vote: Vote) -> None:
        """Keeps a vote; it is on disk when this returns. The same answer once more adds nothing."""
        with self._lock:
            old = self.of(vote.rater).get(vote.query_id)
            if old is not None and (old.prefers, old.note) == (vote.prefers, vote.note):
                return
            self._file.add(asdict(vote))
            self.votes.append(vote)

    def of(self, rater: str) -> dict[str, Vote]:
        """{query id: a rater's last vote}."""
        return {vote.query_id: vote for vote in self.votes if vote.rater == rater}


def _votes(found: Answers) -> list[Vote]:
    votes: list[Vote] = []
    for line, row in found.rows:
        try:
            votes.append(_VOTE.validate_python(row))
        except ValidationError as error:
            first = error.errors()[0]
            what = f"no vote: {'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise InputError(what, path=found.path, line=line, mend="remove the line") from None
    return votes
